"""Arrays of exact binary fractions: integers of an array times one power of two.

Integers are int64 where they are known to fit, and Python integers otherwise. Products of matrices run in floating
point where every sum of some of their terms is an integer that the format holds: the result is then exact, whatever the
order of summation.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Exact",
    "Integers",
    "added",
    "aligned",
    "compact",
    "constant",
    "exact_of_array",
    "format_of_products",
    "largest",
    "matrix_product",
    "multiplied",
    "product_in",
    "scaled_up",
    "spread",
]

#: An array of int64, or of Python integers.
Integers = NDArray[Any]

#: Magnitudes below this are held in int64, so that the sum of two of them does not overflow.
_HELD = 1 << 62
#: Formats in which products of matrices are computed: all integers up to the number are exact.
_FORMATS: tuple[tuple[int, DTypeLike], ...] = ((1 << 24, np.float32), (1 << 53, np.float64), (_HELD, np.int64))
_ORDER: list[DTypeLike] = [*(kind for _, kind in _FORMATS), object]
#: Bits of the significand of binary64.
_BITS = 53


class Exact(NamedTuple):
    """The numbers ``raw * 2**-f``; ``f`` may be negative. The first axis of ``raw`` counts samples; 1: all the same."""

    raw: Integers
    f: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions, samples included."""
        return self.raw.shape

    def __lshift__(self, bits: int) -> Exact:
        """Return the numbers times ``2**bits``."""
        return Exact(self.raw, self.f - bits)


def largest(raw: Integers) -> int:
    """Return the largest magnitude."""
    return max(-int(raw.min()), int(raw.max()), 0) if raw.size else 0


def compact(raw: Integers) -> Integers:
    """Return ``raw`` as int64 if it fits."""
    return raw.astype(np.int64) if raw.dtype == object and largest(raw) < _HELD else raw


def _holding(raw: Integers, most: int) -> Integers:
    """Return ``raw`` in a form that can hold results of magnitude ``most``."""
    return raw if raw.dtype == object or most < _HELD else raw.astype(object)


def scaled_up(raw: Integers, bits: int) -> Integers:
    """Return ``raw * 2**bits`` for ``bits`` of 0 or more."""
    most = largest(raw)
    if not bits or not most:
        return raw
    found: Integers = _holding(raw, most << bits) * (1 << bits)
    return found


def constant(number: Fraction) -> Exact:
    """Return one number, whose denominator is a power of two."""
    f = number.denominator.bit_length() - 1
    return Exact(compact(np.array([number.numerator], dtype=object)), f)


def exact_of_array(array: NDArray[Any]) -> Exact:
    """Return the exact values of an array from a file, with a first axis of one sample."""
    array = np.asarray(array)[None]
    if array.dtype.kind != "f":
        whole = array.astype(np.int64) if array.dtype.kind in "ib" else array.astype(object)
        if whole.dtype == object:
            whole.ravel()[:] = [int(one) for one in whole.ravel().tolist()]
        return Exact(compact(whole), 0)
    significand, exponent = np.frexp(array.astype(np.float64))
    raw = np.ldexp(significand, _BITS).astype(np.int64)
    # The position of the lowest bit is exact in binary64, since it is a power of two.
    low = np.where(raw == 0, 0, np.frexp((raw & -raw).astype(np.float64))[1] - 1)
    raw, exponent = raw >> low, np.where(raw == 0, 0, exponent - _BITS + low)
    if not (raw != 0).any():
        return Exact(raw, 0)
    f = -int(exponent[raw != 0].min())
    up = np.where(raw == 0, 0, exponent + f)
    if int(up.max()) + _BITS >= 62:
        return Exact(compact(raw.astype(object) * 2 ** up.astype(object)), f)
    return Exact(raw << up, f)


def aligned(*parts: Exact) -> tuple[list[Integers], int]:
    """Return the integers of ``parts`` with the same ``f``, and this ``f``."""
    f = max(one.f for one in parts)
    return [scaled_up(one.raw, f - one.f) for one in parts], f


def spread(*arrays: Integers) -> list[Integers]:
    """Return ``arrays`` with as many dimensions each: sizes of 1 are inserted after the first axis."""
    rank = max(one.ndim for one in arrays)
    return [one.reshape(one.shape[:1] + (1,) * (rank - one.ndim) + one.shape[1:]) for one in arrays]


def added(a: Exact, b: Exact, sign: int = 1) -> Exact:
    """Return ``a + sign * b``."""
    (x, y), f = aligned(a, b)
    x, y = spread(x, y)
    most = largest(x) + largest(y)
    x, y = _holding(x, most), _holding(y, most)
    return Exact(compact(x + y if sign > 0 else x - y), f)


def multiplied(a: Exact, b: Exact) -> Exact:
    """Return ``a * b``."""
    x, y = spread(a.raw, b.raw)
    most = largest(x) * largest(y)
    return Exact(compact(_holding(x, most) * _holding(y, most)), a.f + b.f)


def format_of_products(rows: Integers, most: int) -> DTypeLike:
    """Return a format in which all sums of some products are exact, of a row with numbers of magnitude ``most``."""
    if largest(rows) * most * max(rows.shape[-1], 1) >= _HELD:
        return object
    total = int(np.abs(rows).sum(axis=-1).max()) * most if rows.size else 0
    return next(kind for limit, kind in _FORMATS if total < limit)


def matrix_product(a: Integers, b: Integers) -> Integers:
    """Return the product of matrices in the last two dimensions, by the rules of NumPy."""
    kinds = format_of_products(a, largest(b)), format_of_products(b.swapaxes(-1, -2), largest(a))
    return product_in(min(kinds, key=_ORDER.index), a, b)


def product_in(kind: DTypeLike, a: Integers, b: Integers) -> Integers:
    """Return the product of matrices, computed in a format that holds all its sums."""
    found: Integers = np.matmul(a.astype(kind, copy=False), b.astype(kind, copy=False))
    return compact(found) if kind is object else found.astype(np.int64)
