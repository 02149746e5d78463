"""Combinations of signedness, of fractions and of widths 0 and 1 that other files omit: opcodes 6, 9, 10."""

from __future__ import annotations

from ..row import case, mux, row
from ..rules import Rule
from .bit_binary import THREE, each
from .mixed_sums import last

NOT, ANY, ALL = 0, 1, 2
B, S4, U3, Z, ZS = (0, 1, 0), (1, 3, 0), (0, 3, 0), (0, 0, 0), (1, -1, 0)
#: A type in quarters.
UQ = (0, 2, 2)

ROWS = (
    # ±6
    row(
        "mux_of_mixed_signs_shift_left",
        Rule.MUX_SHIFT,
        [B, S4, U3],
        [(code, a, b, mux(0, 1), (1, 4, 0)) for code in (6, -6) for a, b in ((1, 2), (2, 1), (2, 2))],
        case(0, -8, 7, gives=(14, -16, 14, -14, -16, -14)),  # 16 wraps
        case(0, -3, 5, gives=(10, -6, 10, -10, 6, -10)),
        case(1, -8, 7, gives=(-8, 7, 7, -8, 7, 7)),
        outputs=last(3, 6),
    ),
    row(
        "mux_of_mixed_signs_shift_right",
        Rule.MUX_SHIFT,
        [B, S4, U3],
        [(code, a, b, mux(0, -1), S4) for code in (6, -6) for a, b in ((1, 2), (2, 1), (2, 2))],
        case(0, -7, 7, gives=(3, -4, 3, -4, 3, -4)),
        case(1, -7, 7, gives=(-7, 7, 7, -7, 7, 7)),
        outputs=last(3, 6),
    ),
    row(
        "mux_of_mixed_signs",
        Rule.MUX,
        [B, S4, U3],
        [(6, 2, 1, mux(0), S4), (-6, 2, 2, mux(0), S4), (-6, 2, 1, mux(0), (1, 4, 0)), (6, 2, 1, mux(0), U3)],
        case(0, -8, 7, gives=(-8, -7, 8, 0)),
        case(1, -8, 7, gives=(7, 7, 7, 7)),
        outputs=last(3, 4),
    ),
    row(
        "mux_shift_of_100",
        Rule.MUX_SHIFT,
        [B, S4, U3],
        [
            (6, 1, 2, mux(0, 100), S4),
            (6, 1, 2, mux(0, -100), S4),
            (-6, 1, 2, mux(0, -100), S4),
            (6, 2, 1, mux(0, -100), S4),
            (6, 1, 2, mux(0, 100), (1, 103, -100)),
        ],
        case(0, -8, 7, gives=(0, 0, -1, -1, 7 * 2**100)),
        case(1, -8, 7, gives=(-8, -8, -8, 7, -(2**100))),
        case(1, 5, 7, gives=(5, 5, 5, 7, 0)),
        outputs=last(3, 5),
    ),
    # ±9
    row(
        "not_of_one_bit_in_mixed_signs",
        Rule.NOT_UNSIGNED,
        [(1, 0, 0), B],
        [
            (9, 0, -1, NOT, B),
            (-9, 0, -1, NOT, (1, 1, 0)),
            (-9, 0, -1, NOT, B),
            (-9, 1, -1, NOT, (1, 0, 0)),
            (-9, 1, -1, NOT, B),
        ],
        case(-1, 1, gives=(0, -2, 0, 0, 0)),
        case(0, 0, gives=(1, -1, 1, -1, 1)),
        outputs=last(2, 5),
    ),
    row(
        "not_of_fractions_in_mixed_signs",
        Rule.NOT_UNITS,
        [(0, 1, 2), (1, 1, 2)],
        [
            (9, 0, -1, NOT, (1, 1, 2)),
            (9, 1, -1, NOT, UQ),
            (-9, 0, -1, NOT, (1, 1, 2)),
            (-9, 0, -1, NOT, (0, 1, 2)),
            (-9, 1, -1, NOT, UQ),
        ],
        case(1.25, -0.5, gives=(-1.5, 0.25, 1, 1, 3.25)),
        case(0, 0, gives=(-0.25, 3.75, -0.25, 1.75, 3.75)),
        outputs=last(2, 5),
    ),
    row(
        "any_in_mixed_signs",
        Rule.ANY,
        [(1, 0, 0), B, Z, ZS],
        [
            (9, 0, -1, ANY, B),
            (-9, 0, -1, ANY, (1, 1, 0)),
            (9, 1, -1, ANY, (1, 1, 0)),
            (-9, 1, -1, ANY, B),
            (9, 2, -1, ANY, (1, 1, 0)),
            (9, 3, -1, ANY, B),
            (-9, 2, -1, ANY, S4),
        ],
        case(-1, 1, 1, -1, gives=(1, 1, 1, 1, 0, 0, 0)),
        case(0, 0, 0, 0, gives=(0, 0, 0, 0, 0, 0, 0)),
        outputs=last(4, 7),
    ),
    row(
        "all_in_mixed_signs",
        Rule.ALL_ZERO_WIDTH,
        [(1, 0, 0), B, Z, ZS],
        [
            (9, 0, -1, ALL, (1, 1, 0)),
            (-9, 0, -1, ALL, (1, 1, 0)),
            (9, 1, -1, ALL, (1, 1, 0)),
            (9, 2, -1, ALL, (1, 1, 0)),
            (9, 3, -1, ALL, B),
            (-9, 2, -1, ALL, B),
        ],
        case(-1, 1, 1, -1, gives=(1, 1, 1, 1, 1, 1)),
        case(0, 0, 0, 0, gives=(0, 0, 0, 1, 1, 1)),
        outputs=last(4, 6),
    ),
    row(
        "reductions_of_fractions_into_fractions",
        Rule.EXACT,
        [(0, 1, 2), (1, 1, 2)],
        [
            (9, 0, -1, ANY, (1, 1, 2)),
            (-9, 1, -1, ANY, (1, 1, 2)),
            (9, 1, -1, ALL, (1, 1, 1)),
            (-9, 0, -1, ALL, (1, 1, 2)),
        ],
        case(0.25, -0.25, gives=(1, 1, 1, 1)),
        case(1, -2, gives=(1, 1, 0, 0)),
        case(0, 0, gives=(0, 0, 0, 0)),
        outputs=last(2, 4),
    ),
    # 10, results AND, OR, XOR
    row(
        "bitwise_unsigned_negated_second",
        Rule.BITWISE_NEGATE,
        [U3, U3],
        each(S4, negate_b=1),
        case(5, 3, gives=(5, -3, -8)),
        case(0, 7, gives=(0, -7, -7)),
        case(7, 0, gives=(0, 7, 7)),
        outputs=THREE,
    ),
    row(
        "bitwise_unsigned_negated_both",
        Rule.BITWISE_NEGATE,
        [U3, U3],
        each(S4, negate_a=1, negate_b=1),
        case(5, 3, gives=(-7, -1, 6)),
        case(7, 0, gives=(0, -7, -7)),
        outputs=THREE,
    ),
    row(
        "bitwise_unsigned_and_signed_negated_first",
        Rule.BITWISE_NEGATE,
        [U3, S4],
        each((1, 4, 0), negate_a=1),
        case(5, -8, gives=(-8, -5, 3)),
        case(5, 6, gives=(2, -1, -3)),
        outputs=THREE,
    ),
    row(
        "bitwise_unsigned_and_signed_negated_second",
        Rule.BITWISE_NEGATE,
        [U3, S4],
        each((1, 4, 0), negate_b=1),
        case(5, -8, gives=(0, 13, 13)),
        case(6, 3, gives=(4, -1, -5)),
        outputs=THREE,
    ),
    row(
        "bitwise_unsigned_and_signed_negated_both",
        Rule.BITWISE_NEGATE,
        [U3, S4],
        each((1, 4, 0), negate_a=1, negate_b=1),
        case(5, -8, gives=(8, -5, -13)),
        case(6, 7, gives=(-8, -5, 3)),
        outputs=THREE,
    ),
    row(
        "bitwise_signed_and_unsigned_negated_second",
        Rule.BITWISE_NEGATE,
        [S4, U3],
        each((1, 4, 0), negate_b=1),
        case(-8, 5, gives=(-8, -5, 3)),
        case(6, 3, gives=(4, -1, -5)),
        outputs=THREE,
    ),
    row(
        "bitwise_signed_and_unsigned_negated_both",
        Rule.BITWISE_NEGATE,
        [S4, U3],
        each((1, 4, 0), negate_a=1, negate_b=1),
        case(-8, 5, gives=(8, -5, -13)),
        case(7, 6, gives=(-8, -5, 3)),
        outputs=THREE,
    ),
    row(
        "bitwise_signed_negated_first",
        Rule.BITWISE_NEGATE,
        [S4, S4],
        each((1, 4, 0), negate_a=1),
        case(-8, -8, gives=(8, -8, -16)),
        case(5, -3, gives=(-7, -1, 6)),
        outputs=THREE,
    ),
    row(
        "bitwise_signed_negated_second",
        Rule.BITWISE_NEGATE,
        [S4, S4],
        each((1, 4, 0), negate_b=1),
        case(-8, -8, gives=(8, -8, -16)),
        case(5, 3, gives=(5, -3, -8)),
        outputs=THREE,
    ),
    row(
        "bitwise_negated_both_shift_right",
        Rule.BITWISE_NEGATE,
        [S4, U3],
        each((1, 4, 1), -1, negate_a=1, negate_b=1),
        case(-3, 5, gives=(1, -0.5, -1.5)),  # 3 and -2.5
        case(7, 7, gives=(-8, -2.5, 5.5)),  # -7 and -3.5
        outputs=THREE,
    ),
)
