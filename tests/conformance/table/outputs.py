"""Outputs: negated and shifted, never quantised; constant 0; order and packing."""

from __future__ import annotations

from fractions import Fraction

from ..row import case, row
from ..rules import Rule

S4, U3 = (1, 3, 0), (0, 3, 0)

ROWS = (
    row("output_negated_minimum", Rule.OUTPUT, [S4], [], case(-8, gives=8), case(7, gives=-7), outputs=[(0, 0, 1)]),
    row(
        "output_negated_unsigned",
        Rule.OUTPUT,
        [U3],
        [],
        case(0, gives=0),
        case(1, gives=-1),
        case(7, gives=-7),
        outputs=[(0, 0, 1)],
    ),
    row(
        "output_negated_one_bit",
        Rule.OUTPUT,
        [(1, 0, 0), (0, 1, 0)],
        [],
        case(-1, 1, gives=(1, -1)),
        case(0, 0, gives=(0, 0)),
        outputs=[(0, 0, 1), (1, 0, 1)],
    ),
    row("output_shift_left", Rule.OUTPUT, [S4], [], case(-8, gives=-32), case(7, gives=28), outputs=[(0, 2, 0)]),
    row(
        "output_shift_right", Rule.OUTPUT, [S4], [], case(-7, gives=-0.875), case(7, gives=0.875), outputs=[(0, -3, 0)]
    ),
    row(
        "output_shift_right_negated",
        Rule.OUTPUT,
        [S4],
        [],
        case(-8, gives=4),
        case(-7, gives=3.5),
        case(7, gives=-3.5),
        outputs=[(0, -1, 1)],
    ),
    row(
        "output_shift_left_negated_unsigned",
        Rule.OUTPUT,
        [U3],
        [],
        case(7, gives=-56),
        case(1, gives=-8),
        outputs=[(0, 3, 1)],
    ),
    row(
        "output_constant_zero",
        Rule.OUTPUT_ZERO,
        [S4],
        [],
        case(-8, gives=(0, -8, 0, 8)),
        case(5, gives=(0, 5, 0, -5)),
        outputs=[(-1, 0, 0), (0, 0, 0), (-1, 3, 1), (0, 0, 1)],
    ),
    row(
        "output_one_op_several_times",
        Rule.OUTPUT,
        [S4],
        [],
        case(-8, gives=(-8, 8, -16, 4)),
        case(5, gives=(5, -5, 10, -2.5)),
        outputs=[(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, -1, 1)],
    ),
    row(
        "output_order_is_free",
        Rule.PACKED,
        [(1, 1, 0), (0, 5, 0), S4],
        [],
        case(-2, 31, -8, gives=(-8, -2, 31)),
        case(1, 1, 7, gives=(7, 1, 1)),
        outputs=[(2, 0, 0), (0, 0, 0), (1, 0, 0)],
    ),
    row(
        "output_negated_leaves_its_neighbours",
        Rule.PACKED,
        [S4, S4],
        [],
        case(-8, -1, gives=(-1, 8, -1)),
        case(0, 0, gives=(0, 0, 0)),
        case(1, 0, gives=(0, -1, 0)),
        outputs=[(1, 0, 0), (0, 0, 1), (1, 0, 0)],
    ),
    row(
        "output_negative_f",
        Rule.NEGATIVE_I_F,
        [(1, 4, -2)],
        [],
        case(-16, gives=(16, -8)),
        case(12, gives=(-12, 6)),
        outputs=[(0, 0, 1), (0, -1, 0)],
    ),
    row(
        "output_negative_i",
        Rule.NEGATIVE_I_F,
        [(0, -1, 3)],
        [],
        case(0.125, gives=(-0.125, 0.5)),
        case(0.375, gives=(-0.375, 1.5)),
        outputs=[(0, 0, 1), (0, 2, 0)],
    ),
    row(
        "output_of_constants",
        Rule.OUTPUT,
        [],
        [(5, -1, -1, -8, S4), (5, -1, -1, 7, U3)],
        case(gives=(8, -7, -4)),
        outputs=[(0, 0, 1), (1, 0, 1), (0, -1, 0)],
    ),
    row(
        "output_before_later_ops",
        Rule.OUTPUT,
        [S4],
        [(4, 0, -1, 1, (1, 4, 0)), (-3, 1, -1, 0, (1, 4, 0))],
        case(-8, gives=-7),
        case(7, gives=8),
        outputs=[(1, 0, 0)],
    ),
    row(
        "output_of_a_dead_end_still_breaks_its_promise",
        Rule.PROMISE,
        [S4],
        [(4, 0, -1, 1, S4)],
        case(-8, gives=-8),
        case(7, gives=7, breaks=1),
        outputs=[(0, 0, 0)],
    ),
    row(
        "output_shift_limit",
        Rule.LIMIT,
        [S4],
        [],
        case(-8, gives=(-(2**4099), Fraction(1, 2**4093))),
        case(7, gives=(7 * 2**4096, Fraction(-7, 2**4096))),
        outputs=[(0, 4096, 0), (0, -4096, 1)],
    ),
)
