"""Opcode 7: products."""

from __future__ import annotations

from ..row import case, row
from ..rules import Rule

S4, U3, U4 = (1, 3, 0), (0, 3, 0), (0, 4, 0)

ROWS = (
    row(
        "mul_signed",
        Rule.MUL,
        [S4, S4],
        [(7, 0, 1, 0, (1, 7, 0))],
        case(-8, -8, gives=64),
        case(-8, 7, gives=-56),
        case(-1, 0, gives=0),
        case(7, 7, gives=49),
    ),
    row("mul_unsigned", Rule.MUL, [U4, U4], [(7, 0, 1, 0, (0, 8, 0))], case(0, 15, gives=0), case(15, 15, gives=225)),
    row(
        "mul_signed_by_unsigned",
        Rule.MUL,
        [S4, U4],
        [(7, 0, 1, 0, (1, 7, 0))],
        case(-8, 15, gives=-120),
        case(-1, 15, gives=-15),
        case(7, 15, gives=105),
    ),
    row(
        "mul_unsigned_by_signed",
        Rule.MUL,
        [U4, S4],
        [(7, 0, 1, 0, (1, 7, 0))],
        case(15, -8, gives=-120),
        case(15, 7, gives=105),
    ),
    row(
        "mul_fractions",
        Rule.MUL,
        [(1, 1, 2), (1, 2, 1)],
        [(7, 0, 1, 0, (1, 4, 3))],
        case(-2, -4, gives=8),
        case(-1.75, 3.5, gives=-6.125),
        case(0.25, -0.5, gives=-0.125),
    ),
    row(
        "mul_finer_result",
        Rule.FINER,
        [(1, 1, 1), (1, 1, 1)],
        [(7, 0, 1, 0, (1, 3, 5))],
        case(-2, -2, gives=4),
        case(1.5, -0.5, gives=-0.75),
    ),
    row(
        "mul_coarser_result",
        Rule.EXACT,
        [(1, 1, 1), (1, 1, 1)],
        [(7, 0, 1, 0, (1, 3, 0))],
        case(-2, -1.5, gives=3),
        case(-1.5, 0.5, gives=-1, breaks=2),
        case(1, 1, gives=1),
        case(1.5, 1.5, gives=2, breaks=2),
    ),
    row(
        "mul_coarser_by_one",
        Rule.LOST,
        [(1, 1, 1), (1, 1, 1)],
        [(7, 0, 1, 0, (1, 3, 1))],
        case(-1.5, 0.5, gives=-1, breaks=2),  # -0.75 floors to -1.0
        case(-1, 0.5, gives=-0.5),
        case(1.5, 1.5, gives=2, breaks=2),
    ),
    row(
        "mul_negative_f",
        Rule.NEGATIVE_I_F,
        [(1, 4, -2), (1, 2, 1)],
        [(7, 0, 1, 0, (1, 7, -1))],
        case(-16, -4, gives=64),
        case(-16, 0.5, gives=-8),
        case(12, 3.5, gives=42),
    ),
    row(
        "mul_negative_f_loses_units",
        Rule.LOST,
        [U3, U3],
        [(7, 0, 1, 0, (0, 6, -1))],
        case(3, 4, gives=12),
        case(3, 5, gives=14, breaks=2),
    ),
    row(
        "mul_negative_i",
        Rule.NEGATIVE_I_F,
        [(1, -1, 3), (0, -1, 3)],
        [(7, 0, 1, 0, (1, -2, 6))],
        case(-0.5, 0.375, gives=-0.1875),
        case(0.375, 0.375, gives=0.140625),
    ),
    row(
        "mul_of_minima_overflows",
        Rule.OVERFLOW,
        [S4, S4],
        [(7, 0, 1, 0, (1, 6, 0))],
        case(-8, -8, gives=-64, breaks=2),
        case(-8, 7, gives=-56),
    ),
    row(
        "mul_overflows_unsigned",
        Rule.OVERFLOW,
        [U3, U3],
        [(7, 0, 1, 0, U4)],
        case(7, 5, gives=3, breaks=2),
        case(7, 2, gives=14),
    ),
    row(
        "mul_overflows_below_zero",
        Rule.OVERFLOW,
        [S4, S4],
        [(7, 0, 1, 0, (0, 6, 0))],
        case(-8, -8, gives=0, breaks=2),
        case(-8, -7, gives=56),
        case(-3, 5, gives=49, breaks=2),
    ),
    row(
        "mul_overflows_and_loses_fraction",
        Rule.LOST,
        [(1, 1, 1), (1, 1, 1)],
        [(7, 0, 1, 0, (0, 1, 0))],
        case(-1.5, -1.5, gives=0, breaks=2),  # 2.25 floors to 2, which wraps to 0
        case(-1.5, 1.5, gives=1, breaks=2),  # -2.25 floors to -3, which wraps to 1
        case(-1, -1, gives=1),
    ),
    row("mul_by_itself", Rule.MUL, [S4], [(7, 0, 0, 0, (0, 7, 0))], case(-8, gives=64), case(7, gives=49)),
    row("mul_data_ignored", Rule.NO_DATA, [S4, S4], [(7, 0, 1, 999, (1, 7, 0))], case(-8, 7, gives=-56)),
)
