"""Symbolic execution: what variables hold after statements, as terms. And calls of functions, which are no more."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import cache
from itertools import product
from typing import Any

from dais_verif.errors import InputError
from dais_verif.prove.netlist import NoValue
from dais_verif.prove.slang.design import Design, ast, bits_in
from dais_verif.prove.slang.events import EventError
from dais_verif.prove.slang.expressions import Converter
from dais_verif.prove.slang.selects import target_parts
from dais_verif.prove.slang.writes import STEPS, written
from dais_verif.prove.terms import (
    Term,
    add,
    band,
    bor,
    concat,
    const,
    eq,
    extract,
    ite,
    leaves,
    nonzero,
    undefined,
    var,
)

__all__ = ["Execution", "called", "flat"]

#: The most iterations of one loop.
_UNROLLED = 1 << 16

#: The most calls of functions within one another.
_NESTED = 100

_SILENT = ("$display", "$write", "$error", "$warning", "$info", "$fatal", "$finish")


def flat(s: Any) -> Iterator[Any]:
    """The statements of nested lists and blocks, in order; a fork is one statement."""
    if type(s) is ast.StatementList:
        for x in s.list:
            yield from flat(x)
    elif type(s) is ast.BlockStatement and s.blockKind is ast.StatementBlockKind.Sequential:
        yield from flat(s.body)
    elif type(s) is not ast.EmptyStatement:
        yield s


class Execution:
    """Values of variables while statements run. ``outer``: the value of what was not assigned here."""

    def __init__(self, design: Design, outer: Callable[[Any], Term], free: bool = True) -> None:
        self.design, self._outer = design, cache(outer)
        self.values: dict[Any, Term] = {}
        #: Which bits of them were assigned on any path.
        self.assigned: dict[Any, int] = {}
        self.convert = Converter(design, self._read, free)
        self._rules: dict[Any, Callable[[Any], None]] = {
            ast.StatementList: self._list,
            ast.BlockStatement: self._block,
            ast.EmptyStatement: lambda s: None,
            ast.ExpressionStatement: lambda s: self.expression(s.expr),
            ast.ConditionalStatement: self._conditional,
            ast.CaseStatement: self._case,
            ast.ForLoopStatement: self._for,
            ast.ForeachLoopStatement: self._foreach,
            ast.VariableDeclStatement: self._declaration,
            ast.ImmediateAssertionStatement: self._assertion,
        }

    @property
    def kinds(self) -> Container[Any]:
        """The types of the statements that can be run."""
        return self._rules

    def statement(self, s: Any) -> None:
        """Run ``s``. Raises ``InputError`` for what is no combinational code."""
        rule = self._rules.get(type(s))
        if rule is None:
            raise self.convert.refused(s, f"{s.kind.name} statements are not supported by the proof here")
        rule(s)

    def _read(self, symbol: Any, low: int, width: int) -> Term:
        return extract(self._whole(symbol), low, width)

    def _whole(self, symbol: Any) -> Term:
        known = self.values.get(symbol)
        return known if known is not None else self._outer(symbol)

    def _block(self, s: Any) -> None:
        if s.blockKind is not ast.StatementBlockKind.Sequential:
            raise self.convert.refused(s, "a fork has no order and no meaning in a proof; write begin and end")
        self.statement(s.body)

    def _list(self, s: Any) -> None:
        for x in s.list:
            self.statement(x)

    def _declaration(self, s: Any) -> None:
        symbol = s.symbol
        width = bits_in(symbol.type)
        if width is None:
            raise self.convert.refused(s, f"{symbol.name!r} is no vector and no array of vectors")
        if symbol.lifetime is ast.VariableLifetime.Static:  # it has what it had when the block last ran
            return
        if symbol.initializer is not None:
            self.values[symbol] = self.convert(symbol.initializer)
        elif symbol.type.isFourState:
            self.values[symbol] = undefined(width, f"variable {symbol.name!r} before it is assigned")
        else:
            self.values[symbol] = const(width, 0)

    def _assertion(self, s: Any) -> None:
        """It is left out, but not if it could change anything."""
        if s.assertionKind is not ast.AssertionKind.Assert or any(not self.design.is_local(x) for x in written(s)):
            raise self.convert.refused(s, "an assertion that assigns, or an assumption, is not supported by the proof")

    def expression(self, e: Any) -> None:
        """Run ``e``, which is a statement."""
        kind = type(e)
        if kind is ast.AssignmentExpression:
            if e.isNonBlocking or e.timingControl is not None:
                raise self.convert.stateful(e, "a nonblocking or delayed assignment keeps state; write =")
            self.assign(e.left, self.assigned_value(e))
        elif kind is ast.UnaryExpression and e.op in STEPS:
            old = self.convert(e.operand)
            self.assign(e.operand, add(old, const(old.width, STEPS[e.op])))
        elif kind is ast.CallExpression and e.isSystemCall and e.subroutineName in _SILENT:
            if any(not self.design.is_local(x) for argument in e.arguments for x in written(argument)):
                raise self.convert.refused(e, "a function that is called to be shown assigns a signal")
        else:
            raise self.convert.refused(e, f"a {e.kind.name} as a statement is not supported by the proof")

    def assigned_value(self, e: Any) -> Term:
        """The right side of an assignment. Raises ``InputError`` that names the signal if it is X or Z."""
        self.convert.target = e.left  # in the right side of += it stands as a reference
        try:
            return self.convert(e.right)
        except NoValue as error:
            names = ", ".join(symbol.name for symbol, _, _ in target_parts(self.convert, e.left))
            raise InputError(str(NoValue(error.where, names))) from None

    def assign(self, left: Any, value: Term, key: Callable[[Any], Any] = lambda symbol: symbol) -> None:
        """Assign to a signal, a part of it, or several. ``key``: under what ``values`` has a symbol."""
        place = value.width
        for symbol, low, width in target_parts(self.convert, left):
            place -= width
            piece = extract(value, place, width)
            self.assigned[key(symbol)] = self.assigned.get(key(symbol), 0) | ((1 << width) - 1) << low
            total = bits_in(symbol.type) or 0
            if width == total:
                self.values[key(symbol)] = piece
                continue
            old = self._whole(key(symbol))
            parts = [extract(old, low + width, total - low - width)] if low + width < total else []
            parts.append(piece)
            if low:
                parts.append(extract(old, 0, low))
            self.values[key(symbol)] = concat(*parts)

    def counted(self, e: Any) -> None:
        """Begin or go on with a loop."""
        self.expression(e)

    def _choose(self, condition: Term, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Run both, and keep of each variable what ``condition`` chooses."""
        if condition.op == "const":
            return (first if condition.value else second)()
        start = dict(self.values)
        first()
        taken, self.values = self.values, start.copy()
        second()
        other = self.values
        self.values = {}
        for symbol in {**taken, **other}:
            a, b = (values.get(symbol) for values in (taken, other))
            a, b = (x if x is not None else self._outer(symbol) for x in (a, b))
            self.values[symbol] = ite(condition, a, b)

    def _conditional(self, s: Any) -> None:
        if len(s.conditions) != 1 or s.conditions[0].pattern is not None:
            raise self.convert.refused(s, "a pattern is not supported by the proof")
        condition = nonzero(self.convert(s.conditions[0].expr))
        no = (lambda: None) if s.ifFalse is None else (lambda: self.statement(s.ifFalse))
        self._choose(condition, lambda: self.statement(s.ifTrue), no)

    def _case(self, s: Any) -> None:
        if s.condition is ast.CaseStatementCondition.Inside:
            raise self.convert.refused(s, "case inside is not supported by the proof")
        subject = self.convert(s.expr)
        wild = s.condition is not ast.CaseStatementCondition.Normal
        arms = [([self._matches(subject, x, wild) for x in item.expressions], item.stmt) for item in s.items]

        def run(number: int) -> None:
            if number == len(arms):
                if s.defaultCase is not None:
                    self.statement(s.defaultCase)
                return
            matches, body = arms[number]
            condition = matches[0]
            for other in matches[1:]:
                condition = bor(condition, other)
            self._choose(condition, lambda: self.statement(body), lambda: run(number + 1))

        run(0)

    def _matches(self, subject: Term, e: Any, wild: bool) -> Term:
        """Whether a case item applies; ``?`` and ``z`` (in casex also ``x``) match anything."""
        value = e.eval(ast.EvalContext(next(iter(self.design.signals)))).value if wild else None
        if value is None or not value.hasUnknown:
            return eq(subject, self.convert(e))
        literal = e
        while type(literal) is ast.ConversionExpression:
            literal = literal.operand
        width, signed = self.convert.type_of(literal)
        if signed and width < subject.width and str(value[width - 1]) in "xXzZ":
            raise self.convert.refused(
                e, "simulators differ in how they extend this item; write as many digits as bits"
            )
        match = const(1, 1)
        for bit in range(subject.width):  # extended to the width of the subject, with its own signs
            digit = str(value[bit])
            if digit in "01":
                match = band(match, eq(extract(subject, bit, 1), const(1, int(digit))))
            elif digit in "xX":
                raise self.convert.refused(e, "X matches anything in simulation only; write ? in a casez")
        return match

    def _for(self, s: Any) -> None:
        for symbol in s.loopVars:
            self.values[symbol] = self.convert(symbol.initializer)
        for e in s.initializers:
            self.counted(e)
        for _ in range(_UNROLLED):
            self.design.turn(s)
            going = self.convert(s.stopExpr)
            if going.op != "const":
                raise self.convert.refused(s, "the end of this loop depends on a signal; the proof unrolls loops")
            if not going.value:
                return
            self.statement(s.body)
            for e in s.steps:
                self.counted(e)
        raise self.convert.refused(s, f"this loop runs more than {_UNROLLED} times")

    def _foreach(self, s: Any) -> None:
        spans = [dim.range for dim in s.loopDims if dim.loopVar is not None]
        symbols = [dim.loopVar for dim in s.loopDims if dim.loopVar is not None]
        for indices in product(*(_indices(span.left, span.right) for span in spans)):
            self.design.turn(s)
            for symbol, index in zip(symbols, indices, strict=True):
                self.values[symbol] = const(bits_in(symbol.type) or 32, index)
            self.statement(s.body)


