"""The state of a search: bins that are hit, bins that are unreachable, and the vectors found for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dais_verif.coverage.bins import Bins
from dais_verif.coverage.count import count, count_batch
from dais_verif.coverage.unreachable import by_ranges
from dais_verif.golden.coverage_probes import CoverageProbes, ProbeBytes
from dais_verif.program.linear_ranges import sharp_ranges
from dais_verif.program.numbers import Batch
from dais_verif.program.ranges import Analysis
from dais_verif.stimulus import Vectors
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain, domain_of

__all__ = ["How", "Search"]


class How(IntEnum):
    """How a bin was shown to be unreachable."""

    NOT = 0
    RANGES = 1
    ENUMERATION = 2
    SOLVER = 3


class Search:
    """The bins of a program and their state. ``check``: reject vectors that break promises.

    ``declared``: also reject vectors with inputs outside the intervals that the program's source declares.
    """

    def __init__(self, bins: Bins, *, check: bool, declared: bool, jobs: int = 1) -> None:
        self.bins, self.check, self.declared, self._jobs = bins, check, declared, jobs
        self.probes = CoverageProbes(bins.program, check=False)
        self.seen: ProbeBytes = bins.nothing()
        #: A ``How`` for every bin.
        self.how: NDArray[np.uint8] = np.zeros(len(bins.owner), dtype=np.uint8)
        self._found: list[Batch] = []
        self.vectors = 0
        #: The parts of the search that were skipped because of a limit, as text.
        self.limits: list[str] = []

    def count(self, vectors: Vectors) -> None:
        """Count ``vectors``. Raises ``ViolationError`` if promises are checked and one is broken."""
        probes = CoverageProbes(self.bins.program) if self.check else self.probes
        count(self.bins, probes, vectors, self.seen, jobs=self._jobs)
        self.vectors += vectors.rows

    def exclude_by_ranges(self) -> None:
        """Mark the bins that range analysis shows to be unreachable."""
        impossible = by_ranges(self.bins, self.analysis)
        self.exclude(np.flatnonzero(self.bins.never(impossible)), How.RANGES)

    def exclude(self, bins: NDArray[np.intp], how: How) -> None:
        """Mark ``bins`` as unreachable. Raises ``AssertionError`` if one of them is hit."""
        hit = bins[self.bins.hit(self.seen)[bins]]
        if len(hit):
            raise AssertionError(f"{self.bins.text(int(hit[0]))}: hit, but unreachable by {how.name.lower()}")
        self.how[bins] = how

    def open(self) -> NDArray[np.intp]:
        """Return the bins that are neither hit nor unreachable."""
        return np.flatnonzero(~self.bins.hit(self.seen) & (self.how == How.NOT))

    def still_open(self, bins: Sequence[int]) -> list[int]:
        """Return the open bins among ``bins``, without checking any other bin."""
        first, second = self.bins.first, self.bins.second
        return [n for n in bins if not (self.seen[first[n]] or self.seen[second[n]] or self.how[n])]

    @cached_property
    def analysis(self) -> Analysis:
        """The range analysis of all ops."""
        return sharp_ranges(self.bins.program, declared=self.declared)

    @cached_property
    def domain(self) -> Domain:
        """The input declarations of the program."""
        return domain_of(self.bins.program)

    @property
    def found(self) -> Batch:
        """The vectors that were accepted, in order."""
        return Batch.concatenate(self._found) if self._found else self._no_vector

    @property
    def _no_vector(self) -> Batch:
        return Batch.of(np.zeros((0, self.bins.program.n_in)), self.bins.program.n_in)

    def offer(self, batch: Batch) -> None:
        """Accept vectors of ``batch`` that hit open bins; repeated halving finds a small set of them."""
        wanted = self.open()
        if not batch.rows or not len(wanted):
            return
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            shown = self.seen.copy()
            self.see(part, shown)
            gained = shown[self.bins.first[wanted]] | shown[self.bins.second[wanted]]
            if not gained.any():
                continue
            if part.rows > 1:
                middle = part.rows // 2
                waiting += [part.slice(middle, part.rows), part.slice(0, middle)]
            elif self._allowed(part):
                self.seen = shown
                self._found.append(part)
                self.vectors += 1
                wanted = wanted[gained == 0]
                if not len(wanted):
                    return

    def see(self, batch: Batch, seen: ProbeBytes) -> None:
        """Set the places of ``seen`` that ``batch`` reaches, even if it breaks promises."""
        count_batch(self.bins, self.probes, batch, seen, jobs=self._jobs)

    def _allowed(self, vector: Batch) -> bool:
        if self.declared and not self.bins.readers.declare(vector):
            return False
        return not (self.check and self.probes.breaks(vector))
