"""Laws of outputs: the members' regions are a partition of each output, and each member writes something.

A region is a box whose extent in a dimension depends on one coordinate of the member. The number of members that write
an element is therefore a product with one factor per dimension of the index space: the number of coordinates in it with
which members reach the element. It is 1 everywhere if each factor is 1 everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from dais_verif.kernels.laws.chains import Chain, chains_of
from dais_verif.kernels.laws.declared import outermost, written_access
from dais_verif.kernels.laws.findings import Finding, Law
from dais_verif.kernels.mapping import MappedTensor, Mapping
from dais_verif.kernels.regions import Span

__all__ = ["find_idle", "find_written"]


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
