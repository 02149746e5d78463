"""The place of each element of a program in the rows of a design.

It is a module of its own, since a testbench, which needs the interface only, then starts without the program model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dais_verif.dut.interface import Clocking, DesignInterface, Wire
from dais_verif.program import FixedType, Program
from dais_verif.program.ports import Element, Ports, ports_of

__all__ = ["MODEL_INP", "MODEL_OUT", "Dut", "packed"]

MODEL_INP, MODEL_OUT = "model_inp", "model_out"


@dataclass(frozen=True)
class Dut:
    """An interface, and the meaning of its rows: the position of each element of the program.

    ``output_types``: the type of every output in the design. ``how``: the source of the widths, as text.
    """

    interface: DesignInterface
    ports: Ports
    output_types: tuple[FixedType, ...]
    how: str = "the program's types"

    def input_at(self, number: int) -> tuple[str, Element]:
        """Return the name of the port that carries input ``number``, and the element relative to that port."""
        return _within(self.interface.inputs, self.ports.inputs[number])

    def output_at(self, number: int) -> tuple[str, Element]:
        """Return the name of the port that carries output ``number``, and the element relative to that port."""
        return _within(self.interface.outputs, self.ports.outputs[number])


def _within(wires: Sequence[Wire], element: Element) -> tuple[str, Element]:
    for wire in wires:
        if wire.offset <= element.offset < wire.offset + max(wire.width, 1):
            return wire.name, element._replace(offset=element.offset - wire.offset)
    return wires[-1].name, element


def packed(program: Program, clocking: Clocking | None = None) -> Dut:
    """Return the interface of our emitted modules: all elements in ``model_inp`` and ``model_out``."""
    ports = ports_of(program)
    inputs = (Wire(MODEL_INP, 0, ports.input_bits),)
    outputs = (Wire(MODEL_OUT, 0, ports.output_bits),)
    return Dut(DesignInterface(inputs, outputs, clocking), ports, program.output_types)
