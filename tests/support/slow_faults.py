"""Flip a bit slowly but obviously: run the oracle's rules op by op, with one value replaced."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dais_verif.golden.oracle import RULES, Context, _Outside, outputs_of, quantise, two
from dais_verif.spec.program import FixedType, Program

__all__ = ["flipped_outputs"]


def flipped(value: Fraction, kind: FixedType, bit: int) -> Fraction:
    """Return ``value`` with one bit of its pattern inverted: it is written as text, changed, and read again."""
    raw = int(value * two(kind.f))
    pattern = list(format(raw % (1 << kind.width), f"0{kind.width}b"))
    pattern[-1 - bit] = "0" if pattern[-1 - bit] == "1" else "1"
    result = int("".join(pattern), 2)
    if kind.k and pattern[0] == "1":
        result -= 1 << kind.width
    return result * two(-kind.f)


def flipped_outputs(program: Program, inputs: Sequence[Fraction], index: int, bit: int) -> list[Fraction]:
    """Return the outputs of an unchecked run in which bit ``bit`` of op ``index`` is inverted."""
    values: list[Fraction] = []
    for op in program.ops:
        try:
            value = quantise(RULES[op.code](Context(program, op, values, inputs)), op.type)
        except _Outside:
            value = Fraction(0)
        values.append(flipped(value, op.type, bit) if op.index == index else value)
    return outputs_of(program, values)
