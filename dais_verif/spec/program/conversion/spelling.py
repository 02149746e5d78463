"""Types in JSON: the least and the greatest value and the step, as numbers that readers parse exactly.

An integer in JSON may have any size; other numbers are read as doubles, which hold 53 bits.
"""

from __future__ import annotations

from fractions import Fraction

from dais_verif.base.errors import ConversionError
from dais_verif.spec.program.types import FixedType, type_of_interval

__all__ = ["as_numbers", "spelt"]

_BITS = 53


def spelt(kind: FixedType, interval: tuple[int, int]) -> tuple[int, int]:
    """Return the raw ``interval`` of an op of type ``kind``, or the nearest one that JSON can represent.

    ``kind`` is still the smallest type that holds the result, so readers infer the same type.
    """
    if kind.f <= 0:
        return interval
    lo, hi = interval
    near = (-_cut(-lo), _cut(hi))
    if type_of_interval(*near, kind.f) != kind:  # the least value lost a bit that the type needs: round away from 0
        near = (-_cut(-lo + (1 << max((-lo).bit_length() - _BITS, 0))), near[1])
    return near


def _cut(value: int) -> int:
    """Return ``value`` without the bits that do not fit a double, rounded towards 0."""
    extra = max(abs(value).bit_length() - _BITS, 0)
    cut = abs(value) >> extra << extra
    return cut if value >= 0 else -cut


def as_numbers(kind: FixedType, interval: tuple[int, int], where: str) -> list[int | float]:
    """Return ``[min, max, step]``. Raises ``InputError``, which begins with ``where``, if JSON cannot express them."""
    if not kind.width:
        return [0.0, 0.0, 1.0]
    step = Fraction(2) ** -kind.f
    numbers = [_number(value * step) for value in interval]
    least = _number(step)
    if least is None or None in numbers:
        raise ConversionError(
            f"{where}: type {kind} needs numbers that JSON cannot hold exactly (doubles, down to 2**-1074); write "
            "a binary or a text"
        )
    return [number for number in (*numbers, least) if number is not None]


def _number(value: Fraction) -> int | float | None:
    try:
        number = float(value)
    except OverflowError:
        return int(value) if value.denominator == 1 else None
    if Fraction(number) == value:
        return number
    return int(value) if value.denominator == 1 else None
