"""Exact arithmetic on elements of tensors: constants are computed directly, everything else becomes ops.

An element is a ``Fraction`` whose denominator is a power of two, or a ``Value`` of the block under construction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from dais_verif.compile.kernels.blocks import BlockBuilder, Value, scaled
from dais_verif.compile.networks.data import Data, data_of, rows_of
from dais_verif.compile.networks.problems import Refusal
from dais_verif.spec.program.types import LIMIT, FixedType, type_of_interval

__all__ = ["Arithmetic", "Element", "bounds_of", "dyadic", "raw_of", "type_of"]

Element = Fraction | Value


def dyadic(number: Fraction) -> bool:
    """Return True if the denominator of ``number`` is a power of two."""
    return number.denominator & (number.denominator - 1) == 0


def raw_of(number: Fraction) -> tuple[int, int]:
    """Return a dyadic number as ``(raw, f)``, which is ``raw * 2**-f``, with the smallest ``f``; it may be negative."""
    if not number:
        return 0, 0
    down = number.denominator.bit_length() - 1
    up = 0 if down else (number.numerator & -number.numerator).bit_length() - 1
    return number.numerator >> up, down - up


def bounds_of(element: Element) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest possible value of ``element``, by interval arithmetic."""
    if isinstance(element, Fraction):
        return element, element
    if element.op is None:
        return Fraction(0), Fraction(0)
    step = Fraction(2) ** (element.shift - element.f)
    lo, hi = element.signed
    return lo * step, hi * step


def type_of(elements: Sequence[Element]) -> FixedType:
    """Return the smallest type that holds all ``elements``."""
    found = [type_of_interval(*_interval(element)) for element in elements]
    found = [one for one in found if one.width]
    if not found:
        return FixedType(0, 0, 0)
    # Sign, integer bits and fractional bits are maximised separately, since the points of types differ.
    k = max(one.k for one in found)
    return FixedType(k, max(one.i for one in found), max(one.f for one in found))


def _interval(element: Element) -> tuple[int, int, int]:
    if isinstance(element, Fraction):
        raw, f = raw_of(element)
        return raw, raw, f
    if element.op is None:
        return 0, 0, 0
    return (*element.signed, element.f - element.shift)


