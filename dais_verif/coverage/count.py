"""Count the coverage of vectors, in stretches."""

from __future__ import annotations

from dais_verif.coverage.bins import Bins
from dais_verif.golden.coverage_probes import CoverageProbes, ProbeBytes
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import Vectors

__all__ = ["count", "count_batch"]

#: The number of rows that are in memory at one time.
_STRETCH = 16384


def count(bins: Bins, probes: CoverageProbes, vectors: Vectors, seen: ProbeBytes, *, jobs: int = 1) -> None:
    """Set the places of ``seen`` (``bins.size``) that ``vectors`` reach. ``probes`` may raise ``ViolationError``."""
    for start in range(0, vectors.rows, _STRETCH):
        part = vectors.slice(start, min(start + _STRETCH, vectors.rows))
        count_batch(bins, probes, part, seen, jobs=jobs, named=start)


def count_batch(
    bins: Bins, probes: CoverageProbes, batch: Batch, seen: ProbeBytes, *, jobs: int = 1, named: int = 0
) -> None:
    """Count the coverage of a batch. ``named``: the number of its first vector in messages."""
    if batch.rows:
        probes.see(batch, seen[: bins.places.size], jobs=jobs, named=named)
        bins.readers.see(batch, seen[bins.places.size : -2])
        seen[-1] = 1  # the place that is always set
