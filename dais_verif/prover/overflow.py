"""Decide promises that range analysis alone cannot show: prove them, or find an input vector that breaks them.

The proof is by induction over the program: an op keeps its promise if the ops before it keep theirs. To see which
operand values can occur together, the proof expands one, two and four levels of ops before it, and finally all ops down
to the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dais_verif.base.text import counted
from dais_verif.prover.lemmas import Assumptions, Lemmas
from dais_verif.prover.limits import one_at_a_time
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.random_simulation import Columns, random_vectors, trace
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool
from dais_verif.record.proof import Status
from dais_verif.spec.program import Program

__all__ = ["Promise", "examine"]

_ROWS = 2048
_LEVELS = (0, 1, 2, 4)


@dataclass(frozen=True)
class Promise:
    """The promise of op ``op``: kept for all inputs (PROVED), broken on ``vector`` (REFUTED), or UNKNOWN.

    Only inputs count on which all ops that op ``op`` depends on keep their promises. ``how``: what the proof needed.
    ``vector``: the bits of each input.
    """

    op: int
    status: Status
    how: str = ""
    vector: tuple[int, ...] | None = None


@one_at_a_time
def examine(
    program: Program,
    unproved: Sequence[int],
    options: ProofOptions,
    *,
    declared: bool = False,
    watcher: ProofWatcher | None = None,
) -> list[Promise]:
    """Decide the promises of the ops ``unproved``; all other ops are known to keep theirs.

    ``declared``: inputs are assumed to lie in the intervals that the source of the program declares. A promise that
    cannot be decided is UNKNOWN, not an error.
    """
    examination = _Examination(program, options, declared, watcher or ProofWatcher())
    return examination.run(list(unproved))


class _Examination:
    def __init__(self, program: Program, options: ProofOptions, declared: bool, watcher: ProofWatcher) -> None:
        self._program, self._watcher, self._seed = program, watcher, options.seed
        self._builder = Builder.of_program(program)
        self._pool = Pool(options, watcher)
        self._lemmas = Lemmas(program, self._builder, self._pool.equal, declared)
        self._assumptions = Assumptions(program, self._builder.boundary.inputs, declared)
        self._broken: dict[int, tuple[int, ...]] = {}

    def run(self, unproved: list[int]) -> list[Promise]:
        self._try(random_vectors(self._builder.boundary.inputs, _ROWS, self._seed), _ROWS)
        found = []
        for done, index in enumerate(unproved):
            self._watcher.progress("promises", done, len(unproved))
            found.append(self._one(index))
        return found

    def _try(self, columns: Columns, rows: int) -> None:
        """Record the promises that these vectors break."""
        found = trace(self._program, self._builder.boundary.inputs, columns, rows)
        allowed = self._assumptions.allowed(found)
        for index, lost in found.by.items():
            if (lost & allowed).any():
                self._broken.setdefault(index, found.vector(int(np.argmax(lost & allowed))))

    def _one(self, index: int) -> Promise:
        if index in self._broken:
            return Promise(index, Status.REFUTED, vector=self._broken[index])
        for levels in _LEVELS:
            if self._holds(self._behind(index, levels)):
                name = f"{counted(levels, 'level')} of ops" if levels else "ranges"
                return Promise(index, Status.PROVED, name)
        obligation = self._builder.promise(index, lambda i: True, self._lemmas.of)
        decision = self._pool.decide(obligation.rtl, obligation.wanted, obligation.given).decision
        if decision.equal:
            return Promise(index, Status.PROVED, "all ops before")
        if decision.equal is False:
            inputs = {s.number: decision.model.get(t, 0) for t, s in obligation.variables().items()}
            columns = random_vectors(self._builder.boundary.inputs, _ROWS, self._seed)
            for j, column in enumerate(columns):
                column[:] = inputs.get(j, column)
                column[0] = inputs.get(j, 0)
            self._try(columns, _ROWS)
        vector = self._broken.get(index)
        return Promise(index, Status.UNKNOWN if vector is None else Status.REFUTED, vector=vector)

    def _holds(self, obligation: Obligation) -> bool:
        return self._pool.decide(obligation.rtl, obligation.wanted, obligation.given).decision.equal is True

    def _behind(self, index: int, levels: int) -> Obligation:
        seeds, behind = set(self._program.ops[index].operands), set[int]()
        for _ in range(levels):
            behind |= seeds
            seeds = {i for s in seeds for i in self._program.ops[s].operands} - behind
        return self._builder.promise(index, behind.__contains__, self._lemmas.of)
