"""Cut a design open at its registers: their values become inputs, and their values after an edge become signals.

The result is combinational: one cycle of the design as a function of its inputs and of its register values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dais_verif.base.errors import ProofError, StateError
from dais_verif.prover.clocked.registers.clock_gating import PinReader
from dais_verif.prover.netlist import Bits, Cone, Driver, Netlist, Read, Signal, bits_over, driver_of
from dais_verif.prover.terms import Term, extract, ite, nonzero, undefined, var

__all__ = ["Open", "Place", "open_registers"]


class Place(NamedTuple):
    """Bits ``low .. low + width - 1`` of a signal."""

    signal: Signal
    low: int
    width: int


@dataclass(frozen=True)
class Open:
    """A design cut open at its registers.

    ``netlist``: the design without registers, reduced to signals on which an output depends. ``now``, ``after``: for
    each signal that was a register, the signals of its value before and after an edge. ``clocked``: the bits of signals
    that were registers. ``initial``: the values of these signals at power-up, undefined where the RTL gives none.
    ``named``: all signals of the design by name.
    """

    netlist: Netlist
    now: dict[Signal, Signal]
    after: dict[Signal, Signal]
    clocked: tuple[Place, ...]
    initial: dict[Signal, Term]
    named: Mapping[str, Signal]

    def held(self, signal: Signal, low: int, width: int) -> list[tuple[int, Place]]:
        """Return the parts of bits ``low .. low + width - 1`` of ``signal`` that are copies of register bits.

        Each part is a place in a register, preceded by the position of the part's lowest bit, counted from ``low``.
        """
        registers: dict[Term, Signal] = {}

        def cut(wire: Signal, low: int, width: int) -> Term | None:
            of = self._signals.get(wire)
            if of is not None:
                whole = var(of.width, f"register {of.name}")
                registers[whole] = of
                return extract(whole, low, width)
            if not wire.drivers or any(driver.clock is not None for driver in wire.drivers):
                return var(width, "an input, or a register that no output depends on")
            return None

        found: list[tuple[int, Place]] = []
        place = low
        whole = Cone(cut).read(signal, low, width)
        for part in reversed(whole.args) if whole.op == "concat" else (whole,):
            base, first = (part.args[0], part.low) if part.op == "extract" else (part, 0)
            if base in registers:
                found.append((place - low, Place(registers[base], first, part.width)))
            place += part.width
        return found

    @cached_property
    def _signals(self) -> dict[Signal, Signal]:
        return {now: signal for signal, now in self.now.items()}


def open_registers(netlist: Netlist, clock: str) -> Open:
    """Cut ``netlist`` open at the registers on which its outputs depend; these signals lose their clocked drivers.

    Raises ``InputError`` for a register with another clock, ``StateError`` for one with an asynchronous reset.
    """
    pins = PinReader(netlist)
    now: dict[Signal, Signal] = {}
    after: dict[Signal, Signal] = {}
    clocked: list[Place] = []
    waiting = [netlist.signals[name] for name in netlist.outputs]
    seen = set(waiting)

    def note(signal: Signal) -> None:
        if signal not in seen:
            seen.add(signal)
            waiting.append(signal)

    while waiting:
        signal = waiting.pop()
        registers = [driver for driver in signal.drivers if driver.clock is not None]
        for driver in signal.drivers:
            driver.make(_noting(note))
            if driver.clock is not None and driver.clock.enable is not None:
                note(driver.clock.enable)
        if registers:
            now[signal] = Signal(f"{signal.name} now", signal.width, signal.where, hidden=True)
            after[signal] = Signal(f"{signal.name} after", signal.width, signal.where, hidden=True)
            for driver in registers:
                _require_clock(signal, driver, pins, clock)
                clocked.append(Place(signal, driver.low, driver.width))
    for signal in now:
        for driver in list(signal.drivers):
            if driver.clock is not None:
                signal.drivers.remove(driver)
                signal.drive(driver_of(_of(now[signal], driver.low), 0, driver.width, driver.low, driver.where))
                after[signal].drive(_next(now[signal], driver))
    for signal in seen:
        _keep_from_power_up(signal, netlist.power_up.get(signal))
    known = seen | {netlist.signals[name] for name in netlist.inputs}
    signals = {name: signal for name, signal in netlist.signals.items() if signal in known}
    signals |= {signal.name: signal for signal in (*now.values(), *after.values())}
    initial = {signal: netlist.power_up.get(signal, _nothing(signal)) for signal in now}
    return Open(netlist._replace(signals=signals), now, after, tuple(clocked), initial, netlist.signals)


def _keep_from_power_up(signal: Signal, initial: Term | None) -> None:
    """Drive the undriven bits of ``signal`` with their power-up values, where these are known."""
    place = 0
    for low, width in [*((driver.low, driver.width) for driver in list(signal.drivers)), (signal.width, 0)]:
        if initial is not None and low > place:
            value = extract(initial, place, low - place)
            if value.op == "const":
                signal.drive(driver_of(bits_over(value, {}), 0, low - place, place, signal.where))
        place = low + width


def _noting(note: Callable[[Signal], None]) -> Read:
    def read(signal: Signal, low: int, width: int) -> Term:
        note(signal)
        return var(width, "some value")

    return read


def _require_clock(signal: Signal, driver: Driver, pins: PinReader, clock: str) -> None:
    assert driver.clock is not None
    if driver.clock.resets:
        names = ", ".join(repr(reset.name) for reset, _ in driver.clock.resets)
        raise StateError(
            f"{driver.where}: register {signal.name!r} is set by {names} between edges of the clock, and registers of a"
            " machine change at edges only"
        )
    found = pins.clocked_by(driver.clock)
    if found is None or found != (clock, 0):
        raise ProofError(f"{driver.where}: register {signal.name!r} is not clocked by {clock!r}")


def _of(signal: Signal, first: int) -> Bits:
    return lambda read, low, width: read(signal, first + low, width)


def _next(now: Signal, driver: Driver) -> Driver:
    """Return a driver of the bits after an edge: the loaded value, or the old one while the enable is 0."""
    enable = driver.clock.enable if driver.clock is not None else None

    def bits(read: Read, low: int, width: int) -> Term:
        value = driver.part(read, low, width) if driver.part else extract(driver.make(read), low, width)
        if enable is None:
            return value
        return ite(nonzero(read(enable, 0, 1)), value, read(now, driver.low + low, width))

    return driver_of(bits, 0, driver.width, driver.low, driver.where)


def _nothing(signal: Signal) -> Term:
    return undefined(signal.width, f"{signal.name!r} at power-up")
