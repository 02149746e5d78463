"""Rewrite memories with a free-running pointer as rows of registers: delay lines without state.

A pointer is a register whose next value depends on its own value, resets and enables only, so that it runs through a
cycle of values. A word that is loaded at one value of the pointer, and keeps its value at all others, then holds what
was at the data some edges ago. A reader that finds words of one age at each value of the pointer reads a delayed copy
of the data, whatever the pointer holds. Pointer and memory keep their drivers, which nothing needs any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple

from dais_verif.base.errors import InputError, RegisterError
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Clock, Cone, Driver, Netlist, Signal, bits_over, driver_of
from dais_verif.prover.terms import Term, bnot, const, extract, ite, leaves, nodes, rebuild, var

__all__ = ["straighten"]

#: The widest pointer, the most pins that it may depend on, and the most bits of a memory.
_POINTER_BITS, _PINS, _MEMORY_BITS = 12, 3, 1 << 16
#: The most wires between a pointer and its next value: a register behind a long chain of logic is no pointer.
_WIRES = 100


class _Pointer(NamedTuple):
    """A pointer that takes the values ``cycle`` in turn while the pins ``runs`` have the given values.

    ``resets``, ``holds``: other values of pins, at which it is set to a value of the cycle, or keeps its value.
    """

    signal: Signal
    clock: Clock
    cycle: tuple[int, ...]
    runs: Mapping[Term, int]
    resets: tuple[Mapping[Term, int], ...]
    holds: tuple[Mapping[Term, int], ...]

    @property
    def value(self) -> Term:
        """The variable that stands for its value."""
        return _own(self.signal)


class _Line(NamedTuple):
    """Bits ``low .. low + width - 1`` of a memory, which load ``data`` at number ``phase`` of the pointer's cycle."""

    low: int
    width: int
    phase: int
    data: Term


def straighten(netlist: Netlist, boundary: Boundary) -> None:
    """Replace the drivers of what reads memories with free-running pointers; a second call changes nothing."""
    given = boundary.others | boundary.constants.keys()
    inputs = [netlist.signals[name] for name in netlist.inputs]
    pins = {signal: var(1, f"pin {signal.name}") for signal in inputs if signal in given and signal.width == 1}
    signals = list(netlist.signals.values())
    for signal in signals:
        pointer = _pointer(netlist, signal, pins)
        if pointer is not None:
            _Rewriting(pointer, pins, signals).run()


def _own(signal: Signal) -> Term:
    return var(signal.width, f"own value of {signal.name}")


def _is_plain(driver: Driver) -> bool:
    """Return whether ``driver`` is a register without an enable or an asynchronous reset."""
    return driver.clock is not None and not driver.clock.resets and driver.clock.enable is None


def _pointer(netlist: Netlist, signal: Signal, pins: Mapping[Signal, Term]) -> _Pointer | None:
    if len(signal.drivers) != 1 or signal.width > _POINTER_BITS or not _is_plain(signal.drivers[0]):
        return None
    (driver,) = signal.drivers
    own, left = _own(signal), iter(range(_WIRES))

    def cut(wire: Signal, low: int, width: int) -> Term | None:
        if next(left, None) is None:
            raise RegisterError(f"{signal.name} is too far from itself")
        if wire is signal:
            return extract(own, low, width)
        if wire not in pins and (not wire.drivers or any(one.clock for one in wire.drivers)):
            raise RegisterError(f"{wire.name} is data")
        return pins.get(wire)

    try:
        after = driver.make(Cone(cut).read)
    except InputError:
        return None
    used = [pin for pin in pins.values() if pin in leaves(after)]
    if own not in leaves(after) or len(used) > _PINS:
        return None
    initial = netlist.power_up.get(signal)
    starts = [] if initial is None or initial.op != "const" else [initial.value]
    resets, holds, running = [], [], dict[Term, list[dict[Term, int]]]()
    for values in product((0, 1), repeat=len(used)):
        given = dict(zip(used, values, strict=True))
        found = _at(after, given)
        if found.op == "const":
            resets.append(given)
            starts.append(found.value)
        elif found is own:
            holds.append(given)
        else:
            running.setdefault(found, []).append(given)
    if len(running) != 1 or not starts:
        return None
    ((step, (runs, *_)),) = running.items()
    cycle = [starts[0]]
    while (following := rebuild(step, {own: const(own.width, cycle[-1])})).op == "const":
        if following.value == cycle[0]:
            break
        if following.value in cycle[1:]:
            return None
        cycle.append(following.value)
    if following.op != "const" or len(cycle) < 2 or not set(starts) <= set(cycle):
        return None
    if driver.clock is None or driver.width < signal.width:
        return None
    return _Pointer(signal, driver.clock, tuple(cycle), runs, tuple(resets), tuple(holds))


