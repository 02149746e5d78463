"""Rows of ports as numbers: the same vector as real values, raw integers, or bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from cocotb.types import LogicArray

from dais_verif.base.errors import BenchError
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element

__all__ = ["FixedPointVector", "RowLayout", "input_layout"]


@dataclass(frozen=True)
class RowLayout:
    """The position and type of each element in a packed row. ``what``: ``input`` or ``output``, for messages."""

    elements: tuple[Element, ...]
    types: tuple[FixedType, ...]
    what: str

    @property
    def bits(self) -> int:
        """The number of bits of a row, without the padding of a port that carries no data."""
        return sum(element.width for element in self.elements)

    def of_row(self, row: str) -> FixedPointVector:
        """Return the vector of ``row``, bits most significant first. Raises ``InputError`` if they are not 0 and 1."""
        if set(row) - {"0", "1"}:
            raise BenchError(f"the {self.what} bits {row:.80} hold X or Z, must be 0 and 1")
        whole = int(row, 2) if row else 0
        raw = []
        for (offset, width, _), kind in zip(self.elements, self.types, strict=True):
            value = whole >> offset & (1 << width) - 1
            raw.append(value - (1 << width) if kind.k and width and value >> (width - 1) else value)
        return FixedPointVector(self, tuple(raw))

    def batch(self, vector: FixedPointVector) -> Batch:
        """Return the exact values of ``vector`` as a batch of one row."""
        columns = [
            Column(np.array([value], dtype=np.int64 if -(1 << 62) <= value < 1 << 62 else object), -kind.f)
            for value, kind in zip(vector.raw, self.types, strict=True)
        ]
        return Batch(1, tuple(columns))


@dataclass(frozen=True)
class FixedPointVector:
    """One vector of inputs or outputs.

    ``raw``: integers, in units of the last bit of each element. Two vectors are equal if their layouts and values are
    equal. ``idle``: the value of a port that carries no bits at all, which must not matter.
    """

    layout: RowLayout
    raw: tuple[int, ...]
    idle: int = field(default=0, compare=False)

    @cached_property
    def real(self) -> tuple[Fraction, ...]:
        """The exact value of each element."""
        return tuple(Fraction(value) * _two(-kind.f) for value, kind in zip(self.raw, self.layout.types, strict=True))

    @cached_property
    def bits(self) -> tuple[LogicArray, ...]:
        """The bits of each element, for designs with one port per element; an array of length 0 for no bits."""
        return tuple(
            LogicArray(_text(value, element.width))
            for value, element in zip(self.raw, self.layout.elements, strict=True)
        )

    @cached_property
    def row(self) -> str:
        """All bits as text, most significant first; ``idle`` for a row without bits, since its port is one bit wide."""
        whole = 0 if self.layout.bits else self.idle
        for value, (offset, width, _) in zip(self.raw, self.layout.elements, strict=True):
            whole |= (value & (1 << width) - 1) << offset
        return _text(whole, max(self.layout.bits, 1))

    @property
    def packed(self) -> LogicArray:
        """All bits, as ``model_inp`` and ``model_out`` carry them: element 0 is in the least significant bits."""
        return LogicArray(self.row)


def input_layout(program: Program, elements: Sequence[Element]) -> RowLayout:
    """Return the layout of inputs at ``elements``; an input is signed if an op reads it as a signed number.

    Raises ``InputError`` if a bit that an op reads is missing, since its value would be unknown.
    """
    signed = [0] * program.n_in
    for op in program.ops:
        if op.code != INPUT or not op.type.width:
            continue
        signed[op.id0] |= op.type.k
        shift, element = int(program.inp_shift[op.id0]), elements[op.id0]
        low = -op.type.f - shift
        if low < element.lo or low + op.type.width > element.lo + element.width:
            raise BenchError(
                f"input {op.id0} has bits of weights 2^{low} to 2^{low + op.type.width - 1} that op {op.index} reads; "
                f"the port carries {element.width} bits from 2^{element.lo} on: give its types in ports"
            )
    types = tuple(FixedType(k, e.width - k + e.lo, -e.lo) for k, e in zip(signed, elements, strict=True))
    return RowLayout(tuple(elements), types, "input")


def value_of(value: Any, element: Element) -> Fraction | int | float:
    """Return the caller's value for an input as a number; a ``LogicArray`` has the bits of the input's port element."""
    if isinstance(value, LogicArray):
        if len(value) != element.width:
            raise BenchError(f"a LogicArray of {len(value)} bits was given for an input of {element.width}")
        text = str(value)
        if set(text) - {"0", "1"}:
            raise BenchError(f"the input bits {text:.80} hold X or Z, must be 0 and 1")
        return Fraction(int(text, 2) if text else 0) * _two(element.lo)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, Fraction):
        return value
    raise BenchError(f"an input must be a number or a LogicArray, not {type(value).__name__}")


def _two(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _text(value: int, width: int) -> str:
    return format(value & (1 << width) - 1, f"0{width}b") if width else ""
