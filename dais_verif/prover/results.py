"""What a proof is asked, and what it answers. It needs no prover, so that an answer can be recalled without one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from dais_verif.program.ports import Element
from dais_verif.verdict import Verdict

__all__ = [
    "Claim",
    "Counterexample",
    "Handshake",
    "Method",
    "Options",
    "Proof",
    "Sample",
    "Status",
    "Timing",
    "Watcher",
]


@dataclass(frozen=True)
class Options:
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


class Watcher:
    """Told of what goes on; this one does nothing."""

    def progress(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` of ``what``."""


class Method(Enum):
    """How an obligation was decided."""

    #: Both sides have one normal form.
    IDENTICAL = "identical"
    #: All combinations of the inputs were tried.
    EXHAUSTIVE = "exhaustive"
    #: The SMT solver.
    SMT = "smt"
    #: Bit by bit, from point to point that both sides have.
    SWEEP = "sweep"


class Timing(NamedTuple):
    """``latency`` in edges of ``clock``, of those at which ``enable`` is 1 if there is one."""

    latency: int
    clock: str
    enable: str | None


class Status(Enum):
    """What became of one claim."""

    #: It holds for all values of what its cone reads.
    PROVED = "PROVED"
    #: It fails on an input vector that was found.
    REFUTED = "REFUTED"
    #: Neither.
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Claim:
    """The signal of op ``number``, or output ``number``, is what the program says.

    ``kind``: ``op`` or ``output``. ``how``: what was needed beyond the plain statement. ``seconds``: of the decision,
    which claims of one shape share. ``vector``: the bits of every input where it fails, if it is refuted.
    """

    kind: str
    number: int
    status: Status
    method: Method
    how: str = ""
    seconds: float = 0.0
    cached: bool = False
    signal: str = ""
    vector: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """Which claim."""
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Counterexample:
    """An input vector, as the bits of every input, on which output ``output`` is wrong.

    ``op``: the first op whose signal is wrong by its own fault, None if all are right or have no signals.
    """

    vector: tuple[int, ...]
    output: int
    op: int | None


@dataclass(frozen=True)
class Handshake:
    """Whether the pin that tells valid outputs keeps its protocol, and how that was found out.

    ``trace``: if it does not, pins by name before each edge of a run, before the last of which it is not ``due``.
    ``found``: what it is then in a simulator.
    """

    status: Status
    how: str
    due: int = 0
    trace: tuple[dict[str, int], ...] = ()
    found: str | None = None


@dataclass(frozen=True)
class Sample:
    """What the solver said of obligations as they are written, no rule of the normal form being in force.

    ``population``: the different obligations that the sample, drawn with ``seed``, was drawn from; ``claims``: one that
    rests on each of those drawn. ``confirmed``: how many the solver found to hold; ``undecided``: why it could not
    tell, by claim. ``contradicted``: of those that it found not to hold, the statement as SMT-LIB 2, by claim.
    ``terms``: how they were stated: as they are written, or but for blocks, whose terms rules had made before.
    """

    population: int
    seed: int
    claims: tuple[str, ...]
    confirmed: int
    undecided: Mapping[str, str] = field(default_factory=dict)
    contradicted: Mapping[str, str] = field(default_factory=dict)
    terms: str = "as written"

    @property
    def message(self) -> str:
        """What there is to tell."""
        said = f"{self.confirmed} of {len(self.claims)} obligations confirmed by the solver, {self.terms}"
        return said + (f"; {len(self.undecided)} undecided" if self.undecided else "")


@dataclass(frozen=True)
class Proof:
    """The verdict with all claims. ``unnamed``: ops without a signal. ``conditional``: promises had to be assumed.
    ``bounded``: inputs had to lie in their declared intervals.

    ``obligations``: how many different ones the claims came down to. ``timing``: of a pipeline.
    ``pins``: the ports of the design; ``inputs``: of them. ``elements``: what bits of every input a vector consists of.
    ``held``: inputs that were found to be resets, with the values at which they are not active. ``agreed``: on how
    many signals two front ends agreed. ``guessed``: signals that were found by their values, not by name.
    ``dropped``: ops whose signals are no cut points any more, since they do not hold their values. ``bits``: it went
    bit by bit, without obligations of ops. ``proved_outputs``: those that equal the program for all inputs, whatever
    became of other claims: all that their proofs take for granted is proved as well. ``drawn``: the claims whose
    obligations are to be a sample, of so many different ones; ``sample``: what became of them. ``left_out``: assertions
    in the RTL that are not proved, each with its place. ``unread``: why front ends that were to read the design, if
    they can, had no say.
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
    left_out: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)

    def methods(self) -> dict[str, int]:
        """How many claims were decided by which means."""
        counts: Counter[str] = Counter()
        for claim in (*self.ops, *self.outputs):
            if claim.status is Status.PROVED:
                counts[f"{claim.method.value}{f', {claim.how}' if claim.how else ''}"] += 1
        return dict(counts.most_common())
