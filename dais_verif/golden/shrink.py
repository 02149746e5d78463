"""Input vectors made simple: zeros, then short numbers, as long as what they show stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

__all__ = ["Vector", "effort", "shrunk"]

Vector = tuple[Fraction, ...]


def effort(vector: Vector) -> tuple[int, int]:
    """Return the complexity of ``vector``: the number of nonzero numbers, and their total bits."""
    bits = (abs(value.numerator).bit_length() + value.denominator.bit_length() for value in vector if value)
    return sum(map(bool, vector)), sum(bits)


def shrunk(vector: Vector, holds: Callable[[Vector], bool]) -> Vector:
    """Return a simpler vector, if one is found, for which ``holds`` is still true, as it is for ``vector``.

    ``holds`` may say no to put an end to the search.
    """
    return _with_short_numbers(_with_zeros(vector, holds), holds)


def _with_zeros(vector: Vector, holds: Callable[[Vector], bool]) -> Vector:
    """Zeros for all numbers at once, then for each half, each quarter, ... that can do without."""
    size = len(vector)
    while size:
        for start in range(0, len(vector), size):
            block = vector[start : start + size]
            simpler = (*vector[:start], *(Fraction(0) for _ in block), *vector[start + size :])
            if any(block) and holds(simpler):
                vector = simpler
        size //= 2
    return vector


def _with_short_numbers(vector: Vector, holds: Callable[[Vector], bool]) -> Vector:
    """Every number replaced by the first shorter one that will do."""
    for j, value in enumerate(vector):
        for shorter in _shorter(value):
            simpler = (*vector[:j], shorter, *vector[j + 1 :])
            if holds(simpler):
                vector = simpler
                break
    return vector


def _shorter(value: Fraction) -> Iterator[Fraction]:
    """1 and -1, then ``value`` cut to its first bit, its first two bits, ..."""
    if abs(value) not in (0, 1):
        yield from (Fraction(1), Fraction(-1))
    mantissa, sign = abs(value.numerator), -1 if value < 0 else 1
    for dropped in range(mantissa.bit_length() - 1, 0, -1):
        cut = mantissa >> dropped << dropped
        if cut != mantissa:
            yield Fraction(sign * cut, value.denominator)
