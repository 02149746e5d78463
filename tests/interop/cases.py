"""Differences between da4ml and the semantics page, and where there are none.

A case is a witness (a row like those of the conformance table: program, one vector, the exact outputs) and the answer
of each peer to it. ``interop.table`` makes a page of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from conformance.row import AND, Row, bitwise, case, entry, mux, row
from conformance.rules import Rule
from interop import shapes
from interop.peer import CRASHES, NAN, THROWS
from interop.shapes import Shape

__all__ = ["CASES", "RIGHT", "Case", "Wrong"]


@dataclass(frozen=True)
class Wrong:
    """A wrong answer. ``gives``: the outputs, or a word such as ``throws``.

    ``shape``: which ops the peer may compute wrongly like this; None if the vector or the whole program decides.
    """

    gives: tuple[float, ...] | str
    shape: Shape | None = None


RIGHT = None


@dataclass(frozen=True)
class Case:
    """One line of the table: what the case is, the witness, and how each peer is wrong (None: it is right)."""

    what: str
    witness: Row
    cpp: Wrong | None
    python: Wrong | None

    @property
    def name(self) -> str:
        """Return the name of the witness."""
        return self.witness.name

    def of(self, peer: str) -> Wrong | None:
        """Return how ``peer`` is wrong, ``cpp`` or ``python``; None if it is right."""
        return {"cpp": self.cpp, "python": self.python}[peer]


def wrong(*gives: float, shape: Shape | None = None) -> Wrong:
    return Wrong(gives, shape)


U0, U1, U2, U3, U4, U6 = ((0, i, 0) for i in (0, 1, 2, 3, 4, 6))
S3, S4, S5, S6 = ((1, i, 0) for i in (2, 3, 4, 5))

CASES = (
    # -1
    Case(
        "input with an `inp_shift`",
        row("input_shift", Rule.INPUT, [S3], [], case(3, gives=-2), shifts=[1]),
        RIGHT,
        wrong(6, shape=shapes.shifted_input),
    ),
    Case(
        "one input read with two types",
        row(
            "input_types",
            Rule.READERS,
            [U2],
            [(-1, 0, -1, 0, U4)],
            case(13, gives=(1, 13)),
            outputs=[(0, 0, 0), (1, 0, 0)],
        ),
        RIGHT,
        wrong(13, 13, shape=shapes.input_of_several_types),
    ),
    Case(
        "input beyond 2^62 units in the last place",
        row("input_huge", Rule.LARGE, [(0, 12, 0)], [], case(2**62 + 2**11, gives=2**11)),
        wrong(-(2**11)),
        RIGHT,
    ),
    Case(
        "signed input beyond 2^53 units in the last place",
        row("input_large", Rule.LARGE, [S4], [], case(2**56 + 16, gives=0)),
        RIGHT,
        wrong(-8),
    ),
    Case(
        "negative input that is not a double after scaling",
        row("input_tiny", Rule.FLOOR, [(0, 6, -4)], [], case(Fraction(-1, 2**1074), gives=48)),
        wrong(0),
        wrong(0),
    ),
    Case(
        "shift or type of more than 1000 places",
        row("input_far", Rule.INPUT, [S4], [], case(-1, gives=-1), shifts=[-1100]),
        wrong(0, shape=shapes.far),
        wrong(0, shape=shapes.far),
    ),
    # quantisation
    Case(
        "quantised to a signed type over 32 bits",
        row("quant_wide", Rule.WRAP, [(1, 34, 0)], [(3, 0, -1, 0, (1, 33, 0))], case(-5, gives=-5)),
        wrong(2**34 - 5, shape=shapes.wide_and_signed),
        RIGHT,
    ),
    Case(
        "quantised to an unsigned type over 62 bits",
        row("input_63_bits", Rule.WRAP, [(0, 63, 0)], [], case(5, gives=5)),
        wrong(-(2**63), shape=shapes.beyond_64_bits),
        wrong(-(2**63), shape=shapes.beyond_a_double),
    ),
    Case(
        "quantised to a signed type without bits",
        row("quant_no_bits", Rule.ZERO_WIDTH, [S4], [(3, 0, -1, 0, (1, -1, 0))], case(5, gives=0)),
        wrong(-(2**31), shape=shapes.no_bits_but_signed),
        RIGHT,
    ),
    Case(
        "±3 to a finer fraction",
        row("quant_finer", Rule.FINER, [(0, 3, 1)], [(3, 0, -1, 0, (0, 3, 3))], case(2.5, gives=2.5)),
        wrong(0, shape=shapes.finer_copy),
        RIGHT,
    ),
    Case(
        "±2 to a finer fraction",
        row("relu_finer", Rule.FINER, [(1, 3, 1)], [(2, 0, -1, 0, (0, 3, 3))], case(2.5, gives=2.5)),
        wrong(0, shape=shapes.finer_copy),
        RIGHT,
    ),
    Case(
        "fraction coarser by 64 places or more",
        row("quant_by_64", Rule.FLOOR, [(1, 3, 40)], [(3, 0, -1, 0, (1, 26, -24))], case(-2.5, gives=-(2**24))),
        wrong(0, shape=shapes.beyond_64_bits),
        RIGHT,
    ),
    Case(
        "±3 into a wider type",
        row("quant_wider", Rule.QUANT, [U3], [(3, 0, -1, 0, S6)], case(5, gives=5)),
        RIGHT,
        RIGHT,
    ),
    Case(
        "2 into a wider type",
        row("relu_wider", Rule.RELU, [S4], [(2, 0, -1, 0, U6)], case(3, gives=3)),
        RIGHT,
        RIGHT,
    ),
    Case(
        "-2 of an unsigned value",
        row("relu_of_minus", Rule.RELU, [U3], [(-2, 0, -1, 0, U3)], case(3, gives=0)),
        RIGHT,
        RIGHT,
    ),
    Case(
        "±2 into a signed type",
        row("relu_signed", Rule.WRAP, [S5], [(2, 0, -1, 0, S3)], case(5, gives=-3)),
        RIGHT,
        wrong(1, shape=shapes.signed_relu),
    ),
    # sums
    Case(
        "0 or 1, promise broken",
        row("add_overflow", Rule.OVERFLOW, [U3, U3], [(0, 0, 1, 0, U3)], case(7, 5, gives=4, breaks=2)),
        wrong(12),
        wrong(12),
    ),
    Case(
        "0 or 1 with a finer fraction in the result",
        row("add_finer", Rule.FINER, [(0, 3, 1)] * 2, [(0, 0, 1, 0, (0, 4, 3))], case(3.5, 2.5, gives=6)),
        wrong(1.5, shape=shapes.finer_sum),
        RIGHT,
    ),
    Case(
        "shift of 64 or more",
        row("add_by_64", Rule.ADD_SHIFT, [U3, U3], [(0, 0, 1, 64, (0, 67, 0))], case(0, 1, gives=2**64)),
        wrong(1, shape=shapes.beyond_64_bits),
        RIGHT,
    ),
    Case(
        "sum of more than 53 bits",
        row(
            "add_54_bits",
            Rule.EXACT,
            [U1, U1],
            [(0, 0, 1, 53, (0, 54, 0)), (3, 2, -1, 0, U1)],
            case(1, 1, gives=1),
        ),
        RIGHT,
        wrong(0, shape=shapes.beyond_a_double),
    ),
    Case(
        "operand without bits",
        row("add_no_bits", Rule.ZERO_WIDTH, [U0, U3], [(0, 0, 1, 0, U3)], case(5, 3, gives=3)),
        RIGHT,
        RIGHT,
    ),
    Case(
        "4 with a coarser fraction, promise kept",
        row("add_const_coarser", Rule.ADD_CONST_F, [(0, 3, 1)], [(4, 0, -1, 1, U4)], case(2, gives=3)),
        wrong(1, shape=shapes.coarser_add_const),
        RIGHT,
    ),
    Case(
        "4 with a coarser fraction, promise broken",
        row("add_const_lost", Rule.LOST, [(0, 3, 1)], [(4, 0, -1, 1, U4)], case(2.5, gives=3, breaks=1)),
        wrong(-(2**63)),
        wrong(3.5),
    ),
    # ±6
    Case(
        "±6 with an unsigned condition",
        row("mux_condition", Rule.MSB, [U3, U3, U3], [(6, 1, 2, mux(0), U3)], case(3, 1, 2, gives=2)),
        wrong(1, shape=shapes.unsigned_condition),
        RIGHT,
    ),
    Case(
        "±6 with a result finer than both arms",
        row("mux_finer", Rule.MUX_ARMS, [S4, U3, U3], [(6, 1, 2, mux(0), (0, 3, 1))], case(3, 1, 2, gives=2)),
        Wrong(THROWS, shapes.no_arm_on_the_grid),
        RIGHT,
    ),
    Case(
        "±6 with a result coarser than one arm",
        row("mux_coarser", Rule.MUX_ARMS, [S4, (0, 3, 1), U3], [(6, 1, 2, mux(0), U3)], case(-3, 1.5, 2, gives=1)),
        wrong(0, shape=shapes.coarser_mux),
        wrong(1.5, shape=shapes.mux_that_quantises),
    ),
    Case(
        "±6 with a result narrower than an arm",
        row("mux_narrower", Rule.MUX_ARMS, [S5, U4], [(6, 1, 1, mux(0), U2)], case(-3, 5, gives=1)),
        RIGHT,
        wrong(5, shape=shapes.mux_that_quantises),
    ),
    # 7
    Case(
        "7 with a fraction other than f0 + f1",
        row("mul_other_f", Rule.MUL, [(0, 3, 1)] * 2, [(7, 0, 1, 0, (0, 6, 1))], case(2, 2.5, gives=5)),
        wrong(10, shape=shapes.other_grid_product),
        RIGHT,
    ),
    Case(
        "product of more than 53 bits",
        row(
            "mul_60_bits",
            Rule.MUL,
            [(0, 30, 0)] * 2,
            [(7, 0, 1, 0, (0, 60, 0)), (3, 2, -1, 0, (0, 8, 0))],
            case(2**30 - 1, 2**30 - 3, gives=3),
        ),
        RIGHT,
        wrong(0, shape=shapes.beyond_a_double),
    ),
    # 8
    Case(
        "8 with a signed index without bits",
        row(
            "lookup_no_bits",
            Rule.ZERO_WIDTH,
            [U1],
            [(1, 0, 0, 0, (1, -1, 0)), (8, 1, -1, entry(0), U3)],
            case(1, gives=5),
            tables=[(5,)],
        ),
        Wrong(THROWS, shapes.no_bits_but_signed),
        RIGHT,
    ),
    # ±9
    Case(
        "±9 NOT, signed result wider than an unsigned operand",
        row("not_signed", Rule.NOT_SIGNED, [U2], [(9, 0, -1, 0, S4)], case(1, gives=-2)),
        RIGHT,
        wrong(2, shape=shapes.widening_not),
    ),
    Case(
        "±9 NOT with another fraction in the result",
        row("not_finer", Rule.NOT_UNITS, [U2], [(9, 0, -1, 0, (0, 2, 1))], case(1, gives=2)),
        wrong(1, shape=shapes.other_grid_not),
        wrong(1, shape=shapes.other_grid_not),
    ),
    Case(
        "±9 OR-reduce or AND-reduce with a fraction in the result",
        row("any_finer", Rule.ANY, [U2], [(9, 0, -1, 1, (0, 1, 1))], case(1, gives=1)),
        wrong(0.5, shape=shapes.fractional_truth),
        RIGHT,
    ),
    Case(
        "9 AND-reduce of an unsigned value with a fraction",
        row("all_of_fraction", Rule.ALL, [(0, 2, 1)], [(9, 0, -1, 2, U1)], case(3.5, gives=1)),
        RIGHT,
        wrong(0, shape=shapes.all_of_a_fraction),
    ),
    Case(
        "-9 AND-reduce of an unsigned value",
        row("all_of_minus", Rule.ALL, [U2], [(-9, 0, -1, 2, U1)], case(1, gives=1)),
        RIGHT,
        wrong(0, shape=shapes.all_of_a_fraction),
    ),
    # 10
    Case(
        "10 with a finer fraction than its operands",
        row("bitwise_finer", Rule.GRID, [U2, U2], [(10, 0, 1, bitwise(AND), (0, 2, 1))], case(3, 2, gives=2)),
        wrong(1, shape=shapes.other_grid_bitwise),
        wrong(1, shape=shapes.other_grid_bitwise),
    ),
    # the program as a whole
    Case(
        "`out_shift` of more than 1000 places, output 0",
        row("output_far", Rule.OUTPUT, [U3], [], case(0, gives=0), outputs=[(0, 1100, 0)]),
        Wrong(NAN),
        Wrong(NAN),
    ),
    Case(
        "`out_idx` -1",
        row("output_zero", Rule.OUTPUT_ZERO, [U3], [], case(5, gives=(0, 5)), outputs=[(-1, 0, 0), (0, 0, 0)]),
        RIGHT,
        RIGHT,
    ),
    Case(
        "`out_idx` -1 and no ops",
        Row("output_zero_no_ops", Rule.OUTPUT_ZERO, (), ((-1, 0, 0),), (case(5, gives=0),), shifts=(0,)),
        Wrong(CRASHES),
        Wrong(THROWS),
    ),
    Case(
        "no inputs",
        row("no_inputs", Rule.CONST, [], [(5, -1, -1, 3, U2)], case(gives=3)),
        Wrong(THROWS),
        Wrong(THROWS),
    ),
)
