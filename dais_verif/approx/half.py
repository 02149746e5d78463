"""Half precision, IEEE 754's binary16, as integers in units of its smallest step."""

from __future__ import annotations

from dais_verif.errors import ApproximationError

__all__ = ["STEPS", "half_steps"]

#: The number of steps in 1: every finite value is a whole number of steps.
STEPS = 1 << 24

_LARGEST = 65504
_DIGITS = 11


def half_steps(numerator: int, denominator: int) -> int:
    """Return the binary16 number nearest to ``numerator / denominator``, ties to even, in steps of 2**-24.

    ``denominator`` is positive. Raises ``InputError`` if the result would be infinite.
    """
    size = abs(numerator) * STEPS
    # The result has at most 11 significant bits: the quotient has 11 or 12, in units of no less than 2**-24.
    cut = max(size.bit_length() - denominator.bit_length() - _DIGITS, 0)
    if size >= denominator << (cut + _DIGITS):
        cut += 1
    unit = denominator << cut
    steps, rest = divmod(size, unit)
    if 2 * rest > unit or (2 * rest == unit and steps & 1):
        steps += 1
    steps <<= cut
    if steps > _LARGEST * STEPS:
        raise ApproximationError(f"a value beyond {_LARGEST} would be infinite in half precision")
    return -steps if numerator < 0 else steps
