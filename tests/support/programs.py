"""Programs in which tests seed bugs: all opcodes in thirty lines, a small dense network, and others."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.types import type_of_interval

__all__ = ["dense_network", "every_opcode", "overflowing", "sum_of_many", "sums_and_shifts", "unproved"]

Row = tuple[int, int, int, int, tuple[int, int, int]]


def mux_data(condition: int, shift: int) -> int:
    """Return the data word of a mux: condition index low, shift of the second operand high."""
    return shift << 32 | condition


def table_data(table: int, offset: int) -> int:
    """Return the data word of a lookup: table index low, raw offset of its first entry high."""
    return offset << 32 | table


AND, OR, XOR = (operation << 56 for operation in range(3))
NEGATE_A, NEGATE_B = 1 << 32, 1 << 33

SINE_LIKE = [0, 6, 11, 14, 15, 14, 11, 6, 0, -6, -11, -14, -16, -14, -11, -6]
STEPS = [9, 3, 12, 5]

#: Every op reaches an output, and no promise can be broken. The index of an op is its place in the list.
EVERY_OPCODE: list[Row] = [
    (-1, 0, -1, 0, (1, 3, 4)),  # 0: input 0
    (-1, 1, -1, 0, (0, 4, 2)),  # 1: input 1, times 2
    (-1, 2, -1, 0, (1, 4, 0)),  # 2: input 2
    (-1, 0, -1, 0, (1, 1, 2)),  # 3: some bits in the middle of input 0
    (0, 0, 1, 1, (1, 6, 4)),  # 4: a sum, second operand shifted left
    (1, 2, 0, -1, (1, 5, 5)),  # 5: a difference, second operand shifted right
    (2, 4, -1, 0, (0, 4, 2)),  # 6: a relu that floors and wraps
    (-2, 5, -1, 0, (0, 3, 3)),  # 7: a relu of the negated value
    (3, 4, -1, 0, (1, 2, 1)),  # 8: a quantisation that floors and wraps
    (-3, 5, -1, 0, (1, 3, 3)),  # 9: negated, then floored and wrapped
    (4, 8, -1, 3, (1, 3, 1)),  # 10: plus 1.5
    (5, -1, -1, 11, (0, 4, 0)),  # 11: 11
    (0, 10, 11, 0, (1, 5, 1)),  # 12: a sum with a constant op
    (6, 6, 1, mux_data(0, -1), (0, 4, 3)),  # 13: by the sign of a signed condition
    (-6, 9, 8, mux_data(7, 1), (1, 3, 2)),  # 14: by the top bit of an unsigned condition, second arm negated
    (7, 3, 2, 0, (1, 6, 2)),  # 15: a product
    (8, 8, -1, table_data(0, 0), (1, 3, 1)),  # 16: a full table
    (9, 2, -1, 0, (1, 4, 0)),  # 17: NOT, signed
    (9, 1, -1, 0, (0, 4, 2)),  # 18: NOT, unsigned
    (-9, 3, -1, 0, (1, 2, 2)),  # 19: NOT of the negated value
    (9, 8, -1, 1, (0, 1, 0)),  # 20: OR-reduce
    (9, 1, -1, 2, (0, 1, 0)),  # 21: AND-reduce
    (-9, 2, -1, 2, (0, 1, 0)),  # 22: AND-reduce of the negated value
    (10, 0, 1, XOR | 1, (1, 5, 4)),  # 23: XOR, second operand shifted
    (10, 9, 5, AND | NEGATE_A, (1, 5, 5)),  # 24: AND, first operand negated
    (10, 6, 13, OR, (0, 4, 3)),  # 25: OR
    (4, 20, -1, 5, (0, 3, 0)),  # 26: 5 or 6
    (8, 26, -1, table_data(1, 4), (0, 4, 0)),  # 27: a part of a table, from an offset on
    (3, 2, -1, 0, (1, -1, 0)),  # 28: no bits
    (0, 7, 28, 0, (0, 3, 3)),  # 29: plus nothing
    (3, 4, -1, 0, (1, 7, 1)),  # 30: a quantisation that only floors
    (0, 6, 7, 0, (0, 5, 3)),  # 31: a sum of two values that were wrapped
]

#: (op, shift, negated): all ops that no other op reads, some of them negated, a constant 0, one without bits.
OUTPUTS = [
    (4, 0, 1),
    (12, 0, 0),
    (14, 0, 0),
    (15, 2, 0),
    (16, 0, 0),
    (-1, 0, 0),
    (17, 0, 0),
    (18, 0, 1),
    (19, -3, 0),
    (21, 0, 0),
    (22, 0, 0),
    (23, 0, 0),
    (24, 0, 0),
    (25, 0, 0),
    (27, 0, 0),
    (28, 0, 0),
    (29, 0, 0),
    (30, 0, 0),
    (31, 0, 0),
]


def every_opcode() -> Program:
    """Return a program of some thirty ops, with every opcode of DAIS."""
    return Program.build(EVERY_OPCODE, OUTPUTS, inp_shift=[0, 1, 0], tables=[SINE_LIKE, STEPS])


#: ALIR's sums of every kind and its quantisations that shift, after the three inputs of ``EVERY_OPCODE``.
SUMS_AND_SHIFTS: list[Row] = [
    *EVERY_OPCODE[:3],
    (11, 0, 3, 0, (1, 6, 4)),  # 3: a sum of three
    (11, 3, 1, 0, (1, 5, 0)),  # 4: a negation
    (11, 4, 2, 0, (1, 6, 4)),  # 5: five times input 0
    (11, 6, 2, -3, (1, 4, 6)),  # 6: minus 3/64
    (12, 3, -1, 2, (1, 5, 0)),  # 7: shifted left, floored and wrapped
    (12, 1, -1, -3, (0, 1, 4)),  # 8: shifted right and floored
    (11, 8, 6, 0, (1, 8, 6)),  # 9: a sum of six
    (11, 14, 2, 0, (1, 5, 4)),  # 10: two, both negative
]
TERMS = [
    *[(0, 0, 0), (1, 1, 1), (2, -1, 0)],
    (2, 0, 1),
    *[(0, 0, 0), (0, 2, 0)],
    *[(0, 0, 0), (-1, -6, 0)],
    *[(3, 0, 0), (4, 1, 1), (5, -2, 0), (7, 0, 0), (8, 0, 1), (2, -1, 1)],
    *[(0, 0, 1), (2, 0, 1)],
]


def sums_and_shifts() -> Program:
    """Return a program of the ops that only ALIR has; every op reaches an output, and no promise can be broken."""
    outputs = [(6, 0, 0), (9, 0, 0), (10, 0, 0)]
    return Program.build(SUMS_AND_SHIFTS, outputs, inp_shift=[0, 1, 0], terms=TERMS)


def overflowing() -> Program:
    """Return an input plus 1 in a type that does not hold the largest sum: 127 + 1 becomes -128."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 1, (1, 7, 0))]
    return Program.build(rows, [(1, 0, 0)], inp_shift=[0])


