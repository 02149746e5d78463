"""Options and results of a proof. This module does not import the prover, so that cached results load without it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import Claim, Counterexample, Handshake, Sample, Status, Timing, Worst
from dais_verif.spec.program.ports import Element

__all__ = ["ProofOptions", "Proof", "ProofWatcher"]


@dataclass(frozen=True)
class ProofOptions:
    """Options of a proof.

    ``timeout``: seconds for each obligation. ``check``: promises may be assumed; False: values that break them wrap as
    in hardware. ``jobs``: number of processes. ``store``: file of proofs and obligations of earlier runs; None: no
    file. ``seed``: the seed of random vectors. ``declared``: a proof may, if necessary, assume that inputs lie in the
    intervals that the source of the program declares. ``bits``: treat the design as a netlist, whatever its signals are
    called. ``sample``: the percentage of the obligations that the solver decides once more in their original form.
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
    """Base class of objects that receive the progress of a proof; this class ignores it."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` items of the kind ``what`` are done."""


@dataclass(frozen=True)
class Proof:
    """The verdict with all claims.

    ``unnamed``: ops without a signal. ``obligations``: number of different obligations behind the claims.
    ``conditional``: the proof assumes promises. ``bounded``: the proof assumes that inputs lie in their declared
    intervals. ``timing``: latency and pins of a pipeline. ``pins``: the ports of the design. ``inputs``: the input
    ports of the design. ``elements``: which bits of each input a vector holds. ``held``: inputs that were found to be
    resets, with their inactive values. ``agreed``: number of signals on which two front ends agreed. ``guessed``:
    number of signals that were found by their values, not by name. ``dropped``: ops whose signals were cut points, but
    do not hold the values of the ops. ``bits``: this is a bit-level proof, without obligations of ops.
    ``proved_outputs``: outputs that equal the program for all inputs, even if other claims are not proved: everything
    that their proofs assume is proved. ``drawn``: the claims whose obligations form the sample, and the number of
    different obligations from which it was drawn. ``sample``: the result of the sample. ``contradicted``: statements of
    the sample that the solver refuted, as SMT-LIB 2, by claim. ``left_out``: assertions in the RTL that are not proved,
    each with its place. ``unread``: by front end of the cross-check, why it could not read the design. ``worst``: the
    claim that took longest. ``cached_claims``: number of claims that earlier runs had decided. ``vectors``: the bits of
    each input, for vectors that reach ``reached`` of ``sides`` sides of the conditions in the RTL.
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
    vectors: tuple[tuple[int, ...], ...] = ()
    reached: int = 0
    sides: int = 0

    def methods(self) -> dict[str, int]:
        """Return the number of claims that each means of proof has proved, the most frequent first."""
        counts: Counter[str] = Counter()
        for claim in (*self.ops, *self.outputs):
            if claim.status is Status.PROVED:
                counts[claim.means] += 1
        return dict(counts.most_common())
