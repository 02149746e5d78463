"""Laws of block accesses: nothing outside the member's region, and regions that are not wider than the accesses.

The coordinate of an element is a sum with one term per coordinate of the member, so it is smallest or largest where
each term is. Only the coordinate that the pattern follows is checked member by member, a stretch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.kernels.access import TensorAccess
from dais_verif.kernels.laws.chains import STRETCH, Numbers, affine_spans
from dais_verif.kernels.laws.findings import Finding, Law
from dais_verif.kernels.mapping import Addressing, MappedTensor, Mapping
from dais_verif.kernels.patterns import AccessPattern, DimPattern

__all__ = ["find_exceeded", "find_unwritten", "find_wide", "needed_pattern", "outermost", "written_access"]


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
