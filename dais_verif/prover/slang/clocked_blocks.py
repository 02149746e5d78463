"""Clocked ``always`` blocks as registers: each has a driver for its complete next value.

A block is executed symbolically, statement by statement. Resets, enables and holding are part of the next value;
``control_inference`` separates them. A statement that is not supported is an error only for the registers that it
assigns: the logic of valid bits, for example, need not be supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pyslang

from dais_verif.base.errors import InputError, StateError
from dais_verif.prover.netlist import Bits, Clock, Driver, Read, Signal, driver_of
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in
from dais_verif.prover.slang.events import RaceError
from dais_verif.prover.slang.execution import Execution, flat
from dais_verif.prover.slang.kinds import STATEMENTS
from dais_verif.prover.slang.loops import Jumps
from dais_verif.prover.slang.piecewise import Marks, Value, part, whole
from dais_verif.prover.slang.placeholders import Leaves, either
from dais_verif.prover.slang.selects import static_index
from dais_verif.prover.slang.writes import NAMES, lines_of, roots, symbol_of, written
from dais_verif.prover.terms import Term, const, extract, is_open, rebuild

__all__ = ["edges_of", "registers"]


class Edges(NamedTuple):
    """The edges that run a block: one edge of ``clock``, and edges of ``resets`` (with inactive values)."""

    clock: Any
    resets: tuple[tuple[Any, int], ...]
    falling: bool = False


def edges_of(body: Any) -> Edges | None:
    """Return the edges that run a block; None if other events run it, or if it is not clear which edge is the clock."""
    if type(body) is not ast.TimedStatement:
        return None
    timing = body.timing
    events = timing.events if timing.kind is ast.TimingControlKind.EventList else [timing]
    found: dict[Any, int] = {}
    for event in events:
        if event.kind is not ast.TimingControlKind.SignalEvent or event.edge not in _INACTIVE:
            return None
        if type(event.expr) not in NAMES or getattr(event, "iffCondition", None) is not None:
            return None
        if symbol_of(event.expr) in found:  # both edges of one signal
            return None
        found[symbol_of(event.expr)] = _INACTIVE[event.edge]
    # The block tests its resets, but not its clock.
    asked = _asked(body.stmt) if len(found) > 1 else set()
    clocks = [symbol for symbol in found if symbol not in asked]
    if len(clocks) != 1:
        return None
    (clock,) = clocks
    falling = found[clock] == _INACTIVE[ast.EdgeKind.NegEdge]
    return Edges(clock, tuple((symbol, value) for symbol, value in found.items() if symbol is not clock), falling)


def _asked(s: Any) -> set[Any]:
    """Return the symbols in the conditions at the head of a block: ``if (a) ... else if (b) ...``."""
    found: set[Any] = set()
    statements = list(flat(s, through=True))
    while len(statements) == 1 and type(statements[0]) is ast.ConditionalStatement:
        for condition in statements[0].conditions:
            condition.expr.visit(lambda e: found.add(symbol_of(e)) if type(e) in NAMES else None)
        statements = [] if statements[0].ifFalse is None else list(flat(statements[0].ifFalse, through=True))
    return found


def registers(design: SlangDesign, body: Any, edges: Edges) -> None:
    """Add the drivers of a block that runs at ``edges``."""
    where = design.where(body.sourceRange.start)
    resets = tuple((design.signal(symbol, where), value) for symbol, value in edges.resets)
    _Clocked(design, Clock(design.signal(edges.clock, where), None, resets, edges.falling), where).block(body.stmt)


class _Next(NamedTuple):
    """The key of the next value of a register."""

    symbol: Any


class _Clocked(Execution):
    """Runs a clocked block; the signals that it reads have their values from before the edge."""

    def __init__(self, design: SlangDesign, clock: Clock, where: str, four_state: bool = False) -> None:
        super().__init__(design, self._before)
        self.convert.clocked = True
        self._clock, self._where = clock, where
        self._leaf = Leaves(design, four_state)
        #: Returns an execution of the block for signals that may have undefined bits.
        self._again: Callable[[], _Clocked] = cache(lambda: self)
        #: Variables that the block reads before it assigns them, which makes them registers.
        self._kept: dict[Any, Signal] = {}
        #: The errors of registers whose values are unknown.
        self._unknown: dict[Any, InputError] = {}
        #: Variables that an unsupported statement may have assigned, each with the error of that statement.
        self._lost: dict[Any, InputError] = {}
        #: The signals that the block assigns.
        self._mates: frozenset[Signal] = frozenset()
        #: The line at which each is assigned first.
        self._lines: dict[Any, str] = {}

    def block(self, body: Any) -> None:
        self.design.begin()
        self.design.executed = True
        self._lines = lines_of(self.design, body)
        self._mates = frozenset(x for symbol in written(body) if (x := self.design.signals.get(symbol)) is not None)
        self._run(body)
        self._again = cache(lambda: self._run_again(body))
        for symbol, reason in self._unknown.items():
            if symbol in self.design.signals:
                self._poison(self.design.signals[symbol], reason)
            elif symbol in self.design.memories:
                self.design.memories[symbol].written = True
            elif symbol in self._kept:
                self._poison(self._kept[symbol], reason)
        for key, marks in self.assigned.items():
            if isinstance(key, _Next) and key.symbol not in self._unknown:
                self._drive(key.symbol, marks, self.values[key])
        for symbol, signal in self._kept.items():
            if not signal.drivers:
                bits = self._bits(symbol, 0, whole(self.value_of(symbol)))
                signal.drive(driver_of(bits, 0, signal.width, 0, self._where, self._clock))

    def _bits(self, key: Any, low: int, term: Term) -> Bits:
        """Return the bits of ``key`` from bit ``low`` on after the edge.

        They equal the bits of ``term`` if nothing is undefined; otherwise, the block is run again with undefined bits.
        """

        def four_state() -> Bits:
            run = self._again()
            reason = run._unknown.get(key.symbol if isinstance(key, _Next) else key)
            if reason is not None:
                raise reason
            return run._leaf.bits(part(run.value_of(key), low, term.width))

        self.design.undefined |= is_open(term)
        return either(self.design, self._leaf.bits(term), four_state)

    def _run_again(self, body: Any) -> _Clocked:
        run = _Clocked(self.design, self._clock, self._where, four_state=True)
        run._kept, run._mates = self._kept, self._mates
        with self.design.once_more():
            run._run(body)
        return run

    def _run(self, body: Any) -> None:
        other = _other(body)
        if other is not None:
            error = self.convert.refused(other, STATEMENTS.message(other.kind))
            self._unknown = dict.fromkeys(written(body), error)
        for s in flat(body) if other is None else ():
            before = dict(self.values)
            try:
                self.statement(s)
            except InputError as error:
                self.values, self.jumps = before, Jumps()
                for symbol in written(s):
                    self._unknown.setdefault(symbol, error)
                    self._lose(symbol, error)

    def _lose(self, symbol: Any, reason: InputError) -> None:
        """Make later reads of ``symbol`` in the block raise ``reason``, until the block assigns it again."""
        if self.values.pop(symbol, None) is not None or self.design.is_local(symbol):
            self._lost[symbol] = reason
            self.forget()

    def _before(self, symbol: Any) -> Term:
        if symbol in self._lost:
            raise self._lost[symbol]
        if isinstance(symbol, _Next):  # not assigned yet: the register holds its value
            return self._leaf(self.design.signal(symbol.symbol, self._where))
        if self.design.is_local(symbol):  # a register, since the block reads its value from the last run
            if symbol not in self._kept:
                width = bits_in(symbol.type) or 1
                self._kept[symbol] = self.design.new(symbol.name, width, self._where, hidden=True)
                if _of_a_subroutine(symbol):
                    self._unknown[symbol] = StateError(
                        f"{self._where}: variable {symbol.name!r} of a task or function keeps the value of its last"
                        " call, which may be in another block; assign it first"
                    )
            return self._leaf(self._kept[symbol])
        return self.design.over(symbol, self._leaf, self._where)

    def expression(self, e: Any) -> None:
        """Run an expression that is a statement."""
        if type(e) is not ast.AssignmentExpression or not e.isNonBlocking:
            super().expression(e)
            for symbol in _assigned_now(e):
                if self.design.is_local(symbol):
                    continue
                place = self.design.where(e.sourceRange.start)
                text = f"{place}: register {symbol.name!r} is assigned with = at a clock edge; write <="
                self._unknown.setdefault(symbol, RaceError(text, self._mates))
        elif e.timingControl is not None and not self._is_fixed_delay(e.timingControl):
            raise self.convert.refused(e, "an assignment that waits keeps state; write a register")
        else:
            self.assign(e.left, self.assigned_value(e), _Next)

    def _is_fixed_delay(self, control: Any) -> bool:
        """Return whether a register gets its value after a constant time, which simulations show to be short enough."""
        return control.kind is ast.TimingControlKind.Delay and static_index(self.convert, control.expr) is not None

    def counted(self, e: Any) -> None:
        """Run an initialiser or a step of a loop; the loop variable is not a register."""
        super().expression(e)
        left = e.left if type(e) is ast.AssignmentExpression else getattr(e, "operand", None)
        for symbol in roots(left):
            if not self.design.is_local(symbol):
                self.design.counters.setdefault(symbol, self.design.where(e.sourceRange.start))

    def _drive(self, symbol: Any, marks: Marks, value: Value) -> None:
        signal = self.design.signal(symbol, self._where)
        for low, width in self.design.pieces(symbol, marks):
            piece, kept = part(value, low, width), extract(self._leaf(signal), low, width)
            # A reset at which these bits keep their value does not affect them.
            resets = tuple(
                (reset, value)
                for reset, value in self._clock.resets
                if rebuild(piece, {self._leaf(reset): const(1, 1 - value)}) is not kept
            )
            clock = self._clock._replace(resets=resets)
            bits = self._bits(_Next(symbol), low, piece)
            signal.drive(driver_of(bits, 0, width, low, self._lines.get(symbol, self._where), clock))

    def _poison(self, signal: Signal, reason: InputError) -> None:
        def make(read: Read) -> Term:
            raise reason

        signal.drivers.clear()  # other drivers no longer matter
        signal.drive(Driver(0, signal.width, make, self._where, self._clock))


def _of_a_subroutine(symbol: Any) -> bool:
    """Return whether a variable belongs to a task or a function, and not to a block."""
    syntax = symbol.syntax
    while syntax is not None and syntax.kind not in _SUBROUTINES:
        syntax = syntax.parent
    return syntax is not None or symbol.syntax is None


def _assigned_now(e: Any) -> Iterator[Any]:
    """Yield the symbols that a statement assigns with ``=``, directly or as outputs of a task."""
    if type(e) is ast.AssignmentExpression:
        yield from roots(e.left)
    elif type(e) is ast.CallExpression and not e.isSystemCall:
        for argument in e.arguments:
            yield from roots(argument.left) if type(argument) is ast.AssignmentExpression else ()


def _other(body: Any) -> Any:
    """Return a statement of ``body`` that is refused, as it may wait or skip later statements; else None."""
    found: list[Any] = []
    body.visit(lambda x: found.append(x) if isinstance(x, ast.Statement) and STATEMENTS.refusal(x.kind) else None)
    return found[0] if found else None


_SUBROUTINES = (pyslang.syntax.SyntaxKind.TaskDeclaration, pyslang.syntax.SyntaxKind.FunctionDeclaration)
#: For each edge of a reset, the inactive value of the reset.
_INACTIVE = {ast.EdgeKind.PosEdge: 0, ast.EdgeKind.NegEdge: 1}
