"""Trace clocks and enables of registers back to inputs of the design, through instances and assignments.

The trace stops at registers, whose outputs are not aliases of an input. A clock or enable that is the output of a
register is therefore not an input.
"""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.prover.netlist import Cone, Netlist, Signal, refuse_late
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
        self._known: dict[Signal, InputBit | None] = {}

    def input_of(self, signal: Signal) -> InputBit | None:
        """Return the input bit of which ``signal`` is an alias; None if it is computed or the output of a register.

        Raises ``InputError`` if ``signal`` changes later than the input does.
        """
        if signal not in self._known:
            self._known[signal] = self._found(signal)
        return self._known[signal]

    def _found(self, signal: Signal) -> InputBit | None:
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

        return bits.get(Cone(cut).read(signal, 0, signal.width))
