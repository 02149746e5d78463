"""Plan which outputs are checked on all inputs that they depend on, with as few rows as possible.

A program may have thousands of input bits; an output that depends on few of them needs few rows for every combination.
Many such outputs share a pass: outputs without a common bit have counters side by side, and outputs that overlap share
a counter in which only bits of the same output must differ (``cone_groups``).

"All inputs" means every combination of the bits of ``model_inp`` that the output of the *program* can depend on. Where
the source declares input intervals (da4ml's JSON), these bits have declared values only. All other bits are random, so
RTL whose output wrongly depends on other bits is likely, but not certain, to be detected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.errors import VectorError
from dais_verif.program import Program
from dais_verif.program.cones import bits_of, input_bits
from dais_verif.stimulus.pseudo_exhaustive.cone_groups import choose
from dais_verif.stimulus.pseudo_exhaustive.counters import MAX_BITS
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain, domain_of
from dais_verif.stimulus.pseudo_exhaustive.vectors import ExhaustiveVectors

__all__ = ["LeftOut", "Plan", "combinations", "plan", "plan_vectors"]


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
