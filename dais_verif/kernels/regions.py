"""Boxes of tensors and of index spaces, and the spans that they have in each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

__all__ = ["Region", "Span"]


class Span(NamedTuple):
    """Integers from ``first`` to ``last``, both included; empty if ``last`` is smaller."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """The number of integers, 0 if there are none."""
        return max(self.last - self.first + 1, 0)

    def within(self, size: int) -> Span:
        """Return the part in ``0 .. size - 1``."""
        return Span(max(self.first, 0), min(self.last, size - 1))

    def __and__(self, other: Span) -> Span:
        return Span(max(self.first, other.first), min(self.last, other.last))

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


class Region(NamedTuple):
    """A box: its first element, and its size in each dimension, the fastest dimension first."""

    offset: tuple[int, ...]
    size: tuple[int, ...]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Region:
        """Return the box with a span in each dimension."""
        return cls(tuple(span.first for span in spans), tuple(span.last - span.first + 1 for span in spans))

    @classmethod
    def whole(cls, sizes: Sequence[int]) -> Region:
        """Return all elements of a tensor, or all members of an index space."""
        return cls((0,) * len(sizes), tuple(sizes))

    @property
    def spans(self) -> tuple[Span, ...]:
        """The span of the box in each dimension."""
        return tuple(Span(first, first + n - 1) for first, n in zip(self.offset, self.size, strict=True))

    @property
    def volume(self) -> int:
        """The number of elements, 0 if a dimension has none."""
        return prod(max(n, 0) for n in self.size)

    def __str__(self) -> str:
        return "[" + ", ".join(map(str, self.spans)) + "]"
