"""Ranges of elements: arithmetic on values of which only the range is known, so that equal ones stand for each other.

All operators are the same as for lowering, and so are their results: each value has the range and the fractional bits
that its op has in the unrolled program. Only sums of products are computed for all elements at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks.arithmetic import Arithmetic, Element, raw_of
from dais_verif.compile.networks.data import Data, each, patterns
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.reals import Mapped, Quotient
from dais_verif.compile.networks.tensors.exact import Integers, compact, largest, matrix_product
from dais_verif.spec.program import FixedType

__all__ = ["Ranges"]

#: The maximum number of products of two computed values that are looked at one by one.
_MOST_PRODUCTS = 1 << 20
#: Fractional bits where there is no value.
_NONE = -(1 << 40)


class Ranges(Arithmetic):
    """Exact operations on ranges. Its ops are never part of a program."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[int, int, int], Value] = {}

    def input(self, kind: FixedType, shape: tuple[int, ...], dtype: str) -> Data:
        """Return an input, all of whose elements have the same range."""
        return Data(np.zeros(shape, dtype=np.int64), (self.forget(self.builder.input(kind)),), dtype)

    def seen(self, data: Data) -> Data:
        """Return a tensor in which values with the same range are the same."""
        return data if data.constant else data.merged(self.forget)

    def indices(self, kind: FixedType) -> Sequence[int]:
        """Return both ends, between which all entries of a monotonic table lie."""
        return kind.raw_min, kind.raw_max

    def of_range(self, lo: int, hi: int, f: int) -> Value:
        """Return the value that stands for all with a range."""
        if (lo, hi, f) not in self._known:
            self._known[lo, hi, f] = self.builder.unknown(lo, hi, f)
        return self._known[lo, hi, f]

    def forget(self, one: Any) -> Any:
        """Return the value that stands for all with the range of ``one``."""
        if isinstance(one, Mapped):
            return replace(one, argument=self.forget(one.argument))
        if isinstance(one, Quotient):
            both = {name: self.forget(getattr(one, name)) for name in ("numerator", "denominator")}
            return replace(one, **both)
        if not isinstance(one, Value):
            return one
        return Value() if one.op is None else self.of_range(*one.signed, one.f - one.shift)

    def dots(
        self,
        left: Data,
        right: Data,
        starts: Sequence[Element],
        finish: Callable[[Element], Element] | None = None,
        rows_first: bool = False,
    ) -> Data:
        """Return ``finish(dot(row, column, start))`` for each pair; see ``Arithmetic.dots``."""
        rows, places = patterns(left.codes)
        if right.constant or left.constant:
            found = self._linear(rows, left.values, right, starts)
        else:
            columns, which = patterns(right.codes)
            if len(rows) * rows.shape[1] * len(columns) > _MOST_PRODUCTS:
                raise Refusal(f"it multiplies more than {_MOST_PRODUCTS} pairs of computed numbers of different ranges")
            few = Data(columns, right.values, right.dtype)
            zeros = [Fraction(0)] * len(columns)
            products = super().dots(Data(rows, left.values, left.dtype), few, zeros)
            wide = Data(products.codes[which], products.values, left.dtype)
            numbers = np.broadcast_to(np.arange(len(starts))[:, None], wide.shape)
            starting = Data(numbers, tuple(starts), left.dtype)
            found = each(lambda product, start: self.sum([product, start]) if start != 0 else product, wide, starting)
        found = found if finish is None else each(finish, found)
        codes = found.codes[:, places]
        return Data(codes.T if rows_first else codes, found.values, left.dtype)

    def _linear(self, rows: NDArray[np.int64], values: Sequence[Any], right: Data, starts: Sequence[Element]) -> Data:
        """Return sums of products with constants, by products of matrices of the ends of ranges."""
        constant = all(isinstance(one, Fraction) for one in values)
        ends, weights = (_Ends(right.values), _Ends(values)) if constant else (_Ends(values), _Ends(right.values))
        x, w = (right.codes, rows) if constant else (rows, right.codes)
        lo, hi = matrix_product(ends.lo[x], weights.plus[w].T), matrix_product(ends.hi[x], weights.plus[w].T)
        if weights.minus.any():
            lo = _minus(lo, matrix_product(ends.hi[x], weights.minus[w].T))
            hi = _minus(hi, matrix_product(ends.lo[x], weights.minus[w].T))
        numbers = np.zeros_like(lo)
        if ends.number.any():
            numbers = _minus(
                matrix_product(ends.number[x], weights.plus[w].T), matrix_product(ends.number[x], weights.minus[w].T)
            )
        few, which = patterns(ends.point[x])
        points = np.stack([(few + one).max(axis=1) for one in weights.lowest[w]], axis=1)[which]
        if constant:
            lo, hi, numbers, points = lo.T, hi.T, numbers.T, points.T
        f = ends.f + weights.f
        known: dict[tuple[Any, ...], int] = {}
        count = len(rows)
        table = zip(*(one.ravel().tolist() for one in (lo, hi, numbers, points)), strict=True)
        codes = [known.setdefault((*row, starts[number % len(starts)]), len(known)) for number, row in enumerate(table)]
        found = tuple(self._total(f, *row) for row in known)
        return Data(np.array(codes, dtype=np.int64).reshape(count, -1).T, found, right.dtype)

    def _total(self, f: int, lo: int, hi: int, number: int, point: int, start: Element) -> Element:
        """Return the sum of a value with the given range and of constants, as ``Arithmetic.sum`` does."""
        step = Fraction(2) ** -f
        parts: list[Element] = [number * step]
        if point > _NONE // 2:
            down = f - point
            parts.append(self.of_range((lo - number) >> down, (hi - number) >> down, point))
        return self.sum([*parts, start])