def _at(term: Term, values: Mapping[Term, int]) -> Term:
    return rebuild(term, {x: const(x.width, value) for x, value in values.items()})


class _Rewriting:
    """Replaces what reads memories with one ``pointer``."""

    def __init__(self, pointer: _Pointer, pins: Mapping[Signal, Term], signals: Sequence[Signal]) -> None:
        self._pointer, self._pins, self._signals = pointer, pins, signals
        #: The signals that each driver reads, and the signals that depend on pointer and memories.
        self._read: dict[Driver, frozenset[Signal]] = {}
        self._affected: set[Signal] = set()
        #: The memories, with their lines by place.
        self._memories: dict[Signal, tuple[_Line, ...]] = {}
        #: What variables of terms stand for.
        self._sources: dict[Term, tuple[Signal, int]] = {pin: (wire, 0) for wire, pin in pins.items()}
        #: The registers of each line of a memory, by the number of edges that they delay.
        self._delays: dict[tuple[Signal, int], list[Signal]] = {}

    def run(self) -> None:
        """Find the memories of the pointer, and rewrite what reads them."""
        pointer = self._pointer.signal
        self._spread([pointer])
        for signal in self._signals:
            if signal is not pointer and signal.drivers and all(map(self._may_be_word, signal.drivers)):
                with suppress(InputError):
                    lines = self._lines(signal)
                    self._memories |= {} if lines is None else {signal: lines}
        if not self._memories:
            return
        self._spread([pointer, *self._memories])
        found = list[tuple[Signal, Driver, Driver]]()
        for signal in self._signals:
            for driver in list(signal.drivers) if signal is not pointer and signal not in self._memories else ():
                with suppress(InputError):
                    straight = self._straight(signal, driver) if self._reads(driver) else None
                    found += [] if straight is None else [(signal, driver, straight)]
        for signal, driver, straight in found:
            signal.drivers.remove(driver)
            signal.drive(straight)

    def _may_be_word(self, driver: Driver) -> bool:
        clock = driver.clock
        own = self._pointer.clock
        same = clock is not None and (clock.signal, clock.falling) == (own.signal, own.falling)
        return same and _is_plain(driver) and self._reads(driver)

    def _reads(self, driver: Driver) -> bool:
        """Return whether ``driver`` depends on the pointer or a memory, with no other register in between."""
        return not self._affected.isdisjoint(self._sources_of(driver))

    def _sources_of(self, driver: Driver) -> frozenset[Signal]:
        """Return the signals that ``driver`` reads; none if it cannot be read."""
        if driver not in self._read:
            found: set[Signal] = set()

            def read(source: Signal, low: int, width: int) -> Term:
                found.add(source)
                return var(width, "some value")

            with suppress(InputError):
                driver.make(read)
            self._read[driver] = frozenset(found)
        return self._read[driver]

    def _spread(self, roots: Iterable[Signal]) -> None:
        """Note the signals that depend on ``roots``, with no register in between."""
        readers: dict[Signal, list[Signal]] = {}
        for signal in self._signals:
            for driver in signal.drivers:
                for source in self._sources_of(driver) if driver.clock is None else ():
                    readers.setdefault(source, []).append(signal)
        self._affected = set(roots)
        waiting = list(self._affected)
        while waiting:
            for reader in readers.get(waiting.pop(), ()):
                if reader not in self._affected:
                    self._affected.add(reader)
                    waiting.append(reader)

    def _term(self, driver: Driver, through: Signal) -> Term:
        """Return ``driver`` over the pointer, memories, pins and data."""

        def cut(wire: Signal, low: int, width: int) -> Term | None:
            if wire is self._pointer.signal or wire in self._memories or wire is through:
                return extract(_own(wire), low, width)
            if wire in self._pins:
                return self._pins[wire]
            if wire in self._affected and not any(one.clock for one in wire.drivers):
                return None
            term = var(width, f"data {wire.name} {low}")
            self._sources[term] = wire, low
            return term

        return driver.make(Cone(cut).read)

    def _lines(self, signal: Signal) -> tuple[_Line, ...] | None:
        """Return the lines of a memory: what is loaded at each value of the pointer; None if it is not one."""
        pointer, own = self._pointer, _own(signal)
        if signal.width > _MEMORY_BITS:
            return None
        lines: list[_Line] = []
        for driver in signal.drivers:
            after = self._term(driver, signal)
            kept = extract(own, driver.low, driver.width)
            if any(_at(after, given) is not kept for given in pointer.holds):
                return None
            running = _at(after, pointer.runs)
            for phase, value in enumerate(pointer.cycle):
                for low, data in _loaded(_at(running, {pointer.value: value}), kept):
                    lines.append(_Line(driver.low + low, data.width, phase, data))
        ends = {(line.low, line.width) for line in lines}
        once = len(ends) == len(lines) and all(a.low + a.width <= b.low for a, b in zip(*_pairs(lines), strict=True))
        same = len({line.data for line in lines}) == 1 and not set(leaves(lines[0].data)) & {own, pointer.value}
        return tuple(lines) if lines and once and same else None

    def _straight(self, signal: Signal, driver: Driver) -> Driver | None:
        """Return ``driver`` over delayed data; None if it depends on the pointer."""
        term = self._term(driver, signal)
        found: Term | None = None
        for phase, value in enumerate(self._pointer.cycle):
            here = self._delayed(_at(term, {self._pointer.value: value}), phase)
            if here is None or (found is not None and here is not found):
                return None
            found = here
        if found is None or (_own(signal) in leaves(found) and driver.clock is None):
            return None
        sources = {**self._sources, _own(signal): (signal, 0)}
        return driver_of(bits_over(found, sources), 0, driver.width, driver.low, driver.where, driver.clock)

    def _delayed(self, term: Term, phase: int) -> Term | None:
        """Return ``term`` with words of memories replaced by delayed data; None if it has other bits of them."""
        own = {_own(memory): memory for memory in self._memories}
        replaced: dict[Term, Term] = {}
        for t in nodes(term):
            if t.op == "extract" and t.args[0] in own:
                memory = own[t.args[0]]
                for line in self._memories[memory]:
                    if line.low <= t.low and t.low + t.width <= line.low + line.width:
                        age = (phase - line.phase - 1) % len(self._pointer.cycle) + 1
                        replaced[t] = extract(self._value(memory, line, age), t.low - line.low, t.width)
        found = rebuild(term, replaced)
        return None if own.keys() & set(leaves(found)) else found

    def _value(self, memory: Signal, line: _Line, age: int) -> Term:
        """Return the variable for the data of ``line`` some edges ago, and make the registers that hold it."""
        stages = self._delays.setdefault((memory, 0), [])
        clock = memory.drivers[0].clock
        while len(stages) < age:
            name = f"{memory.name} {len(stages) + 1} edges ago"
            stage = Signal(name, line.width, memory.where, hidden=True)
            before = line.data if not stages else var(line.width, f"value of {stages[-1].name}")
            if stages:
                self._sources[before] = stages[-1], 0
            own = _own(stage)
            self._sources[own] = stage, 0
            term = self._controlled(before, own)
            stage.drive(driver_of(bits_over(term, self._sources), 0, line.width, 0, memory.where, clock))
            stages.append(stage)
        found = var(line.width, f"value of {stages[age - 1].name}")
        self._sources[found] = stages[age - 1], 0
        return found

    def _controlled(self, loaded: Term, own: Term) -> Term:
        """Return the next value of a delaying register, with the resets and the enable of the pointer."""
        term = loaded
        for given in self._pointer.holds:
            term = ite(_all(given), own, term)
        for given in self._pointer.resets:
            term = ite(_all(given), const(own.width, 0), term)
        return term


def _all(given: Mapping[Term, int]) -> Term:
    """Return whether pins have the values ``given``."""
    bits = [pin if value else bnot(pin) for pin, value in given.items()]
    found = bits[0]
    for bit in bits[1:]:
        found = ite(found, bit, const(1, 0))
    return found


def _loaded(term: Term, kept: Term) -> Iterator[tuple[int, Term]]:
    """Yield the runs of bits of ``term`` that are not those of ``kept``, each with its lowest bit."""
    place = first = 0
    for part in (*(reversed(term.args) if term.op == "concat" else (term,)), None):
        same = part is None or part is extract(kept, place, part.width)
        if same and place > first:
            yield first, extract(term, first, place - first)
        place += 0 if part is None else part.width
        first = place if same else first


def _pairs(lines: Sequence[_Line]) -> tuple[Sequence[_Line], Sequence[_Line]]:
    placed = sorted(lines, key=lambda line: line.low)
    return placed[:-1], placed[1:]
