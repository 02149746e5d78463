"""What a proof is asked, and what it answers. It needs no prover, so that an answer can be recalled without one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dais_verif.program.ports import Element
from dais_verif.record.proof import Claim, Counterexample, Handshake, Sample, Status, Timing, Worst
from dais_verif.verdict import Verdict

__all__ = ["ProofOptions", "Proof", "ProofWatcher"]


@dataclass(frozen=True)
class ProofOptions:
    """``timeout``: seconds for each obligation. ``check``: promises are promises; False: they wrap like all else.

    ``store``: file of proofs of earlier runs; None: none. ``jobs``: processes at once. ``seed``: of the vectors that
    look for a counterexample. ``declared``: inputs lie in the intervals that the program's source declares, where a
    proof needs that. ``bits``: the design is a netlist, whatever its signals are called. ``sample``: percent of the
    obligations that are put to the solver once more, as they are written.
    """

    timeout: float = 20.0
    check: bool = True
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    store: Path | None = None
    seed: int = 0
    declared: bool = True
    bits: bool = False
    sample: float = 1.0


class ProofWatcher:
    """Told of what goes on; this one does nothing."""

    def progress(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` of ``what``."""


@dataclass(frozen=True)
class Proof:
    """The verdict with all claims.

    ``unnamed``: ops without a signal. ``conditional``: promises had to be assumed. ``bounded``: inputs had to lie in
    their declared intervals.

    ``obligations``: how many different ones the claims came down to. ``timing``: of a pipeline. ``pins``: the ports of
    the design; ``inputs``: of them. ``elements``: what bits of every input a vector consists of. ``held``: inputs that
    were found to be resets, with the values at which they are not active. ``agreed``: on how many signals two front
    ends agreed. ``guessed``: signals that were found by their values, not by name. ``dropped``: ops whose signals are
    no cut points any more, since they do not hold their values. ``bits``: it went bit by bit, without obligations of
    ops. ``proved_outputs``: those that equal the program for all inputs, whatever became of other claims: all that
    their proofs take for granted is proved as well. ``drawn``: the claims whose obligations are to be a sample, of so
    many different ones; ``sample``: what became of them. ``contradicted``: of those that the solver found not to hold,
    the statement as SMT-LIB 2, by claim. ``left_out``: assertions in the RTL that are not proved, each with its place.
    ``unread``: why front ends that were to read the design, if they can, had no say. ``worst``: the claim that took
    longest; ``cached_claims``: how many were decided by earlier runs.
    """

    verdict: Verdict
    message: str
    ops: list[Claim]
    outputs: list[Claim]
    unnamed: list[int]
    obligations: int
    conditional: bool
    bounded: bool
    counterexample: Counterexample | None = None
    timing: Timing | None = None
    pins: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    agreed: int | None = None
    guessed: int = 0
    handshake: Handshake | None = None
    dropped: tuple[int, ...] = ()
    bits: bool = False
    proved_outputs: tuple[int, ...] = ()
    drawn: tuple[tuple[tuple[str, int], ...], int] = ((), 0)
    sample: Sample | None = None
    contradicted: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    worst: Worst | None = None
    cached_claims: int = 0

    def methods(self) -> dict[str, int]:
        """How many claims were decided by which means."""
        counts: Counter[str] = Counter()
        for claim in (*self.ops, *self.outputs):
            if claim.status is Status.PROVED:
                counts[claim.means] += 1
        return dict(counts.most_common())
