"""Group cones so that few rows exercise all combinations of the bits of each cone.

A cone is a mask of port bits. Bits get colours such that no cone has two bits of one colour. All bits of a colour have
the value of one bit of a counter, so the counter has as many bits as there are colours. If each cone is one position of
a window that slides over a thousand inputs, only as many colours are needed as the window has bits, and one pass covers
all positions.

Cones with declared fields get separate counters instead, in a pass with cones with which they share no bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dais_verif.program.cones import bits_of
from dais_verif.stimulus.pseudo_exhaustive.counters import Counter
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain

__all__ = ["Group", "choose"]


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
