"""Which outputs can be checked on all inputs that they depend on, and the fewest rows that do it.

A program may have thousands of input bits; an output that depends on few of them has soon met every combination.
Many such outputs share a sweep: those that depend on the same bits, or on some of another's, and those that have no
bit in common, whose bits count side by side.

What "all inputs" means: every combination of the bits of ``model_inp`` that the output of the *program* can depend on.
Where the source declares input intervals (da4ml's JSON) these bits take declared values only. All other bits are
random, so that an RTL whose output depends on bits that it should not is likely, but not certain, to be found out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.program.cones import bits_of, input_bits
from dais_verif.stimulus.domain import Domain, domain_of
from dais_verif.stimulus.sweep import MAX_BITS, Counter, Sweep

__all__ = ["LeftOut", "Plan", "plan"]


class LeftOut(NamedTuple):
    """An output that could be exhausted with ``rows`` rows, if so many were allowed."""

    output: int
    rows: int


@dataclass(frozen=True, eq=False)
class Plan:
    """What to run. Outputs without bits are in none of the lists, since nothing of them can be compared.

    ``exhausted``: outputs that have met everything when all ``sweeps`` are run, constant ones among them.
    ``could``: outputs with few enough bits for which the rows did not suffice.
    """

    sweeps: tuple[Sweep, ...]
    exhausted: tuple[int, ...]
    could: tuple[LeftOut, ...]

    @property
    def rows(self) -> int:
        """The rows of all sweeps together."""
        return sum(sweep.rows for sweep in self.sweeps)


def plan(program: Program, *, max_rows: int, max_bits: int = 24) -> Plan:
    """The sweeps that exhaust as many outputs of ``program`` as ``max_rows`` rows can, smallest first.

    An output is considered if the bits that it depends on take at most ``2**max_bits`` combinations.
    """
    if not 0 <= max_bits <= MAX_BITS:
        raise InputError(f"max_bits is {max_bits}, must be 0 to {MAX_BITS}")
    domain = domain_of(program)
    cones = _cones(program, domain, max_bits)
    groups = _most(domain, sorted(set(cones.values()), key=lambda cone: (domain.size(cone), cone)), max_rows, max_bits)
    sweeps = []
    for number, group in enumerate(sorted(groups, key=lambda group: group.rows)):
        counters = tuple(Counter.of(mask, domain.size(mask), n) for n, mask in enumerate(group.masks))
        held = tuple(output for output, cone in cones.items() if group.holds(cone))
        sweeps.append(Sweep(number, group.rows, counters, held, domain))
    exhausted = sorted({output for sweep in sweeps for output in sweep.outputs})
    could = [LeftOut(output, domain.size(cone)) for output, cone in cones.items() if output not in set(exhausted)]
    return Plan(tuple(sweeps), tuple(exhausted), tuple(could))


def _cones(program: Program, domain: Domain, max_bits: int) -> dict[int, int]:
    """The port bits behind every output that has bits itself and meets few enough combinations of them."""
    # Of declared intervals some bits can be constant, so that more bits may still be few combinations.
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


class _Group:
    """Masks of port bits that are independent of each other, so that one sweep counts through them side by side."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.masks: list[int] = []
        self.rows = 1
        self._claimed = 0
        self._owner: dict[int, int] = {}  # by port bit

    def holds(self, cone: int) -> bool:
        """Whether the bits of ``cone`` meet all their combinations."""
        return not cone & ~self._owner.get((cone & -cone).bit_length() - 1, 0)

    def is_free_for(self, cone: int) -> bool:
        """Whether ``cone`` can be set independently of all that is here."""
        return not self._claimed & self.domain.claimed(cone)

    def joined(self, cone: int) -> int:
        """The mask that ``cone`` makes with all that it cannot be told apart from."""
        own = self.domain.claimed(cone)
        if own & self._claimed:
            for mask in {self._owner[bit] for bit in bits_of(own & self._claimed)}:
                cone |= mask
        return self.domain.closed(cone)

    def add(self, cone: int) -> None:
        """Count through ``cone`` too."""
        mask = self.joined(cone)
        if mask != cone:
            self.masks = [other for other in self.masks if other & ~mask]
        if mask:
            self.masks.append(mask)
            self.rows = max(self.rows, self.domain.size(mask))
            claimed = self.domain.claimed(mask)
            self._claimed |= claimed
            self._owner.update(dict.fromkeys(bits_of(claimed), mask))


def _most(domain: Domain, cones: Sequence[int], max_rows: int, max_bits: int) -> list[_Group]:
    """Groups for as many of ``cones``, ascending by size, as ``max_rows`` allow."""
    groups = _fewest_rows(domain, cones, max_bits)
    if _rows(groups) <= max_rows:
        return groups
    groups = []
    low, high = 0, len(cones) - 1  # so many of the smallest fit for certain, and at most so many
    while low < high:
        middle = (low + high + 1) // 2
        tried = _fewest_rows(domain, cones[:middle], max_bits)
        if _rows(tried) <= max_rows:
            low, groups = middle, tried
        else:
            high = middle - 1
    for cone in cones[low:]:  # those that find room where others are swept anyway, or for a few rows more
        size, left = domain.size(cone), max_rows - _rows(groups)
        room = [group for group in groups if group.is_free_for(cone) and size - group.rows <= left]
        if not any(group.holds(cone) for group in groups) and room:
            max(room, key=lambda group: group.rows).add(cone)
    return groups


def _fewest_rows(domain: Domain, cones: Sequence[int], max_bits: int) -> list[_Group]:
    """The better of two ways to put ``cones`` into groups."""
    apart = _pack(domain, cones, 0)
    joined = _pack(domain, cones, 1 << max_bits)
    # What was joined last may hold what was put elsewhere before.
    joined = _pack(domain, [mask for group in joined for mask in group.masks], 0) or joined
    return min(apart, joined, key=_rows)


def _pack(domain: Domain, cones: Sequence[int], largest: int) -> list[_Group]:
    """Groups that hold all ``cones``.

    The largest come first; each goes where it costs no rows, else where joining what it overlaps costs no more than
    a sweep of its own would and makes no more than ``largest`` combinations.
    """
    groups: list[_Group] = []
    for cone in sorted(cones, key=lambda cone: (-domain.size(cone), cone)):
        if any(group.holds(cone) for group in groups):
            continue
        place = next((group for group in groups if group.is_free_for(cone)), None)
        if place is None and largest:
            limit = domain.size(cone)
            sizes = ((group, domain.size(group.joined(cone))) for group in groups)
            place = next((group for group, size in sizes if size <= min(largest, group.rows + limit)), None)
        if place is None:
            place = _Group(domain)
            groups.append(place)
        place.add(cone)
    return groups


def _rows(groups: Sequence[_Group]) -> int:
    return sum(group.rows for group in groups)
