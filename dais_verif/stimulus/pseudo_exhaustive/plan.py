"""Plan which outputs are checked on all inputs that they depend on, with as few rows as possible.

A program may have thousands of input bits; an output that depends on few of them needs few rows for every combination.
Many such outputs share a pass: outputs without a common bit have counters side by side, and outputs that overlap share
a counter in which only bits of the same output must differ (``cone_groups``).

"All inputs" means every combination of the bits of ``model_inp`` that the output of the *program* can depend on. Where
the source declares input intervals (da4ml's JSON), these bits have declared values only. All other bits are random, so
RTL whose output wrongly depends on other bits is likely, but not certain, to be detected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.base.errors import VectorError
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import bits_of, input_bits
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain, domain_of
from dais_verif.stimulus.pseudo_exhaustive.vectors import MAX_BITS, Counter, ExhaustiveVectors

__all__ = ["Group", "LeftOut", "Plan", "choose", "combinations", "plan", "plan_vectors"]


class LeftOut(NamedTuple):
    """An output that could be exhausted if as many as ``rows`` rows were allowed."""

    output: int
    rows: int


@dataclass(frozen=True, eq=False)
class Plan:
    """The vectors to run. Outputs without bits are not listed, since they cannot be compared.

    ``exhausted``: outputs for which all combinations of their inputs occur in ``passes``, including constant outputs.
    ``could``: outputs that have few enough bits, but for which the rows did not suffice.
    """

    passes: tuple[ExhaustiveVectors, ...]
    exhausted: tuple[int, ...]
    could: tuple[LeftOut, ...]

    @property
    def rows(self) -> int:
        """The total number of rows of all passes."""
        return sum(exhaustive.rows for exhaustive in self.passes)


def plan(program: Program, *, max_rows: int, max_bits: int = 24) -> Plan:
    """Return the passes that exhaust as many outputs of ``program`` as ``max_rows`` rows can, smallest first.

    An output is considered if the bits that it depends on have at most ``2**max_bits`` combinations.
    """
    if not 0 <= max_bits <= MAX_BITS:
        raise VectorError(f"max_bits is {max_bits}, must be 0 to {MAX_BITS}")
    domain = domain_of(program)
    cones = _cones(program, domain, max_bits)
    passes = plan_vectors(domain, cones, max_rows=max_rows, max_bits=max_bits)
    exhausted = {output for exhaustive in passes for output in exhaustive.outputs}
    could = tuple(LeftOut(output, domain.size(cone)) for output, cone in cones.items() if output not in exhausted)
    return Plan(passes, tuple(sorted(exhausted)), could)


def plan_vectors(
    domain: Domain, cones: Mapping[int, int], *, max_rows: int, max_bits: int
) -> tuple[ExhaustiveVectors, ...]:
    """Return passes that exhaust as many of ``cones`` as ``max_rows`` rows allow, smallest first.

    ``cones``: closed masks of port bits by number, for instance the number of an output; ``outputs`` of a pass has
    these numbers.
    """
    groups = choose(domain, set(cones.values()), max_rows=max_rows, max_bits=max_bits)
    passes = []
    for number, group in enumerate(sorted(groups, key=lambda group: group.rows)):
        counters = group.counters()
        owner = {bit: counter for counter in counters for bit in bits_of(counter.free | counter.declared)}
        lowest = {output: (cone & -cone).bit_length() - 1 for output, cone in cones.items()}
        # The claim follows from the counters themselves, and does not rely on the grouping.
        met = [o for o, cone in cones.items() if not cone or (lowest[o] in owner and owner[lowest[o]].covers(cone))]
        rows = max((counter.size for counter in counters), default=1)
        passes.append(ExhaustiveVectors(number, rows, counters, tuple(met), domain))
    return tuple(passes)


def combinations(program: Program, max_bits: int) -> dict[int, int]:
    """Return, for each output that ``plan`` considers, the number of combinations of input bits that exhaust it.

    With enough rows, these are the outputs that ``plan`` exhausts.
    """
    domain = domain_of(program)
    return {output: domain.size(cone) for output, cone in _cones(program, domain, max_bits).items()}


def _cones(program: Program, domain: Domain, max_bits: int) -> dict[int, int]:
    """Return the closed input bits of each output that has bits and depends on few enough combinations of them."""
    # Bits of declared intervals can be constant, so a cone with more bits may still have few combinations.
    at_most = 2 * max_bits if domain.fields else max_bits
    masks = dict(enumerate(input_bits(program, at_most=at_most)))
    return {
        output: domain.closed(mask)
        for output, mask in masks.items()
        if mask is not None
        and program.output_types[output].width > 0
        and not mask & domain.tangled
        and domain.size(mask) <= 1 << max_bits
    }


# Group cones so that few rows exercise all combinations of the bits of each cone.
#
# A cone is a mask of port bits. Bits get colours such that no cone has two bits of one colour. All bits of a colour
# have the value of one bit of a counter, so the counter has as many bits as there are colours. If each cone is one
# position of a window that slides over a thousand inputs, only as many colours are needed as the window has bits, and
# one pass covers all positions.
#
# Cones with declared fields get separate counters instead, in a pass with cones with which they share no bit.


class Group:
    """Cones for one pass of ``rows`` rows."""

    def __init__(self, domain: Domain) -> None:
        self.rows = 1
        self._domain = domain
        self._colour: dict[int, int] = {}
        self._colours = 0
        self._coloured = 0
        self._neighbour: dict[int, int] = {}  # union-find: leads from each bit to the representative of its component
        self._declared: list[int] = []
        self._claimed = 0

    def rows_with(self, cone: int, *, recolour: bool) -> int | None:
        """Return the number of rows of the group with ``cone`` added; None if it cannot be added.

        ``recolour``: bits of the cone that have the same colour may get new colours.
        """
        if self._domain.free(cone) != cone:
            if any(not cone & ~mask for mask in self._declared):
                return self.rows
            meets = self._domain.claimed(cone) & (self._claimed | self._coloured)
            return None if meets else max(self.rows, self._domain.size(cone))
        if cone & self._claimed:
            return None
        known = [self._colour[bit] for bit in bits_of(cone & self._coloured)]
        clashes = len(known) - len(set(known))
        if clashes and not recolour:
            return None
        return max(self.rows, 1 << max(self._colours + clashes, cone.bit_count()))

    def add(self, cone: int) -> None:
        """Add ``cone``, which ``rows_with`` must have accepted."""
        if self._domain.free(cone) != cone:
            if all(cone & ~mask for mask in self._declared):
                self._declared.append(cone)
                self._claimed |= self._domain.claimed(cone)
                self.rows = max(self.rows, self._domain.size(cone))
            return
        bits = bits_of(cone)
        used: set[int] = set()
        for bit in bits_of(cone & self._coloured):
            if self._colour[bit] in used:  # a new colour cannot clash in any other cone
                self._colour[bit] = self._colours
                self._colours += 1
            used.add(self._colour[bit])
        unused = (colour for colour in range(len(bits) + self._colours) if colour not in used)
        for bit in bits_of(cone & ~self._coloured):
            self._colour[bit] = next(unused)
            self._colours = max(self._colours, self._colour[bit] + 1)
        for bit in bits:
            self._neighbour[self._representative(bit)] = self._representative(bits[0])
        self._coloured |= cone
        self.rows = max(self.rows, 1 << self._colours)

    def _representative(self, bit: int) -> int:
        path = []
        while (next_bit := self._neighbour.setdefault(bit, bit)) != bit:
            path.append(bit)
            bit = next_bit
        self._neighbour.update(dict.fromkeys(path, bit))
        return bit

    def counters(self) -> tuple[Counter, ...]:
        """Return one counter per set of cones that overlap, directly or through others."""
        components: dict[int, dict[int, int]] = {}
        for bit in sorted(self._colour):
            shown = components.setdefault(self._representative(bit), {})
            shown[self._colour[bit]] = shown.get(self._colour[bit], 0) | 1 << bit
        parts = [([shown[colour] for colour in sorted(shown)], 0) for shown in components.values()]
        for mask in self._declared:
            free = self._domain.free(mask)
            parts.append(([1 << bit for bit in bits_of(free)], mask & ~free))
        return tuple(Counter.of(shown, declared, self._domain, n) for n, (shown, declared) in enumerate(parts))


def choose(domain: Domain, cones: Iterable[int], *, max_rows: int, max_bits: int) -> list[Group]:
    """Return groups of as many of ``cones`` as ``max_rows`` rows allow, smallest first, none above ``max_bits``."""
    by_size = sorted(cones, key=lambda cone: (domain.size(cone), cone))
    groups = _fewest_rows(domain, by_size, max_bits)
    if _rows(groups) <= max_rows:
        return groups
    groups = []
    low, high = 0, len(by_size) - 1  # the number of smallest cones that fit is between these
    while low < high:
        middle = (low + high + 1) // 2
        tried = _fewest_rows(domain, by_size[:middle], max_bits)
        if _rows(tried) <= max_rows:
            low, groups = middle, tried
        else:
            high = middle - 1
    for cone in by_size[low:]:  # larger cones that fit into an existing group for no or few extra rows
        found = _cheapest(groups, cone, recolour=False)
        if found and found[0] <= max_rows - _rows(groups):
            found[1].add(cone)
    return groups


def _fewest_rows(domain: Domain, cones: Sequence[int], max_bits: int) -> list[Group]:
    """Return the better of two ways to group ``cones``, which ascend by size."""
    return min((_pack(domain, cones, max_bits, recolour) for recolour in (False, True)), key=_rows)


def _pack(domain: Domain, cones: Sequence[int], max_bits: int, recolour: bool) -> list[Group]:
    """Return groups of all ``cones``: the largest first, each in the cheapest group, or in a new one."""
    groups: list[Group] = []
    for cone in reversed(cones):
        found = _cheapest(groups, cone, recolour=recolour)
        if found and found[0] <= domain.size(cone) and found[0] + found[1].rows <= 1 << max_bits:
            found[1].add(cone)
        else:
            groups.append(Group(domain))
            groups[-1].add(cone)
    return groups


def _cheapest(groups: Sequence[Group], cone: int, *, recolour: bool) -> tuple[int, Group] | None:
    """Return the cheapest of ``groups`` for ``cone``, preceded by the number of extra rows it needs."""
    best: tuple[int, Group] | None = None
    for group in groups:
        rows = group.rows_with(cone, recolour=recolour)
        if rows is not None and (best is None or rows - group.rows < best[0]):
            best = rows - group.rows, group
            if rows == group.rows:
                break
    return best


def _rows(groups: Sequence[Group]) -> int:
    return sum(group.rows for group in groups)
