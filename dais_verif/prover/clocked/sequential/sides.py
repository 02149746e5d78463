"""The two sides of a comparison: designs whose registers, ports and memories are literals of one graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dais_verif.prover.gates.bit_blasting import Word

__all__ = ["Bank", "BankOutput", "BitOf", "Gates", "Invariant", "Memory", "Port", "Reading", "RegisterBit"]

#: A bit of a port: the name of the port, and the number of the bit.
Port = tuple[str, int]


class RegisterBit(NamedTuple):
    """A register bit. ``now``: a graph input. ``after``: its value after an edge. ``initial``: None if unknown."""

    name: str
    now: int
    after: int
    initial: int | None


class Reading(NamedTuple):
    """A read of a memory. ``place``: the address. ``value``: the word there, inputs of the graph."""

    place: Word
    value: Word


@dataclass(frozen=True)
class Memory:
    """A memory that writes at most one word per edge.

    ``width``: the width of a word in bits. ``place``: the address that is written. ``old``: the word there, inputs of
    the graph. ``new``: the word there after the edge. ``contents``: the bits at power-up, None if unknown; word 0
    first, its lowest bit first.
    """

    name: str
    width: int
    place: Word
    old: Word
    new: Word
    contents: tuple[int | None, ...]
    readings: tuple[Reading, ...]


class BankOutput(NamedTuple):
    """An output of a bank: at an edge, register ``name`` takes the bit of one of ``columns``, given by number."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Bank:
    """A block RAM as columns of bits. At each edge one row is written and one row is read.

    ``row``: the written row. ``writes``: for each column, whether it is written; ``data``: the bit to write.
    ``read_row``: the row that is read. ``read``: the bit of each column there, inputs of the graph. ``contents``: all
    bits at power-up; row 0 in the lowest bits, column 0 first. ``outputs``: its output registers.
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
    """A candidate invariant. ``first``: it holds at power-up. ``now``, ``after``: literals before and after an edge."""

    name: str
    first: bool
    now: int
    after: int


@dataclass(frozen=True)
class Gates:
    """One side of a comparison.

    ``inputs``: the literals of inputs, by port and bit, shared by both sides. ``invariants``: candidates for
    invariants, which are used only if they are proved.
    """

    inputs: Mapping[Port, int]
    outputs: Mapping[Port, int]
    registers: tuple[RegisterBit, ...]
    memories: tuple[Memory, ...] = ()
    banks: tuple[Bank, ...] = field(default=())
    invariants: tuple[Invariant, ...] = ()


class BitOf(NamedTuple):
    """What a column of a bank holds: bit ``bit`` of words of memory number ``memory``.

    ``rows``: the address bits that form the row number. ``fixed``: the values of all other address bits.
    """

    memory: int
    bit: int
    rows: tuple[int, ...]
    fixed: Mapping[int, int]
