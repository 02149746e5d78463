"""Signed Verilog expressions with the value bounds that decide how wide they must be.

All arithmetic is on signed operands, so Verilog extends signs by itself. Sums, products, left shifts and
bitwise operators are right modulo ``2**n`` in any context of n bits, so only a right shift needs its operand
in full; ``Expression.leaf`` says whether it is a signal, which always holds its value in full.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dais_verif.program import FixedType

__all__ = ["Expression", "bits_for", "literal", "mask", "storage_bits"]

_PARENTHESIS = re.compile(r"[()]")


class Expression(NamedTuple):
    """``text`` has an integer value in ``lo..hi``, in units of ``2**-f``."""

    text: str
    f: int
    lo: int
    hi: int
    leaf: bool = False

    def shifted(self, bits: int) -> Expression:
        """Return ``self * 2**bits``: the same integer, another point."""
        return Expression(self.text, self.f - bits, self.lo, self.hi, self.leaf) if bits else self

    def negated(self) -> Expression:
        """Return ``-self``."""
        return Expression(f"(-{self.text})", self.f, -self.hi, -self.lo)

    def aligned(self, f: int) -> Expression:
        """Return ``self`` in the finer units ``2**-f``."""
        d = f - self.f
        return self if d == 0 else Expression(f"({self.text} <<< {d})", f, self.lo << d, self.hi << d)

    def floored(self, f: int) -> Expression:
        """Return ``self``, a signal, in the coarser units ``2**-f``."""
        if not self.leaf:
            raise AssertionError(f"{self.text} is not a signal")
        d = self.f - f
        return Expression(f"({self.text} >>> {d})", f, self.lo >> d, self.hi >> d)

    @property
    def bare(self) -> str:
        """The text without its outer parentheses, for the right-hand side of an assignment."""
        text = self.text
        if not (text.startswith("(") and text.endswith(")")):
            return text
        depth = 0
        for found in _PARENTHESIS.finditer(text):
            depth += 1 if found[0] == "(" else -1
            if depth == 0 and found.end() < len(text):
                return text
        return text[1:-1]


def bits_for(lo: int, hi: int) -> int:
    """Bits of a signed signal that holds ``lo..hi``; at least 1."""
    return max((v if v >= 0 else -1 - v).bit_length() for v in (lo, hi)) + 1


def storage_bits(kind: FixedType) -> int:
    """Bits of the signal of an op: an unsigned one has a headroom bit that stays 0, so that all signals are signed."""
    return kind.width if kind.k and kind.width else kind.width + 1


def literal(value: int) -> str:
    """Return a signed literal; a negative one is a minus before a literal that can hold its magnitude."""
    bits = abs(value).bit_length() + 1
    digits = f"{abs(value)}" if bits <= 64 else f"{abs(value):x}"
    text = f"{bits}'s{'d' if bits <= 64 else 'h'}{digits}"
    return text if value >= 0 else f"(-{text})"


def mask(width: int) -> str:
    """Return a signed literal of ``width`` ones."""
    return f"{width + 1}'sh{(1 << width) - 1:x}"
