"""Functional coverage: measure which behaviour of a program some vectors exercise, and find vectors for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dais_verif.coverage.bins import GROUPS, Bins, bins_of
from dais_verif.coverage.directed import Effort, How, Search, enumerate_cones, give_inputs, pull_back, solve
from dais_verif.record.coverage import Coverage, CoverageGroup, OpenBin
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import Vectors

__all__ = ["Bins", "Effort", "How", "Measured", "bins_of", "measure", "measured", "summary"]

#: The maximum number of open bins that a record lists.
_LISTED = 1000


@dataclass(frozen=True)
class Measured:
    """The state of every bin: whether it is ``hit``, and ``how`` (a ``How``) it was shown to be unreachable.

    ``vectors``: the number of counted vectors, including those in ``directed``, which were computed from the program.
    ``limits``: the limits that ended the search, as text.
    """

    bins: Bins
    hit: NDArray[np.bool_]
    how: NDArray[np.uint8]
    vectors: int
    directed: Batch
    limits: tuple[str, ...] = ()


def measure(
    program: Program,
    vectors: Vectors,
    *,
    directed: bool = True,
    unreachable: bool = True,
    seed: int = 0,
    check: bool = True,
    declared: bool = True,
    effort: Effort | None = None,
    jobs: int = 1,
    notice: Callable[[str], object] = lambda text: None,
) -> tuple[Coverage, Batch]:
    """Return the coverage of ``program`` by ``vectors`` and by further vectors that are found, and the further vectors.

    ``directed``: search for further vectors. ``unreachable``: show which bins no input can hit. ``check``: no vector
    may break a promise. ``declared``: inputs stay within the intervals that the program's source declares. ``notice``
    receives progress messages. Raises ``ViolationError`` if ``check`` is set and one of ``vectors`` breaks a promise.
    """
    found = measured(
        program,
        vectors,
        directed=directed,
        unreachable=unreachable,
        seed=seed,
        check=check,
        declared=declared,
        effort=effort,
        jobs=jobs,
        notice=notice,
    )
    return summary(found), found.directed


def measured(
    program: Program,
    vectors: Vectors,
    *,
    directed: bool = True,
    unreachable: bool = True,
    seed: int = 0,
    check: bool = True,
    declared: bool = True,
    effort: Effort | None = None,
    jobs: int = 1,
    notice: Callable[[str], object] = lambda text: None,
) -> Measured:
    """Return the coverage bin by bin; the parameters are those of ``measure``."""
    effort = effort or Effort()
    search = Search(bins_of(program, declared=declared), check=check, declared=declared, jobs=jobs)
    search.count(vectors)
    if unreachable:
        search.exclude_by_ranges()
    if directed:
        notice("coverage: corners of the inputs")
        give_inputs(search, effort)
        pull_back(search, effort, seed, notice)
    if directed or unreachable:
        notice("coverage: all inputs of small cones")
        enumerate_cones(search, effort, seed, take=directed, exclude=unreachable)
        notice("coverage: solver queries for the remaining bins")
        solve(search, effort, take=directed, exclude=unreachable)
    return Measured(
        search.bins, search.bins.hit(search.seen), search.how, search.vectors, search.found, tuple(search.limits)
    )


def summary(found: Measured) -> Coverage:
    """Return the coverage for a record."""
    bins, hit = found.bins, found.hit
    program = bins.program
    never = found.how != How.NOT
    opened = np.flatnonzero(~hit & ~never)
    reachable = len(hit) - int(never.sum())
    groups = []
    for number, name in enumerate(GROUPS):
        mine = bins.group == number
        if mine.any():
            groups.append(CoverageGroup(name, int(mine.sum()), int(hit[mine].sum()), int(never[mine].sum())))
    owners = program.n_ops + program.n_out + program.n_in
    counts = np.stack([np.bincount(bins.owner[rows], minlength=owners) for rows in (hit >= 0, hit, never)], axis=1)
    return Coverage(
        vectors=found.vectors,
        directed=found.directed.rows,
        # Rounded down, in integers; if no bin can be hit, nothing was missed.
        percent=int(hit.sum()) * 1000 // reachable / 10 if reachable else 100.0,
        groups=groups,
        ops=counts[: program.n_ops].tolist(),
        outputs=counts[program.n_ops : program.n_ops + program.n_out].tolist(),
        open=[_open_bin(bins, number) for number in opened[:_LISTED].tolist()],
        open_total=len(opened),
        limits=list(found.limits),
    )


def _open_bin(bins: Bins, number: int) -> OpenBin:
    op, source, output = bins.where(number)
    return OpenBin(GROUPS[bins.group[number]], op, source, output, bins.text(number))