class Arithmetic:
    """Exact operations on elements."""

    def __init__(self) -> None:
        self.builder = BlockBuilder()
        #: Tables computed so far, by key.
        self.tables: dict[tuple[object, ...], tuple[int, ...]] = {}

    def input(self, kind: FixedType, shape: tuple[int, ...], dtype: str) -> Data:
        """Return an input of the block."""
        return data_of([self.builder.input(kind) for _ in range(prod(shape))], shape, dtype)

    def seen(self, data: Data) -> Data:
        """Return a tensor as later nodes read it."""
        return data

    def of_range(self, lo: int, hi: int, f: int) -> Element | None:
        """Return the value that stands for all with a range; None if there have to be ops."""
        return None

    def indices(self, kind: FixedType) -> Sequence[int]:
        """Return the integers of ``kind`` for which a monotonic table has to be computed."""
        return range(kind.raw_min, kind.raw_max + 1)

    def value(self, element: Element) -> Value:
        """Return ``element`` as a value of the block. Raises ``Refusal`` if a constant has more than 63 bits."""
        if isinstance(element, Value):
            return element
        raw, f = raw_of(element)
        if raw.bit_length() > 63 or abs(f) > LIMIT:
            raise Refusal(f"a constant of {raw.bit_length()} bits at 2**{-f}, which does not fit the 63 bits of an op")
        return self.builder.constant(raw, f)

    def add(self, a: Element, b: Element) -> Element:
        """Return ``a + b``."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return a + b
        return self.builder.add(self.value(a), self.value(b))

    def subtract(self, a: Element, b: Element) -> Element:
        """Return ``a - b``."""
        return self.add(a, -b)

    def multiply(self, a: Element, b: Element) -> Element:
        """Return ``a * b``; a product with a constant becomes shifts and adds."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return a * b
        if isinstance(a, Value) and isinstance(b, Value):
            return self.builder.multiply(a, b)
        value, constant = (a, b) if isinstance(a, Value) else (b, a)
        assert isinstance(value, Value) and isinstance(constant, Fraction)
        raw, f = raw_of(constant)
        return scaled(self.builder, value, raw) << -f

    def shift(self, a: Element, bits: int) -> Element:
        """Return ``a * 2**bits``."""
        return a * Fraction(2) ** bits if isinstance(a, Fraction) else a << bits

    def sum(self, elements: Sequence[Element]) -> Element:
        """Return the sum: constants are added directly, values in a balanced tree.

        A zero term stays in the tree, so padded windows are summed in the same order as others.
        """
        constant = sum((one for one in elements if isinstance(one, Fraction)), start=Fraction(0))
        values = [one if isinstance(one, Value) else Value() for one in elements if isinstance(one, Value) or not one]
        if all(one.op is None for one in values):
            return constant
        return self.builder.sum([*values, self.value(constant)] if constant else values)

    def dot(self, a: Sequence[Element], b: Sequence[Element], bias: Element = Fraction(0)) -> Element:
        """Return ``sum(a * b) + bias``."""
        products = [self.multiply(x, y) for x, y in zip(a, b, strict=True) if y != 0]
        return self.sum([*products, *([bias] if bias != 0 else [])])

    def dots(
        self,
        left: Data,
        right: Data,
        starts: Sequence[Element],
        finish: Callable[[Element], Element] | None = None,
        rows_first: bool = False,
    ) -> Data:
        """Return ``finish(dot(row, column, start))`` for each row of ``left`` and each column, a row of ``right``.

        ``starts``: one for each column. The result has a row for each column, and is computed in this order, or, with
        ``rows_first``, a row for each row of ``left``.
        """
        rows, columns = list(rows_of(left)), list(zip(rows_of(right), starts, strict=True))
        pairs = product(rows, columns) if rows_first else ((row, column) for column, row in product(columns, rows))
        found = [self.dot(row, *one) if finish is None else finish(self.dot(row, *one)) for row, one in pairs]
        shape = (len(rows), len(columns)) if rows_first else (len(columns), len(rows))
        return data_of(found, shape, left.dtype)

    def maximum(self, a: Element, b: Element) -> Element:
        """Return the larger of ``a`` and ``b``."""
        (a_lo, a_hi), (b_lo, b_hi) = bounds_of(a), bounds_of(b)
        if a_lo >= b_hi:
            return a
        if b_lo >= a_hi:
            return b
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Value) and not any(bounds_of(other)):
                return self.builder.relu(one)
        return self.builder.maximum(self.value(a), self.value(b))

    def minimum(self, a: Element, b: Element) -> Element:
        """Return the smaller of ``a`` and ``b``."""
        return -self.maximum(-a, -b)

    def clamp(self, a: Element, lo: Fraction | None, hi: Fraction | None) -> Element:
        """Return ``min(max(a, lo), hi)`` in the smallest type that holds it; a bound that is None does not apply."""
        found = a if lo is None else self.maximum(a, lo)
        found = found if hi is None else self.minimum(found, hi)
        if found == a or isinstance(found, Fraction):
            return found
        ends = [max(bounds_of(a)[0], lo) if lo is not None else bounds_of(a)[0]]
        ends.append(min(bounds_of(a)[1], hi) if hi is not None else bounds_of(a)[1])
        if lo is not None and hi is not None and lo > hi:
            return hi
        f = max(raw_of(ends[0])[1], raw_of(ends[1])[1], found.f - found.shift)
        low, high = (int(end * Fraction(2) ** f) for end in ends)
        return self.builder.cast(found, type_of_interval(low, high, f))

    def select(self, condition: Element, negative: Element, other: Element) -> Element:
        """Return ``negative`` where ``condition`` is below 0, else ``other``; where it is 0 both must be equal."""
        lo, hi = bounds_of(condition)
        if lo >= 0:
            return other
        if hi <= 0:
            return negative
        assert isinstance(condition, Value)
        if negative == other:
            return other
        if condition.negative:  # the op whose sign the mux tests is -condition
            negative, other = other, negative
        return self.builder.select(condition, self.value(negative), self.value(other))

    def floor(self, a: Element) -> Element:
        """Return the largest integer that is not above ``a``."""
        if isinstance(a, Fraction):
            return Fraction(a.numerator // a.denominator)
        if a.op is None or a.f - a.shift <= 0:
            return a
        lo, hi = (bound.numerator // bound.denominator for bound in bounds_of(a))
        return self.builder.cast(a, type_of_interval(lo, hi, 0))

    def is_odd(self, a: Element) -> Element:
        """Return 1 where the integer ``a`` is odd, else 0."""
        if isinstance(a, Fraction):
            return Fraction(a.numerator % 2)
        return Fraction(0) if a.op is None else self.builder.cast(a, FixedType(0, 1, 0))