def _minus(a: Integers, b: Integers) -> Integers:
    if object in (a.dtype, b.dtype) or max(largest(a), largest(b)) >= 1 << 61:
        return compact(a.astype(object) - b.astype(object))
    found: Integers = a - b
    return found


class _Ends:
    """The values of a tensor as integers times ``2**-f``.

    ``lo``, ``hi``: the ends of ranges; ``number``: a constant, or 0; ``point``: the fractional bits of a value that is
    not 0, else far below any. Of constants only: ``plus``, ``minus``, what shifts and adds add and take away in a
    product, and ``lowest``, the fractional bits of each, far below any for 0.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        rows = [_range_of(one) for one in values]
        self.f = max((f for _, _, f, _ in rows), default=0)
        ups = [self.f - f for _, _, f, _ in rows]
        self.lo = _integers(lo << up for (lo, _, _, _), up in zip(rows, ups, strict=True))
        self.hi = _integers(hi << up for (_, hi, _, _), up in zip(rows, ups, strict=True))
        fixed = [isinstance(one, Fraction) for one in values]
        self.number = np.where(fixed, self.lo, 0)
        self.point = np.array([f if computed else _NONE for _, _, f, computed in rows], dtype=np.int64)
        if all(fixed):
            signs = [1 if lo >= 0 else -1 for lo, _, _, _ in rows]
            digits = [_digits(abs(lo)) for lo, _, _, _ in rows]
            digits = [one if sign > 0 else one[::-1] for one, sign in zip(digits, signs, strict=True)]
            self.plus = _integers(one << up for (one, _), up in zip(digits, ups, strict=True))
            self.minus = _integers(one << up for (_, one), up in zip(digits, ups, strict=True))
            self.lowest = np.array([f if lo else _NONE for lo, _, f, _ in rows], dtype=np.int64)


def _range_of(one: Element) -> tuple[int, int, int, bool]:
    """Return the ends of a range, its fractional bits, and whether it is that of an op."""
    if isinstance(one, Fraction):
        raw, f = raw_of(one)
        return raw, raw, f, False
    if one.op is None:
        return 0, 0, 0, False
    return (*one.signed, one.f - one.shift, True)


def _digits(number: int) -> tuple[int, int]:
    """Return the sums of the positive and of the negative digits of a number in canonical signed form."""
    three = 3 * number
    return (three & ~number) >> 1, (number & ~three) >> 1


def _integers(numbers: Any) -> Integers:
    return compact(np.array([*numbers, 0], dtype=object))[:-1]
