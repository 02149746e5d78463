"""The mapping of an instance: an index space, and for each tensor its pattern and the real accesses of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, KernelError
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.regions import Region, Span
from dais_verif.compile.kernels.structures import HabanaKernelInstantiation, HabanaKernelParams, Tensor

__all__ = ["Addressing", "MappedTensor", "Mapping", "PATTERN_DIMS", "TensorAccess", "map_region", "mapping_of"]


Ints = NDArray[np.int64]

#: The most elements of a tensor for which a block can have ports.
MOST_PORTS = 1 << 22


@dataclass(frozen=True)
class Addressing:
    """The elements that a member touches, in the order of the block's ports.

    Element ``j`` of member ``m`` is ``slopes @ m + offsets[j]``. ``slopes``: shape (dimensions of the tensor,
    dimensions of the index space); ``offsets``: shape (elements, dimensions of the tensor).
    """

    slopes: tuple[tuple[int, ...], ...]
    offsets: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sizes: Sequence[int], pattern: AccessPattern, rank: int) -> Addressing:
        """Return the addressing of a block that touches all elements of a pattern, the fastest dimension first.

        A window that is wider than the tensor, and therefore counts as all of it, remains a window, since it begins at
        another element for each member. Raises ``InputError`` for a pattern with which members touch regions of
        different shapes: two slopes, or a number that is not an integer.
        """
        slopes, spans = [], []
        for d, size in enumerate(sizes):
            row = [0] * rank
            stated = pattern.dims[d] if d < len(pattern.dims) else DimPattern()
            if pattern.all_required or stated.is_whole:
                spans.append(Span(0, size - 1))
            else:
                exact = stated.exact
                if exact.start_a != exact.end_a or any(number.denominator != 1 for number in exact):
                    raise KernelError(
                        "members touch regions of different shapes: a block needs a single slope, an integer"
                    )
                if not 0 <= stated.dim < rank:
                    raise KernelError(f"a pattern follows dimension {stated.dim} of an index space of {rank}")
                row[stated.dim] = int(exact.start_a)
                spans.append(stated.span(Span(0, 0)))
            slopes.append(tuple(row))
        count = prod(span.size for span in spans)
        if count > MOST_PORTS:
            raise KernelError(
                f"a member touches {count} elements of a tensor of {list(sizes)}, and a block has a port for each: "
                f"{MOST_PORTS} at most"
            )
        ranges = [range(span.first, span.last + 1) for span in spans]
        return cls(tuple(slopes), tuple(point[::-1] for point in product(*reversed(ranges))))

    @property
    def count(self) -> int:
        """The number of elements that a member touches."""
        return len(self.offsets)

    def elements(self, members: Ints) -> Ints:
        """Return the elements of members: (members, elements, dimensions of the tensor) from (members, dimensions)."""
        slopes = np.array(self.slopes, dtype=np.int64).reshape(len(self.slopes), members.shape[1])
        offsets = np.array(self.offsets, dtype=np.int64).reshape(len(self.offsets), len(self.slopes))
        return (members @ slopes.T)[:, None, :] + offsets[None, :, :]


@dataclass(frozen=True)
class MappedTensor:
    """A tensor of a mapping. ``addressing`` None: each member touches exactly the region that ``pattern`` states."""

    name: str
    sizes: tuple[int, ...]
    pattern: AccessPattern
    addressing: Addressing | None = None


@dataclass(frozen=True)
class Mapping:
    """An index space of ``geometry``, and the tensors that its members read and write."""

    geometry: tuple[int, ...]
    inputs: tuple[MappedTensor, ...]
    outputs: tuple[MappedTensor, ...]

    def __post_init__(self) -> None:
        if not self.geometry or min(self.geometry) < 1:
            raise KernelError(
                f"an index space must have at least one member in each dimension, not {list(self.geometry)}"
            )
        for tensor in (*self.inputs, *self.outputs):
            try:
                self.windows(tensor).region_of((0,) * len(self.geometry))
            except InputError as error:
                raise KernelError.of("{name}: {error}", name=tensor.name, error=error) from None

    @property
    def members(self) -> int:
        """The number of members."""
        return prod(self.geometry)

    def access(self, tensor: MappedTensor) -> TensorAccess:
        """Return the access that the tensor's pattern states; a window as wide as the tensor counts as the whole."""
        return TensorAccess.of(tensor.sizes, tensor.pattern, len(self.geometry))

    def windows(self, tensor: MappedTensor) -> TensorAccess:
        """Return the access that the pattern states literally, as in ``Addressing.of``."""
        return TensorAccess.of(tensor.sizes, tensor.pattern, len(self.geometry), keep_windows=True)

    def addressing(self, tensor: MappedTensor) -> Addressing:
        """Return the elements that members access, as stated, or else as derived from the pattern."""
        return tensor.addressing or Addressing.of(tensor.sizes, tensor.pattern, len(self.geometry))


def mapping_of(params: HabanaKernelParams, answer: HabanaKernelInstantiation) -> Mapping:
    """Return the mapping in an answer of glue code to a request; members touch exactly what its patterns state."""

    def side(title: str, tensors: Sequence[Tensor], patterns: Sequence[AccessPattern]) -> tuple[MappedTensor, ...]:
        return tuple(
            MappedTensor(f"{title} {at}", tensor.geometry.shape, pattern)
            for at, (tensor, pattern) in enumerate(zip(tensors, patterns, strict=True))
        )

    return Mapping(
        answer.index_space_geometry.shape,
        side("input", params.input_tensors, answer.input_tensor_access_pattern),
        side("output", params.output_tensors, answer.output_tensor_access_pattern),
    )


# The elements of a tensor that members of an index space access, and the members that access a region of it.


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
