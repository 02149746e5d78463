"""The oracle: evaluates a program in exact rational arithmetic, with one small function per opcode.

It is written to be compared with the semantics page, not to be fast; all other engines are checked against it. A value
is a ``Fraction``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dais_verif.base.errors import ViolationError
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import Code, bitwise_fields, high_int32, low_int32

__all__ = ["Violation", "evaluate", "outputs_of", "quantise", "trace", "value_of"]


@dataclass(frozen=True)
class Violation:
    """A broken promise: the op, the values of its operands, the exact result and the quantised result."""

    op: Op
    operands: tuple[Fraction, ...]
    exact: Fraction | None
    quantised: Fraction

    def __str__(self) -> str:
        read = ", ".join(f"op {i} = {show(v)}" for i, v in zip(self.op.operands, self.operands, strict=True))
        if self.exact is None:
            return f"overflow violation at {self.op}: index outside the table ({read})"
        changed = f"exact result {show(self.exact)} becomes {show(self.quantised)} in type {self.op.type}"
        return f"overflow violation at {self.op}: {changed}{f' ({read})' if read else ''}"


def show(value: Fraction) -> str:
    """Return the exact text of ``value``: a decimal number if it is short, else a fraction, in hexadecimal if huge."""
    try:
        if value.denominator > 1 and Fraction(repr(float(value))) == value:
            return repr(float(value))
        return str(value)
    except (OverflowError, ValueError):  # beyond float64, or beyond the digits that Python converts
        return f"{value.numerator:#x}" + (f"/{value.denominator:#x}" if value.denominator > 1 else "")


class _Outside(Exception):
    """A lookup index outside its table."""


def trace(program: Program, inputs: Sequence[Fraction], *, violations: list[Violation] | None = None) -> list[Fraction]:
    """Return the value of every op for one input vector of ``n_in`` exact numbers.

    Raises ``ViolationError`` at the first broken promise. If the list ``violations`` is given, each broken promise is
    appended to it instead, and evaluation continues with the quantised value.
    """
    values: list[Fraction] = []
    for op in program.ops:
        values.append(value_of(Context(program, op, values, inputs), violations))
    return values


def value_of(c: Context, violations: list[Violation] | None) -> Fraction:
    """Return the value of one op. A broken promise raises ``ViolationError``, or is appended to ``violations``."""
    op = c.op
    try:
        exact: Fraction | None = RULES[op.code](c)
        quantised = quantise(exact, op.type) if exact is not None else Fraction(0)
    except _Outside:
        exact, quantised = None, Fraction(0)
    if op.spec.promise and exact != quantised:
        violation = Violation(op, tuple(c.buf(i) for i in op.operands), exact, quantised)
        if violations is None:
            raise ViolationError(str(violation))
        violations.append(violation)
    return quantised


def outputs_of(program: Program, values: Sequence[Fraction]) -> list[Fraction]:
    """Return the exact outputs from the values of all ops."""
    return [
        Fraction(0) if index < 0 else values[index] * two(shift) * (-1 if negated else 1)
        for index, shift, negated in program.outputs
    ]


def evaluate(program: Program, inputs: Sequence[Fraction], *, check: bool = True) -> list[Fraction]:
    """Return the outputs for one input vector. Raises ``ViolationError`` if ``check`` and a promise is broken."""
    return outputs_of(program, trace(program, inputs, violations=None if check else []))


@lru_cache(maxsize=1024)  # without the cache, these powers take half of the time of a program
def two(n: int) -> Fraction:
    """Return ``2**n`` exactly, also for negative ``n``."""
    return Fraction(1 << n) if n >= 0 else Fraction(1, 1 << -n)


def quantise(value: Fraction, kind: FixedType) -> Fraction:
    """Quantise: TRUNC to a multiple of ``2**-f``, then WRAP to ``w`` bits, two's complement if signed."""
    if kind.width == 0:
        return Fraction(0)
    pattern = math.floor(value * two(kind.f)) % (1 << kind.width)
    if kind.k and pattern >= 1 << (kind.width - 1):
        pattern -= 1 << kind.width
    return pattern * two(-kind.f)


