"""Check all laws of a mapping, and return findings with witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.data_types import text_of_dims
from dais_verif.compile.kernels.mapping import Addressing, MappedTensor, Mapping, TensorAccess
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.regions import Span

__all__ = [
    "Chain",
    "Finding",
    "Law",
    "MappingReport",
    "Numbers",
    "STRETCH",
    "affine_spans",
    "chains_of",
    "check_mapping",
    "find_exceeded",
    "find_idle",
    "find_unwritten",
    "find_wide",
    "find_written",
    "needed_pattern",
    "outermost",
    "written_access",
]


def check_mapping(mapping: Mapping, *, inside: bool = False) -> MappingReport:
    """Decide the laws of ``mapping`` for all members; at most one finding for each law and tensor.

    Reads outside of a tensor give its pad, and writes outside are dropped; ``inside`` forbids such writes.
    The time is linear in the sizes of the index space, not in the number of its members.
    """
    found: list[Finding] = []
    for output in mapping.outputs:
        found += find_written(mapping, output, inside=inside)
        exceeded = list(find_exceeded(mapping, output))
        found += exceeded or find_unwritten(mapping, output)
    found += find_idle(mapping)
    for read in mapping.inputs:
        exceeded = list(find_exceeded(mapping, read))
        found += exceeded or find_wide(mapping, read)
    elements = sum(prod(output.sizes) for output in mapping.outputs)
    return MappingReport(tuple(found), mapping.members, elements)


# Findings about a mapping: the law, where it is broken, and what would be right.


class Law(Enum):
    """A law that a mapping must obey. ``value``: the law in words."""

    #: Members' regions of an output leave no element out.
    WRITTEN = "each element of an output is written"
    #: No two members' regions of an output meet.
    WRITTEN_ONCE = "no element of an output is written twice"
    #: This law is only required if writes outside of the tensor must not be dropped.
    WRITTEN_INSIDE = "nothing is written outside of an output"
    #: Each member writes something.
    REACHED = "each member writes an element of an output"
    #: The elements that a block accesses lie in the region of its member.
    DECLARED = "a member touches nothing outside of its region"
    #: In no dimension does a region contain elements of the tensor that the block never touches.
    TIGHT = "a region is not wider than needed"


@dataclass(frozen=True)
class Finding:
    """A broken law with a witness: members and element as coordinates, the fastest dimension first.

    ``tight``: for a region that is wider than needed, the narrowest pattern. ``count``: how many elements, or members,
    are concerned, if that is known.
    """

    law: Law
    tensor: str
    members: tuple[tuple[int, ...], ...] = ()
    element: tuple[int, ...] | None = None
    count: int | None = None
    tight: AccessPattern | None = None

    @property
    def is_failure(self) -> bool:
        """True if the mapping is wrong; otherwise it is only wider than needed."""
        return self.law is not Law.TIGHT

    def __str__(self) -> str:
        words = [f"{self.tensor}: " if self.tensor else "", _BROKEN[self.law]]
        if self.element is not None:
            words.append(f", element {list(self.element)}")
        if self.members:
            words.append(", member" + "s"[: len(self.members) > 1])
            words.append(" and".join(f" {list(member)}" for member in self.members))
        if self.count is not None and self.count > 1:
            words.append(f", {self.count} in all")
        if self.tight is not None:
            words.append(f"; needed is ({text_of_dims(self.tight)})")
        return "".join(words)


_BROKEN = {
    Law.WRITTEN: "an element is never written",
    Law.WRITTEN_ONCE: "an element is written twice",
    Law.WRITTEN_INSIDE: "an element outside is written",
    Law.REACHED: "a member writes nothing",
    Law.DECLARED: "the pattern is exceeded",
    Law.TIGHT: "the pattern is wider than needed",
}


@dataclass(frozen=True)
class MappingReport:
    """All findings. ``members`` and ``elements``: the numbers of members and output elements that were checked."""

    findings: tuple[Finding, ...]
    members: int
    elements: int

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Findings that make the mapping wrong."""
        return tuple(finding for finding in self.findings if finding.is_failure)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings of regions that are only wider than needed."""
        return tuple(finding for finding in self.findings if not finding.is_failure)

    @property
    def verdict(self) -> Verdict:
        """PASS, RTL_MISMATCH if a law is broken, NOT_RUN if there is no element that could be written."""
        if self.failures:
            return Verdict.RTL_MISMATCH
        return Verdict.PASS if self.elements else Verdict.NOT_RUN


# Boxes of members in those dimensions of a tensor that follow the same dimension of the index space.
#
# Slopes of such dimensions are at least 1, so that starts and ends never decrease from member to member. Members that
# touch the same element are therefore neighbours, and it is enough to look at what two neighbours share. All members
# of a dimension are checked in linear time, a stretch at a time; a whole index space takes time linear in the sum of
# its sizes, not in their product.


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


# Laws of block accesses: nothing outside the member's region, and regions that are not wider than the accesses.
#
# The coordinate of an element is a sum with one term per coordinate of the member, so it is smallest or largest where
# each term is. Only the coordinate that the pattern follows is checked member by member, a stretch at a time.


def outermost(geometry: Sequence[int], slopes: Sequence[int], upwards: bool) -> list[int]:
    """Return the member with the highest (``upwards``) or lowest elements in a dimension with these slopes."""
    return [count - 1 if a and (a > 0) == upwards else 0 for a, count in zip(slopes, geometry, strict=True)]


def find_exceeded(mapping: Mapping, tensor: MappedTensor) -> Iterator[Finding]:
    """Yield a member and an element that it touches outside of its region of ``tensor``."""
    addressing = tensor.addressing
    if addressing is None or not addressing.offsets:
        return
    for d, stated in enumerate(mapping.access(tensor).dims):
        if stated is None:
            continue
        for upwards in (False, True):
            member = _worst(mapping.geometry, addressing, d, stated, upwards)
            if member is None:
                continue
            rows = addressing.elements(np.array([member], dtype=np.int64))[0]
            at = int(rows[:, d].argmax() if upwards else rows[:, d].argmin())
            yield Finding(Law.DECLARED, tensor.name, (member,), tuple(rows[at].tolist()))
            return


def _worst(
    geometry: Sequence[int], addressing: Addressing, d: int, stated: DimPattern, upwards: bool
) -> tuple[int, ...] | None:
    """Return the member that touches farthest below (above) its region in dimension ``d``; None if no member does."""
    slopes = addressing.slopes[d]
    sign = 1 if upwards else -1
    reach = max(sign * row[d] for row in addressing.offsets)
    member = outermost(geometry, slopes, upwards)
    reach += sum(sign * a * m for e, (a, m) in enumerate(zip(slopes, member, strict=True)) if e != stated.dim)
    worst: tuple[int, int] | None = None
    for first in range(0, geometry[stated.dim], STRETCH):
        count = min(STRETCH, geometry[stated.dim] - first)
        lo, hi = affine_spans(stated, first, count)
        own = np.arange(first, first + count, dtype=lo.dtype) * (sign * slopes[stated.dim]) + reach
        beyond = own - (hi if upwards else -lo)
        at = int(beyond.argmax())
        if beyond[at] > 0 and (worst is None or beyond[at] > worst[0]):
            worst = int(beyond[at]), first + at
    if worst is None:
        return None
    member[stated.dim] = worst[1]
    return tuple(member)


def needed_pattern(mapping: Mapping, tensor: MappedTensor) -> AccessPattern:
    """Return the narrowest pattern that contains all elements that members touch of a tensor."""
    addressing = mapping.addressing(tensor)
    dims = []
    for d, slopes in enumerate(addressing.slopes):
        moving = [(e, a) for e, a in enumerate(slopes) if a and mapping.geometry[e] > 1]
        lowest, highest = (pick(row[d] for row in addressing.offsets) for pick in (min, max))
        if not moving:
            dims.append(_of_one_place(mapping, lowest, highest, tensor.sizes[d]))
        elif len(moving) == 1 and moving[0][1] > 0:
            dims.append(DimPattern.affine(moving[0][0], moving[0][1], lowest, highest))
        else:
            dims.append(DimPattern(all_required=True))
    return AccessPattern(tuple(dims), memset_before_execution=tensor.pattern.memset_before_execution)


def _of_one_place(mapping: Mapping, lowest: int, highest: int, size: int) -> DimPattern:
    """Return the pattern of elements that all members touch: slope 1 in a dimension of the index space with one member.

    Without such a dimension, or if all elements are touched, the slope is 0: each member touches the whole dimension.
    """
    lone = next((e for e, count in enumerate(mapping.geometry) if count == 1), None)
    if lone is None or (lowest <= 0 and highest >= size - 1):
        return DimPattern.affine(0, 0, lowest, highest)
    return DimPattern.affine(lone, 1, lowest, highest)


def find_wide(mapping: Mapping, tensor: MappedTensor) -> Iterator[Finding]:
    """Yield a member whose region of ``tensor`` is wider than needed within the tensor, and the narrowest pattern."""
    if tensor.addressing is None or not tensor.addressing.offsets:
        return
    tight = needed_pattern(mapping, tensor)
    stated, needed = mapping.windows(tensor).dims, mapping.windows(replace(tensor, pattern=tight)).dims
    for d, size in enumerate(tensor.sizes):
        narrow = needed[d]
        member = None if narrow is None else _first_wider(mapping.geometry, stated[d], narrow, size)
        if member is not None:
            yield Finding(Law.TIGHT, tensor.name, (member,), tight=tight)
            return


def find_unwritten(mapping: Mapping, output: MappedTensor) -> Iterator[Finding]:
    """Yield an element of a member's region that its block does not write, or writes twice.

    The blocks of all members write the same shape; it must be the box of ``written_access``.
    """
    addressing = output.addressing
    if addressing is None or not prod(output.sizes):
        return
    rows = set(addressing.offsets)
    zero = (0,) * len(mapping.geometry)
    if len(rows) < len(addressing.offsets):
        twice = next(row for row in addressing.offsets if addressing.offsets.count(row) > 1)
        yield Finding(Law.WRITTEN_ONCE, output.name, (zero,), twice)
        return
    columns = list(zip(*addressing.offsets, strict=True))
    box = product(*(range(min(column), max(column) + 1) for column in columns))
    hole = next((row for row in box if row not in rows), None)
    if hole is not None:
        yield Finding(Law.WRITTEN, output.name, (zero,), hole)
        return
    for d, stated in enumerate(written_access(mapping, output).dims):
        member = _lacking(mapping.geometry, addressing, d, stated, output.sizes[d])
        if member is not None:
            yield Finding(Law.WRITTEN, output.name, (member,), tight=needed_pattern(mapping, output))
            return


def written_access(mapping: Mapping, output: MappedTensor) -> TensorAccess:
    """Return the access of an output that members must write.

    In each dimension this is exactly the window of the pattern, if the block states no accesses or writes the window.
    Otherwise, a window that counts as the whole dimension means that the block must write the whole dimension.
    """
    stated, windows, addressing = mapping.access(output), mapping.windows(output), output.addressing
    if addressing is None or not addressing.offsets:
        return windows

    def writes(d: int, window: DimPattern) -> bool:
        ends = (_worst(mapping.geometry, addressing, d, window, upwards) for upwards in (False, True))
        return not any(ends) and _lacking(mapping.geometry, addressing, d, window, output.sizes[d]) is None

    dims = [
        window if counted is None and window is not None and writes(d, window) else counted
        for d, (counted, window) in enumerate(zip(stated.dims, windows.dims, strict=True))
    ]
    return replace(stated, dims=tuple(dims))


def _lacking(
    geometry: Sequence[int], addressing: Addressing, d: int, stated: DimPattern | None, size: int
) -> tuple[int, ...] | None:
    """Return a member whose region in dimension ``d`` has elements before or after its accesses, or None.

    The search covers the members whose accesses begin latest or end earliest.
    """
    slopes = addressing.slopes[d]
    for upwards in (False, True):
        member = outermost(geometry, slopes, not upwards)
        edge = (max if upwards else min)(row[d] for row in addressing.offsets)
        if stated is None:
            edge += sum(a * m for a, m in zip(slopes, member, strict=True))
            if (edge < size - 1) if upwards else (edge > 0):
                return tuple(member)
            continue
        e = stated.dim
        edge += sum(a * m for at, (a, m) in enumerate(zip(slopes, member, strict=True)) if at != e)
        for first in range(0, geometry[e], STRETCH):
            count = min(STRETCH, geometry[e] - first)
            lo, hi = affine_spans(stated, first, count)
            own = np.arange(first, first + count, dtype=lo.dtype) * slopes[e] + edge
            lo, hi = np.maximum(lo, 0), np.minimum(hi, size - 1)
            some = np.flatnonzero((lo <= hi) & ((hi > own) if upwards else (lo < own)))
            if len(some):
                member[e] = first + int(some[0])
                return tuple(member)
    return None


def _first_wider(
    geometry: Sequence[int], stated: DimPattern | None, needed: DimPattern, size: int
) -> tuple[int, ...] | None:
    """Return the first member whose stated region has elements of the tensor that its needed region does not have."""
    e = needed.dim
    if stated is not None and stated.dim != e:
        return _first_wider_elsewhere(geometry, stated, needed, size)
    for first in range(0, geometry[e], STRETCH):
        count = min(STRETCH, geometry[e] - first)
        lo, hi = affine_spans(needed, first, count)
        wide = (np.zeros_like(lo), np.full_like(hi, size - 1)) if stated is None else affine_spans(stated, first, count)
        some = np.flatnonzero(_is_wider(wide[0], wide[1], lo, hi, size))
        if len(some):
            return tuple(first + int(some[0]) if at == e else 0 for at in range(len(geometry)))
    return None


def _first_wider_elsewhere(
    geometry: Sequence[int], stated: DimPattern, needed: DimPattern, size: int
) -> tuple[int, ...] | None:
    """Do the same as ``_first_wider`` for patterns that follow different dimensions of the index space.

    It is enough to compare with the needed regions of the first and the last member.
    """
    ends = [0, geometry[needed.dim] - 1]
    for at in ends:
        lo, hi = affine_spans(needed, at, 1)
        for first in range(0, geometry[stated.dim], STRETCH):
            wide = affine_spans(stated, first, min(STRETCH, geometry[stated.dim] - first))
            some = np.flatnonzero(_is_wider(wide[0], wide[1], lo, hi, size))
            if len(some):
                found = {needed.dim: at, stated.dim: first + int(some[0])}
                return tuple(found.get(e, 0) for e in range(len(geometry)))
    return None


def _is_wider(wide_lo: Numbers, wide_hi: Numbers, lo: Numbers, hi: Numbers, size: int) -> NDArray[np.bool_]:
    """Return where ``wide_lo .. wide_hi`` has an element of ``0 .. size - 1`` that ``lo .. hi`` does not have."""
    wide_lo, wide_hi = np.maximum(wide_lo, 0), np.minimum(wide_hi, size - 1)
    wider: NDArray[np.bool_] = (wide_lo <= wide_hi) & ((wide_lo < lo) | (wide_hi > hi))
    return wider


# Laws of outputs: the members' regions are a partition of each output, and each member writes something.
#
# A region is a box whose extent in a dimension depends on one coordinate of the member. The number of members that
# write an element is therefore a product with one factor per dimension of the index space: the number of coordinates
# in it with which members reach the element. It is 1 everywhere if each factor is 1 everywhere.


def find_written(mapping: Mapping, output: MappedTensor, *, inside: bool) -> Iterator[Finding]:
    """Yield violations of the law that members' regions partition an output. ``inside``: no region may exceed it.

    An output that is set before the first member runs need not be written everywhere.
    """
    chains = chains_of(written_access(mapping, output), mapping.geometry)
    if not prod(output.sizes):
        return
    if not output.pattern.memset_before_execution:
        yield from _missing(output, chains)
    yield from _twice(mapping, output, chains)
    if inside:
        yield from _touched_outside(mapping, output) if output.addressing else _outside(mapping, output, chains)


def _missing(output: MappedTensor, chains: tuple[Chain, ...]) -> Iterator[Finding]:
    for chain in chains:
        element = chain.missing()
        if element is not None:
            rest = prod(output.sizes) // prod(one.volume for one in chains)
            written = rest * prod(one.covered() for one in chains)
            at = _element(output, (chain, element))
            yield Finding(Law.WRITTEN, output.name, element=at, count=prod(output.sizes) - written)
            return


def _twice(mapping: Mapping, output: MappedTensor, chains: tuple[Chain, ...]) -> Iterator[Finding]:
    """Yield two members that write the same element; the members differ in one coordinate only."""
    reached = [chain.reached() for chain in chains]
    if not all(span.size for span in reached):
        return
    member = [0] * len(mapping.geometry)
    places = []
    for chain, span in zip(chains, reached, strict=True):
        member[chain.index_dim] = span.first
        places.append((chain, _first_element(chain, span.first)))
    other = list(member)
    free = [e for e, count in enumerate(mapping.geometry) if count > 1 and e not in {c.index_dim for c in chains}]
    if free:
        other[free[0]] = 1
        yield _pair(output, member, other, _element(output, *places))
        return
    for at, chain in enumerate(chains):
        shared = chain.shared()
        if shared is not None:
            first, element = shared
            places[at] = (chain, element)
            member[chain.index_dim], other[chain.index_dim] = first, first + 1
            yield _pair(output, member, other, _element(output, *places))
            return


def _pair(output: MappedTensor, one: list[int], other: list[int], element: tuple[int, ...]) -> Finding:
    return Finding(Law.WRITTEN_ONCE, output.name, (tuple(one), tuple(other)), element)


def _outside(mapping: Mapping, output: MappedTensor, chains: tuple[Chain, ...]) -> Iterator[Finding]:
    """Yield writes outside of an output; starts and ends never decrease, so only first and last members are checked."""
    for chain in chains:
        for d, pattern in zip(chain.dims, chain.patterns, strict=True):
            for at in (0, chain.count - 1):
                span = pattern.span(Span(at, at))
                beyond = span.first if span.first < 0 else span.last
                if not 0 <= beyond < output.sizes[d]:
                    member = [0] * len(mapping.geometry)
                    member[chain.index_dim] = at
                    element = list(mapping.windows(output).region_of(member).offset)
                    element[d] = beyond
                    yield Finding(Law.WRITTEN_INSIDE, output.name, (tuple(member),), tuple(element))
                    return


def _touched_outside(mapping: Mapping, output: MappedTensor) -> Iterator[Finding]:
    """Yield writes outside of an output by a block that states its accesses."""
    addressing = mapping.addressing(output)
    for d, size in enumerate(output.sizes):
        for upwards in (False, True):
            member = outermost(mapping.geometry, addressing.slopes[d], upwards)
            rows = addressing.elements(np.array([member], dtype=np.int64))[0]
            beyond = rows[(rows[:, d] < 0) | (rows[:, d] >= size)]
            if len(beyond):
                yield Finding(Law.WRITTEN_INSIDE, output.name, (tuple(member),), tuple(beyond[0].tolist()))
                return


def _element(output: MappedTensor, *places: tuple[Chain, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the element with given coordinates in the dimensions of chains, 0 in all others."""
    element = [0] * len(output.sizes)
    for chain, coordinates in places:
        for d, coordinate in zip(chain.dims, coordinates, strict=True):
            element[d] = coordinate
    return tuple(element)


