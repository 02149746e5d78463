"""Refuse RTL that Yosys cannot be trusted to read as simulators do, if its reading may decide alone.

Yosys is trusted with the kinds of constructs in ``kinds.yosys`` only, and not with all of their uses: each rule here is
for a use that Yosys 0.23 reads otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.base.errors import InputError, UnsupportedVerilog
from dais_verif.hardware.ports.directives import refuse_ambiguous
from dais_verif.hardware.ports.verilog import included, read_files
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.diagnostics import refuse_reentry
from dais_verif.prover.slang.functions import call_value
from dais_verif.prover.slang.kinds import FILLING, TIMING, TRUSTED, How

__all__ = ["refuse_misread"]

_TRUSTED = TRUSTED.of(How.READ)
_LITERALS = (ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral)
#: The parts of an expression or a statement that must not be a literal X.
_OPERANDS: dict[Any, Callable[[Any], Sequence[Any]]] = {
    ast.UnaryExpression: lambda e: (e.operand,),
    ast.BinaryExpression: lambda e: (e.left, e.right),
    ast.ConditionalExpression: lambda e: [condition.expr for condition in e.conditions],
    ast.ConditionalStatement: lambda s: [condition.expr for condition in s.conditions],
    ast.CaseStatement: lambda s: (s.expr,),
    ast.ElementSelectExpression: lambda e: (e.selector,),
}
_MISREAD = {
    pyslang.Diags.DuplicateDefparam: "Yosys ignores this second defparam; remove one",
    pyslang.Diags.SignedIntegerOverflow: "Yosys wraps a literal that needs more than 32 bits; give it a size",
}
_VALUES = (ast.SymbolKind.Net, ast.SymbolKind.Variable, ast.SymbolKind.FormalArgument, ast.SymbolKind.Parameter)
_SIGNALS = _VALUES[:2]
#: Scopes within a module.
_INNER = (
    *(ast.SymbolKind.GenerateBlock, ast.SymbolKind.GenerateBlockArray, ast.SymbolKind.StatementBlock),
    *(ast.SymbolKind.Subroutine, ast.SymbolKind.InstanceArray),
)
_INSTANCES = (ast.SymbolKind.Instance, ast.SymbolKind.InstanceArray)
#: Literals without a size have 32 bits, of which Yosys takes the highest as the sign.
_LEAST_SIGNED = 1 << 31


def refuse_misread(sources: Sequence[Path], top: str, files: Mapping[str, Path]) -> None:
    """Raise ``InputError`` for RTL that Yosys may misread. ``files``: the data files of the RTL, by name.

    Constructs that pyslang cannot bind are not checked.
    """
    manager = pyslang.SourceManager()
    options = ast.CompilationOptions()
    options.topModules = {top}
    compilation = ast.Compilation(pyslang.Bag([options]))
    tree = read_files(sources, manager)
    compilation.addSyntaxTree(tree)
    refuse_ambiguous([*sources, *included(tree, manager)])
    design = SlangDesign(manager, files, call_value)
    _Search(design, compilation.getRoot()).look()
    for diagnostic in compilation.getAllDiagnostics():
        if diagnostic.code in _MISREAD:
            raise UnsupportedVerilog(f"{design.where(diagnostic.location)}: {_MISREAD[diagnostic.code]}")


class _Search:
    def __init__(self, design: SlangDesign, root: Any) -> None:
        self._design, self._root = design, root
        self._path: Any = None
        self._dotted = False
        #: For each name that a scope declares and a scope around it, too, the text of the inner one.
        self._hidden: dict[str, list[Any]] = defaultdict(list)
        #: The names of instances.
        self._instances: set[str] = set()
        #: The places of empty texts that Yosys reads as simulators do.
        self._texts: set[tuple[int, int]] = set()
        #: Types that are trusted.
        self._types: set[Any] = set()
        shared = [x for scope in (*root.compilationUnits, *root.compilation.getPackages()) for x in scope]
        values = frozenset(x.name for x in shared if x.kind in _VALUES)
        types = frozenset(x.name for x in shared if x.kind is ast.SymbolKind.TypeAlias)
        self._shared = values, types
        for top in root.topInstances:
            self._scope(top.body, *self._shared)

    def look(self) -> None:
        self._root.visit(self._visit)
        if self._path is not None and self._dotted:
            raise self._refused(
                self._path, "Yosys takes a hierarchical name for an escaped one with a dot; rename the escaped one"
            )

    def _scope(self, scope: Any, values: frozenset[str], types: frozenset[str]) -> None:
        """Note the instances in a scope, and the names that hide others; refuse types that do.

        ``values``, ``types``: the names in the scopes around it.
        """
        own = frozenset(x.name for x in scope if x.kind in _VALUES)
        syntax = scope.definition.syntax if scope.kind is ast.SymbolKind.InstanceBody else scope.syntax
        for name in own & values if syntax is not None else ():
            self._hidden[name].append(syntax.sourceRange)
        for member in scope:
            if member.kind is ast.SymbolKind.TypeAlias and member.name in types:
                raise self._refused(member, f"Yosys may take another type {member.name!r}; rename this one")
        values, types = values | own, types | {x.name for x in scope if x.kind is ast.SymbolKind.TypeAlias}
        for member in scope:
            if member.kind in _INSTANCES:
                self._instances.add(member.name)
            if member.kind is ast.SymbolKind.Instance:
                self._scope(member.body, *self._shared)
            elif member.kind in _INNER:
                self._scope(member, values, types)

    def _refused(self, e: Any, text: str, advice: str = "") -> InputError:
        start = e.sourceRange.start if hasattr(e, "sourceRange") else e.location
        return UnsupportedVerilog.of(
            "{where}: {text}" + advice + ", or leave Yosys out: {front_end} slang",
            where=self._design.where(start),
            text=text,
        )

    def _visit(self, e: Any) -> Any:
        kind = type(e)
        if kind is ast.InstanceBodySymbol and e.isUninstantiated:  # Yosys also ignores uninstantiated modules
            return ast.VisitAction.Skip
        if not _is_trusted(e):
            refusal = TIMING.refusal(e.kind) if e.kind in TIMING.decisions else None
            if refusal is not None:
                raise self._refused(e, refusal)
            what = next((e.subroutineName for _ in "1" if kind is ast.CallExpression), str(e.kind).rpartition(".")[2])
            raise self._refused(e, f"Yosys is not trusted with {what}; write it another way")
        rule = _RULES.get(kind)
        if rule is not None:
            rule(self, e)
        for operand in _OPERANDS.get(kind, lambda e: ())(e):
            self._known(operand)
        printed = kind is ast.CallExpression and e.isSystemCall and e.subroutineName not in _READING
        return ast.VisitAction.Skip if printed else ast.VisitAction.Advance

    def _declared(self, symbol: Any) -> None:
        """Refuse types that Yosys misreads. In Yosys, an enum has no sign, and negative values are not extended."""
        self._dotted = self._dotted or (symbol.kind in _SIGNALS and "." in symbol.name)
        if symbol.type in self._types:
            return
        for kind in _parts(symbol.type):
            if kind.kind not in _TRUSTED:
                raise self._refused(symbol, f"Yosys is not trusted with {kind.kind.name}; write a vector")
            if kind.kind is ast.SymbolKind.EnumType and kind.isSigned:
                raise self._refused(symbol, "Yosys takes a signed enum as unsigned; base it on logic [n:0]")
        self._types.add(symbol.type)

    def _parameter(self, symbol: Any) -> None:
        """Refuse a parameter to which a value of the other sign is given: Yosys extends it by the value's own sign."""
        self._declared(symbol)
        value = None if symbol.initializer is None else _bare(symbol.initializer)
        if value is not None:
            self._texts.add(_place(value))
        if value is None or not symbol.type.isIntegral or not value.type.isIntegral:
            return
        if value.type.bitWidth == symbol.type.bitWidth and value.type.isSigned != symbol.type.isSigned:
            raise self._refused(symbol, f"Yosys misreads the sign of {symbol.name!r}; give it a value of its own sign")
        value.visit(self._unbased)

    def _unbased(self, e: Any) -> None:
        if type(e) is ast.UnbasedUnsizedIntegerLiteral:
            raise self._refused(e, "Yosys reads one bit here; give the number a size")

    def _literal(self, e: Any) -> None:
        if (
            e.isDeclaredUnsized
            and not e.value.hasUnknown
            and (e.type.bitWidth > 32 or (not e.type.isSigned and int(e.value) >= _LEAST_SIGNED))
        ):
            raise self._refused(e, "Yosys misreads a number without a size that needs 32 bits or more; give it one")

    def _named(self, e: Any) -> None:
        """Refuse a name that is used where an inner scope declares the same name later: Yosys takes the inner one."""
        self._text(e)
        for inner in self._hidden.get(e.symbol.name, ()):
            if _covers(inner, e.sourceRange.start) and not _covers(inner, e.symbol.location):
                raise self._refused(e, f"Yosys takes the {e.symbol.name!r} that is declared later; rename one of them")

    def _hierarchical(self, e: Any) -> None:
        """Refuse names that lead into an instance: Yosys makes new wires of them."""
        self._named(e)
        first = str(e.syntax).strip().lstrip("\\").partition(".")[0].partition("[")[0].strip()
        owner = e.symbol.declaringDefinition
        own = owner is not None and _covers(owner.syntax.sourceRange, e.sourceRange.start)
        if not own or first in self._instances:
            raise self._refused(e, "Yosys does not follow a name into an instance; write a port")
        self._path = self._path or e

    def _call(self, e: Any) -> None:
        if e.isSystemCall and e.subroutineName in FILLING:
            self._table(e)
        elif not e.isSystemCall:
            refuse_reentry(self._design, e.subroutine)
            if any(formal.direction is ast.ArgumentDirection.InOut for formal in e.subroutine.arguments):
                raise self._refused(
                    e, "Yosys copies an inout argument only at the end of a call; write an input and an output"
                )

    def _cast(self, e: Any) -> None:
        """Refuse casts: Yosys 0.23 gives them the width of their context, which adds zeros in ``&(s ? 2'(w) : b)``."""
        if e.conversionKind is ast.ConversionKind.Explicit:
            raise self._refused(e, "Yosys gives this cast the width of its context; use a wire")

    def _case(self, s: Any) -> None:
        """Refuse items of ``casez`` and ``casex`` that Yosys misreads.

        Yosys loses the sign of negated items, and of narrow signed items with wildcard digits. In Yosys, an item with
        wildcard digits never matches a constant subject.
        """
        if s.condition is ast.CaseStatementCondition.Normal:
            for item in (item for group in s.items for item in group.expressions):
                _bare(item).visit(partial(self._computed, _bare(item)))
            return
        if s.condition is ast.CaseStatementCondition.Inside:
            raise self._refused(s, "Yosys is not trusted with case inside; write casez")
        fixed = s.expr.eval(ast.EvalContext(self._root)).value is not None
        for item in (item for group in s.items for item in group.expressions):
            literal = _bare(item)
            if type(literal) is ast.UnaryExpression:
                raise self._refused(item, "Yosys misreads an item of casez that is not a literal; write its digits")
            value = item.eval(ast.EvalContext(self._root)).value if fixed else None
            if value is not None and value.hasUnknown:
                raise self._refused(item, "Yosys misreads a casez of a constant with wildcard digits; use a wire")
            width = literal.type.bitWidth
            narrow = type(literal) is ast.IntegerLiteral and literal.type.isSigned and width < item.type.bitWidth
            if narrow and literal.value.hasUnknown and str(literal.value[width - 1]) != "0":
                raise self._refused(
                    item, "Yosys misreads a signed item of casez that must be extended; write all its digits"
                )

    def _computed(self, item: Any, e: Any) -> None:
        """Refuse an item that is computed in more bits than its operands have: Yosys computes it in theirs."""
        wider = type(e) is ast.ConversionExpression and e.operand.type.isIntegral
        if wider and type(item) not in _LITERALS and e.operand.type.bitWidth < e.type.bitWidth:
            raise self._refused(item, "Yosys misreads a computed item of a case; write its digits")

    def _word(self, e: Any) -> None:
        """Refuse a signed index: Yosys treats it as unsigned, so a two-bit -1 selects word 3."""
        array, index = e.value.type, e.selector.type
        if not array.isUnpackedArray or not array.hasFixedRange or not (index.isIntegral and index.isSigned):
            return
        span = array.fixedRange
        if max(span.left, span.right) >= 1 << (index.bitWidth - 1) or min(span.left, span.right) < 0:
            raise self._refused(
                e, "Yosys treats this index as unsigned, so a negative one selects a word; use $unsigned"
            )

    def _written_part(self, e: Any) -> None:
        """Refuse an indexed part-select on the left with a signed index, which may lie below the vector."""
        if type(e) is not ast.RangeSelectExpression or e.selectionKind is ast.RangeSelectionKind.Simple:
            return
        if e.left.type.isIntegral and e.left.type.isSigned and e.left.constant is None:
            raise self._refused(e, "Yosys misreads a signed index on the left-hand side; make it unsigned")

    def _folded(self, e: Any) -> None:
        """Refuse ``'1`` in a constant, such as ``'1 << 3`` or ``~'1``: Yosys computes it with one bit."""
        operands = [_bare(x) for x in _OPERANDS[type(e)](e)]
        if any(type(x) is ast.UnbasedUnsizedIntegerLiteral and _has_ones(x) for x in operands) and all(
            x.eval(ast.EvalContext(self._root)).value is not None for x in operands
        ):
            raise self._refused(e, "Yosys reads one bit of '1 here; give the number a size")

    def _compared(self, e: Any) -> None:
        self._folded(e)
        if e.op in _EQUALITIES:
            self._texts.update(_place(_bare(operand)) for operand in (e.left, e.right))

    def _text(self, e: Any) -> None:
        """Refuse an empty text except as the value of a parameter, and where it is compared: Yosys gives it no bits."""
        if _is_empty(e) and _place(e) not in self._texts:
            raise self._refused(e, "Yosys gives an empty text no bits, and simulators eight; write a number")

    def _known(self, e: Any) -> None:
        """Refuse a literal X as operand: Yosys folds it while it reads the text, so later checks cannot find it."""
        literal = _bare(e)
        if type(literal) in _LITERALS and literal.value.hasUnknown:
            raise self._refused(e, "X is an operand here, which Yosys evaluates differently from simulators")

    def _table(self, e: Any) -> None:
        self._texts.update(_place(_bare(x)) for x in e.arguments)
        value = e.arguments[0].eval(ast.EvalContext(self._root)) if e.arguments else None
        name = value.convertToStr().value if value else None
        if name is None or str(name).lstrip("\0") not in self._design.files:
            told = "a file whose name is not constant" if name is None else repr(str(name).lstrip("\0"))
            raise self._refused(e, f"this reads {told}, which is not one of the files that were given", "; use {data}")
        path = self._design.files[str(name).lstrip("\0")]
        if len(e.arguments) != 2 or (path.is_file() and b"/*" in path.read_bytes()):
            raise self._refused(e, "Yosys is not trusted with ranges and block comments of memory files")


