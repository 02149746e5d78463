"""Trace clocks and enables of registers back to inputs of the design, through instances and assignments.

The trace stops at registers, whose outputs are not aliases of an input. A clock or enable that is the output of a
register is therefore not an input.
"""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.prover.netlist import Clock, Cone, Netlist, Signal, refuse_late
from dais_verif.prover.terms import Term, concat, var

__all__ = ["InputBit", "PinReader"]


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
