"""Simplify input vectors with zeros, then with short numbers, as long as a property holds."""

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
    """Return a simpler vector for which ``holds`` is still true, or ``vector`` itself if none is found.

    ``holds`` must be true for ``vector``. It may return False to end the search.
    """
    return _with_short_numbers(_with_zeros(vector, holds), holds)


def _with_zeros(vector: Vector, holds: Callable[[Vector], bool]) -> Vector:
    """Replace numbers by zeros while ``holds``: all at once, then each half, each quarter, and so on."""
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
    """Replace each number by the first shorter one for which ``holds``."""
    for j, value in enumerate(vector):
        for shorter in _shorter(value):
            simpler = (*vector[:j], shorter, *vector[j + 1 :])
            if holds(simpler):
                vector = simpler
                break
    return vector


def _shorter(value: Fraction) -> Iterator[Fraction]:
    """Yield 1 and -1, then ``value`` truncated to its first bit, its first two bits, and so on."""
    if abs(value) not in (0, 1):
        yield from (Fraction(1), Fraction(-1))
    mantissa, sign = abs(value.numerator), -1 if value < 0 else 1
    for dropped in range(mantissa.bit_length() - 1, 0, -1):
        cut = mantissa >> dropped << dropped
        if cut != mantissa:
            yield Fraction(sign * cut, value.denominator)