_EQUALITIES = (
    *(ast.BinaryOperator.Equality, ast.BinaryOperator.Inequality),
    *(ast.BinaryOperator.CaseEquality, ast.BinaryOperator.CaseInequality),
)
#: System calls that have a value. The others print, and need not be read.
_READING = ("$signed", "$unsigned", "$clog2", "$bits", "$countones", "$onehot", "$onehot0")
_RULES: dict[Any, Callable[[_Search, Any], None]] = {
    **dict.fromkeys((ast.NetSymbol, ast.VariableSymbol, ast.FormalArgumentSymbol), _Search._declared),
    ast.ParameterSymbol: _Search._parameter,
    ast.IntegerLiteral: _Search._literal,
    ast.StringLiteral: _Search._text,
    ast.BinaryExpression: _Search._compared,
    ast.UnaryExpression: _Search._folded,
    ast.NamedValueExpression: _Search._named,
    ast.HierarchicalValueExpression: _Search._hierarchical,
    ast.CallExpression: _Search._call,
    ast.ConversionExpression: _Search._cast,
    ast.CaseStatement: _Search._case,
    ast.ElementSelectExpression: _Search._word,
    ast.AssignmentExpression: lambda search, e: e.left.visit(search._written_part),
}
#: For nodes with several kinds, the kinds that must also be trusted.
_ALSO: dict[Any, Callable[[Any], Any]] = {
    ast.UnaryExpression: lambda e: e.op,
    ast.BinaryExpression: lambda e: e.op,
    ast.ProceduralBlockSymbol: lambda e: e.procedureKind,
    ast.CallExpression: lambda e: e.subroutineName if e.isSystemCall else e.kind,
}


