"""Bits, counters and comparisons of a block of control; constants need no ops."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import Code

__all__ = ["BIT", "Logic", "unsigned"]

#: The type of a bit.
BIT = FixedType(0, 1, 0)


def unsigned(most: int) -> FixedType:
    """Return the unsigned type of the numbers 0 to ``most``, of one bit at least."""
    return FixedType(0, max(most.bit_length(), 1), 0)


class Logic(BlockBuilder):
    """Blocks with bits: values that are 0 or 1; a constant bit has ``lo == hi``.

    AND and OR of two bits are muxes, so that in a proof in which the first bit is known, the result is the other bit or
    a constant.
    """

    @property
    def zero(self) -> Value:
        """The number 0."""
        return Value()

    @property
    def one(self) -> Value:
        """The number 1."""
        return self.constant(1, 0)

    def number(self, value: int) -> Value:
        """Return the constant ``value``."""
        return self.constant(value, 0)

    def choice(self, bit: Value, a: Value, b: Value) -> Value:
        """Return ``a`` if ``bit`` is 1, else ``b``."""
        if bit.lo == bit.hi:
            return a if bit.lo else b
        # The highest bit of a type of one bit is that bit.
        return self.select(bit, a, b)

    def both(self, *bits: Value) -> Value:
        """Return the AND of all bits."""
        found = self.one
        for bit in bits:
            if not bit.lo:
                found = self.choice(found, bit, self.zero) if bit.hi else self.zero
        return found

    def either(self, a: Value, b: Value) -> Value:
        """Return the OR of two bits."""
        return (self.one if b.lo else a) if b.lo == b.hi else self.choice(a, self.one, b)

    def inverse(self, bit: Value) -> Value:
        """Return the NOT of a bit."""
        return self.choice(bit, self.zero, self.one)

    def less(self, a: Value, b: Value) -> Value:
        """Return the bit ``a < b``."""
        difference = self.add(a, -b)
        lo, hi = difference.signed
        if lo >= 0:
            return self.zero
        if hi < 0:
            return self.one
        if difference.negative:
            difference = self.cast(difference, difference.type)
        return self.select(difference, self.one, self.zero)

    def equal(self, counter: Value, number: int) -> Value:
        """Return the bit that is 1 if an unsigned integer equals a number."""
        return self.inverse(self.some_bit(self.add(counter, -self.number(number))))

    def some_bit(self, value: Value) -> Value:
        """Return the bit that is 1 if an integer is not 0."""
        lo, hi = value.signed
        if lo == hi or lo > 0 or hi < 0:
            return self.number(int(lo != 0 or hi != 0))
        return self._add(Code.BIT_UNARY, value.op or 0, -1, 1, 0, 1, 0)

    def among(self, counter: Value, numbers: Sequence[int]) -> Value:
        """Return the bit that is 1 if an unsigned integer is in ``numbers``, which are ascending.

        It is a table, or comparisons if the numbers are consecutive.
        """
        first, last = numbers[0], numbers[-1]
        if last - first == len(numbers) - 1:
            return self.both(
                self.inverse(self.less(counter, self.number(first))), self.less(counter, self.number(last + 1))
            )
        return self.table(counter, [int(at in numbers) for at in range(counter.hi + 1)])

    def table(self, counter: Value, entries: Sequence[int]) -> Value:
        """Return the entry of ``entries`` at an unsigned integer; beyond their end, the first entry."""
        if len(set(entries)) == 1:
            return self.number(entries[0])
        lo, hi = min(entries), max(entries)
        result = unsigned(hi) if lo >= 0 else FixedType(1, max(hi.bit_length(), (-lo - 1).bit_length()), 0)
        padded = [*entries, *[entries[0]] * (counter.hi + 1 - len(entries))]
        return self.lookup(counter, unsigned(counter.hi), padded, result)

    def following(self, counter: Value, size: int) -> Value:
        """Return the successor of an unsigned integer: one more, and 0 after ``size - 1``."""
        if size == 1:
            return self.zero
        more = self.cast(self.add(counter, self.one), counter.type)
        return self.choice(self.equal(counter, size - 1), self.zero, more)

    def build_as(self, outputs: Sequence[tuple[Value, FixedType]]) -> Program:
        """Return the program with these outputs, each in the given type, which must hold its values."""
        return self.build([self.cast(value, kind) if value.type != kind else value for value, kind in outputs])
