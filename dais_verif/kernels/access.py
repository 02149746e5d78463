"""The elements of a tensor that members of an index space access, and the members that access a region of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dais_verif.errors import KernelError
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.kernels.regions import Region, Span

__all__ = ["PATTERN_DIMS", "TensorAccess", "map_region"]

#: The number of dimensions of an access pattern; for a tensor with more, entry i is for dimensions 5i to 5i + 4.
PATTERN_DIMS = 5


@dataclass(frozen=True)
class TensorAccess:
    """The access of a tensor of ``sizes``: a pattern per dimension, None where each member touches all.

    ``dummy_dim``: the dimension of the index space that such dimensions follow; by convention an additional last
    dimension with one member.
    """

    sizes: tuple[int, ...]
    dims: tuple[DimPattern | None, ...]
    dummy_dim: int

    @classmethod
    def of(
        cls,
        sizes: Sequence[int],
        entries: AccessPattern | Sequence[AccessPattern],
        dummy_dim: int,
        *,
        keep_windows: bool = False,
    ) -> TensorAccess:
        """Return the access that ``entries`` state; there is an entry for every five dimensions of the tensor.

        ``keep_windows``: members touch exactly their windows; a window that spans at least the tensor's size does not
        count as the whole dimension.
        """
        entries = (entries,) if isinstance(entries, AccessPattern) else entries
        dims: list[DimPattern | None] = []
        for start, entry in zip_longest(range(0, len(sizes), PATTERN_DIMS), entries):
            if start is None:
                break
            for at, size in enumerate(sizes[start : start + PATTERN_DIMS]):
                stated = entry.dims[at] if entry and at < len(entry.dims) else DimPattern()
                whole = entry is None or entry.all_required or stated.is_whole
                whole = whole or (not keep_windows and stated.covers_all(size))
                dims.append(None if whole else stated)
        return cls(tuple(sizes), tuple(dims), dummy_dim)

    @property
    def all_required(self) -> tuple[bool, ...]:
        """Whether each member touches the whole dimension, for each dimension of the tensor."""
        return tuple(dim is None for dim in self.dims)

    @property
    def index_space_dims(self) -> tuple[int, ...]:
        """The dimension of the index space that each dimension follows; ``dummy_dim`` where all is required."""
        return tuple(self.dummy_dim if dim is None else dim.dim for dim in self.dims)

    def region(self, members: Region) -> Region:
        """Return the elements that a box of members accesses; it may reach beyond the tensor."""
        spans = members.spans
        return Region.of([self._span(d, spans) for d in range(len(self.dims))])

    def _span(self, d: int, members: Sequence[Span]) -> Span:
        stated = self.dims[d]
        if stated is None:
            return Span(0, self.sizes[d] - 1)
        if not 0 <= stated.dim < len(members):
            raise KernelError(
                f"dimension {d} follows dimension {stated.dim} of the index space, which has {len(members)}; "
                "its dimensions are counted from 0"
            )
        return stated.span(members[stated.dim])

    def region_of(self, member: Sequence[int]) -> Region:
        """Return the elements that one member accesses. Raises the errors of ``region``."""
        return self.region(Region(tuple(member), (1,) * len(member)))

    def members(self, region: Region, geometry: Sequence[int]) -> Region | None:
        """Return the box of members in ``geometry`` that together access exactly ``region``; None if there is none.

        The box spans the whole of each dimension of the index space that no dimension of the tensor follows. A region
        that spans a whole dimension of the tensor does not restrict members, unless it is exactly the region of some
        members.
        """
        spans = [Span(0, n - 1) for n in geometry]
        for size, stated, elements in zip(self.sizes, self.dims, region.spans, strict=True):
            if stated is None:
                continue
            found = stated.members(elements)
            if found is not None:
                spans[stated.dim] = self._common(spans[stated.dim], geometry[stated.dim], found)
            elif elements != (0, size - 1):
                return None
        return Region.of(spans) if all(span.size for span in spans) else None

    @staticmethod
    def _common(known: Span, count: int, found: Span) -> Span:
        """Return ``found``, limited to ``known`` if another dimension of the tensor restricted the members before."""
        return found if known == (0, count - 1) else known & found

    def granularity(self) -> Region:
        """Return the elements that member 0 accesses."""
        return Region.of([self._of_member(d, 0) for d in range(len(self.dims))])

    def overlap(self) -> tuple[int, ...]:
        """Return how many elements members 0 and 1 share in each dimension; negative: the gap between them."""
        pairs = [(self._of_member(d, 0), self._of_member(d, 1)) for d in range(len(self.dims))]
        return tuple(min(a.last, b.last) + 1 - max(a.first, b.first) for a, b in pairs)

    def _of_member(self, d: int, member: int) -> Span:
        stated = self.dims[d]
        return Span(0, self.sizes[d] - 1) if stated is None else stated.span(Span(member, member))


def map_region(source: TensorAccess, region: Region, target: TensorAccess, geometry: Sequence[int]) -> Region | None:
    """Return the part of ``target`` accessed by members that access ``region`` of ``source``; None if not mappable."""
    members = source.members(region, geometry)
    return None if members is None else target.region(members)
