"""The interface of a design: the ports with their bits of a packed row, and the pins for timing.

A packed row is the concatenation of the bits of all data ports of one direction. The testbench in the simulator uses
only the interface of a design; it does not depend on the meaning of the bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

__all__ = ["Clocking", "DesignInterface", "Wire"]

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
