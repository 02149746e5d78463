"""Differences between alkaid and our specifications, and where there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from interop import alkaid_shapes as shapes
from interop.cases import RIGHT, Wrong, wrong
from interop.peer import THROWS

from dais_verif.spec.program import Program, assemble

__all__ = ["CASES", "AlirCase"]


@dataclass(frozen=True)
class AlirCase:
    """One line of the table: what the case is, a witness as text, one vector, the exact outputs, the peers' errors.

    ``intervals``: raw bounds of ops declared narrower than their type. ``breaks``: the op whose promise is broken.
    """

    what: str
    name: str
    text: str
    inputs: tuple[float, ...]
    gives: tuple[float, ...]
    cpp: Wrong | None = RIGHT
    python: Wrong | None = RIGHT
    breaks: int | None = None
    intervals: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def program(self) -> Program:
        """Return the witness, with its declared intervals."""
        program = assemble(f"layout alir\n{self.text}")
        known = [(op.type.raw_min, op.type.raw_max) for op in program.ops]
        return replace(program, intervals=tuple(self.intervals.get(index, ends) for index, ends in enumerate(known)))

    @property
    def exact(self) -> list[Fraction]:
        """Return the exact outputs, ``gives``."""
        return [Fraction(value) for value in self.gives]

    def of(self, peer: str) -> Wrong | None:
        """Return how ``peer`` is wrong, ``alkaid-cpp`` or ``alkaid-python``; None if it is right."""
        return {"alkaid-cpp": self.cpp, "alkaid-python": self.python}[peer]


def one(kind: str, result: str) -> str:
    """Return a program with one input of type ``kind``, whose output is ``result``."""
    return f"input 0\n%0 = {kind} input 0\n%1 = {result}\noutput 0 = %1\n"


def two(kinds: str, result: str) -> str:
    """Return a program with two inputs of the types ``kinds``, whose output is ``result``."""
    a, b = kinds.split()
    return f"input 0, 1\n%0 = {a} input 0\n%1 = {b} input 1\n%2 = {result}\noutput 0 = %2\n"


CASES = (
    AlirCase(
        "input with an `inp_shift`",
        "input_shift",
        "input 0<<1\n%0 = s4.0 input 0\noutput 0 = %0\n",
        (5,),
        (-6,),
        python=wrong(10, shape=shapes.shifted_input),
    ),
    AlirCase(
        "one input read with two types",
        "input_types",
        "input 0\n%0 = s4.0 input 0\n%1 = u2.0 input 0\noutput 0 = %0\noutput 1 = %1\n",
        (5,),
        (5, 1),
        python=wrong(1, 1, shape=shapes.input_of_several_types),
    ),
    AlirCase(
        "input of 2^63 or more units in the last place",
        "input_huge",
        one("u13.0", "u13.0 quant(%0)"),
        (2.0**64 + 4096,),
        (4096,),
        cpp=wrong(0),
    ),
    AlirCase(
        "3 to a finer fraction",
        "quant_finer",
        one("s4.0", "s6.2 quant(%0)"),
        (3,),
        (3,),
        cpp=wrong(0, shape=shapes.finer_copy),
    ),
    AlirCase(
        "2 to a finer fraction",
        "relu_finer",
        one("s4.0", "u6.2 relu(%0)"),
        (3,),
        (3,),
        cpp=wrong(0, shape=shapes.finer_copy),
    ),
    AlirCase(
        "3 with a shift by 128 or more",
        "quant_by_256",
        one("s4.0", "s4.0 quant(%0>>256)"),
        (3,),
        (0,),
        cpp=wrong(3, shape=shapes.far_shift),
    ),
    AlirCase(
        "3 with a shift into a finer fraction",
        "shift_finer",
        one("s4.0", "s8.4 quant(%0>>1)"),
        (3,),
        (1.5,),
        cpp=wrong(0, shape=shapes.finer_copy),
    ),
    AlirCase(
        "3 with a shift", "shift", one("s4.0", "s4.0 quant(%0<<2)"), (3,), (-4,), cpp=wrong(0, shape=shapes.finer_copy)
    ),
    AlirCase(
        "2 into a signed type",
        "relu_signed",
        one("u4.0", "s3.0 relu(%0)"),
        (6,),
        (-2,),
        python=wrong(2, shape=shapes.signed_relu),
    ),
    AlirCase("-2", "negation", one("s4.0", "s5.0 sum(-%0)"), (-8,), (8,)),
    AlirCase(
        "-2 with a finer fraction in the result",
        "negation_finer",
        one("s4.0", "s7.2 sum(-%0)"),
        (-8,),
        (8,),
        cpp=wrong(2, shape=shapes.finer_negation),
    ),
    AlirCase(
        "-2, promise broken",
        "negation_broken",
        one("s4.0", "s4.0 sum(-%0)"),
        (-8,),
        (-8,),
        breaks=1,
        cpp=wrong(8),
        python=wrong(8),
    ),
    AlirCase(
        "0 or 1, promise broken",
        "add_overflow",
        two("s4.0 s4.0", "s4.0 %0 + %1"),
        (5, 6),
        (-5,),
        breaks=2,
        cpp=wrong(11),
        python=wrong(11),
    ),
    AlirCase(
        "0 or 1 with a finer fraction in the result",
        "add_finer",
        two("s4.0 s4.0", "s6.1 %0 - %1"),
        (3, 5),
        (-2,),
        cpp=wrong(-0.5, shape=shapes.finer_sum),
    ),
    AlirCase(
        "4 with a finer fraction in the result",
        "add_const_finer",
        one("s4.0", "s7.2 %0 + 1"),
        (3,),
        (4,),
        cpp=wrong(0, shape=shapes.finer_add_const),
    ),
    AlirCase("4 whose constant has a fraction", "add_const_half", one("s4.1", "s6.1 %0 + 1.5"), (1.5,), (3,)),
    AlirCase(
        "11 with a finer fraction in the result",
        "sum_finer",
        two("s4.0 s4.0", "s8.2 sum(%0, -%1, %0<<1)"),
        (3, 5),
        (4,),
    ),
    AlirCase(
        "11 of two and of six",
        "sum_of_six",
        two("s4.0 s4.0", "s9.2 sum(%0, -%1, %0<<1, %1>>2, -%0, %1)"),
        (3, 5),
        (7.25,),
    ),
    AlirCase(
        "6 whose arms are both shifted",
        "mux_two_shifts",
        two("s4.0 s4.1", "s8.2 msb(%0) ? %0 : %1"),
        (3, 1.5),
        (1.5,),
        cpp=Wrong(THROWS, shapes.no_arm_on_the_grid),
    ),
    AlirCase(
        "6 into a coarser fraction",
        "mux_coarser",
        two("s4.0 s5.1", "s4.0 msb(%0) ? %0 : %1"),
        (3, 3.5),
        (3,),
        cpp=wrong(0, shape=shapes.coarser_mux),
    ),
    AlirCase("6 into a narrower type", "mux_narrower", two("s4.0 s5.0", "s3.0 msb(%0) ? %0 : %1"), (3, 7), (-1,)),
    AlirCase("6 with an unsigned condition", "mux_condition", two("u3.0 s4.0", "s5.0 msb(%0) ? %0 : %1"), (3, 5), (5,)),
    AlirCase(
        "6 with a shift by 128 or more",
        "mux_by_256",
        two("s4.0 s4.0", "s4.0 msb(%0) ? %0 : %1>>256"),
        (3, 5),
        (0,),
        cpp=wrong(5, shape=shapes.far_shift),
    ),
    AlirCase(
        "7 into a coarser step",
        "mul_coarser",
        two("s4.0 s4.0", "s4.-1 %0 * %1"),
        (3, 2),
        (6,),
        cpp=wrong(12, shape=shapes.other_grid_product),
    ),
    AlirCase(
        "7 into a finer step",
        "mul_finer",
        two("s4.0 s4.0", "s8.1 %0 * %1"),
        (3, -3),
        (-9,),
        cpp=wrong(-4.5, shape=shapes.other_grid_product),
    ),
    AlirCase(
        "8",
        "lookup",
        "input 0\ntable 0 = [5, 6, 7, 8]\n%0 = s2.0 input 0\n%1 = u4.1 table 0[%0]\noutput 0 = %1\n",
        (-1,),
        (3,),
    ),
    AlirCase(
        "9 NOT into another sign",
        "not_sign",
        one("u3.0", "s4.0 not(%0)"),
        (5,),
        (-6,),
        python=wrong(2, shape=shapes.other_not),
    ),
    AlirCase(
        "9 NOT with a fraction",
        "not_fraction",
        one("u4.1", "s5.1 not(%0)"),
        (2.5,),
        (-3,),
        python=wrong(5, shape=shapes.other_not),
    ),
    AlirCase(
        "9 NOT with another fraction in the result",
        "not_finer",
        one("u2.0", "u3.1 not(%0)"),
        (1,),
        (2,),
        cpp=wrong(1, shape=shapes.other_grid_not),
        python=wrong(1, shape=shapes.other_not),
    ),
    AlirCase(
        "9 OR-reduce into a fraction",
        "any_finer",
        one("u2.0", "u2.1 any(%0)"),
        (1,),
        (1,),
        cpp=wrong(0.5, shape=shapes.fractional_truth),
    ),
    AlirCase(
        "9 AND-reduce of an unsigned value with a fraction",
        "all_fraction",
        one("u4.1", "u1.0 all(%0)"),
        (7.5,),
        (1,),
        python=wrong(0, shape=shapes.all_of_unsigned),
    ),
    AlirCase(
        "9 AND-reduce of an interval smaller than its type",
        "all_narrow",
        one("u3.0", "u1.0 all(%0)"),
        (5,),
        (0,),
        intervals={0: (0, 5)},
        python=wrong(1, shape=shapes.all_of_unsigned),
    ),
    AlirCase(
        "10 with a finer fraction than its operands",
        "bitwise_finer",
        two("u3.0 u3.0", "u4.1 %0 xor %1"),
        (3, 1),
        (2,),
        cpp=wrong(1, shape=shapes.other_grid_bitwise),
    ),
    AlirCase(
        "10 with a shift by 128 or more",
        "bitwise_by_256",
        two("u4.0 u4.0", "u4.0 %0 and %1>>256"),
        (5, 5),
        (0,),
        cpp=wrong(5, shape=shapes.far_shift),
    ),
    AlirCase(
        "type of more than 64 bits",
        "wide",
        one("s4.0", "s65.0 quant(%0)"),
        (5,),
        (5,),
        cpp=Wrong(THROWS, shapes.beyond_64_bits),
        python=wrong(0, shape=shapes.beyond_a_double),
    ),
    AlirCase(
        "sum of more than 53 bits",
        "sum_54_bits",
        two("u1.0 u1.0", "u54.0 %0 + %1<<53\n%3 = u1.0 quant(%2)").replace("= %2\n", "= %3\n"),
        (1, 1),
        (1,),
        python=wrong(0, shape=shapes.beyond_a_double),
    ),
    AlirCase(
        "`i` or `f` of a type beyond a byte",
        "far_type",
        one("u8.0", "u2.-126 quant(%0<<130)"),
        (1,),
        (0,),
        cpp=Wrong(THROWS, shapes.beyond_a_byte),
    ),
    AlirCase(
        "output negated and shifted", "output_negated", "input 0\n%0 = s4.0 input 0\noutput 0 = -%0>>1\n", (5,), (-2.5,)
    ),
    AlirCase("`out_idx` -1", "output_zero", "input 0\n%0 = u3.0 input 0\noutput 0 = 0\noutput 1 = %0\n", (5,), (0, 5)),
    AlirCase(
        "no inputs", "no_inputs", "%0 = u2.0 3\noutput 0 = %0\n", (), (3,), cpp=Wrong(THROWS), python=Wrong(THROWS)
    ),
)
