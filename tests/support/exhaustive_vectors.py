"""The rows of exhaustive passes, and a brute-force check that a plan keeps its promises."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dais_verif.golden import oracle
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import bits_of, input_bits
from dais_verif.spec.program.numbers import floor_to_grid
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus.pseudo_exhaustive.plan import Plan
from dais_verif.stimulus.pseudo_exhaustive.vectors import ExhaustiveVectors

U8 = (0, 8, 0)
S8 = (1, 7, 0)


def reads(n: int, kind: tuple[int, int, int] = U8) -> list[Any]:
    """Return ``n`` ops, each of which reads one input."""
    return [(-1, j, -1, 0, kind) for j in range(n)]


def low_bits(op: int, n: int) -> tuple[Any, ...]:
    """Return an op that keeps the ``n`` lowest bits of an integer."""
    return (3, op, -1, 0, (0, n, 0))


def declare(program: Program, *intervals: tuple[int, int]) -> Program:
    """Return ``program`` with intervals declared for its first ops."""
    rest = ((op.type.raw_min, op.type.raw_max) for op in program.ops[len(intervals) :])
    return replace(program, intervals=(*intervals, *rest))


def values_of(program: Program, port: int) -> list[Fraction]:
    """Return the input vector for which ``model_inp`` is ``port``."""
    return [(port >> e.offset) % (1 << e.width) * oracle.two(e.lo) for e in ports_of(program).inputs]


def port_rows(exhaustive: ExhaustiveVectors, start: int = 0, stop: int = 1 << 40, seed: int = 0) -> list[int]:
    """Return ``model_inp`` of every row, from ``batch`` and the documented packing; assert that ``packed`` agrees."""
    batch = exhaustive.batch(start, stop, seed)
    rows = [0] * batch.rows
    for column, element in zip(batch.columns, exhaustive.domain.ports.inputs, strict=True):
        for row, value in enumerate(floor_to_grid(column, -element.lo).tolist()):
            rows[row] |= value % (1 << element.width) << element.offset
    packed = exhaustive.packed(start, stop, seed)
    assert packed.dtype == np.dtype("<u8") and packed.shape == (
        len(rows),
        max(1, -(-exhaustive.domain.ports.input_bits // 64)),
    )
    assert [int.from_bytes(row.tobytes(), "little") for row in packed] == rows
    return rows


def gather(port: int, mask: int) -> int:
    """Return the bits of ``port`` that ``mask`` selects, packed together."""
    return sum((port >> bit & 1) << n for n, bit in enumerate(bits_of(mask)))


def check_promises(program: Program, found: Plan) -> None:
    """Check every statement of a plan on all rows of all passes."""
    cones = input_bits(program)
    met: set[int] = set()
    for number, exhaustive in enumerate(found.passes):
        assert exhaustive.number == number
        rows = port_rows(exhaustive)
        assert len(rows) == exhaustive.rows == max((c.size for c in exhaustive.counters), default=1)
        for counter in exhaustive.counters:
            seen = [gather(port, counter.free | counter.declared) for port in rows]
            for lap in range(0, exhaustive.rows, counter.size):
                part = seen[lap : lap + counter.size]
                assert len(set(part)) == len(part)
        for output in exhaustive.outputs:
            mask = cones[output]
            assert mask is not None
            if not program.intervals:
                assert {gather(port, mask) for port in rows} == set(range(1 << mask.bit_count()))
        met.update(exhaustive.outputs)
    assert found.exhausted == tuple(sorted(met))
    assert found.rows == sum(exhaustive.rows for exhaustive in found.passes)
