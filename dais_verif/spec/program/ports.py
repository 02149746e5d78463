"""The layout of inputs and outputs in the two packed ports, which depends only on the types of the program.

Element 0 takes the least significant bits, and there are no gaps; an element without bits takes none. A port without
any bits is one bit wide: such an input is ignored, such an output is tied to 0.
"""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.spec.program.model import Op, Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Element", "Ports", "ports_of"]


class Element(NamedTuple):
    """One input or output within its port: bits ``offset`` to ``offset + width - 1``; bit 0 has weight ``2**lo``."""

    offset: int
    width: int
    lo: int


class Ports(NamedTuple):
    """The elements of both ports of the module."""

    inputs: tuple[Element, ...]
    outputs: tuple[Element, ...]

    @property
    def input_bits(self) -> int:
        """The number of bits of ``model_inp`` that carry data; the port itself is at least one bit wide."""
        return sum(element.width for element in self.inputs)

    @property
    def output_bits(self) -> int:
        """The number of bits of ``model_out`` that carry data; the port itself is at least one bit wide."""
        return sum(element.width for element in self.outputs)

    def slice_of(self, op: Op, shift: int) -> tuple[int, int]:
        """Return (least significant bit, width) of the slice of ``model_inp`` that the ``input`` op reads."""
        element = self.inputs[op.id0]
        return element.offset + (-op.type.f - shift) - element.lo, op.type.width


def ports_of(program: Program) -> Ports:
    """Return the ports of ``program``. An input covers the bits of all its readers, including dead ones."""
    bounds: dict[int, tuple[int, int]] = {}
    for op in program.ops:
        if op.code == INPUT and op.type.width > 0:
            lo = -op.type.f - int(program.inp_shift[op.id0])
            hi = lo + op.type.width
            known = bounds.get(op.id0, (lo, hi))
            bounds[op.id0] = min(known[0], lo), max(known[1], hi)
    inputs, offset = [], 0
    for j in range(program.n_in):
        lo, hi = bounds.get(j, (0, 0))
        inputs.append(Element(offset, hi - lo, lo))
        offset += hi - lo
    outputs, offset = [], 0
    for kind in program.output_types:
        outputs.append(Element(offset, kind.width, -kind.f))
        offset += kind.width
    return Ports(tuple(inputs), tuple(outputs))