def _indices(left: int, right: int) -> range:
    return range(left, right + 1) if left <= right else range(left, right - 1, -1)


# functions


def called(c: Converter, e: Any) -> Term:
    """The value of a call of a function of the design."""
    function = e.subroutine
    if function.subroutineKind is not ast.SubroutineKind.Function or function.returnType.isVoid:
        raise c.refused(e, f"{function.name!r} is no function with a value; the proof cannot use it")
    c.design.turn(e)
    if c.design.calls >= _NESTED:
        raise c.refused(e, f"function {function.name!r} calls itself without end, or more than {_NESTED} times")
    c.design.calls += 1
    try:
        return _returned(c, e, function)
    finally:
        c.design.calls -= 1


def _returned(c: Converter, e: Any, function: Any) -> Term:
    local: dict[Any, Term] = {}

    def outer(symbol: Any) -> Term:
        if _inside(symbol, function):
            return local.setdefault(symbol, var(bits_in(symbol.type) or 1, f"before {symbol.name}"))
        if not c.free:
            where = c.design.where(e.sourceRange.start)
            raise EventError(
                f"{where}: function {function.name!r} reads {symbol.name!r}, and simulators"
                " need not call it again when that changes; give it as an argument, or write always_comb"
            )
        return c.read(symbol, 0, bits_in(symbol.type) or 1)

    run = Execution(c.design, outer)
    for formal, actual in zip(function.arguments, e.arguments, strict=True):
        if formal.direction != ast.ArgumentDirection.In:
            raise c.refused(e, f"function {function.name!r} has an output argument; the proof cannot use it")
        run.values[formal] = c(actual)
    body = list(flat(function.body))
    result: Term | None = None
    if body and type(body[-1]) is ast.ReturnStatement:
        last = body.pop()
        for s in body:
            run.statement(s)
        result = run.convert(last.expr)
    else:
        for s in body:
            run.statement(s)
        result = run.values.get(function.returnValVar)
    outside = [x.name for x in run.assigned if not _inside(x, function)]
    if outside:
        raise c.refused(
            e, f"function {function.name!r} assigns {outside[0]!r}, which is not its own; the proof cannot use it"
        )
    if result is None or any(t in local.values() for t in leaves(result)):
        raise c.stateful(e, f"function {function.name!r} reads or returns a variable before it is assigned")
    return result


def _inside(symbol: Any, function: Any) -> bool:
    """Whether ``symbol`` is a variable of ``function``."""
    scope = symbol.parentScope
    while scope is not None:
        if scope == function:
            return True
        scope = getattr(scope, "parentScope", None)
    return False
