"""Values beyond 32, 53 and 64 bits, continued: mux, product, lookup, bits, outputs."""

from __future__ import annotations

from fractions import Fraction

from ..row import AND, OR, XOR, bitwise, case, entry, mux, row
from ..rules import Rule

B, S4, U3 = (0, 1, 0), (1, 3, 0), (0, 3, 0)
S64, S70, S100, S101 = (1, 63, 0), (1, 69, 0), (1, 99, 0), (1, 100, 0)
U64, U70 = (0, 64, 0), (0, 70, 0)
NOT, ANY, ALL = 0, 1, 2

ROWS = (
    row(
        "wide_mux",
        Rule.MSB,
        [U70, S70, S4],
        [(6, 1, 2, mux(0), S70), (6, 1, 2, mux(0, 70), (1, 73, 0)), (-6, 1, 2, mux(0, -70), (1, 3, 70))],
        case(2**69 - 1, 5, -8, gives=(-8, -8 * 2**70, Fraction(8, 2**70))),
        case(2**69, -(2**69), 7, gives=(-(2**69), -(2**69), 0)),
        case(2**70 - 1, -3, 7, gives=(-3, -3, -3)),
        outputs=[(3, 0, 0), (4, 0, 0), (5, 0, 0)],
    ),
    row(
        "wide_mux_signed_condition",
        Rule.MSB,
        [S100, S4, S4],
        [(6, 1, 2, mux(0), S4)],
        case(-(2**99), -8, 7, gives=-8),
        case(2**99 - 1, -8, 7, gives=7),
    ),
    row(
        "mux_arm_wraps_at_64_bits",
        Rule.MUX_ARMS,
        [B, S70, S70],
        [(6, 1, 2, mux(0, 3), S64)],
        case(0, 0, -1, gives=-8),
        case(0, 0, 2**60, gives=-(2**63)),
        case(1, -(2**63) - 1, 0, gives=2**63 - 1),
    ),
    row(
        "product_beyond_53_bits",
        Rule.MUL,
        [(0, 27, 0), (0, 32, 0)],
        [(7, 0, 0, 0, (0, 54, 0)), (7, 1, 1, 0, U64)],
        case(2**27 - 1, 2**32 - 1, gives=(2**54 - 2**28 + 1, 2**64 - 2**33 + 1)),
        outputs=[(2, 0, 0), (3, 0, 0)],
    ),
    row(
        "product_of_32_bits",
        Rule.MUL,
        [(1, 31, 0), (1, 31, 0)],
        [(7, 0, 1, 0, S64)],
        case(-(2**31), -(2**31), gives=2**62),
        case(-(2**31), 2**31 - 1, gives=2**31 - 2**62),
    ),
    row(
        "wide_product",
        Rule.MUL,
        [S70, S70],
        [(7, 0, 1, 0, (1, 139, 0))],
        case(-(2**69), -(2**69), gives=2**138),
        case(-(2**69), 2**69 - 1, gives=2**69 - 2**138),
        case(3, -(2**68) - 1, gives=-3 * 2**68 - 3),
    ),
    row(
        "wide_product_overflows",
        Rule.OVERFLOW,
        [S70, S70],
        [(7, 0, 1, 0, S101)],
        case(-(2**69), -(2**69), gives=0, breaks=2),
        case(-(2**69), 3, gives=-3 * 2**69),
        case(2**68 + 1, 2**68 + 1, gives=2**69 + 1, breaks=2),
    ),
    row(
        "product_of_wide_fractions",
        Rule.EXACT,
        [(1, 1, 40), (1, 1, 40)],
        [(7, 0, 1, 0, (1, 2, 80)), (7, 0, 1, 0, (1, 2, 79))],
        case(Fraction(-1, 2**40), Fraction(1, 2**40), gives=(Fraction(-1, 2**80), Fraction(-1, 2**79)), breaks=3),
        case(-1.5, Fraction(1, 2**39), gives=(Fraction(-3, 2**40), Fraction(-3, 2**40))),
        outputs=[(2, 0, 0), (3, 0, 0)],
    ),
    row(
        "lookup_wide_index",
        Rule.INDEX,
        [S70, U70],
        [(8, 0, -1, entry(0), S4), (8, 1, -1, entry(0, 1), S4)],
        case(2 - 2**69, 3, gives=(5, 5)),
        case(-(2**69), 2**69, gives=(-8, 0), breaks=3),
        case(0, 1, gives=(0, -8), breaks=2),
        outputs=[(2, 0, 0), (3, 0, 0)],
        tables=[(-8, 7, 5)],
    ),
    row(
        "lookup_wide_type",
        Rule.LOOKUP,
        [B],
        [(8, 0, -1, entry(0), (1, 60, 20)), (8, 0, -1, entry(0), S64)],
        case(0, gives=(-(2**43), -(2**63))),
        case(1, gives=(2**43 - Fraction(1, 2**20), 2**63 - 1)),
        outputs=[(1, 0, 0), (2, 0, 0)],
        tables=[(-(2**63), 2**63 - 1)],
    ),
    row(
        "wide_not",
        Rule.NOT_UNSIGNED,
        [S100, S64],
        [(9, 0, -1, NOT, S100), (9, 0, -1, NOT, (0, 100, 0)), (9, 1, -1, NOT, U64), (-9, 1, -1, NOT, (1, 64, 0))],
        case(-(2**99), -(2**63), gives=(2**99 - 1, 2**99 - 1, 2**63 - 1, -(2**63) - 1)),
        case(5, 5, gives=(-6, 2**100 - 6, 2**64 - 6, 4)),
        outputs=[(2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0)],
    ),
    row(
        "wide_reductions",
        Rule.ALL,
        [U70, S100],
        [(9, 0, -1, ALL, B), (-9, 0, -1, ALL, B), (9, 1, -1, ANY, B), (9, 1, -1, ALL, B)],
        case(2**70 - 1, -1, gives=(1, 0, 1, 1)),
        case(2**70 - 2, 2**90, gives=(0, 0, 1, 0)),
        case(1, 0, gives=(0, 1, 0, 0)),
        outputs=[(2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0)],
    ),
    row(
        "wide_bitwise",
        Rule.EXTENDED,
        [S100, (0, 80, 0)],
        [(10, 0, 1, bitwise(operation), S100) for operation in (AND, OR, XOR)],
        case(-1, 2**80 - 1, gives=(2**80 - 1, -1, -(2**80))),
        case(-(2**99), 1, gives=(0, 1 - 2**99, 1 - 2**99)),
        outputs=[(2, 0, 0), (3, 0, 0), (4, 0, 0)],
    ),
    row(
        "wide_bitwise_shift",
        Rule.BITWISE,
        [S100, U3],
        [(10, 0, 1, bitwise(AND, 70), S100), (10, 0, 1, bitwise(OR, 70, negate_a=1), S101)],
        case(-1, 5, gives=(5 * 2**70, 5 * 2**70 + 1)),
        case(-(2**99), 0, gives=(0, 2**99)),
        outputs=[(2, 0, 0), (3, 0, 0)],
    ),
    row(
        "bitwise_of_64_bits",
        Rule.BITWISE_NEGATE,
        [U64, S64],
        [(10, 0, 0, bitwise(XOR, 1), (0, 65, 0)), (10, 1, 0, bitwise(AND, negate_a=1), U64)],
        case(2**64 - 1, -(2**63), gives=(2**64 + 1, 2**63)),
        case(1, 3, gives=(3, 1)),
        outputs=[(2, 0, 0), (3, 0, 0)],
    ),
    row(
        "wide_output_negated",
        Rule.OUTPUT,
        [S70, U64],
        [],
        case(-(2**69), 2**64 - 1, gives=(2**69, 1 - 2**64, Fraction(2**64 - 1, 2**64))),
        case(5, 2**63, gives=(-5, -(2**63), 0.5)),
        outputs=[(0, 0, 1), (1, 0, 1), (1, -64, 0)],
    ),
)