def sum_of_many(terms: int) -> Program:
    """Return one sum of ``terms`` inputs, every second one subtracted."""
    rows: list[Row] = [(-1, j, -1, 0, (1, 3, 0)) for j in range(terms)]
    rows.append((11, 0, terms, 0, (1, 7 + terms.bit_length(), 0)))
    flat = [(j, j % 5, j % 2) for j in range(terms)]
    return Program.build(rows, [(terms, 0, 0)], inp_shift=[0] * terms, terms=flat)


def unproved() -> Program:
    """Return ``x - max(x, 0)``, which keeps its promise for every input although intervals do not show it."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (2, 0, -1, 0, (0, 7, 0)), (1, 0, 1, 0, (1, 7, 0))]
    return Program.build(rows, [(2, 0, 0)], inp_shift=[0])


class _Network:
    """Rows with types that hold every sum exactly, as a tracer makes them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._bounds: list[tuple[int, int, int]] = []

    def op(self, code: int, id0: int, id1: int, data: int, kind: FixedType) -> int:
        """Append an op that takes all values of its type; return its index."""
        self.rows.append((code, id0, id1, data, tuple(kind)))
        self._bounds.append((kind.raw_min, kind.raw_max, kind.f))
        return len(self.rows) - 1

    def sum(self, a: int, b: int, shift: int, subtract: bool) -> int:
        """Append ``a ± b * 2**shift`` in the smallest type that holds it; return its index."""
        (lo_a, hi_a, f_a), (lo_b, hi_b, f_b) = self._bounds[a], self._bounds[b]
        f = max(f_a, f_b - shift)
        lo_a, hi_a = lo_a << (f - f_a), hi_a << (f - f_a)
        lo_b, hi_b = lo_b << (f - f_b + shift), hi_b << (f - f_b + shift)
        lo, hi = (lo_a - hi_b, hi_a - lo_b) if subtract else (lo_a + lo_b, hi_a + hi_b)
        self.rows.append((int(subtract), a, b, shift, tuple(type_of_interval(lo, hi, f))))
        self._bounds.append((lo, hi, f))
        return len(self.rows) - 1

    def total(self, terms: Sequence[int], rng: random.Random) -> int:
        """Append a chain of shifted sums and differences over ``terms``; return the index of its last op."""
        result = terms[0]
        for term in terms[1:]:
            result = self.sum(result, term, rng.randint(-2, 2), rng.random() < 0.5)
        return result


def dense_network() -> Program:
    """Return about 200 ops, as a tracer writes a dense network: two layers of sums and quantising ReLUs, then sums."""
    rng = random.Random(2024)
    net = _Network()
    layer = [net.op(-1, j, -1, 0, FixedType(1, 3, 4)) for j in range(8)]
    for width, fan_in in ((16, 7), (12, 6)):
        sums = [net.total(rng.sample(layer, min(fan_in, len(layer))), rng) for _ in range(width)]
        layer = [net.op(2, index, -1, 0, FixedType(0, 4, 3)) for index in sums]
    outputs = [(net.total(rng.sample(layer, 4), rng), 0, j % 2) for j in range(5)]
    return Program.build(net.rows, outputs, inp_shift=[0] * 8)
