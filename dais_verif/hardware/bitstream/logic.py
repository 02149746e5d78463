"""The logic that a bitstream configures: LUTs, carries, registers, block RAMs, multipliers, and their pads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.hardware.bitstream.configuration import Place
from dais_verif.hardware.bitstream.pins_file import PortBit

__all__ = ["Carry", "Cell", "Lut", "Multiplier", "PortBit", "Ram", "ReadBack", "Register", "Signal"]


class Cell(NamedTuple):
    """One of the eight cells of a logic tile."""

    x: int
    y: int
    number: int

    def __str__(self) -> str:
        return f"{self.x}_{self.y}_{self.number}"


#: The name of a signal or of a port bit, or a constant in Verilog: ``1'b0`` or ``1'b1``.
Signal = str


class Lut(NamedTuple):
    """A LUT with four inputs: its output is bit ``i`` of ``table`` if ``inputs``, lowest bit first, are ``i``."""

    cell: Cell
    name: Signal
    table: int
    inputs: tuple[Signal, Signal, Signal, Signal]


class Carry(NamedTuple):
    """The carry of a cell: the majority of its three inputs."""

    cell: Cell
    name: Signal
    inputs: tuple[Signal, Signal, Signal]


class Register(NamedTuple):
    """The register of a cell, which is 0 when the device starts. ``reset``: the signal that sets it to ``value``."""

    cell: Cell
    name: Signal
    data: Signal
    clock: Signal
    falling: bool
    enable: Signal
    reset: Signal
    value: int
    asynchronous: bool


class Ram(NamedTuple):
    """A block RAM: 256 words of 16 bits. ``contents``: word 0 is lowest; ``pins``: the signals at each pin."""

    place: Place
    name: Signal
    contents: int
    write_mode: int
    read_mode: int
    write_falling: bool
    read_falling: bool
    pins: Mapping[str, tuple[Signal, ...]]


class Multiplier(NamedTuple):
    """A multiplier of 16 by 16 bits, lowest bits first. ``signed``, ``registers``: flags of inputs a and b.

    ``stages``: the number of output registers. All registers load at rising edges of ``clock`` if ``enable`` is 1.
    """

    place: Place
    name: Signal
    a: tuple[Signal, ...]
    b: tuple[Signal, ...]
    signed: tuple[bool, bool]
    registers: tuple[bool, bool]
    stages: int
    clock: Signal
    enable: Signal


@dataclass(frozen=True)
class ReadBack:
    """The logic in the fan-in cone of the pads that are driven; all other logic is left out.

    ``inputs``, ``outputs``: the bits of ports, each with its pad as (column, row, number); ``driven``: the driver of
    each output bit. ``used``: tiles that signals pass through, with or without logic. ``size``: the numbers of columns
    and rows of the device; ``kinds``: the kinds of its tiles.
    """

    device: str
    package: str
    inputs: Mapping[PortBit, tuple[int, int, int]]
    outputs: Mapping[PortBit, tuple[int, int, int]]
    driven: Mapping[PortBit, Signal]
    luts: tuple[Lut, ...]
    carries: tuple[Carry, ...]
    registers: tuple[Register, ...]
    rams: tuple[Ram, ...]
    multipliers: tuple[Multiplier, ...]
    used: frozenset[Place]
    size: tuple[int, int]
    kinds: Mapping[Place, str]
