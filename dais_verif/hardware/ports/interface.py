"""The interface of a design: the ports with their bits of a packed row, and the pins for timing.

A packed row is the concatenation of the bits of all data ports of one direction. The testbench in the simulator uses
only the interface of a design; it does not depend on the meaning of the bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.ports import Element, Ports, ports_of

__all__ = ["Clocking", "DesignInterface", "Dut", "MODEL_INP", "MODEL_OUT", "Wire", "packed"]


_ELEMENT = re.compile(r"\[\d+\]$")


class Wire(NamedTuple):
    """A port, or an element of an array such as ``name[3]``, with bits ``offset`` to ``offset + width - 1`` of a row.

    Width 0 denotes a port without data: it is one bit wide, and it is ignored or tied to 0.
    """

    name: str
    offset: int
    width: int

    @property
    def port(self) -> str:
        """The name of the port, without an index."""
        return _ELEMENT.sub("", self.name)


@dataclass(frozen=True)
class Clocking:
    """The pins of a clocked design.

    ``latency``: rising edges from driving an input to its output; None: the testbench measures it. ``reset_low``: the
    reset is active at 0. All pins except the clock are optional.
    """

    clock: str
    latency: int | None = None
    reset: str | None = None
    reset_low: bool = False
    enable: str | None = None
    valid_in: str | None = None
    valid_out: str | None = None

    @property
    def driven(self) -> list[str]:
        """The pins that a testbench drives."""
        return [pin for pin in (self.clock, self.reset, self.enable, self.valid_in) if pin]


@dataclass(frozen=True)
class DesignInterface:
    """The data ports of a design, its pins, and its inputs with a constant value (``ties``)."""

    inputs: tuple[Wire, ...]
    outputs: tuple[Wire, ...]
    clocking: Clocking | None = None
    ties: tuple[tuple[str, int], ...] = ()

    @property
    def input_bits(self) -> int:
        """The number of bits of a packed row of inputs."""
        return sum(wire.width for wire in self.inputs)

    @property
    def output_bits(self) -> int:
        """The number of bits of a packed row of outputs."""
        return sum(wire.width for wire in self.outputs)

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of all ports that a testbench drives or reads, in order."""
        clocking = self.clocking
        pins = [*clocking.driven, *([clocking.valid_out] if clocking.valid_out else [])] if clocking else []
        wires = [wire.port for wire in (*self.inputs, *self.outputs)]
        return tuple(dict.fromkeys([*wires, *pins, *(name for name, _ in self.ties)]))

    def with_latency(self, latency: int | None) -> DesignInterface:
        """Return the same interface with ``latency``; if the design has no clock, return it unchanged."""
        return self if self.clocking is None else replace(self, clocking=replace(self.clocking, latency=latency))

    def to_tree(self) -> dict[str, Any]:
        """Return the interface as JSON-compatible data."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> DesignInterface:
        """Return the interface in ``tree``, the result of ``to_tree``, even after a round trip through JSON."""
        wires = {name: tuple(Wire(*wire) for wire in tree[name]) for name in ("inputs", "outputs")}
        clocking = Clocking(**tree["clocking"]) if tree["clocking"] else None
        return cls(**wires, clocking=clocking, ties=tuple((name, value) for name, value in tree["ties"]))


# The place of each element of a program in the rows of a design.
#
# It is a module of its own, since a testbench, which needs the interface only, then starts without the program model.


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
