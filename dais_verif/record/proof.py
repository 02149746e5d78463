"""The record of a proof, read back from what ``prove -o`` keeps: what was claimed of ops and outputs, what held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dais_verif.record.program import ProgramInfo
from dais_verif.record.simulation import Mismatch, SimulatorResult
from dais_verif.verdict import Verdict

__all__ = [
    "PROOF_SCHEMA",
    "ClaimRecord",
    "ConfirmationRecord",
    "CounterexampleRecord",
    "HandshakeRecord",
    "ProofRecord",
    "ReplayRecord",
    "SampleRecord",
]

PROOF_SCHEMA = "dais-verif/proof/1"


@dataclass(frozen=True)
class ClaimRecord:
    """One claim, of an op or of an output. ``status``: ``PROVED``, ``REFUTED`` or ``UNKNOWN``. ``how``: what was needed
    beyond the plain statement. ``inputs``: the bits of every input, as decimal text, on which it fails."""

    status: str
    method: str
    op: int | None = None
    output: int | None = None
    signal: str = ""
    how: str = ""
    inputs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ReplayRecord:
    """What golden model and simulators made of a counterexample."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    first_mismatch: Mismatch | None = None


@dataclass(frozen=True)
class CounterexampleRecord:
    """An input vector on which ``output`` is wrong. ``op``: the first that is wrong by its own fault, if known."""

    inputs: list[str]
    output: int
    op: int | None = None
    mnemonic: str | None = None
    replay: ReplayRecord | None = None


@dataclass(frozen=True)
class HandshakeRecord:
    """What was found of the pin that tells when outputs are valid, and how. ``trace``: pins by name before each edge of
    a run, before the last of which it is not ``due``; ``found``: what it is then in a simulator."""

    status: str
    how: str
    due: int = 0
    trace: list[dict[str, int]] = field(default_factory=list)
    found: str | None = None


@dataclass(frozen=True)
class ConfirmationRecord:
    """What simulators made of RTL that was proved. ``verdict``: PASS if at least one computed every output bit as the
    program says, NOT_RUN if none could tell. ``unconfirmed``: by simulator, why it could not tell."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    first_mismatch: Mismatch | None = None


@dataclass(frozen=True)
class SampleRecord:
    """Obligations that the solver was asked as they are written: ``sampled`` of ``population``, drawn with ``seed``.

    ``claims``: one that rests on each. ``confirmed``: how many hold. ``undecided``: why the solver could not tell, by
    claim; ``contradicted``: claims that it found not to hold though they were proved. ``terms``: what was written anew.
    """

    population: int
    seed: int
    claims: list[str]
    sampled: int
    confirmed: int
    undecided: dict[str, str] = field(default_factory=dict)
    contradicted: list[str] = field(default_factory=list)
    terms: str = "as written"


@dataclass(frozen=True)
class ProofRecord:
    """A run of ``prove``. ``conditional``: promises of the program had to be assumed. ``seconds``: of each stage.

    ``simulate``: the command that runs the counterexample. ``confirmation``: None where nothing was proved, the RTL is
    our own, or the user left it out. ``proved_outputs``: those that equal the program for all inputs whatever became of
    other claims; None in records of before there was such a list. ``sample``: obligations that the solver was asked as
    they are written; None where there are none, the claims failed, or the user left it out.
    """

    verdict: Verdict
    message: str
    program: ProgramInfo
    reproduce: str
    rtl: dict[str, Any]
    tools: dict[str, str]
    ops: list[ClaimRecord]
    outputs: list[ClaimRecord]
    methods: dict[str, int] = field(default_factory=dict)
    conditional: bool = False
    obligations: int = 0
    cached_claims: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    ops_without_signal: list[int] = field(default_factory=list)
    signals_matched_by_value: int = 0
    counterexample: CounterexampleRecord | None = None
    handshake: HandshakeRecord | None = None
    within_declared_intervals: bool = False
    unchecked: bool = False
    timeout: float | None = None
    warnings: list[str] = field(default_factory=list)
    simulate: str | None = None
    confirmation: ConfirmationRecord | None = None
    proved_outputs: list[int] | None = None
    sample: SampleRecord | None = None
