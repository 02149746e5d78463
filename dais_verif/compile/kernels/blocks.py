"""Blocks of kernels, written as programs without overflow: each type is the smallest sufficient one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dais_verif.base.errors import RuleError
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.types import type_of_interval

__all__ = ["BlockBuilder", "Value", "balanced", "digits_of", "dot", "scaled"]


# Write a block: exact values with their intervals, each op in the smallest type that holds its result.
#
# Equal expressions share one op. Multiplication by a power of two, and negation, need no op: a value is an op, shifted
# and signed.


@dataclass(frozen=True)
class Value:
    """The result of an op, times ``2**shift``, negated if ``negative``. ``op`` None: the value 0.

    ``lo``, ``hi``: the range of the op's raw integer, in units of ``2**-f``.
    """

    op: int | None = None
    lo: int = 0
    hi: int = 0
    f: int = 0
    shift: int = 0
    negative: bool = False

    def __neg__(self) -> Value:
        return Value(self.op, self.lo, self.hi, self.f, self.shift, not self.negative)

    def __lshift__(self, bits: int) -> Value:
        return Value(self.op, self.lo, self.hi, self.f, self.shift + bits, self.negative) if bits else self

    @property
    def type(self) -> FixedType:
        """The smallest type that holds the value."""
        lo, hi = self.signed
        return type_of_interval(lo, hi, self.f - self.shift)

    @property
    def signed(self) -> tuple[int, int]:
        """The interval of the value, sign included, in units of ``2**(shift - f)``."""
        return (-self.hi, -self.lo) if self.negative else (self.lo, self.hi)


class BlockBuilder:
    """Write inputs and ops, then ``build``."""

    def __init__(self) -> None:
        self._ops: list[tuple[int, int, int, int, tuple[int, int, int]]] = []
        self._known: dict[tuple[int, ...], Value] = {}
        self._tables: list[tuple[int, ...]] = []
        self._inputs = 0

    def input(self, kind: FixedType) -> Value:
        """Add an input."""
        self._inputs += 1
        if not kind.width:
            return Value()
        return self._add(Code.INPUT, self._inputs - 1, -1, 0, kind.raw_min, kind.raw_max, kind.f, kind)

    def unknown(self, lo: int, hi: int, f: int) -> Value:
        """Return a value of which only the range is known; a block with such values is never built."""
        self._inputs += 1
        return self._add(Code.INPUT, self._inputs - 1, -1, 0, lo, hi, f)

    def constant(self, raw: int, f: int) -> Value:
        """Return ``raw * 2**-f``."""
        return self._add(Code.CONST, -1, -1, raw, raw, raw, f) if raw else Value()

    def add(self, a: Value, b: Value) -> Value:
        """Return ``a + b``, exactly."""
        if a.op is None or b.op is None:
            return b if a.op is None else a
        # Normalize order and sign, so that equal sums share an op.
        a, b = sorted((a, b), key=lambda value: (value.op or 0, value.shift))
        if a.negative:
            return -self.add(-a, -b)
        shift = b.shift - a.shift
        f = max(a.f, b.f - shift)
        (b_lo, b_hi), ups = b.signed, (f - a.f, f - b.f + shift)
        lo, hi = (a.lo << ups[0]) + (b_lo << ups[1]), (a.hi << ups[0]) + (b_hi << ups[1])
        return self._add(Code.SUB if b.negative else Code.ADD, a.op or 0, b.op or 0, shift, lo, hi, f) << a.shift

    def sum(self, values: Sequence[Value]) -> Value:
        """Return the sum of ``values``, as a balanced tree."""
        values = list(values) or [Value()]
        while len(values) > 1:
            pairs = [self.add(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
            values = pairs + values[len(pairs) * 2 :]
        return values[0]

    def multiply(self, a: Value, b: Value) -> Value:
        """Return ``a * b``, exactly."""
        if a.op is None or b.op is None:
            return Value()
        a, b = sorted((a, b), key=lambda value: value.op or 0)
        ends = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        found = self._add(Code.MUL, a.op or 0, b.op or 0, 0, min(ends), max(ends), a.f + b.f) << (a.shift + b.shift)
        return -found if a.negative != b.negative else found

    def relu(self, a: Value) -> Value:
        """Return ``max(a, 0)``."""
        lo, hi = a.signed
        if a.op is None or hi <= 0:
            return Value()
        if lo >= 0:
            return a
        return self._add(Code.RELU_NEG if a.negative else Code.RELU, a.op, -1, 0, 0, hi, a.f) << a.shift

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """Return ``a`` if the op of ``condition`` is negative, else ``b``; ``condition.negative`` is ignored."""
        if a == b:
            return a
        a = self._zero() if a.op is None else a
        b = self._zero() if b.op is None else b
        if a.negative:
            return -self.select(condition, -a, -b)
        shift = b.shift - a.shift
        f = max(a.f, b.f - shift)
        (b_lo, b_hi), ups = b.signed, (f - a.f, f - b.f + shift)
        lo, hi = min(a.lo << ups[0], b_lo << ups[1]), max(a.hi << ups[0], b_hi << ups[1])
        code, data = Code.MUX_NEG if b.negative else Code.MUX, shift << 32 | (condition.op or 0)
        return self._add(code, a.op or 0, b.op or 0, data, lo, hi, f) << a.shift

    def maximum(self, a: Value, b: Value) -> Value:
        """Return the larger of ``a`` and ``b``."""
        difference = self.add(a, -b)
        lo, hi = difference.signed
        if difference.op is None or lo >= 0:
            return a
        if hi <= 0:
            return b
        return self.select(difference, a, b) if difference.negative else self.select(difference, b, a)

    def minimum(self, a: Value, b: Value) -> Value:
        """Return the smaller of ``a`` and ``b``."""
        return -self.maximum(-a, -b)

    def at_most(self, a: Value, limit: Value) -> Value:
        """Return the smaller of ``a`` and the constant ``limit``, with an interval that ends at the limit."""
        over = self.add(a, -limit)
        lo, hi = over.signed
        if over.op is None or hi <= 0:
            return a
        if lo >= 0:
            return limit
        # limit - max(limit - a, 0): the interval of this sum ends at the limit; the interval of a mux would not.
        return self.add(limit, -self.relu(-over))

    def lookup(self, a: Value, kind: FixedType, table: Sequence[int], result: FixedType) -> Value:
        """Return ``table[raw - raw_min]``, a raw integer of ``result``; ``raw``: that of ``a`` cast to ``kind``."""
        if tuple(table) not in self._tables:
            self._tables.append(tuple(table))
        a = self.cast(a, kind)
        number = self._tables.index(tuple(table))
        return self._add(Code.LOOKUP, a.op or 0, -1, number, min(table), max(table), result.f, result)

    def _zero(self) -> Value:
        return self._add(Code.CONST, -1, -1, 0, 0, 0, 0, FixedType(0, 1, 0))

    def cast(self, a: Value, kind: FixedType) -> Value:
        """Return ``a`` cast to ``kind``: excess fractional bits are floored away, excess high bits are cut off."""
        if not kind.width:
            return Value()
        if a.op is None:
            # The result must be an op of exactly this type, even for the value 0.
            return self._add(Code.CONST, -1, -1, 0, 0, 0, kind.f, kind)
        inner = FixedType(kind.k, kind.i - a.shift, kind.f + a.shift)
        lo, hi = a.signed
        down = a.f - inner.f
        lo, hi = (lo >> down, hi >> down) if down >= 0 else (lo << -down, hi << -down)
        if lo < inner.raw_min or hi > inner.raw_max:
            lo, hi = inner.raw_min, inner.raw_max
        code = Code.QUANT_NEG if a.negative else Code.QUANT
        return self._add(code, a.op, -1, 0, lo, hi, inner.f, inner) << a.shift

    def build(self, outputs: Sequence[Value]) -> Program:
        """Return the program whose outputs are exactly these values."""
        rows = [(-1, 0, 0) if one.op is None else (one.op, one.shift, int(one.negative)) for one in outputs]
        return Program.build(self._ops, rows, inp_shift=[0] * self._inputs, tables=self._tables)

    def _add(
        self, code: int, id0: int, id1: int, data: int, lo: int, hi: int, f: int, kind: FixedType | None = None
    ) -> Value:
        """Return the result of an op, which is created unless it exists. ``kind``: its type; None: the smallest one."""
        kind = kind or type_of_interval(lo, hi, f)
        if not -(1 << 63) <= data < 1 << 63:
            raise RuleError(f"a constant of {data.bit_length()} bits does not fit an op, which has 64")
        key = (code, id0, id1, data, *kind)
        if key not in self._known:
            self._ops.append((int(code), id0, id1, data, (kind.k, kind.i, kind.f)))
            self._known[key] = Value(len(self._ops) - 1, lo, hi, f)
        return self._known[key]


# Sums of products with constants, as shifts and adds that are shared.


def digits_of(number: int) -> Iterator[tuple[int, int]]:
    """Yield the non-zero digits of ``number`` in canonical signed form: position, and 1 or -1.

    No two adjacent digits are non-zero, and no other form with digits 0, 1 and -1 has fewer non-zero digits.
    """
    at = 0
    while number:
        if number & 1:
            digit = 2 - (number & 3)
            yield at, digit
            number -= digit
        number >>= 1
        at += 1


def scaled(builder: BlockBuilder, value: Value, constant: int) -> Value:
    """Return ``constant * value``; the odd part of a constant is computed once, whatever its sign and power of two."""
    if not constant:
        return Value()
    shift = (constant & -constant).bit_length() - 1
    odd = abs(constant) >> shift
    product = builder.sum([value << at if digit > 0 else -(value << at) for at, digit in digits_of(odd)])
    return (-product if constant < 0 else product) << shift


def dot(builder: BlockBuilder, values: Sequence[Value], constants: Sequence[int], f: int, bias: Value) -> Value:
    """Return ``sum(values * constants) * 2**-f + bias``, exactly."""
    products = [scaled(builder, value, constant) << -f for value, constant in zip(values, constants, strict=True)]
    return builder.sum([one for one in (*products, bias) if one.op is not None])


# Balanced trees of one operation.


def balanced(of_two: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Combine one or more values in a balanced tree of ``of_two``."""
    values = list(values)
    while len(values) > 1:
        pairs = [of_two(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = [*pairs, *values[2 * len(pairs) :]]
    return values[0]
