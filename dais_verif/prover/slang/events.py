"""Check when code runs and when values change: sensitivity lists and delays.

A proof assumes that logic has settled. A block must therefore run whenever a signal that it reads changes, and must
have run at least once. A block that only waits for changes does not run while all these signals keep their initial
values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dais_verif.base.errors import StateError, UnsupportedVerilog
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.kinds import EDGES, TIMING
from dais_verif.prover.slang.writes import NAMES, indices, symbol_of

__all__ = [
    "EventError",
    "Events",
    "RaceError",
    "begins_unknown",
    "never_runs",
    "refuse_asleep",
    "refuse_delay",
    "refuse_unseen",
    "sensitivity",
    "taken",
]


class EventError(StateError):
    """RTL whose simulation differs from settled logic."""


class RaceError(UnsupportedVerilog):
    """A register is assigned with ``=`` at a clock edge: other blocks may see its old or its new value at that edge.

    ``mates``: the signals that the same block assigns; for these, the order is defined.
    """

    def __init__(self, text: str, mates: frozenset[Any]) -> None:
        super().__init__(text)
        self.mates = mates


class Events(NamedTuple):
    """The events that run a block.

    ``listed``: the signals whose changes run the block; None: all signals that it reads. ``always``: whether the block
    also runs at the beginning. ``free``: whether changes of signals that called functions read run it, too.
    """

    listed: frozenset[Any] | None
    always: bool
    free: bool

    @property
    def implied(self) -> bool:
        """Whether the block waits for all signals that it reads, as ``always @*`` does."""
        return self.listed is None and not self.always


def sensitivity(design: SlangDesign, body: Any, where: str) -> tuple[Events, Any]:
    """Return the events that run a combinational block, and its statement.

    Raises ``EventError`` if the block may miss a change.
    """
    if type(body) is not ast.TimedStatement:
        return Events(None, always=True, free=True), body  # always_comb
    timing = body.timing
    _refuse_timing(timing, where)
    if timing.kind is ast.TimingControlKind.ImplicitEvent:
        return Events(None, always=False, free=False), body.stmt
    events = timing.events if timing.kind is ast.TimingControlKind.EventList else [timing]
    listed: set[Any] = set()
    for event in events:
        _refuse_timing(event, where)
        if event.edge is not ast.EdgeKind.None_:
            raise EventError(f"{where}: {EDGES.refusal(event.edge) or _OTHER_EDGES}")
        if event.iffCondition is not None:
            raise EventError(f"{where}: a sensitivity list with iff keeps state; write always @*")
        # A part of a signal, or an expression, does not run the block at every change of the signal.
        names = event.expr.operands if type(event.expr) is ast.ConcatenationExpression else [event.expr]
        listed.update(symbol_of(name) for name in names if type(name) in NAMES)
    if not listed:
        raise EventError(f"{where}: this sensitivity list names no signal as a whole; write always @*")
    return Events(frozenset(listed), always=False, free=True), body.stmt


_OTHER_EDGES = "the proof supports one edge of a clock, and this block has other edges"


def _refuse_timing(timing: Any, where: str) -> None:
    refusal = TIMING.refusal(timing.kind)
    if refusal is not None:
        raise EventError(f"{where}: {refusal}")


def refuse_asleep(events: Events, body: Any, own: set[Any], where: str) -> None:
    """Raise ``EventError`` if a block may never run.

    A variable with an initial value, by its declaration or because its type is two-state, may never change. A net or
    any other variable starts as X, and changes when it gets a value. ``own``: the symbols that the block assigns.
    """
    found: list[Any] = []

    def look(e: Any) -> Any:
        if found:
            return ast.VisitAction.Interrupt
        if type(e) is ast.AssignmentExpression and not e.isCompound:
            for read in (e.right, *indices(e.left)):
                read.visit(look)
            return ast.VisitAction.Skip
        if type(e) is ast.ConditionalStatement and (arms := taken(e)) is not None:
            for arm in arms:
                arm.visit(look)
            return ast.VisitAction.Skip
        if type(e) in NAMES and symbol_of(e) not in own and begins_unknown(symbol_of(e)):
            found.append(symbol_of(e))
        return ast.VisitAction.Advance

    if events.listed is None:
        body.visit(look)
    if not found and not any(map(begins_unknown, events.listed or ())):
        raise EventError(
            f"{where}: this block may never run: it waits for a change, and everything that it reads may be constant"
            " from the beginning; write always_comb"
        )


def taken(s: Any) -> list[Any] | None:
    """Return the statements that an ``if`` with a constant condition may run; None if the condition is not constant."""
    holds = _truth(s.conditions[0].expr) if len(s.conditions) == 1 and s.conditions[0].pattern is None else None
    arm = s.ifTrue if holds else s.ifFalse
    return None if holds is None else [] if arm is None else [arm]


def _truth(e: Any) -> bool | None:
    """Return whether ``e`` holds for all values of signals; None if that depends on them or is unknown."""
    if type(e) is ast.BinaryExpression and e.op is ast.BinaryOperator.LogicalAnd and _truth(e.left) is False:
        return False
    value = getattr(e.constant, "value", None)
    return None if value is None or getattr(value, "hasUnknown", True) else bool(int(value))


def never_runs(where: str) -> EventError:
    """Return the error for a block that waits for the signals that it reads, but reads none: its result is constant.

    Simulators fold constants first, so the one-bit expression ``a[2] >>> 63`` reads no signal.
    """
    return EventError(
        f"{where}: this block never runs: it waits for a change, and everything that it assigns is constant; write"
        " always_comb"
    )


def begins_unknown(symbol: Any) -> bool:
    """Return whether ``symbol`` is X before anything is assigned to it."""
    if symbol.kind is ast.SymbolKind.Net:
        return True
    return symbol.kind is ast.SymbolKind.Variable and symbol.type.isFourState and symbol.initializer is None


def refuse_delay(symbol: Any, where: str) -> None:
    """Raise ``EventError`` if a net or an assignment has a delay or a strength; a strength may give Z for 0 or 1."""
    if symbol.delay is not None:
        _refuse_timing(symbol.delay, where)
    declaration = symbol.syntax.parent if symbol.syntax is not None else None
    if getattr(declaration, "strength", None) is not None:
        raise EventError(f"{where}: a strength has no meaning in a proof; remove it")


def refuse_unseen(design: SlangDesign, function: Any, symbol: Any, where: str = "") -> None:
    """Raise ``EventError`` for a subroutine that reads a signal to which its caller is not sensitive."""
    task = function.subroutineKind is ast.SubroutineKind.Task
    what, instead = ("task", "a function") if task else ("function", "always_comb")
    raise EventError(
        f"{where or design.where(function.location)}: {what} {function.name!r} reads {symbol.name!r}, and simulators"
        f" need not call it again when that changes; pass it as an argument, or write {instead}"
    )
