"""Signed with unsigned, finer with coarser and wider with narrower types that other files omit: opcodes -1 to 4, 7."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..row import Op, Type, case, row
from ..rules import Rule

S4, U3, B = (1, 3, 0), (0, 3, 0), (0, 1, 0)
#: Types in quarters, unsigned and signed.
UQ, SQ = (0, 2, 2), (1, 2, 2)


def into(code: int, *kinds: Type) -> list[Op]:
    """Return one op ``code`` of op 0 for each of ``kinds``."""
    return [(code, 0, -1, 0, kind) for kind in kinds]


def last(first: int, count: int) -> Sequence[tuple[int, int, int]]:
    """Return ``count`` ops from ``first`` on as outputs."""
    return [(first + j, 0, 0) for j in range(count)]


ROWS = (
    # -1
    row(
        "inp_shift_of_100",
        Rule.INPUT,
        [S4, S4],
        [(-1, 0, -1, 0, UQ)],
        case(Fraction(-13, 2**102), -1, gives=(-4, -1, 0.75)),  # -3.25, and just below 0
        case(Fraction(13, 2**102), 2**100 * 7, gives=(3, 7, 3.25)),
        outputs=last(0, 3),
        shifts=[100, -100],
    ),
    # 0, 1
    row(
        "sums_of_mixed_signs_shift_left",
        Rule.ADD_SHIFT,
        [S4, U3],
        [(code, a, 1 - a, 2, (1, 6, 0)) for a in (0, 1) for code in (0, 1)],
        case(-8, 7, gives=(20, -36, -25, 39)),
        case(7, 0, gives=(7, 7, 28, -28)),
        case(7, 7, gives=(35, -21, 35, -21)),
        outputs=last(2, 4),
    ),
    row(
        "sums_of_mixed_signs_shift_right",
        Rule.ADD_SHIFT,
        [S4, U3],
        [(code, a, 1 - a, -1, (1, 5, 1)) for a in (0, 1) for code in (0, 1)],
        case(-7, 7, gives=(-3.5, -10.5, 3.5, 10.5)),
        case(-8, 1, gives=(-7.5, -8.5, -3, 5)),
        outputs=last(2, 4),
    ),
    row(
        "sums_of_unsigned_shift",
        Rule.ADD_SHIFT,
        [U3, U3],
        [(0, 0, 1, -1, (0, 4, 1)), (1, 0, 1, 1, (1, 4, 0)), (1, 0, 1, -1, (1, 3, 1))],
        case(0, 7, gives=(3.5, -14, -3.5)),
        case(7, 7, gives=(10.5, -7, 3.5)),
        outputs=last(2, 3),
    ),
    # ±2
    row(
        "relu_of_unsigned_fraction",
        Rule.RELU,
        [UQ],
        into(2, (0, 2, 0), (1, 2, 1), (1, 1, 0), (0, 1, 3)),
        case(0.75, gives=(0, 0.5, 0, 0.75)),
        case(2.25, gives=(2, 2, -2, 0.25)),
        case(3.75, gives=(3, 3.5, -1, 1.75)),
        outputs=last(1, 4),
    ),
    row(
        "relu_neg_of_unsigned_fraction",
        Rule.RELU,
        [UQ],
        into(-2, (0, 2, 0), (1, 1, 3), (1, 6, 0)),
        case(3.75, gives=(0, 0, 0)),
        case(0.25, gives=(0, 0, 0)),
        outputs=last(1, 3),
    ),
    row(
        "relu_of_signed_fraction_into_signed",
        Rule.RELU,
        [SQ],
        into(2, (1, 4, 0), (1, 1, 4), SQ, (1, 6, 0), (1, 4, 4)),
        case(-4, gives=(0, 0, 0, 0, 0)),
        case(3.75, gives=(3, -0.25, 3.75, 3, 3.75)),
        outputs=last(1, 5),
    ),
    row(
        "relu_neg_of_signed_fraction_into_signed",
        Rule.RELU_NEGATE,
        [SQ],
        into(-2, (1, 4, 0), (1, 1, 4), SQ, (1, 6, 0), (1, 4, 4)),
        case(-4, gives=(4, 0, -4, 4, 4)),
        case(-3.75, gives=(3, -0.25, 3.75, 3, 3.75)),
        case(3.75, gives=(0, 0, 0, 0, 0)),
        outputs=last(1, 5),
    ),
    row(
        "relu_neg_of_signed_fraction_into_unsigned",
        Rule.RELU_NEGATE,
        [SQ],
        into(-2, U3, (0, 2, 3), UQ, (0, 5, 0)),
        case(-4, gives=(4, 0, 0, 4)),
        case(-3.75, gives=(3, 3.75, 3.75, 3)),
        case(3.75, gives=(0, 0, 0, 0)),
        outputs=last(1, 4),
    ),
    # ±3
    row(
        "quant_of_unsigned_fraction",
        Rule.QUANT,
        [UQ],
        into(3, B, (1, 2, 1), (0, 4, 0), (1, 0, 3), (0, 2, 4)),
        case(1.25, gives=(1, 1, 1, -0.75, 1.25)),
        case(2.5, gives=(0, 2.5, 2, 0.5, 2.5)),
        case(3.75, gives=(1, 3.5, 3, -0.25, 3.75)),
        outputs=last(1, 5),
    ),
    row(
        "quant_neg_of_unsigned_fraction",
        Rule.QUANT_NEGATE,
        [UQ],
        into(-3, (0, 2, 0), (1, 2, 1), S4, (0, 3, 3), (1, 1, 1)),
        case(3.75, gives=(0, -4, -4, 4.25, 0)),
        case(2.25, gives=(1, -2.5, -3, 5.75, 1.5)),
        case(0.25, gives=(3, -0.5, -1, 7.75, -0.5)),
        outputs=last(1, 5),
    ),
    row(
        "quant_neg_of_signed_fraction",
        Rule.QUANT_NEGATE,
        [SQ],
        into(-3, U3, UQ, (0, 3, 3), (1, 1, 1), (1, 1, 4)),
        case(-4, gives=(4, 0, 4, 0, 0)),
        case(-3.75, gives=(3, 3.75, 3.75, -0.5, -0.25)),
        case(0.25, gives=(7, 3.75, 7.75, -0.5, -0.25)),
        case(3.75, gives=(4, 0.25, 4.25, 0, 0.25)),
        outputs=last(1, 5),
    ),
    # 4
    row(
        "add_const_to_unsigned_fraction",
        Rule.ADD_CONST_F,
        [(0, 2, 1)],
        [(4, 0, -1, -3, (1, 3, 2)), (4, 0, -1, 3, (0, 3, 2)), (4, 0, -1, -1, S4), (4, 0, -1, 1, U3)],
        case(0, gives=(-0.75, 0.75, -1, 1)),
        case(2, gives=(1.25, 2.75, 1, 3)),
        case(3.5, gives=(2.75, 4.25, 2, 4), breaks=3),
        outputs=last(1, 4),
    ),
    row(
        "add_const_zero_still_promises",
        Rule.PROMISE,
        [S4],
        [(4, 0, -1, 0, (1, 3, 2)), (4, 0, -1, 0, U3), (4, 0, -1, 0, (1, 3, -1))],
        case(-7, gives=(-7, 1, -8), breaks=2),
        case(5, gives=(5, 5, 4), breaks=3),
        case(6, gives=(6, 6, 6)),
        outputs=last(1, 3),
    ),
    row(
        "add_const_into_coarser_unsigned",
        Rule.LOST,
        [(1, 2, 1)],
        [(4, 0, -1, -1, (0, 2, 0))],
        case(-4, gives=3, breaks=1),
        case(3.5, gives=2, breaks=1),
        case(1, gives=0),
        case(3, gives=2),
    ),
    # 7
    row(
        "mul_unsigned_into_signed",
        Rule.OVERFLOW,
        [U3, U3],
        [(7, 0, 1, 0, (1, 6, 0)), (7, 0, 1, 0, (1, 5, 0))],
        case(7, 5, gives=(35, -29), breaks=3),
        case(5, 5, gives=(25, 25)),
        outputs=last(2, 2),
    ),
    row(
        "mul_of_mixed_signs_into_unsigned",
        Rule.OVERFLOW,
        [S4, U3],
        [(7, 0, 1, 0, (0, 6, 0)), (7, 1, 0, 0, (0, 6, 0))],
        case(-8, 7, gives=(8, 8), breaks=2),
        case(-8, 0, gives=(0, 0)),
        case(7, 7, gives=(49, 49)),
        outputs=last(2, 2),
    ),
    row(
        "mul_of_unsigned_fractions",
        Rule.MUL,
        [(0, 1, 1), (0, 2, 1)],
        [(7, 0, 1, 0, (0, 3, 4)), (7, 0, 1, 0, (0, 3, 1)), (7, 0, 1, 0, (1, 3, 3))],
        case(0.5, 0.5, gives=(0.25, 0, 0.25), breaks=3),
        case(1.5, 3.5, gives=(5.25, 5, 5.25), breaks=3),
        case(1.5, 3, gives=(4.5, 4.5, 4.5)),
        outputs=last(2, 3),
    ),
    row(
        "mul_of_mixed_signs_and_fractions",
        Rule.LOST,
        [(0, 1, 1), (1, 2, 1)],
        [(7, 0, 1, 0, (1, 3, 1)), (7, 1, 0, 0, (1, 3, 4))],
        case(1.5, -3.5, gives=(-5.5, -5.25), breaks=2),
        case(1.5, 3.5, gives=(5, 5.25), breaks=2),
        case(1.5, -4, gives=(-6, -6)),
        case(1, -3.5, gives=(-3.5, -3.5)),
        outputs=last(2, 2),
    ),
    row(
        "mul_of_signed_into_coarser_unsigned",
        Rule.LOST,
        [(1, 1, 1), (1, 1, 1)],
        [(7, 0, 1, 0, (0, 2, 1))],
        case(-1.5, -1.5, gives=2, breaks=2),
        case(-0.5, 0.5, gives=3.5, breaks=2),  # floors to -0.5
        case(-2, -1.5, gives=3),
    ),
    # everything at 128 bits, mixed signs
    row(
        "ops_of_128_bits",
        Rule.EXACT,
        [(1, 127, 0), (0, 128, 0)],
        [
            (0, 0, 1, 0, (1, 129, 0)),
            (7, 0, 1, 0, (1, 255, 0)),
            (3, 0, -1, 0, (0, 65, 0)),
            (-3, 1, -1, 0, (1, 128, 0)),
            (4, 0, -1, -(2**63), (1, 128, 0)),
            (-2, 0, -1, 0, (0, 128, 0)),
        ],
        case(
            -(2**127),
            2**128 - 1,
            gives=(2**127 - 1, 2**127 - 2**255, 0, 1 - 2**128, -(2**127) - 2**63, 2**127),
        ),
        case(5, 3, gives=(8, 15, 5, -3, 5 - 2**63, 0)),
        outputs=last(2, 6),
    ),
)
