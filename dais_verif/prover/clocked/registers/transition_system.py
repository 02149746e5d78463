"""Extract the transition system behind a signal: the registers, and their values after an edge of the clock."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.base.errors import RegisterError
from dais_verif.prover.clocked.registers.clock_gating import PinReader
from dais_verif.prover.netlist import Cone, Driver, Netlist, Signal
from dais_verif.prover.terms import Term, bnot, concat, const, extract, ite, nonzero, rebuild, var

__all__ = ["TransitionSystem", "extract_transition_system"]

#: The largest number of state bits; the logic of a valid pin is small.
_LARGEST = 4096


class TransitionSystem(NamedTuple):
    """A transition system over one clock.

    ``out``: the output as a term over state and inputs. ``state``: the value after an edge for each state bit, which is
    a variable. ``inputs``: the name and bit of the input for each variable of an input. All other variables are free,
    too.
    """

    out: Term
    state: dict[Term, Term]
    inputs: dict[Term, tuple[str, int]]


def extract_transition_system(netlist: Netlist, out: Signal, clock: str) -> TransitionSystem:
    """Return the transition system behind ``out``.

    Raises ``InputError`` if the system is too large or has another clock.
    """
    return _Reader(netlist, clock).system(out)


class _Reader:
    def __init__(self, netlist: Netlist, clock: str) -> None:
        self._clock, self._pins = clock, PinReader(netlist)
        self._read: dict[Term, tuple[str, int]] = {}
        #: The variables for register bits, each with its signal, driver and bit of the driver.
        self._registers: dict[Term, tuple[Signal, Driver, int]] = {}
        self._inputs = {netlist.signals[name] for name in netlist.inputs}
        self._cone = Cone(self._cut)

    def system(self, out: Signal) -> TransitionSystem:
        found = self._cone.read(out, 0, 1)
        following: dict[Term, Term] = {}
        resets: dict[Term, list[tuple[Term, Term]]] = {}
        while len(following) < len(self._registers):
            for term, (signal, driver, bit) in list(self._registers.items()):
                if term not in following:
                    following[term] = self._following(term, signal, driver, bit, resets)
            if len(self._registers) > _LARGEST:
                raise RegisterError(
                    f"{out.name!r} depends on more than {_LARGEST} bits of state; a handshake has far fewer"
                )
        # While an asynchronous reset is active, readers of the register see its reset value.
        seen = {term: self._seen(term, found) for term, found in resets.items()}
        state = {term: rebuild(value, seen) for term, value in following.items()}
        return TransitionSystem(rebuild(found, seen), state, self._read)

    def _following(
        self, term: Term, signal: Signal, driver: Driver, bit: int, resets: dict[Term, list[tuple[Term, Term]]]
    ) -> Term:
        clock = driver.clock
        assert clock is not None
        if self._pins.clocked_by(clock) != (self._clock, 0):
            raise RegisterError(f"{driver.where}: register {signal.name!r} is not clocked by {self._clock}")
        read = self._cone.read
        value = driver.part(read, bit, 1) if driver.part else extract(driver.make(read), bit, 1)
        if clock.enable is not None:
            value = ite(nonzero(self._cone.read(clock.enable, 0, 1)), value, term)
        for reset, inactive in clock.resets:
            pin = self._cone.read(reset, 0, 1)
            active = bnot(pin) if inactive else pin
            if active is const(1, 0):
                continue
            held = rebuild(value, {pin: const(1, 1 - inactive)}) if pin.op == "var" else value
            if held.op != "const":
                raise RegisterError(
                    f"{driver.where}: register {signal.name!r} is loaded at {reset.name!r}, not reset: each of its bits"
                    " must get a constant there; `dais-verif sim` simulates such RTL"
                )
            resets.setdefault(term, []).append((active, held))
            value = ite(active, held, value)
        return value

    def _seen(self, term: Term, resets: list[tuple[Term, Term]]) -> Term:
        for active, held in resets:
            term = ite(active, held, term)
        return term

    def _cut(self, signal: Signal, low: int, width: int) -> Term | None:
        if signal in self._inputs:
            bits = {var(1, f"input {signal.name} {bit}"): (signal.name, bit) for bit in range(low, low + width)}
            self._read.update(bits)
            return concat(*reversed(bits))
        overlapping = list(signal.driving(low, width))
        if not any(driver.clock for driver in overlapping):
            return None
        parts: list[Term] = []
        for driver in overlapping:
            first, last = max(low, driver.low), min(low + width, driver.low + driver.width)
            if driver.clock is None:
                parts.append(self._cone.read(signal, first, last - first))
            else:
                for place in range(first, last):
                    term = var(1, f"state {signal.name} {place}")
                    self._registers[term] = signal, driver, place - driver.low
                    parts.append(term)
        if sum(part.width for part in parts) != width:
            raise RegisterError(f"{signal.where}: some bits of register {signal.name!r} have no driver")
        return concat(*reversed(parts))
