"""Vectors from several sources, one after the other, generated on demand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus.pseudo_exhaustive.vectors import ExhaustiveVectors

__all__ = ["First", "Stimulus", "ExhaustiveRows", "Vectors"]


class Vectors(Protocol):
    """Rows that can be generated slice by slice; a ``Batch`` is an example."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``."""


class ExhaustiveRows:
    """The rows of an exhaustive pass, with random bits from ``seed``."""

    def __init__(self, exhaustive: ExhaustiveVectors, seed: int) -> None:
        self._exhaustive, self._seed = exhaustive, seed
        self.rows = exhaustive.rows

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``."""
        return self._exhaustive.batch(start, stop, self._seed)


class First:
    """The first ``rows`` rows of ``vectors``."""

    def __init__(self, vectors: Vectors, rows: int) -> None:
        self._vectors, self.rows = vectors, min(rows, vectors.rows)

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``."""
        return self._vectors.slice(start, min(stop, self.rows))


class Stimulus:
    """The rows of ``parts`` in order; all have the same number of inputs."""

    def __init__(self, parts: Sequence[Vectors]) -> None:
        self._parts = parts
        self._offsets = [0, *itertools.accumulate(part.rows for part in parts)]
        self.rows = self._offsets[-1]

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``."""
        cuts = []
        for part, begin, end in zip(self._parts, self._offsets, self._offsets[1:], strict=False):
            if max(start, begin) < min(stop, end):
                cuts.append(part.slice(max(start, begin) - begin, min(stop, end) - begin))
        if not cuts:
            return self._parts[0].slice(0, 0)
        return cuts[0] if len(cuts) == 1 else Batch.concatenate(cuts)
