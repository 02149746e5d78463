"""What is compared: two designs over one graph, whose registers, ports and memories are literals of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dais_verif.prover.bit_level.bit_blasting import Word

__all__ = ["Bank", "BankOutput", "BitOf", "Gates", "Invariant", "Memory", "Port", "Reading", "RegisterBit"]

#: A bit of a port.
Port = tuple[str, int]


class RegisterBit(NamedTuple):
    """One bit. ``now``: an input of the graph; ``after``: what it holds after an edge. ``initial``: None if unknown."""

    name: str
    now: int
    after: int
    initial: int | None


class Reading(NamedTuple):
    """A place at which a memory is read. ``value``: the word there, inputs of the graph."""

    place: Word
    value: Word


@dataclass(frozen=True)
class Memory:
    """Words that are written at one place an edge. ``old``: the word there, inputs; ``new``: what it is after the edge.

    ``contents``: at power-up, a bit each, None if unknown; word 0 first, its lowest bit first.
    """

    name: str
    width: int
    place: Word
    old: Word
    new: Word
    contents: tuple[int | None, ...]
    readings: tuple[Reading, ...]


class BankOutput(NamedTuple):
    """An output of a bank: register ``name`` takes the bit of one of ``columns``, by their numbers, at an edge."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Bank:
    """A block RAM as columns of bits, 256 each. A row is written, and one is read, at an edge.

    ``writes``: whether each column is written; ``data``: with what. ``read``: the bit of each column in the row that is
    read, inputs of the graph. ``contents``: row 0 lowest, the lowest column first. ``outputs``: its registers.
    """

    name: str
    row: Word
    writes: Word
    data: Word
    read_row: Word
    read: Word
    contents: int
    outputs: tuple[BankOutput, ...]


class Invariant(NamedTuple):
    """What may be so in every cycle. ``first``: whether it is at power-up; ``now``, ``after``: an edge, as literals."""

    name: str
    first: bool
    now: int
    after: int


@dataclass(frozen=True)
class Gates:
    """One side. ``inputs`` are shared with the other, by port and bit. ``invariants`` are proved, or not used."""

    inputs: Mapping[Port, int]
    outputs: Mapping[Port, int]
    registers: tuple[RegisterBit, ...]
    memories: tuple[Memory, ...] = ()
    banks: tuple[Bank, ...] = field(default=())
    invariants: tuple[Invariant, ...] = ()


class BitOf(NamedTuple):
    """What a column of a bank holds: bit ``bit`` of words of memory number ``memory``.

    They are those whose places are, in the bits ``rows``, its row, and in all others ``fixed``.
    """

    memory: int
    bit: int
    rows: tuple[int, ...]
    fixed: Mapping[int, int]
