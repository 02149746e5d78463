"""Fixed-point types: the ``(k, i, f)`` of the semantics page.

A value of type ``(k, i, f)`` is an integer ``m`` (*raw*) standing for the real number ``m * 2**-f``.
This module does not compute with values: golden model, emitter and prover each implement quantisation independently,
from the semantics page.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LIMIT", "FixedType", "type_of_interval"]

#: The limit of the width (in bits), \|i\|, \|f\| and \|shift\|, which applies everywhere.
LIMIT = 4096


class FixedType(NamedTuple):
    """A fixed-point type.

    ``k``: 1 if signed (two's complement), else 0. ``i``: number of integer bits without the sign, may be negative.
    ``f``: number of fractional bits, may be negative. A type of width 0 has the single value 0, whatever ``k`` is.
    """

    k: int
    i: int
    f: int

    @property
    def width(self) -> int:
        """The number of bits, including the sign."""
        return self.k + self.i + self.f

    @property
    def raw_min(self) -> int:
        """Smallest raw integer of the type."""
        return -(1 << (self.width - 1)) if self.k and self.width else 0

    @property
    def raw_max(self) -> int:
        """Largest raw integer of the type."""
        return (1 << (self.width - self.k)) - 1 if self.width else 0

    def __str__(self) -> str:
        return f"{'s' if self.k else 'u'}{self.width}.{self.f}"


def type_of_interval(lo: int, hi: int, f: int) -> FixedType:
    """Return the smallest type with ``f`` fractional bits for the raw integers ``lo..hi``; ``[0, 0]`` is (0, 0, 0)."""
    if lo == hi == 0:
        return FixedType(0, 0, 0)
    k = int(lo < 0)
    # -2**n needs n bits beside the sign: the bits of -1 - lo, not of -lo.
    bits = max((-1 - lo).bit_length() if k else 0, hi.bit_length() if hi > 0 else 0)
    return FixedType(k, bits - f, f)
