"""Rewrite registers with a gated clock, ``clk & latch``, as registers with the clock ``clk`` and an enable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dais_verif.base.errors import InputError, RegisterError
from dais_verif.prover.netlist import Bits, Clock, Cone, Driver, Netlist, Read, Signal, refuse_late
from dais_verif.prover.terms import Term, bnot, concat, const, ite, leaves, rebuild, var

__all__ = ["InputBit", "Latch", "PinReader", "ungate"]


class Latch(NamedTuple):
    """A latch that is transparent while ``gate`` is 0. ``always``: it has a value before its data first changes."""

    gate: Signal
    data: Bits
    always: bool


class _Gate(NamedTuple):
    """A gated clock, which rises with ``clock`` if ``enable``, a term over variables for latches, is 1."""

    clock: Signal
    enable: Term
    latches: dict[Term, Latch]


def ungate(signals: Iterable[Signal], latches: Mapping[Signal, Latch]) -> None:
    """Rewrite each register with a gated clock: the ungated clock clocks it, and the enable selects its next value.

    ``latches``: the latches of the design, by signal. Changes the drivers of ``signals``.
    """
    if not latches:
        return
    for signal in signals:
        for driver in list(signal.drivers):
            free = driver
            while (
                free.clock is not None
                and not free.clock.falling
                and (gate := _gate_of(free.clock.signal, latches)) is not None
            ):
                free = _by_the_clock(signal, free, gate)
            if free is not driver:
                signal.drivers[signal.drivers.index(driver)] = free


def _by_the_clock(signal: Signal, driver: Driver, gate: _Gate) -> Driver:
    assert driver.clock is not None
    clock = driver.clock._replace(signal=gate.clock)

    def make(read: Read) -> Term:
        enable = rebuild(gate.enable, {t: latch.data(read, 0, 1) for t, latch in gate.latches.items()})
        term = ite(enable, driver.make(read), read(signal, driver.low, driver.width))
        for reset, idle in clock.resets:  # an asynchronous reset acts regardless of the enable
            active = read(reset, 0, 1) if idle == 0 else bnot(read(reset, 0, 1))
            term = ite(active, driver.make(_with(read, reset, 1 - idle)), term)
        return term

    return Driver(driver.low, driver.width, make, driver.where, clock)


def _with(read: Read, signal: Signal, value: int) -> Read:
    return lambda source, low, width: const(1, value) if source is signal else read(source, low, width)


def _gate_of(signal: Signal, latches: Mapping[Signal, Latch]) -> _Gate | None:
    """Return the clock gate whose output is ``signal`` or has ``signal`` as an alias; None if there is none.

    The latch must be gated by the same signal that the AND reads. If one of them reads an alias, ``wire c = clk``,
    either of the two signals may fall while the other is still 1, so the latch could open during a pulse.
    """
    sources: dict[Term, tuple[Signal, int]] = {}

    def read(source: Signal, low: int, width: int) -> Term:
        term = var(width, f"signal {source.name} {low}")
        sources[term] = source, low
        return term

    while True:
        if len(signal.drivers) != 1 or signal.drivers[0].clock or signal.drivers[0].late or signal.width != 1:
            return None
        try:
            term = signal.drivers[0].make(read)
        except InputError:
            return None
        if term not in sources or sources[term][0].width != 1:
            break
        signal = sources[term][0]
    for clock in leaves(term):
        source = sources[clock][0] if clock in sources else None
        if source is None or source.width != 1 or rebuild(term, {clock: const(1, 0)}) is not const(1, 0):
            continue
        gate = _enabled(rebuild(term, {clock: const(1, 1)}), source, sources, latches)
        if gate is not None:
            return gate
    return None


def _enabled(
    term: Term, clock: Signal, sources: Mapping[Term, tuple[Signal, int]], latches: Mapping[Signal, Latch]
) -> _Gate | None:
    """Return the gate if ``term`` depends only on latches that are gated by ``clock``."""
    held: dict[Term, Latch] = {}

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        latch = latches.get(signal)
        if latch is not None and latch.gate is clock:
            found = var(1, f"latch {signal.name}")
            held[found] = latch
            return found
        if latch is not None or not signal.drivers or any(driver.clock for driver in signal.drivers):
            raise RegisterError(f"{signal.where}: {signal.name!r} is not the latch of a clock gate")
        return None

    cone = Cone(cut)
    try:
        given = {t: cone.read(*sources[t], t.width) for t in leaves(term) if t in sources}
    except InputError:
        return None
    enable = rebuild(term, given)
    if not held or set(leaves(enable)) != set(held) or not all(map(_is_awake, held.values())):
        return None
    return _Gate(clock, enable, held)


def _is_awake(latch: Latch) -> bool:
    """Return whether the latch has a value before the first edge.

    An ``always @*`` block with constant data never runs, so its latch has no value.
    """

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        known = signal.drivers and not any(driver.clock for driver in signal.drivers)
        return None if known else var(width, f"{signal.name} {low}")

    try:
        return latch.always or latch.data(Cone(cut).read, 0, 1).op != "const"
    except InputError:
        return False


# Trace clocks and enables of registers back to inputs of the design, through instances and assignments.
#
# The trace stops at registers, whose outputs are not aliases of an input. A clock or enable that is the output of a
# register is therefore not an input.


class InputBit(NamedTuple):
    """Bit ``bit`` of input ``name``."""

    name: str
    bit: int


class PinReader:
    """Find the inputs of ``netlist`` behind signals of one bit."""

    def __init__(self, netlist: Netlist) -> None:
        self._inputs = {netlist.signals[name] for name in netlist.inputs}
        self._known: dict[Signal, tuple[InputBit | None, bool]] = {}

    def input_of(self, signal: Signal) -> InputBit | None:
        """Return the input bit of which ``signal`` is an alias; None if it is computed or the output of a register.

        Raises ``InputError`` if ``signal`` changes later than the input does.
        """
        found, inverted = self._look(signal)
        return None if inverted else found

    def clocked_by(self, clock: Clock) -> InputBit | None:
        """Return the input at whose rising edges a register loads; None if there is none. Raises ``InputError``.

        A register that loads at falling edges of the inverse of an input loads at rising edges of the input.
        """
        found, inverted = self._look(clock.signal)
        return found if inverted == clock.falling else None

    def _look(self, signal: Signal) -> tuple[InputBit | None, bool]:
        if signal not in self._known:
            self._known[signal] = self._found(signal)
        return self._known[signal]

    def _found(self, signal: Signal) -> tuple[InputBit | None, bool]:
        """Return the input, and whether ``signal`` is its inverse."""
        bits: dict[Term, InputBit] = {}

        def cut(wire: Signal, low: int, width: int) -> Term | None:
            refuse_late(wire, signal.where)
            if wire in self._inputs:
                read = {var(1, f"input {wire.name} {bit}"): InputBit(wire.name, bit) for bit in range(low, low + width)}
                bits.update(read)
                return concat(*reversed(read))
            if any(driver.clock for driver in wire.driving(low, width)):
                return var(width, f"register {wire.name} {low}")
            return None

        term = Cone(cut).read(signal, 0, signal.width)
        inverted = term.op == "not"
        return bits.get(term.args[0] if inverted else term), inverted
