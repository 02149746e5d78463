"""Opcodes 4 and 5: constants, added or alone, in units of the op's own ``2**-f``."""

from __future__ import annotations

from ..row import case, row
from ..rules import Rule

S4, U3 = (1, 3, 0), (0, 3, 0)

ROWS = (
    row("add_const_negative", Rule.ADD_CONST, [S4], [(4, 0, -1, -5, (1, 4, 0))], case(-8, gives=-13), case(7, gives=2)),
    row("add_const_positive", Rule.ADD_CONST, [S4], [(4, 0, -1, 9, (1, 4, 0))], case(-8, gives=1), case(6, gives=15)),
    row("add_const_zero", Rule.ADD_CONST, [S4], [(4, 0, -1, 0, S4)], case(-8, gives=-8), case(7, gives=7)),
    row(
        "add_const_in_own_finer_units",
        Rule.ADD_CONST_F,
        [(1, 2, 1)],
        [(4, 0, -1, 3, (1, 3, 3))],
        case(-4, gives=-3.625),
        case(1.5, gives=1.875),
    ),
    row(
        "add_const_negative_in_own_finer_units",
        Rule.ADD_CONST_F,
        [(1, 2, 1)],
        [(4, 0, -1, -3, (1, 3, 3))],
        case(-4, gives=-4.375),
        case(0.5, gives=0.125),
    ),
    row(
        "add_const_in_own_coarser_units",
        Rule.ADD_CONST_F,
        [(1, 2, 1)],
        [(4, 0, -1, 2, (1, 3, 0))],
        case(-4, gives=-2),
        case(-3.5, gives=-2, breaks=1),
        case(-1.5, gives=0, breaks=1),
        case(1.5, gives=3, breaks=1),
        case(2, gives=4),
    ),
    row(
        "add_const_in_negative_f",
        Rule.NEGATIVE_I_F,
        [(1, 4, -2)],
        [(4, 0, -1, 3, (1, 5, -2))],
        case(-16, gives=-4),
        case(12, gives=24),
    ),
    row(
        "add_const_in_negative_f_loses_units",
        Rule.LOST,
        [S4],
        [(4, 0, -1, -3, (1, 5, -2))],
        case(-8, gives=-20),
        case(4, gives=-8),
        case(7, gives=-8, breaks=1),
    ),
    row(
        "add_const_overflows_unsigned",
        Rule.OVERFLOW,
        [U3],
        [(4, 0, -1, 5, U3)],
        case(2, gives=7),
        case(7, gives=4, breaks=1),
    ),
    row(
        "add_const_overflows_below_zero",
        Rule.OVERFLOW,
        [U3],
        [(4, 0, -1, -3, U3)],
        case(2, gives=7, breaks=1),
        case(3, gives=0),
    ),
    row(
        "add_const_overflows_signed",
        Rule.OVERFLOW,
        [S4],
        [(4, 0, -1, 1, S4), (4, 0, -1, -1, S4)],
        case(-8, gives=(-7, 7), breaks=2),
        case(7, gives=(-8, 6), breaks=1),
        case(0, gives=(1, -1)),
        outputs=[(1, 0, 0), (2, 0, 0)],
    ),
    row(
        "add_const_large_constant_wraps",
        Rule.UNCHECKED,
        [S4],
        [(4, 0, -1, 1000, S4)],
        case(-8, gives=0, breaks=1),  # 992 = 62 * 16
        case(7, gives=-1, breaks=1),  # 1007 = 62 * 16 + 15
    ),
    row(
        "add_const_brings_back_into_range",
        Rule.PROMISE,
        [(1, 5, 0)],
        [(4, 0, -1, 28, S4)],
        case(-32, gives=-4),
        case(-21, gives=7),
        case(-20, gives=-8, breaks=1),
    ),
    row(
        "add_const_unsigned_to_signed",
        Rule.ADD_CONST,
        [U3],
        [(4, 0, -1, -8, S4)],
        case(0, gives=-8),
        case(7, gives=-1),
    ),
    row("const_negative", Rule.CONST, [], [(5, -1, -1, -5, S4)], case(gives=-5)),
    row("const_minimum", Rule.CONST, [], [(5, -1, -1, -8, S4)], case(gives=-8)),
    row("const_positive", Rule.CONST, [], [(5, -1, -1, 7, U3)], case(gives=7)),
    row("const_zero", Rule.CONST, [], [(5, -1, -1, 0, U3)], case(gives=0)),
    row("const_fraction", Rule.CONST, [], [(5, -1, -1, -5, (1, 1, 2))], case(gives=-1.25)),
    row("const_negative_f", Rule.NEGATIVE_I_F, [], [(5, -1, -1, -3, (1, 4, -2))], case(gives=-12)),
    row("const_negative_i", Rule.NEGATIVE_I_F, [], [(5, -1, -1, 3, (0, -1, 3))], case(gives=0.375)),
    row("const_overflows_unsigned", Rule.OVERFLOW, [], [(5, -1, -1, 9, U3)], case(gives=1, breaks=0)),
    row("const_overflows_below_zero", Rule.OVERFLOW, [], [(5, -1, -1, -3, U3)], case(gives=5, breaks=0)),
    row("const_overflows_signed", Rule.OVERFLOW, [], [(5, -1, -1, 8, S4)], case(gives=-8, breaks=0)),
    row("const_overflows_signed_minimum", Rule.OVERFLOW, [], [(5, -1, -1, -9, S4)], case(gives=7, breaks=0)),
    row("const_beyond_32_bits", Rule.DATA_64, [], [(5, -1, -1, -(2**40) - 1, (1, 41, 0))], case(gives=-(2**40) - 1)),
    row(
        "consts_only_sum",
        Rule.CONST,
        [],
        [(5, -1, -1, -5, S4), (5, -1, -1, 3, (0, 1, 1)), (1, 0, 1, 1, (1, 4, 1))],
        case(gives=-8),  # -5 - 2 * 1.5
    ),
    row(
        "const_and_input",
        Rule.CONST,
        [S4],
        [(5, -1, -1, -3, (1, 2, 0)), (7, 0, 1, 0, (1, 5, 0))],
        case(-8, gives=24),
        case(7, gives=-21),
    ),
)
