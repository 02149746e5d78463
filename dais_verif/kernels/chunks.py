"""Cut tensors and index spaces into boxes: chunks of one size with smaller tails, or halved boxes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dais_verif.kernels.regions import Region, Span

__all__ = ["MOST_BOXES", "chunk_count", "chunk_size", "halved"]

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