def _has_ones(literal: Any) -> bool:
    return bool(literal.value.hasUnknown) or int(literal.value) != 0


def _is_trusted(e: Any) -> bool:
    also = _ALSO.get(type(e))
    return e.kind in _TRUSTED and (also is None or also(e) in _TRUSTED)


def _parts(kind: Any) -> Iterator[Any]:
    """Yield the types of which a type is made."""
    kind = kind.canonicalType
    yield kind
    if kind.kind in (ast.SymbolKind.PackedArrayType, ast.SymbolKind.FixedSizeUnpackedArrayType):
        yield from _parts(kind.arrayElementType)
    elif kind.kind is ast.SymbolKind.PackedStructType:
        for field in kind:
            if field.kind is ast.SymbolKind.Field:
                yield from _parts(field.type)


def _bare(e: Any) -> Any:
    """Return an expression without conversions."""
    while type(e) is ast.ConversionExpression:
        e = e.operand
    return e


def _place(e: Any) -> tuple[int, int]:
    return e.sourceRange.start.buffer.id, e.sourceRange.start.offset


def _is_empty(e: Any) -> bool:
    """Return whether an expression is an empty text, or a parameter with such a value."""
    if type(e) is ast.NamedValueExpression:
        value = getattr(e.symbol, "initializer", None) if e.symbol.kind is ast.SymbolKind.Parameter else None
        return value is not None and _is_empty(_bare(value))
    return type(e) is ast.StringLiteral and not e.value


def _covers(extent: Any, place: Any) -> bool:
    """Return whether a range of text covers a place."""
    same = extent.start.buffer == place.buffer
    return bool(same and extent.start.offset <= place.offset < extent.end.offset)
