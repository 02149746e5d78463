"""Boxes of members in those dimensions of a tensor that follow the same dimension of the index space.

Slopes of such dimensions are at least 1, so that starts and ends never decrease from member to member. Members that
touch the same element are therefore neighbours, and it is enough to look at what two neighbours share. All members of
a dimension are checked in linear time, a stretch at a time; a whole index space takes time linear in the sum of its
sizes, not in their product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.kernels.access import TensorAccess
from dais_verif.kernels.patterns import DimPattern
from dais_verif.kernels.regions import Span

__all__ = ["STRETCH", "Chain", "Numbers", "affine_spans", "chains_of"]

#: The number of members that are checked at once.
STRETCH = 1 << 20
#: Numbers below this are computed in int64, others as Python integers.
_FITS = 1 << 62

#: An array of int64, or of Python integers.
Numbers = NDArray[np.int64]


def affine_spans(pattern: DimPattern, first: int, count: int) -> tuple[Numbers, Numbers]:
    """Return starts and ends of the regions of ``count`` members from ``first`` on, exactly."""
    start_a, start_b, end_a, end_b = pattern.exact
    unit = lcm(*(number.denominator for number in pattern.exact))
    largest = max(
        abs(int(a * unit)) * (first + count) + abs(int(b * unit)) for a, b in ((start_a, start_b), (end_a, end_b))
    )
    members = np.arange(first, first + count, dtype=np.int64)
    if max(largest, unit) >= _FITS:
        members = members.astype(object)
    lo = members * int(start_a * unit) + int(start_b * unit)
    hi = members * int(end_a * unit) + int(end_b * unit)
    return np.minimum(lo, hi) // unit, -(-np.maximum(lo, hi) // unit)


@dataclass(frozen=True)
class Chain:
    """The boxes of ``count`` members in some dimensions of a tensor, whose numbers are ``dims``, of ``sizes``."""

    index_dim: int
    count: int
    dims: tuple[int, ...]
    patterns: tuple[DimPattern, ...]
    sizes: tuple[int, ...]

    @property
    def volume(self) -> int:
        """The number of elements."""
        return prod(self.sizes)

    def stretches(self, inside: Sequence[Span], *, more: int = 0) -> Iterator[tuple[int, list[Numbers], list[Numbers]]]:
        """Yield stretches of members: the first member, and starts and ends of boxes, cut to the box ``inside``.

        A stretch also contains ``more`` members of the next one, if there are any.
        """
        for first in range(0, self.count, STRETCH):
            count = min(STRETCH + more, self.count - first)
            spans = [affine_spans(pattern, first, count) for pattern in self.patterns]
            starts = [np.maximum(lo, span.first) for (lo, _), span in zip(spans, inside, strict=True)]
            ends = [np.minimum(hi, span.last) for (_, hi), span in zip(spans, inside, strict=True)]
            yield first, starts, ends

    @property
    def all_elements(self) -> tuple[Span, ...]:
        """The box of all elements."""
        return tuple(Span(0, size - 1) for size in self.sizes)

    def reached(self) -> Span:
        """Return the span of members whose boxes contain an element of the tensor; the span may be empty."""
        found: list[int] = []
        for first, starts, ends in self.stretches(self.all_elements):
            some = np.flatnonzero(np.logical_and.reduce([e >= s for s, e in zip(starts, ends, strict=True)]))
            if len(some):
                found += [first + int(some[0]), first + int(some[-1])]
        return Span(found[0], found[-1]) if found else Span(0, -1)

    def shared(self) -> tuple[int, tuple[int, ...]] | None:
        """Return a member and an element that it shares with the next member; None if no members share an element."""
        for first, starts, ends in self.stretches(self.all_elements, more=1):
            pairs = list(zip(starts, ends, strict=True))
            both = np.logical_and.reduce([(s[1:] <= e[:-1]) & (s[:-1] <= e[:-1]) & (s[1:] <= e[1:]) for s, e in pairs])
            some = np.flatnonzero(both)
            if len(some):
                at = int(some[0])
                return first + at, tuple(int(s[at + 1]) for s in starts)
        return None

    def covered(self, inside: Sequence[Span] | None = None) -> int:
        """Return how many elements of the box ``inside`` (None: of all) belong to a member.

        Members that have the same element are neighbours. Therefore, the volume of all boxes minus the volume that
        neighbours share counts each element once.
        """
        inside = self.all_elements if inside is None else inside
        total, large = 0, prod(span.size for span in inside) * STRETCH >= _FITS
        for _, starts, ends in self.stretches(inside, more=1):
            own = min(len(starts[0]), STRETCH)
            total += _volume([s[:own] for s in starts], [e[:own] for e in ends], large)
            total -= _volume([s[1:] for s in starts], [e[:-1] for e in ends], large)
        return total

    def missing(self) -> tuple[int, ...] | None:
        """Return an element that no member has, found by bisection; None if there is none."""
        inside = list(self.all_elements)
        if self.covered(inside) == self.volume:
            return None
        while any(span.size > 1 for span in inside):
            d = max(range(len(inside)), key=lambda at: inside[at].size)
            middle = (inside[d].first + inside[d].last) // 2
            upper = Span(middle + 1, inside[d].last)
            inside[d] = Span(inside[d].first, middle)
            if self.covered(inside) == prod(span.size for span in inside):
                inside[d] = upper
        return tuple(span.first for span in inside)


def _volume(starts: Sequence[Numbers], ends: Sequence[Numbers], large: bool) -> int:
    """Return the total number of elements of all boxes."""
    lengths = [np.maximum(e - s + 1, 0) for s, e in zip(starts, ends, strict=True)]
    if large:
        lengths = [length.astype(object) for length in lengths]
    product = lengths[0]
    for length in lengths[1:]:
        product = product * length
    return int(product.sum()) if len(product) else 0


def chains_of(access: TensorAccess, geometry: Sequence[int]) -> tuple[Chain, ...]:
    """Return the chains of a tensor: one for each dimension of the index space that it follows."""
    found = []
    for index_dim, count in enumerate(geometry):
        dims = [(d, stated) for d, stated in enumerate(access.dims) if stated is not None and stated.dim == index_dim]
        if dims:
            numbers, patterns = zip(*dims, strict=True)
            found.append(Chain(index_dim, count, numbers, patterns, tuple(access.sizes[d] for d in numbers)))
    return tuple(found)
