"""Symbolic execution: the values of variables after statements, as terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from typing import Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.four_state import add, bnot, bor, ite, nowhere
from dais_verif.prover.netlist import NoValue
from dais_verif.prover.slang import loops
from dais_verif.prover.slang.checks import leave_out, note_ending, refuse_change
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in, why_no_bits
from dais_verif.prover.slang.diagnostics import refuse_reentry
from dais_verif.prover.slang.events import refuse_unseen
from dais_verif.prover.slang.expressions import Converter, condition_of
from dais_verif.prover.slang.kinds import (
    ACTIONS,
    ARGUMENTS,
    BRACKETS,
    CALLS,
    CASES,
    CHECKS,
    ENDING,
    STATEMENTS,
    TIMING,
    How,
)
from dais_verif.prover.slang.loops import Jumps, chosen_values
from dais_verif.prover.slang.piecewise import Marks, Value, assigned, chosen, part, whole
from dais_verif.prover.slang.places import VariablePlace, variable_place
from dais_verif.prover.slang.selects import target_parts
from dais_verif.prover.slang.wildcards import (
    is_complete,
    matches,
    member_of,
    pattern_of,
    refuse_mixed,
    refuse_rest,
    subject_of,
)
from dais_verif.prover.slang.writes import STEPS
from dais_verif.prover.terms import Term, const, extract, leaves, replaced, resize, undefined

__all__ = ["Execution", "flat"]

#: System tasks that only print something, or end the simulation.
_SILENT = CALLS.of(How.LEFT_OUT)


def flat(s: Any, through: bool = False) -> Iterator[Any]:
    """Yield the statements of nested lists and blocks, in order; a fork is one statement.

    A block that a ``disable`` leaves is also one statement, unless ``through`` is true.
    """
    if type(s) is ast.StatementList:
        for x in s.list:
            yield from flat(x, through)
    elif (
        type(s) is ast.BlockStatement
        and s.blockKind is ast.StatementBlockKind.Sequential
        and (through or s.blockSymbol is None or not _is_disabled(s))
    ):
        yield from flat(s.body, through)
    elif type(s) is not ast.EmptyStatement:
        yield s


def _is_disabled(block: Any) -> bool:
    found: list[Any] = []

    def visit(s: Any) -> Any:
        if type(s) is ast.DisableStatement:
            found.append(s)
        return ast.VisitAction.Skip if isinstance(s, ast.Expression) else ast.VisitAction.Advance

    block.visit(visit)
    return any(s.target.symbol == block.blockSymbol for s in found)


class Execution:
    """The values of variables while statements run.

    ``outer``: returns the value of a symbol that none of these statements has assigned. ``free``: whether functions may
    read signals that are not arguments; ``tasks``: whether tasks may do so, too.
    """

    def __init__(
        self, design: SlangDesign, outer: Callable[[Any], Term], free: bool = True, tasks: bool = True
    ) -> None:
        self.design, self._given, self._outer = design, outer, cache(outer)
        self.values: dict[Any, Value] = {}
        #: The variable that holds the result of the function that is being executed.
        self.result: Any = None
        #: Which bits of variables were assigned on any path.
        self.assigned: dict[Any, Marks] = defaultdict(Marks)
        self.convert, self._tasks = Converter(design, self._read, free), free and tasks
        self.jumps = Jumps()
        #: The subroutines that are being executed: tasks, and functions whose value is not used.
        self._running: list[Any] = []
        #: The number of enclosing branches with conditions that are not constant.
        self._branches = 0
        #: The named blocks that enclose the current statement, within its subroutine.
        self._around: list[Any] = []

    def forget(self) -> None:
        """Forget the values of symbols that were not assigned, so that ``outer`` is called for them again."""
        self._outer = cache(self._given)

    def statement(self, s: Any) -> None:
        """Run ``s``. Raises ``InputError`` for code that is not combinational."""
        rule = _RULES.get(s.kind)
        if rule is not None:
            return rule(self, s)
        if s.kind in _ASSERTIONS:
            return leave_out(self.design, s)
        raise self.convert.refused(s, STATEMENTS.message(s.kind))

    def _read(self, symbol: Any, low: int, width: int) -> Term:
        return part(self.value_of(symbol), low, width)

    def value_of(self, symbol: Any) -> Value:
        """Return the value of ``symbol``: the assigned one, or else the one that ``outer`` returns."""
        known = self.values.get(symbol)
        if known is None and self._running and isinstance(symbol, ast.Symbol) and not self.design.is_local(symbol):
            blind = not self._tasks and any(x.subroutineKind is ast.SubroutineKind.Task for x in self._running)
            if blind or not self.convert.free:
                refuse_unseen(self.design, self._running[-1], symbol)
        return known if known is not None else self._outer(symbol)

    def _block(self, s: Any) -> None:
        self.convert.decided(s, BRACKETS, s.blockKind)
        if s.blockSymbol is None:
            return self.statement(s.body)
        begun = len(self.jumps.waiting)
        self._around.append(s.blockSymbol)
        try:
            self.statement(s.body)
        finally:
            self._around.pop()
        self.land(("disable", s.blockSymbol), begun)

    def _list(self, s: Any) -> None:
        self.sequence(s.list)

    def sequence(self, statements: Iterable[Any]) -> None:
        """Run statements up to an unconditional jump."""
        for x in statements:
            if self.jumps.dead:
                return
            self.statement(x)

    def _jump(self, kind: Hashable) -> None:
        self.jumps.take(kind, const(1, 1), self.values)

    def _disable(self, s: Any) -> None:
        if s.target.symbol not in self._around:
            raise self.convert.refused(s, "the proof supports disable only for an enclosing named block")
        self._jump(("disable", s.target.symbol))

    def _return(self, s: Any) -> None:
        if s.expr is not None:
            self.values[self.result] = self.convert(s.expr)
        self._jump("return")

    def land(self, kind: Hashable, since: int) -> None:
        """Merge the values of the jumps of ``kind`` that arrive here; ``since``: the index of the first one."""
        self.values = self.jumps.landed(kind, since, self.values, self._outer)

    def _declaration(self, s: Any) -> None:
        symbol = s.symbol
        width = bits_in(symbol.type)
        if width is None:
            raise self.convert.refused(s, f"{symbol.name!r}: {why_no_bits(symbol.type)}")
        if symbol.lifetime is ast.VariableLifetime.Static:  # it keeps its value from the last run of the block
            return
        if symbol.initializer is not None:
            self.values[symbol] = self.convert(symbol.initializer)
        elif symbol.type.isFourState:
            self.values[symbol] = undefined(width, f"variable {symbol.name!r} before it is assigned")
        else:
            self.values[symbol] = const(width, 0)

    def expression(self, e: Any) -> None:
        """Run an expression that is a statement."""
        kind = type(e)
        if kind is ast.AssignmentExpression:
            if e.timingControl is not None:
                waits = "an assignment that waits keeps state; write a register"
                raise self.convert.stateful(e, TIMING.refusal(e.timingControl.kind) or waits)
            if e.isNonBlocking:
                raise self.convert.stateful(e, "a nonblocking assignment keeps state here; write =")
            self.assign(e.left, self.assigned_value(e))
        elif kind is ast.UnaryExpression and e.op in STEPS:
            old = self.convert(e.operand)
            self.assign(e.operand, add(old, const(old.width, STEPS[e.op])))
        elif kind is ast.CallExpression and e.isSystemCall and e.subroutineName in _SILENT:
            for argument in e.arguments:
                refuse_change(self.design, argument)
            if e.subroutineName in ENDING:
                if not self._branches and not self.jumps.waiting:
                    ends = f"{e.subroutineName} ends every simulation here; correct what it checks"
                    raise self.convert.refused(e, ends)
                note_ending(self.design, e)
        elif kind is ast.CallExpression and not e.isSystemCall:
            self._subroutine(e)
        elif kind is ast.CallExpression:
            raise self.convert.refused(e, f"{e.subroutineName} {CALLS.message(e.subroutineName)}")
        else:
            raise self.convert.refused(e, ACTIONS.message(e.kind))

    def _subroutine(self, e: Any) -> None:
        """Execute a task, or a function whose value is not used; copy arguments in before and out after."""
        body, formals = e.subroutine, e.subroutine.arguments
        self.design.turn(e)
        refuse_reentry(self.design, body)
        if body in self._running or body.body is None:
            raise self.convert.refused(e, f"{body.name!r} calls itself, or has no statements; the proof cannot run it")
        for formal in formals:
            refusal = ARGUMENTS.refusal(formal.direction)
            if refusal is not None:
                raise self.convert.refused(e, f"{body.name!r}, argument {formal.name!r}: {refusal}")
        given: dict[Any, Term] = {}
        for formal, actual in zip(formals, e.arguments, strict=True):
            width = bits_in(formal.type)
            if width is None:
                raise self.convert.refused(e, f"argument {formal.name!r}: {why_no_bits(formal.type)}")
            if formal.direction is ast.ArgumentDirection.In:
                given[formal] = self.convert(actual)
            elif formal.direction is ast.ArgumentDirection.InOut:
                given[formal] = self._as(formal, self.convert(actual.left), actual.left)
            else:
                given[formal] = undefined(width, f"before {formal.name}")
        unknown = {given[formal].data for formal in formals if formal.direction is ast.ArgumentDirection.Out}
        self.values.update(given)
        begun, result, known = len(self.jumps.waiting), self.result, set(self.values)
        around, self._around = self._around, []
        self._running.append(body)
        self.result = body.returnValVar
        try:
            self.sequence(flat(body.body))
        finally:
            self._running.pop()
            self.result, self._around = result, around
        self.land("return", begun)
        for formal, actual in zip(formals, e.arguments, strict=True):
            if formal.direction is not ast.ArgumentDirection.In:
                value = whole(self.values[formal])
                if any(t.op == "undefined" and t.data in unknown for t in leaves(value)):
                    raise self.convert.stateful(
                        e, f"{body.name!r} reads or returns {formal.name!r} before it is assigned"
                    )
                width, _ = self.convert.type_of(actual.left)
                if width > value.width and formal.type.isIntegral and formal.type.isSigned:  # Verilator adds zeros
                    raise self.convert.refused(
                        e, f"simulators differ in how they extend {formal.name!r}; use a variable of its width"
                    )
                self.assign(actual.left, resize(value, width, False))
        for symbol in self.values.keys() - known:  # automatic variables are created again in the next call
            if not isinstance(symbol, ast.VariableSymbol):
                continue  # the next value of a register
            if self.design.is_local(symbol) and symbol.lifetime is ast.VariableLifetime.Automatic:
                del self.values[symbol]

    def _as(self, formal: Any, value: Term, e: Any) -> Term:
        return resize(value, bits_in(formal.type) or 1, self.convert.type_of(e)[1])

    def assigned_value(self, e: Any) -> Term:
        """Return the right side of an assignment; if it is X or Z, raise ``InputError`` with the name of the signal."""
        refuse_rest(self.convert, e)
        self.convert.target = e.left  # the right side of += refers to it
        try:
            return self.convert(e.right)
        except NoValue as error:
            names = ", ".join(symbol.name for symbol, _, _ in target_parts(self.convert, e.left))
            raise UnsupportedVerilog(str(NoValue(error.where, names))) from None

    def assign(self, left: Any, value: Term, key: Callable[[Any], Any] = lambda symbol: symbol) -> None:
        """Assign to a signal, a part of it, or several signals. ``key``: returns the key of a symbol in ``values``."""
        found = variable_place(self.convert, left)
        if found is not None:
            self.design.choose_among(1 if found.ranged else found.width // found.element, left)
            return self._assign_somewhere(found, value, key)
        place = value.width
        for symbol, low, width in target_parts(self.convert, left):
            place -= width
            piece, name = extract(value, place, width), key(symbol)
            self.assigned[name].add(low, width)
            full = width == bits_in(symbol.type)
            self.values[name] = piece if full else assigned(self.value_of(name), low, piece)

    def _assign_somewhere(self, found: VariablePlace, value: Term, key: Callable[[Any], Any]) -> None:
        """Assign to the element or the bits that an index selects.

        If the index is out of range, the standard stores nothing, Icarus Verilog may change bits next to a part of a
        packed vector, and Verilator uses lower bits of the index. In the proof, the whole variable is then undefined.
        """
        name = key(found.symbol)
        self.assigned[name].add(found.low, found.width)
        old = whole(self.value_of(name))
        stored = found.stored(extract(old, found.low, found.width), value)
        new = replaced(old, found.low, stored)
        if found.inside is not None:
            new = ite(found.inside, new, undefined(old.width, "a write beyond a vector", old, value, found.position))
        self.values[name] = new

    def counted(self, e: Any) -> None:
        """Run an initialiser or a step of a loop."""
        self.expression(e)

    def _choose(self, condition: Term, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Run both branches, and choose the value of each variable by ``condition``."""
        self.design.conditions[condition] = None
        if condition.op == "const":
            return (first if condition.value else second)()
        start = dict(self.values)
        self._branches += 1
        gone = self.jumps.under(condition, first)
        taken, self.values = self.values, start.copy()
        gone_too = self.jumps.under(bnot(condition), second)
        self._branches -= 1
        self.jumps.dead = gone and gone_too
        if gone_too and not gone:
            self.values = taken
        elif gone == gone_too:
            self.values = dict(chosen_values(condition, taken, self.values, self._outer))

    def _conditional(self, s: Any) -> None:
        self.convert.decided(s, CHECKS, s.check)
        condition = condition_of(self.convert, s)
        no = (lambda: None) if s.ifFalse is None else (lambda: self.statement(s.ifFalse))
        self._choose(condition, lambda: self.statement(s.ifTrue), no)

    def _case(self, s: Any) -> None:
        self.convert.decided(s, CASES, s.condition)
        self.convert.decided(s, CHECKS, s.check)
        inside = s.condition is ast.CaseStatementCondition.Inside
        items = [x for item in s.items for x in item.expressions]
        subject, signed = subject_of(self.convert, s.expr, items) if inside else (self.convert(s.expr), False)
        wild = "" if s.condition is ast.CaseStatementCondition.Normal else "zZ"

        def match(e: Any) -> Term:
            if not inside:
                refuse_mixed(self.convert, e)
            return member_of(self.convert, subject, signed, e) if inside else matches(self.convert, subject, e, wild)

        arms = [([match(x) for x in item.expressions], item.stmt) for item in s.items]
        full = s.defaultCase is None and not inside and self._is_full(s, subject, wild)

        def run(number: int) -> None:
            if number == len(arms):
                if s.defaultCase is not None:
                    self.statement(s.defaultCase)
                return
            applies, body = arms[number]
            condition = applies[0]
            for other in applies[1:]:
                condition = bor(condition, other)
            if full and number == len(arms) - 1:
                return self.statement(body)
            self._choose(condition, lambda: self.statement(body), lambda: run(number + 1))

        start, begun = dict(self.values), len(self.jumps.waiting)
        run(0)
        if full:  # an undefined subject matches no item
            self._spoil(nowhere(subject), start, begun)

    def _spoil(self, known: Term, start: dict[Any, Value], begun: int) -> None:
        """Make values assigned since ``start``, including those that jumps carry, undefined where ``known`` is 0."""
        if known is const(1, 1):
            return
        for values in (self.values, *(jump.values for jump in self.jumps.waiting[begun:])):
            for symbol, value in values.items():
                if value is not start.get(symbol):
                    values[symbol] = chosen(known, value, undefined(value.width, "a case without an item for X"))

    def _is_full(self, s: Any, subject: Term, wild: str) -> bool:
        """Return whether the items cover every value without a default, so that the last one needs no condition."""
        items = [x for item in s.items for x in item.expressions]
        return is_complete(self.convert, s.expr, [pattern_of(self.convert, subject.width, x, wild) for x in items])


_s = ast.StatementKind
_ASSERTIONS = STATEMENTS.of(How.LEFT_OUT)
_RULES: dict[Any, Callable[[Execution, Any], None]] = STATEMENTS.rules(
    {
        _s.Empty: lambda run, s: None,
        _s.List: Execution._list,
        _s.Block: Execution._block,
        _s.ExpressionStatement: lambda run, s: run.expression(s.expr),
        _s.VariableDeclaration: Execution._declaration,
        _s.Conditional: Execution._conditional,
        _s.Case: Execution._case,
        _s.ForLoop: loops.for_loop,
        _s.ForeachLoop: loops.foreach,
        _s.RepeatLoop: loops.repeat,
        _s.WhileLoop: loops.while_loop,
        _s.DoWhileLoop: loops.do_while,
        _s.Break: lambda run, s: run._jump("break"),
        _s.Continue: lambda run, s: run._jump("continue"),
        _s.Return: Execution._return,
        _s.Disable: Execution._disable,
    }
)
