"""Refuse RTL that Yosys is known to read differently from simulators, if Yosys is the only front end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.dut.verilog import read_files
from dais_verif.errors import InputError
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.functions import call_value
from dais_verif.prover.slang.kinds import FILLING

__all__ = ["refuse_misread"]

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
_SIGNALS = (ast.SymbolKind.Net, ast.SymbolKind.Variable)


def refuse_misread(sources: Sequence[Path], top: str, files: Mapping[str, Path]) -> None:
    """Raise ``InputError`` for RTL that Yosys misreads. ``files``: the data files of the RTL, by name.

    Constructs that pyslang cannot bind are not checked.
    """
    manager = pyslang.SourceManager()
    options = ast.CompilationOptions()
    options.topModules = {top}
    compilation = ast.Compilation(pyslang.Bag([options]))
    compilation.addSyntaxTree(read_files(sources, manager))
    design = SlangDesign(manager, files, call_value)
    _Search(design, compilation.getRoot()).look()
    for diagnostic in compilation.getAllDiagnostics():
        if diagnostic.code in _MISREAD:
            raise InputError(f"{design.where(diagnostic.location)}: {_MISREAD[diagnostic.code]}")


class _Search:
    def __init__(self, design: SlangDesign, root: Any) -> None:
        self._design, self._root = design, root
        self._path: Any = None
        self._dotted = False

    def look(self) -> None:
        self._root.visit(self._visit)
        if self._path is not None and self._dotted:
            raise self._refused(
                self._path, "Yosys takes a hierarchical name for an escaped one with a dot; rename the escaped one"
            )

    def _refused(self, e: Any, text: str, advice: str = "") -> InputError:
        where = self._design.where(e.sourceRange.start)
        return InputError.of(
            "{where}: {text}" + advice + ", or leave Yosys out: {front_end} slang", where=where, text=text
        )

    def _visit(self, e: Any) -> Any:
        kind = type(e)
        if kind is ast.InstanceBodySymbol and e.isUninstantiated:  # Yosys also ignores uninstantiated modules
            return ast.VisitAction.Skip
        if isinstance(e, ast.Symbol) and e.kind in _SIGNALS and "." in e.name:
            self._dotted = True
        if kind is ast.ConversionExpression:
            self._cast(e)
        elif kind is ast.CaseStatement:
            self._case(e)
        elif kind is ast.CallExpression and e.isSystemCall and e.subroutineName in FILLING:
            self._table(e)
        elif kind is ast.CallExpression and not e.isSystemCall:
            if any(formal.direction is ast.ArgumentDirection.InOut for formal in e.subroutine.arguments):
                raise self._refused(
                    e, "Yosys copies an inout argument only at the end of a call; write an input and an output"
                )
        elif kind is ast.HierarchicalValueExpression:
            self._path = self._path or e
        elif kind is ast.ElementSelectExpression:
            self._word(e)
        elif kind is ast.AssignmentExpression:
            e.left.visit(self._written_part)
        for operand in _OPERANDS.get(kind, lambda e: ())(e):
            self._known(operand)
        return ast.VisitAction.Advance

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
            return
        fixed = s.expr.eval(ast.EvalContext(self._root)).value is not None
        for item in (item for group in s.items for item in group.expressions):
            literal = item
            while type(literal) is ast.ConversionExpression:
                literal = literal.operand
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

    def _word(self, e: Any) -> None:
        """Refuse a signed index: Yosys treats it as unsigned, so a two-bit -1 selects word 3."""
        array, index = e.value.type, e.selector.type
        if not array.isUnpackedArray or not array.hasFixedRange or not (index.isIntegral and index.isSigned):
            return
        if max(array.fixedRange.left, array.fixedRange.right) >= 1 << (index.bitWidth - 1):
            raise self._refused(
                e, "Yosys treats this index as unsigned, so a negative one selects a word; use $unsigned"
            )

    def _written_part(self, e: Any) -> None:
        """Refuse an indexed part-select on the left with a signed index, which may lie below the vector."""
        if type(e) is not ast.RangeSelectExpression or e.selectionKind is ast.RangeSelectionKind.Simple:
            return
        if e.left.type.isIntegral and e.left.type.isSigned and e.left.constant is None:
            raise self._refused(e, "Yosys misreads a signed index on the left-hand side; make it unsigned")

    def _known(self, e: Any) -> None:
        """Refuse a literal X as operand: Yosys folds it while it reads the text, so later checks cannot find it."""
        literal = e
        while type(literal) is ast.ConversionExpression:
            literal = literal.operand
        if type(literal) in _LITERALS and literal.value.hasUnknown:
            raise self._refused(e, "X is an operand here, which Yosys evaluates differently from simulators")

    def _table(self, e: Any) -> None:
        value = e.arguments[0].eval(ast.EvalContext(self._root)) if e.arguments else None
        name = value.convertToStr().value if value else None
        if name is None or str(name).lstrip("\0") not in self._design.files:
            told = "a file whose name is not constant" if name is None else repr(str(name).lstrip("\0"))
            raise self._refused(e, f"this reads {told}, which is not one of the files that were given", "; use {data}")
