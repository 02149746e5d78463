"""Ranges of an index space: boxes that cover it, each member once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["Box", "parts_of"]

#: For each dimension, the first member, and the member after the last.
Box = tuple[tuple[int, int], ...]


def parts_of(geometry: Sequence[int], wanted: int, rng: np.random.Generator) -> list[Box]:
    """Return ``wanted`` boxes that cover the index space, or fewer if it has fewer members, in random order."""
    boxes: list[Box] = [tuple((0, size) for size in geometry)]
    while len(boxes) < wanted:
        longest = [box for box in boxes if any(b - a > 1 for a, b in box)]
        if not longest:
            break
        box = longest[int(rng.integers(len(longest)))]
        d = int(rng.choice([at for at, (a, b) in enumerate(box) if b - a > 1]))
        a, b = box[d]
        cut = int(rng.integers(a + 1, b))
        boxes.remove(box)
        boxes += [(*box[:d], (a, cut), *box[d + 1 :]), (*box[:d], (cut, b), *box[d + 1 :])]
    return [boxes[at] for at in rng.permutation(len(boxes))]