class Context:
    """The data that the rule of one op may use."""

    def __init__(self, program: Program, op: Op, values: Sequence[Fraction], inputs: Sequence[Fraction]) -> None:
        self.program, self.op, self.inputs = program, op, inputs
        self._values = values

    def buf(self, index: int) -> Fraction:
        """Return the value of op ``index``."""
        return self._values[index]

    @property
    def a(self) -> Fraction:
        """Return ``buf[id0]``."""
        return self._values[self.op.id0]

    @property
    def b(self) -> Fraction:
        """Return ``buf[id1]``."""
        return self._values[self.op.id1]

    @property
    def signed_a(self) -> Fraction:
        """Return ``buf[id0]``, negated if the opcode negates it."""
        return -self.a if self.op.spec.negate else self.a

    def raw(self, index: int, value: Fraction | None = None) -> int:
        """Return ``value`` (default: ``buf[index]``) as an integer in units of ``2**-f`` of op ``index``."""
        scaled = (self._values[index] if value is None else value) * two(self.type_of(index).f)
        if scaled.denominator != 1:
            raise AssertionError(f"op {index}: {value} is not a multiple of its step")
        return scaled.numerator

    def type_of(self, index: int) -> FixedType:
        return self.program.ops[index].type


def _input(c: Context) -> Fraction:
    return c.inputs[c.op.id0] * two(int(c.program.inp_shift[c.op.id0]))


def _add(c: Context) -> Fraction:
    return c.a + c.b * two(c.op.data)


def _sub(c: Context) -> Fraction:
    return c.a - c.b * two(c.op.data)


def _relu(c: Context) -> Fraction:
    return max(c.signed_a, Fraction(0))


def _quant(c: Context) -> Fraction:
    return c.signed_a


def _add_const(c: Context) -> Fraction:
    return c.a + c.op.data * two(-c.op.type.f)


def _sum(c: Context) -> Fraction:
    total = Fraction(0)
    for term in c.op.terms:
        value = (c.buf(term.op) if term.op >= 0 else Fraction(c.op.data)) * two(term.shift)
        total += -value if term.negative else value
    return total


def _shift(c: Context) -> Fraction:
    return c.a * two(c.op.data)


def _const(c: Context) -> Fraction:
    return c.op.data * two(-c.op.type.f)


def _mux(c: Context) -> Fraction:
    condition, kind = c.op.condition, c.type_of(c.op.condition)
    pattern = c.raw(condition) % (1 << kind.width)
    msb = kind.width > 0 and pattern >> (kind.width - 1) == 1
    if msb:
        return c.a
    b = -c.b if c.op.spec.negate else c.b
    return b * two(high_int32(c.op.data))


def _mul(c: Context) -> Fraction:
    return c.a * c.b


def _lookup(c: Context) -> Fraction:
    table = c.program.tables[low_int32(c.op.data)]
    index = c.raw(c.op.id0) - c.type_of(c.op.id0).raw_min - high_int32(c.op.data)
    if not 0 <= index < len(table):
        raise _Outside
    return int(table[index]) * two(-c.op.type.f)


def _bit_unary(c: Context) -> Fraction:
    kind = c.type_of(c.op.id0)
    t = c.raw(c.op.id0, c.signed_a)
    if c.op.data == 0:
        inverted = -t - 1 if c.op.type.k else (-t - 1) % (1 << kind.width)
        return inverted * two(-kind.f)
    if c.op.data == 1:
        return Fraction(t != 0)
    all_ones = (1 << kind.width) - 1
    return Fraction(t % (1 << kind.width) == all_ones)


def _bit_binary(c: Context) -> Fraction:
    fields = bitwise_fields(c.op.data)
    a = -c.a if fields.negate_a else c.a
    b = (-c.b if fields.negate_b else c.b) * two(fields.shift)
    grid = max(c.type_of(c.op.id0).f, c.type_of(c.op.id1).f - fields.shift)
    # Python integers behave as infinitely sign-extended two's complement, as the semantics page requires.
    x, y = int(a * two(grid)), int(b * two(grid))
    return (x & y, x | y, x ^ y)[fields.operation] * two(-grid)


#: The exact result of every opcode.
RULES: dict[int, Callable[[Context], Fraction]] = {
    Code.INPUT: _input,
    Code.ADD: _add,
    Code.SUB: _sub,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _quant,
    Code.QUANT_NEG: _quant,
    Code.ADD_CONST: _add_const,
    Code.CONST: _const,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.LOOKUP: _lookup,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _sum,
    Code.SHIFT: _shift,
}
