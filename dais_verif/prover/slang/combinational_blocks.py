"""``always`` blocks as drivers of the signals that they assign; clocked blocks are in ``registers``.

A combinational block is executed symbolically, statement by statement; an assignment on some paths only is a choice.
A signal that keeps its old value on any path would be a latch and is refused. A signal that is assigned only once is
afterwards read by name, so that it can be a cut point of the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import groupby
from typing import Any

from dais_verif.base.errors import InputError, StateError
from dais_verif.prover.netlist import Bits, Driver, Read, Signal, driver_of
from dais_verif.prover.slang.clocked_blocks import edges_of, registers
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in
from dais_verif.prover.slang.events import EventError, Events, never_runs, refuse_asleep, sensitivity
from dais_verif.prover.slang.execution import Execution, flat
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.slang.piecewise import Marks, Value, part
from dais_verif.prover.slang.placeholders import Leaves, either
from dais_verif.prover.slang.selects import place_of
from dais_verif.prover.slang.waiting import folded, is_constant, never_assigned, wakers
from dais_verif.prover.slang.writes import NAMES, lines_of, roots, symbol_of, written
from dais_verif.prover.terms import Term, as_written, concat, extract, is_open, leaves, undefined, var

__all__ = ["combinational"]

_SELECTS = (ast.ElementSelectExpression, ast.RangeSelectExpression, ast.MemberAccessExpression)


def combinational(design: SlangDesign, body: Any, own: set[Any]) -> None:
    """Add the drivers of an ``always`` block. ``own``: all symbols that it assigns.

    Raises ``InputError`` for latches, and for a block that need not run when a signal that it reads changes.
    """
    edges = edges_of(body)
    if edges is not None:
        registers(design, body, edges)
        return
    where = design.where(body.sourceRange.start)
    events, body = sensitivity(design, body, where)
    if not events.always:
        refuse_asleep(events, body, own, where)
    statements = list(flat(body))
    plain = [_plain(s) for s in statements]  # computed once: there may be a million statements
    each = zip(statements, plain, strict=True)
    targets = Counter(
        symbol for s, one in each for symbol in ((symbol_of(s.expr.left),) if one else _assigned(design, s))
    )
    for s in (s for s, one in zip(statements, plain, strict=True) if not one):
        # Symbols that other statements also assign, such as loop variables, have more than one value.
        targets.update({symbol: 2 for symbol in written(s) if symbol in targets})
    block = _Block(design, events, targets, own, where)
    alone = len(statements) == 1 and _plain(statements[0], nonblocking=True)
    # A signal that gets a constant is X until the block runs; only execution shows whether anything is undefined.
    waits = (
        not events.always
        and not alone
        and any(one and is_constant(s.expr.right) for s, one in zip(statements, plain, strict=True))
    )
    if alone or (not waits and all(plain) and all(count == 1 for count in targets.values())):
        block.straight(statements)
    else:
        block.execute(statements)


def _plain(s: Any, nonblocking: bool = False) -> bool:
    """Return whether ``s`` is a plain assignment to a whole signal; ``nonblocking``: whether ``<=`` counts, too."""
    if type(s) is not ast.ExpressionStatement:
        return False
    e = s.expr
    return (
        type(e) is ast.AssignmentExpression
        and type(e.left) in NAMES
        and (nonblocking or not e.isNonBlocking)
        and not e.isCompound
        and e.timingControl is None
    )


def _assigned(design: SlangDesign, s: Any) -> Iterator[Any]:
    """Yield the symbols that ``s`` assigns, at least twice if it may assign them more than once or in part."""
    kind = type(s)
    if kind is ast.ExpressionStatement and type(s.expr) is ast.AssignmentExpression:
        if _plain(s):
            yield symbol_of(s.expr.left)
        else:
            yield from roots(s.expr.left) * 2  # possibly only in part
    elif kind is ast.ConditionalStatement:
        for arm in (s.ifTrue, s.ifFalse):
            if arm is not None:
                yield from _within(design, arm)
    elif kind is ast.CaseStatement:
        for item in s.items:
            yield from _within(design, item.stmt)
        if s.defaultCase is not None:
            yield from _within(design, s.defaultCase)
    elif kind is ast.ForLoopStatement:  # any number of times
        yield from [*written(s.body)] * 2
    else:
        yield from [*written(s)] * 2


def _within(design: SlangDesign, s: Any) -> Iterator[Any]:
    for x in flat(s):
        yield from _assigned(design, x)


#: A symbol, the lowest of some of its bits, and the value assigned to these bits.
_Piece = tuple[Any, int, Term]


class _Block:
    """One combinational block."""

    def __init__(self, design: SlangDesign, events: Events, targets: Counter[Any], own: set[Any], where: str) -> None:
        self.design, self.events, self.targets, self.own, self.where = design, events, targets, own, where
        #: The statements, and a mask of the assigned bits of each signal of which the block reads other bits.
        self._statements: list[Any] = []
        self._assigned: dict[Any, int] = {}

    def outside(self, symbol: Any) -> Signal:
        """Return the signal of ``symbol``, which the block reads but does not assign."""
        if self.events.listed is not None and symbol not in self.events.listed:
            raise EventError(
                f"{self.where}: the block reads {symbol.name!r}, which its sensitivity list does not contain as a"
                " whole; simulation and hardware would differ: write always @*"
            )
        return self.design.signal(symbol, self.where)

    def latch(self, name: str) -> InputError:
        return StateError(
            f"{self.where}: signal {name!r} is read or kept before the block assigns it, which makes it a latch;"
            " assign it on every path first"
        )

    # each statement assigns a different signal, once: terms can be made on demand

    def straight(self, statements: list[Any]) -> None:
        self._statements = statements
        order = {symbol_of(s.expr.left): n for n, s in enumerate(statements)}
        self.targets = Counter()  # the counts are no longer used, and there may be a million
        if self.events.implied and self._reads_nothing(statements):
            with as_written():
                asleep = self._reads_nothing(statements, folded)
            if asleep:
                raise never_runs(self.where)
        for n, s in enumerate(statements):
            signal = self.design.signal(symbol_of(s.expr.left), self.where)
            make = _Assigned(self, s.expr.right, order, n)
            line = self.design.where(s.sourceRange.start)
            signal.drive(Driver(0, signal.width, make, line, late=s.expr.isNonBlocking))

    def _reads_nothing(self, statements: list[Any], fold: Callable[[Term], Term] = lambda t: t) -> bool:
        """Return whether the values that ``statements`` assign are constant; usually the first one is not."""
        known: dict[Any, Term] = {}

        def read(symbol: Any, low: int, width: int) -> Term:
            if symbol in known:
                return extract(known[symbol], low, width)
            name = f"{symbol.name} {low}"
            return var(width, name)  # for a signal that the block assigns later, this is a latch

        self.design.begin()
        for s in statements:
            try:
                term = Converter(self.design, read, self.events.free)(s.expr.right)
            except InputError:  # it is raised again when the value is first used
                return False
            if any(t.op == "var" for t in leaves(fold(term))):
                return False
            known[symbol_of(s.expr.left)] = term
        return True

    # the general case

    def execute(self, statements: list[Any]) -> None:
        self._statements = statements
        assigned = self._executed({}, final=False)
        if assigned is not None:  # the block may read bits of these signals that other code assigns
            if self.events.always:
                for s in statements:
                    self._refuse_asleep(s, assigned)
            self._executed(assigned, final=True)

    def _refuse_asleep(self, statement: Any, assigned: dict[Any, int]) -> None:
        """Raise ``InputError`` if ``always_comb`` may miss changes of a signal that it assigns in part.

        ``always_comb`` waits for the bits that it reads at constant places, except for bits that it also assigns.
        """
        called: set[Any] = set()

        def look(e: Any) -> Any:
            if type(e) is ast.CallExpression and not e.isSystemCall and e.subroutine not in called:
                called.add(e.subroutine)
                e.subroutine.body.visit(look)
            symbol = _selected(e)
            if symbol is None or symbol not in assigned:
                return ast.VisitAction.Advance
            fixed = e.type.isIntegral and _is_static(e)
            place = place_of(Converter(self.design, _no_value), e) if fixed else None
            read = ((1 << e.type.bitWidth) - 1) << place[1] if place is not None else -1
            if read & assigned[symbol] and read & ~assigned[symbol]:
                raise self.latch(symbol.name)
            return ast.VisitAction.Skip

        statement.visit(look)

    def _executed(self, assigned: dict[Any, int], final: bool) -> dict[Any, int] | None:
        """Add the drivers and return None; or return the assigned bits of signals if knowing them may rule out a latch.

        ``assigned``: the bits that the first call returned; the block reads other bits of these signals from outside.
        """
        self._assigned = assigned
        leaf = Leaves(self.design)
        found, places, kept = self._run(leaf)
        parts = self._parts(places)
        if kept is not None and parts and not final:
            return parts
        if kept is not None:
            raise self.latch(kept)
        if found and self.events.implied and self._waits_for_nothing(leaf, (term for _, _, term in found)):
            with as_written(), self.design.once_more():
                written = Leaves(self.design)
                asleep = self._waits_for_nothing(written, (folded(term) for _, _, term in self._run(written)[0]))
            if asleep:
                raise never_runs(self.where)
        again = cache(self._again)
        lines = {symbol: line for s in self._statements for symbol, line in lines_of(self.design, s).items()}
        for symbol, low, term in found:
            self.design.undefined |= is_open(term)
            bits = either(self.design, leaf.bits(term), partial(_of, again, (symbol, low)))
            line = lines.get(symbol, self.where)
            self.design.signals[symbol].drive(driver_of(bits, 0, term.width, low, line, executed=True))
        return None

    def _waits_for_nothing(self, leaf: Leaves, found: Iterable[Term]) -> bool:
        """Return whether the assigned values depend on no signal that other code assigns."""
        own = {part for symbol in self.own if symbol in self.design.signals for part in self._signals(symbol)}
        return not any(leaf.signals(term) - own for term in found)

    def _signals(self, symbol: Any) -> list[Signal]:
        elements = self.design.elements.get(symbol)
        return [self.design.signals[symbol], *(elements.owners if elements is not None else ())]

    def _again(self) -> dict[tuple[Any, int], Bits]:
        """Execute the block for signals that may have undefined bits; return the assigned bits by symbol and low bit.

        Raises ``InputError`` for latches.
        """
        leaf = Leaves(self.design, four_state=True)
        with self.design.once_more():
            found, _, kept = self._run(leaf)
        if kept is not None:
            raise self.latch(kept)
        read = partial(self.design.over, leaf=leaf, where=self.where)
        found = [(symbol, low, never_assigned(term, self._wakers, read, self.where)) for symbol, low, term in found]
        return {(symbol, low): leaf.bits(term) for symbol, low, term in found}

    @cached_property
    def _wakers(self) -> list[Any]:
        return wakers(self.design, self.events, self._statements, self.own)

    def settled(self, term: Term, seen: Sequence[Term], read: Read) -> Term:
        """Return ``term``, undefined where the block need not have run; ``seen``: the values that the block reads."""
        if not seen or not all(map(is_open, seen)):
            return term
        design = self.design

        def whole(symbol: Any) -> Term:
            return design.part(read, symbol, 0, design.signal(symbol, self.where).width)

        return never_assigned(term, self._wakers, whole, self.where)

    def _run(self, leaf: Leaves) -> tuple[list[_Piece], Mapping[Any, Marks], str | None]:
        """Return the assigned values; the assigned bits; and a variable that is read before it is assigned, if any."""
        before: dict[str, str] = {}

        def outer(symbol: Any) -> Term:
            if symbol in self.own or self.design.is_local(symbol):
                known = self.design.signals.get(symbol)
                name, width = (known.name, known.width) if known else (symbol.name, bits_in(symbol.type) or 1)
                term = undefined(width, f"before {name}")
                before[str(term.data)] = name
                if symbol not in self._assigned:
                    return term
                self.outside(symbol)
                return _mixed(term, self.design.over(symbol, leaf, self.where), self._assigned[symbol])
            self.outside(symbol)
            return self.design.over(symbol, leaf, self.where)

        self.design.begin()
        self.design.executed = True
        # always_comb is sensitive to signals that called functions read, not to those of tasks (IEEE 1800, 9.2.2.2.1).
        run = Execution(self.design, outer, self.events.free, tasks=self.events.listed is not None)
        done: dict[Any, Value] = {}
        for s in self._statements:
            run.statement(s)
            if (
                _plain(s)
                and self.targets[symbol_of(s.expr.left)] == 1
                and symbol_of(s.expr.left) in self.design.signals
            ):
                symbol = symbol_of(s.expr.left)
                done[symbol] = run.values[symbol]
                run.values[symbol] = self.design.over(symbol, leaf, self.where)
        found: list[_Piece] = []
        for symbol in self.targets:
            if symbol not in self.design.signals:
                continue  # local to the block
            value = done.get(symbol) or run.value_of(symbol)
            for low, width in self.design.pieces(symbol, run.assigned[symbol]):
                found.append((symbol, low, part(value, low, width)))
        some = leaves(*(piece for _, _, piece in found)) if before else []
        kept = (before[str(t.data)] for t in some if t.op == "undefined" and t.data in before)
        return found, run.assigned, next(kept, None)

    def _parts(self, assigned: Mapping[Any, Marks]) -> dict[Any, int]:
        """Return the signals of which the block assigns only some bits, with a mask of these bits."""
        signals = self.design.signals
        return {
            symbol: marks.mask()
            for symbol, marks in assigned.items()
            if symbol in signals and 0 < marks.mask() < (1 << signals[symbol].width) - 1
        }


def _of(found: Callable[[], dict[tuple[Any, int], Bits]], place: tuple[Any, int]) -> Bits:
    return found()[place]


def _no_value(symbol: Any, low: int, width: int) -> Term:
    raise AssertionError(f"{symbol.name!r} is read where everything is constant")


def _selected(e: Any) -> Any | None:
    """Return the symbol that ``e`` names as a whole or in part; None for other expressions."""
    while type(e) in _SELECTS:
        e = e.value
    return symbol_of(e) if type(e) in NAMES else None


def _is_static(e: Any) -> bool:
    """Return whether ``e`` always names the same bits; indices that are loop variables do not count as constant."""
    while type(e) in _SELECTS:
        indices = {ast.ElementSelectExpression: ("selector",), ast.RangeSelectExpression: ("left", "right")}
        if any(getattr(e, name).constant is None for name in indices.get(type(e), ())):
            return False
        e = e.value
    return True


def _mixed(inside: Term, outside: Term, mask: int) -> Term:
    """Return the bits of ``inside`` where ``mask`` is 1, else those of ``outside``."""
    pieces, low = [], 0
    for one, run in groupby(range(inside.width), lambda place: mask >> place & 1):
        width = len(list(run))
        pieces.append(extract(inside if one else outside, low, width))
        low += width
    return concat(*reversed(pieces))


class _Assigned:
    """The value that statement ``number`` of a block assigns, made on demand.

    ``order``: the number of the statement that assigns each symbol.
    """

    __slots__ = ("_block", "_expression", "_number", "_order")

    def __init__(self, block: _Block, expression: Any, order: dict[Any, int], number: int) -> None:
        self._block, self._expression, self._order, self._number = block, expression, order, number

    def __call__(self, read: Read) -> Term:
        block = self._block

        def symbol_read(symbol: Any, low: int, width: int) -> Term:
            place = self._order.get(symbol)
            if place is None:
                block.outside(symbol)
            elif place >= self._number:
                raise block.latch(symbol.name)
            found = block.design.part(read, symbol, low, width)
            if place is None:
                seen.append(found)
            return found

        seen: list[Term] = []
        term = Converter(block.design, symbol_read, block.events.free)(self._expression)
        return block.settled(term, seen, read)
