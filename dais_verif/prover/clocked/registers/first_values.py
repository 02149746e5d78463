"""Decide whether the X of registers at power-up can still reach an output when the first vector arrives there.

``latency`` considers only what a register depends on by value. In simulation, values that cancel out matter too: with
``b <= a + b - b``, ``b`` is X for ever. The registers are therefore read once more, as they were before control
inference, with variables for the bits of signals that may be X (``four_state``). Inputs are never X. A signal is free
of X as soon as everything that its X bits depend on is free of X; a register becomes free of X one edge later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import IntEnum
from typing import NamedTuple

from dais_verif.base.errors import InputError, RegisterError, StateError
from dais_verif.prover import four_state
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Cone, Driver, Netlist, Read, Signal
from dais_verif.prover.terms import (
    Term,
    bor,
    concat,
    const,
    extract,
    is_open,
    leaves,
    nodes,
    nonzero,
    rebuild,
    sext,
    var,
)
from dais_verif.record.proof import Timing

__all__ = ["Registers", "refuse_first_values", "registers_of"]

#: The drivers of each register, before control inference.
Registers = Mapping[Signal, tuple[Driver, ...]]


def registers_of(netlist: Netlist) -> Registers:
    """Return the registers of ``netlist`` with their present drivers."""
    clocked = (signal for signal in netlist.signals.values() if any(driver.clock for driver in signal.drivers))
    return {signal: tuple(signal.drivers) for signal in clocked}


def refuse_first_values(netlist: Netlist, registers: Registers, boundary: Boundary, timing: Timing) -> None:
    """Raise ``StateError`` if an output may be X when the first vector arrives there, because registers start as X.

    ``boundary``: includes the held inputs. ``registers``: the registers as in the RTL, before control inference.
    ``timing``: the timing of the pipeline.
    """
    by_value = _read_by_value(netlist, registers)
    before = netlist.suspect(True)
    try:
        found = None
        if _Reading(netlist, registers, boundary, timing).reads_as_by_value(by_value):
            return
        for effort in _Effort:
            found = _Settling(netlist, registers, boundary, timing, effort).first_open()
            if found is None:
                return
    finally:
        netlist.suspect(before)
    if found is not None:
        signal, register = found
        raise StateError(
            f"{register.where}: register {register.name!r} is X at first, and {signal.name!r} may still be X because"
            f" of it when the first vector arrives, {timing.latency} edges later: an X that cancels out in hardware"
            f" stays X in simulation; compute {signal.name!r} without it"
        )


class _Effort(IntEnum):
    """Precision of the analysis. Each level takes longer than the one before; the first is enough for most designs."""

    READS = 0  # all bits of logic may be X if anything that the logic reads may be X
    BITS = 1  # bit by bit, by the rules of four-state simulation
    CONSTANTS = 2  # also use signals that are constant while pins are held, such as an alias of an enable


class _Leaf(NamedTuple):
    """The term for a signal, its variable for defined values, and its variable for bits that may be X."""

    term: Term
    value: Term
    unknown: Term


_Key = tuple[Signal, int]


class _Reading:
    """Reads drivers as they were before control inference, over leaves for all signals."""

    def __init__(
        self,
        netlist: Netlist,
        registers: Registers,
        boundary: Boundary,
        timing: Timing,
        effort: _Effort = _Effort.READS,
    ) -> None:
        self._netlist, self._registers, self._boundary, self._effort = netlist, registers, boundary, effort
        self._enable = None if timing.enable is None else netlist.signals[timing.enable]
        self._leaves: dict[Signal, _Leaf] = {}
        self._of: dict[Term, Signal] = {}

    def reads_as_by_value(self, by_value: Mapping[_Key, Set[_Key]]) -> bool:
        """Return whether no register and no executed procedure depends on more drivers if X is considered.

        ``by_value``: the drivers on which each of them depends by value. If the answer is True, the result of
        ``latency`` also holds for X, since ``latency`` considers everything that all other drivers read.
        """
        for signal in dict.fromkeys(signal for signal, _ in by_value):
            for driver in self._registers.get(signal, signal.drivers):
                parts = [x for x in signal.driving(driver.low, driver.width) if (signal, x.low) in by_value]
                if not parts:
                    continue
                try:
                    unknown = four_state.parts(driver.make(self._read)).unknown
                except InputError:
                    return False
                for part in parts:
                    here = extract(unknown, part.low - driver.low, part.width)
                    if not self._read_in(here) <= by_value[signal, part.low]:
                        return False
        return True

    def _read_in(self, unknown: Term) -> set[_Key]:
        """Return the drivers on whose bits ``unknown`` depends."""
        order = nodes(unknown)
        slices = {t for t in order if t.op == "extract" and t.args[0] in self._of}
        found: set[_Key] = set()
        for t in slices:
            found |= _keys(self._of[t.args[0]], t.low, t.width)
        for x in (unknown, *(x for t in order if t not in slices for x in t.args)):
            if x in self._of:
                found |= _keys(self._of[x], 0, x.width)
        return found

    def _read(self, signal: Signal, low: int, width: int) -> Term:
        if signal is self._enable:
            return const(1, 1)
        if signal in self._boundary.constants:
            return const(width, self._boundary.constants[signal] >> low)
        if not (self._registers.get(signal) or signal.drivers):
            return extract(var(signal.width, f"signal {signal.name}"), low, width)
        return extract(self._leaf(signal).term, low, width)

    def _leaf(self, signal: Signal) -> _Leaf:
        found = self._leaves.get(signal)
        if found is None:
            term, value, unknown = four_state.leaf(signal.width, f"what is first in {signal.name}")
            self._of[unknown] = signal
            if self._effort >= _Effort.CONSTANTS:
                term = four_state.rebuild(term, {value: self._steady(signal, value)})
            found = self._leaves[signal] = _Leaf(term, value, unknown)
        return found

    def _steady(self, signal: Signal, value: Term) -> Term:
        """Return ``value`` with constants in place of bits that are constant at the assumed pin values."""
        return concat(*(self._bit(signal, bit, value) for bit in reversed(range(signal.width))))

    def _bit(self, signal: Signal, bit: int, value: Term) -> Term:
        def cut(source: Signal, low: int, width: int) -> Term | None:
            return const(1, 1) if source is self._enable else self._boundary.given(source, low, width, _data)

        try:
            term = Cone(cut).read(signal, bit, 1)
        except InputError:
            term = value
        return term if term.op == "const" else extract(value, bit, 1)


class _Settling(_Reading):
    """Which bits of signals may still be X, edge by edge."""

    def __init__(
        self, netlist: Netlist, registers: Registers, boundary: Boundary, timing: Timing, effort: _Effort
    ) -> None:
        super().__init__(netlist, registers, boundary, timing, effort)
        self._latency = timing.latency
        #: For each driver, a term for its bits that may be X, over the unknown bits of the signals that it reads; the
        #: drivers by key; and the drivers that read each signal.
        self._unknown: dict[_Key, Term] = {}
        self._drivers: dict[_Key, Driver] = {}
        self._readers: dict[Signal, list[_Key]] = {}
        #: The bits of each signal that may still be X, as a mask.
        self._open: dict[Signal, int] = {}
        self._walk(boundary.result_ports)

    def _walk(self, roots: Sequence[Signal]) -> None:
        waiting, done = list(roots), set(roots)
        while waiting:
            signal = waiting.pop()
            self._open[signal] = 0
            for driver in self._registers.get(signal, signal.drivers):
                key = signal, driver.low
                self._open[signal] |= ((1 << driver.width) - 1) << driver.low
                self._drivers[key] = driver
                self._unknown[key] = unknown = self._made(driver)
                for t in leaves(unknown):
                    source = self._of.get(t)
                    if source is None:
                        continue
                    self._readers.setdefault(source, []).append(key)
                    if source not in done:
                        done.add(source)
                        waiting.append(source)

    def _made(self, driver: Driver) -> Term:
        try:
            if driver.clock is None and self._effort is _Effort.READS:
                return self._read_by(driver)
            return four_state.parts(driver.make(self._read)).unknown
        except InputError:  # unsupported logic may always be X
            return self._leaf(Signal(f"what is assigned at {driver.where}", driver.width, driver.where)).unknown

    def _read_by(self, driver: Driver) -> Term:
        """Return all bits as unknown wherever any bit that the driver reads may be X."""
        found: dict[Term, None] = {}

        def read(signal: Signal, low: int, width: int) -> Term:
            term = self._read(signal, low, width)
            if not is_open(term):
                return term
            found[four_state.parts(term).unknown] = None
            return var(width, f"{signal.name} {low}")

        driver.make(read)
        unknown = const(1, 0)
        for bits in found:
            unknown = bor(unknown, nonzero(bits))
        return sext(unknown, driver.width)

    def first_open(self) -> tuple[Signal, Signal] | None:
        """Find an output that may be X when the first vector arrives, and a register that causes it."""
        changed: list[Signal] = [*self._open]
        self._update([key for key, driver in self._drivers.items() if driver.clock is None])
        for _ in range(self._latency):
            changed = self._update([key for key, driver in self._drivers.items() if driver.clock is not None])
            if not changed:
                break
        return next((found for port in self._boundary.result_ports if (found := self._cause(port)) is not None), None)

    def _update(self, keys: Sequence[_Key]) -> list[Signal]:
        """Evaluate drivers, and then all logic that reads changed signals. Returns the changed signals."""
        known = [(key, self._look(key)) for key in keys]
        changed: list[Signal] = []
        waiting: list[_Key] = []
        while known:
            for (signal, low), open_ in known:
                width = self._drivers[signal, low].width
                new = self._open[signal] & ~(((1 << width) - 1) << low) | open_ << low
                if new != self._open[signal]:
                    self._open[signal] = new
                    changed.append(signal)
                    waiting += (key for key in self._readers.get(signal, ()) if self._drivers[key].clock is None)
            known = [(key, self._look(key)) for key in dict.fromkeys(waiting)]
            waiting = []
        return changed

    def _look(self, key: _Key) -> int:
        """Return a mask of the bits of a driver that may be X, given which bits of its sources may be X."""
        term = self._unknown[key]
        sources = [(t, self._of[t]) for t in leaves(term) if t in self._of]
        known = {
            t: _masked(t, self._open[s]) for t, s in sources if s in self._open and self._open[s] + 1 != 1 << s.width
        }
        if known:
            term = self._unknown[key] = rebuild(term, known)
        if not self._suspects(term):
            return 0
        if self._effort is _Effort.READS:
            return (1 << term.width) - 1
        return sum(bool(self._suspects(extract(term, bit, 1))) << bit for bit in range(term.width))

    def _suspects(self, term: Term) -> list[Signal]:
        return [self._of[t] for t in leaves(term) if t in self._of]

    def _cause(self, port: Signal) -> tuple[Signal, Signal] | None:
        """Return ``port`` and the last register found that may make it X; None if the port is free of X."""
        if not self._open[port]:
            return None
        found, waiting = {port: None}, [port]
        last = port
        while waiting:
            signal = waiting.pop()
            last = signal if signal in self._registers else last
            for key in self._unknown:
                if key[0] is signal:
                    for source in self._suspects(self._unknown[key]):
                        if source not in found:
                            found[source] = None
                            waiting.append(source)
        return port, last


def _read_by_value(netlist: Netlist, registers: Registers) -> dict[_Key, set[_Key]]:
    """Return the drivers that each register and each executed procedure reads, after control inference."""
    read: dict[_Key, set[_Key]] = {}
    for signal in netlist.signals.values():
        for driver in registers.get(signal, signal.drivers):
            if driver.clock is None and not driver.executed:
                continue
            for part in signal.driving(driver.low, driver.width):  # control inference may have split the driver
                found: set[_Key] = set()
                try:
                    part.make(_noting(found))
                except InputError:  # nothing that matters reads this driver, else the proof would have failed
                    continue
                read[signal, part.low] = found
    return read


def _noting(found: set[_Key]) -> Read:
    """Return a reader that adds the drivers of all bits that it reads to ``found``."""

    def read(signal: Signal, low: int, width: int) -> Term:
        found.update(_keys(signal, low, width))
        return var(width, f"{signal.name} {low}")

    return read


def _keys(signal: Signal, low: int, width: int) -> set[_Key]:
    return {(signal, driver.low) for driver in signal.driving(low, width)}


def _masked(unknown: Term, open_: int) -> Term:
    """Return ``unknown`` with the bits outside the mask ``open_`` set to 0."""
    bits = (extract(unknown, bit, 1) if open_ >> bit & 1 else const(1, 0) for bit in reversed(range(unknown.width)))
    return concat(*bits)


def _data(number: int) -> Term:
    raise RegisterError(f"input {number} is data")
