"""A row of the table: a small program, vectors, and the exact outputs that it must give.

``case(7, 5, gives=4, breaks=2)`` means: for the inputs 7 and 5 a checked run is a violation at op 2, and an unchecked
run, like the RTL, gives 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dais_verif.spec.program import Program

from .rules import Rule

__all__ = ["AND", "OR", "XOR", "Case", "Number", "Op", "Row", "bitwise", "case", "entry", "mux", "row"]

#: A float stands for the decimal number as it is written, and must represent that number exactly.
Number = int | float | Fraction
Type = tuple[int, int, int]
#: ``(code, id0, id1, data, (k, i, f))``
Op = tuple[int, int, int, int, Type]
#: ``(out_idx, out_shift, out_neg)``
Output = tuple[int, int, int]

AND, OR, XOR = 0, 1, 2


@dataclass(frozen=True)
class Case:
    """One vector: real inputs, real outputs, and the op whose promise it breaks, if any."""

    inputs: tuple[Fraction, ...]
    gives: tuple[Fraction, ...]
    breaks: int | None = None


@dataclass(frozen=True)
class Row:
    """A program small enough to be computed by hand, and its cases."""

    name: str
    rule: Rule
    ops: tuple[Op, ...]
    outputs: tuple[Output, ...]
    cases: tuple[Case, ...]
    shifts: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def program(self) -> Program:
        """Return the row as a program by itself."""
        return Program.build(self.ops, self.outputs, inp_shift=self.shifts, tables=self.tables)

    def __str__(self) -> str:
        return self.name


def case(*inputs: Number, gives: Number | tuple[Number, ...], breaks: int | None = None) -> Case:
    """Return one vector of a row; ``gives`` is a tuple if the row has more than one output."""
    outputs = gives if isinstance(gives, tuple) else (gives,)
    return Case(tuple(map(exact, inputs)), tuple(map(exact, outputs)), breaks)


def row(
    name: str,
    rule: Rule,
    reads: Sequence[Type],
    ops: Sequence[Op],
    *cases: Case,
    outputs: Sequence[Output] = (),
    shifts: Sequence[int] = (),
    tables: Sequence[Sequence[int]] = (),
) -> Row:
    """Return a row whose first ops read inputs 0, 1, ... with the types ``reads``, followed by ``ops``.

    ``outputs``: the outputs, by default the last op as it is. ``shifts``: the values of inp_shift, by default 0 for
    every input that is read.
    """
    all_ops = (*((-1, j, -1, 0, kind) for j, kind in enumerate(reads)), *ops)
    all_shifts = (*shifts, *(0 for _ in reads[len(shifts) :]))
    all_outputs = tuple(outputs) or ((len(all_ops) - 1, 0, 0),)
    for one in cases:
        assert len(one.inputs) == len(all_shifts), f"{name}: {len(one.inputs)} inputs, not {len(all_shifts)}"
        assert len(one.gives) == len(all_outputs), f"{name}: {len(one.gives)} outputs, not {len(all_outputs)}"
        assert one.breaks is None or one.breaks < len(all_ops), f"{name}: there is no op {one.breaks}"
    return Row(name, rule, all_ops, all_outputs, cases, all_shifts, tuple(map(tuple, tables)))


def exact(number: Number) -> Fraction:
    """Return ``number`` as it is written; refuse floats that differ from their decimal number, such as 0.1."""
    value = Fraction(number)
    assert not isinstance(number, float) or value == Fraction(repr(number)), f"{number!r} is no dyadic number"
    return value


def mux(condition: int, shift: int = 0) -> int:
    """Return the data of opcode ±6: the low int32 is the op of the condition, the high int32 the shift of id1."""
    return shift << 32 | condition


def entry(table: int, offset: int = 0) -> int:
    """Return the data of opcode 8: the low int32 is the table, the high int32 the offset."""
    return offset << 32 | table


def bitwise(operation: int, shift: int = 0, *, negate_a: int = 0, negate_b: int = 0) -> int:
    """Return the data of opcode 10: the low int32 shifts id1, bits 32, 33 negate, the top byte is the operation."""
    return operation << 56 | negate_b << 33 | negate_a << 32 | shift & 0xFFFF_FFFF