def _first_element(chain: Chain, member: int) -> tuple[int, ...]:
    return tuple(max(pattern.span(Span(member, member)).first, 0) for pattern in chain.patterns)


def find_idle(mapping: Mapping) -> Iterator[Finding]:
    """Yield a member that writes no element of any output.

    The members that write an element of an output are a box of the index space. The rest of the index space, without
    the boxes of all outputs, is split into boxes, too.
    """
    left = [[Span(0, count - 1) for count in mapping.geometry]]
    for output in mapping.outputs:
        busy = [Span(0, count - 1) for count in mapping.geometry]
        for chain in chains_of(written_access(mapping, output), mapping.geometry):
            busy[chain.index_dim] = chain.reached()
        if prod(output.sizes):
            left = [piece for box in left for piece in _without(box, busy)]
    if left:
        count = sum(prod(span.size for span in box) for box in left)
        member = tuple(span.first for span in left[0])
        yield Finding(Law.REACHED, "", (member,), count=count)


def _without(box: list[Span], busy: list[Span]) -> Iterator[list[Span]]:
    """Yield the parts of ``box`` outside of ``busy``: below and above it, dimension after dimension."""
    if not all((a & b).size for a, b in zip(box, busy, strict=True)):
        yield box
        return
    core = list(box)
    for d, (span, out) in enumerate(zip(box, busy, strict=True)):
        for part in (Span(span.first, out.first - 1), Span(out.last + 1, span.last)):
            if part.size:
                yield [*core[:d], part, *box[d + 1 :]]
        core[d] = span & out
