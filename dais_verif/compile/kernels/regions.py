"""Boxes of tensors and of index spaces, and the spans that they have in each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

__all__ = ["MOST_BOXES", "Region", "Span", "chunk_count", "chunk_size", "halved"]


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


# Cut tensors and index spaces into boxes: chunks of one size with smaller tails, or halved boxes.


#: The number of boxes into which upstream's tests cut an index space.
MOST_BOXES = 32


def chunk_count(sizes: Sequence[int], chunk: Sequence[int]) -> int:
    """Return the number of chunks of sizes ``chunk`` in a box of ``sizes``."""
    return prod(-(-size // step) for size, step in zip(sizes, chunk, strict=True))


def chunk_size(sizes: Sequence[int], chunk: Sequence[int], coord: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the chunk at ``coord``: ``chunk``, except for the last chunk of a dimension."""
    return tuple(min(step, size - at * step) for size, step, at in zip(sizes, chunk, coord, strict=True))


def halved(geometry: Sequence[int], most: int = MOST_BOXES) -> tuple[Region, ...]:
    """Split an index space into at most ``most`` disjoint boxes that cover it.

    Every box is halved once in each dimension, from the last dimension to the first; the smaller half comes first.
    """
    boxes = [Region.whole(geometry)]
    for d in reversed(range(len(geometry))):
        cut: list[Region] = []
        for at, box in enumerate(boxes):
            span = box.spans[d]
            if span.size < 2 or len(cut) + len(boxes) - at >= most:
                cut.append(box)
                continue
            middle = span.first + span.size // 2
            halves = (Span(span.first, middle - 1), Span(middle, span.last))
            cut += [Region.of([*box.spans[:d], half, *box.spans[d + 1 :]]) for half in halves]
        boxes = cut
    return tuple(boxes)
