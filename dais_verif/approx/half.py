"""Half precision, IEEE 754's binary16, on integers that count its smallest step."""

from __future__ import annotations

from dais_verif.errors import InputError

__all__ = ["STEPS", "half_steps"]

#: Steps in 1: every finite value is a whole number of them.
STEPS = 1 << 24

_LARGEST = 65504
_DIGITS = 11


def half_steps(numerator: int, denominator: int) -> int:
    """Return the binary16 number nearest to ``numerator / denominator``, ties to even, in steps of 2**-24.

    ``denominator`` is positive. Raises ``InputError`` for what would be an infinity.
    """
    size = abs(numerator) * STEPS
    # A number of at most 11 significant bits: the quotient has 11 or 12, and is at least 2**-24 apart from the next.
    cut = max(size.bit_length() - denominator.bit_length() - _DIGITS, 0)
    if size >= denominator << (cut + _DIGITS):
        cut += 1
    unit = denominator << cut
    steps, rest = divmod(size, unit)
    if 2 * rest > unit or (2 * rest == unit and steps & 1):
        steps += 1
    steps <<= cut
    if steps > _LARGEST * STEPS:
        raise InputError(f"a value beyond {_LARGEST} would be infinite in half precision")
    return -steps if numerator < 0 else steps
