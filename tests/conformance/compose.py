"""Compose many rows into one program, so that a simulator is built only once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

from .row import Case, Op, Row

__all__ = ["Composition", "compose"]

_LOW = 0xFFFF_FFFF


@dataclass(frozen=True)
class Composition:
    """``program`` computes ``rows`` side by side; row r has the outputs from ``first_output[r]`` on.

    Vector v of ``batch`` is case v of every row; a row with fewer cases repeats its last one.
    """

    rows: tuple[Row, ...]
    program: Program
    vectors: tuple[tuple[Fraction, ...], ...]
    first_output: tuple[int, ...]

    @property
    def batch(self) -> Batch:
        """Return ``vectors`` as a batch."""
        return Batch.of([list(vector) for vector in self.vectors], self.program.n_in)

    def gives(self, vector: int) -> list[Fraction]:
        """Return every output that the table expects for ``vector``."""
        return [value for row in self.rows for value in _case(row, vector).gives]


def compose(rows: Sequence[Row]) -> Composition:
    """Concatenate the inputs, ops, tables and outputs of ``rows``, with indices adapted accordingly."""
    ops: list[Op] = []
    outputs: list[tuple[int, int, int]] = []
    shifts: list[int] = []
    tables: list[tuple[int, ...]] = []
    first_output = []
    for row in rows:
        first_output.append(len(outputs))
        outputs += [(index + len(ops) if index >= 0 else -1, shift, neg) for index, shift, neg in row.outputs]
        ops += [_moved(op, len(ops), len(shifts), len(tables)) for op in row.ops]
        shifts += row.shifts
        tables += row.tables
    count = max(len(row.cases) for row in rows)
    vectors = tuple(tuple(value for row in rows for value in _case(row, v).inputs) for v in range(count))
    program = Program.build(ops, outputs, inp_shift=shifts, tables=tables)
    return Composition(tuple(rows), program, vectors, tuple(first_output))


def _case(row: Row, vector: int) -> Case:
    return row.cases[min(vector, len(row.cases) - 1)]


def _moved(op: Op, ops: int, inputs: int, tables: int) -> Op:
    """Return ``op`` with its indices increased by so many ops, inputs and tables."""
    code, id0, id1, data, kind = op
    if code == -1:
        return code, id0 + inputs, id1, data, kind
    low = {6: ops, -6: ops, 8: tables}.get(code, 0)
    data = data & ~_LOW | (data & _LOW) + low if low else data
    return code, id0 + ops if id0 >= 0 else -1, id1 + ops if id1 >= 0 else -1, data, kind
