"""Signed Verilog expressions, with bounds of their values, which determine the necessary width.

All operands are signed, so Verilog extends their signs. Sums, products, left shifts and bitwise operators are correct
modulo ``2**n`` in a context of n bits: only a right shift needs its complete operand. ``Expression.leaf`` says whether
an expression is a signal, which always holds its complete value.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dais_verif.spec.program import FixedType

__all__ = ["Expression", "Writer", "bits_for", "literal", "mask", "storage_bits"]


_PARENTHESIS = re.compile(r"[()]")


class Expression(NamedTuple):
    """An expression: ``text`` has an integer value in ``lo..hi``, in units of ``2**-f``. ``leaf``: it is a signal."""

    text: str
    f: int
    lo: int
    hi: int
    leaf: bool = False

    def shifted(self, bits: int) -> Expression:
        """Return ``self * 2**bits``: the same integer, with another position of the binary point."""
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
        """The text without outer parentheses, for the right-hand side of an assignment."""
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
    """Return the number of bits of a signed signal that holds all values in ``lo..hi``; at least 1."""
    return max((v if v >= 0 else -1 - v).bit_length() for v in (lo, hi)) + 1


def storage_bits(kind: FixedType) -> int:
    """Return the number of bits of the signal of an op.

    All signals are signed, so the signal of an op with an unsigned type has a headroom bit, which is always 0.
    """
    return kind.width if kind.k and kind.width else kind.width + 1


def literal(value: int) -> str:
    """Return a signed literal; for a negative value, a minus sign and the literal of its magnitude."""
    bits = abs(value).bit_length() + 1
    digits = f"{abs(value)}" if bits <= 64 else f"{abs(value):x}"
    text = f"{bits}'s{'d' if bits <= 64 else 'h'}{digits}"
    return text if value >= 0 else f"(-{text})"


def mask(width: int) -> str:
    """Return a signed literal whose lowest ``width`` bits are 1."""
    return f"{width + 1}'sh{(1 << width) - 1:x}"


# Write lines of text with indentation.


_WIDTH = 120


class Writer:
    """Collects lines of text."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._level = 0

    def line(self, text: str) -> None:
        """Add one line at the current indentation."""
        self._lines.append("  " * self._level + text)

    def wrapped(self, head: str, words: Sequence[str], tail: str) -> None:
        """Add ``words`` between ``head`` and ``tail``: on one line, or on lines of ``_WIDTH`` columns."""
        joined = " ".join(words)
        if len(joined) <= _WIDTH:
            self.line(f"{head}{joined}{tail}")
            return
        self.line(head)
        with self.indent():
            for row in textwrap.wrap(joined, _WIDTH, break_long_words=False, break_on_hyphens=False):
                self.line(row)
        self.line(tail)

    @contextmanager
    def indent(self) -> Iterator[None]:
        """Indent the lines that are added in the block by one more level."""
        self._level += 1
        yield
        self._level -= 1

    def text(self) -> str:
        """Return all lines, each ended by a newline."""
        return "\n".join(self._lines) + "\n"
