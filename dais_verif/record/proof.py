"""The record of a proof: what was claimed of ops and outputs, what held, what it rests on, and how it was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum, Flag, auto
from functools import cache
from typing import Any, ClassVar

import msgspec

from dais_verif.record.base import RunRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.machine_proof import ProvedMachine
from dais_verif.record.program import ProgramInfo
from dais_verif.record.project import ProjectInfo
from dais_verif.record.rtl import BitstreamFacts, ProvedLink
from dais_verif.record.simulation import ASSERTION_FAILED, ENDED_BY_RTL, Mismatch, SimulatorResult
from dais_verif.verdict import Verdict

__all__ = [
    "PROOF_SCHEMA",
    # claims
    "Basis",
    "Claim",
    "Method",
    "Status",
    # what else was found
    "Confirmation",
    "Counterexample",
    "Handshake",
    "Replay",
    "Sample",
    "Timing",
    "Worst",
    "as_inputs",
    # the record
    "ProofRecord",
    "ProvedRtl",
    "WrittenStatements",
]

PROOF_SCHEMA = "dais-verif/proof/1"


class Method(Enum):
    """The method that decided an obligation."""

    #: Both sides have one normal form.
    IDENTICAL = "identical"
    #: All combinations of the inputs were tried.
    EXHAUSTIVE = "exhaustive"
    #: The SMT solver.
    SMT = "smt"
    #: Bit by bit, from point to point that both sides have.
    SWEEP = "sweep"


class Status(Enum):
    """The status of one claim."""

    #: It holds for all values of what its cone reads.
    PROVED = "PROVED"
    #: It fails on an input vector that was found.
    REFUTED = "REFUTED"
    #: Neither.
    UNKNOWN = "UNKNOWN"


class Basis(Flag):
    """The assumptions of the proof of a claim beyond the plain statement."""

    PLAIN = 0
    #: The meanings of so many levels of ops before.
    ONE_LEVEL = auto()
    TWO_LEVELS = auto()
    FOUR_LEVELS = auto()
    #: Includes those of all preceding ops, down to the inputs.
    ALL_OPS = auto()
    #: Signals that do not hold their ops are not cut points.
    WITHOUT_WRONG_OPS = auto()
    #: Ranges of values, which were proved.
    RANGES = auto()
    #: Assumed: inputs lie in the intervals that the source of the program declares.
    DECLARED = auto()
    #: Assumed: the program keeps its promises.
    PROMISES = auto()

    @property
    @cache
    def words(self) -> str:
        """The text in records and output: empty for ``PLAIN``."""
        return ", ".join(text for flag, text in _WORDS.items() if flag in self)

    @classmethod
    @cache
    def of(cls, words: str) -> Basis:
        """Return the basis with these ``words``. Raises ``ValueError`` if there is none."""
        basis = cls.PLAIN
        for flag, text in _WORDS.items():
            basis |= flag if text in words.split(", ") else cls.PLAIN
        if basis.words != words:
            raise ValueError(f"{words!r} says nothing of a proof that is known")
        return basis


_WORDS = {
    Basis.ONE_LEVEL: "1 level of ops",
    Basis.TWO_LEVELS: "2 levels of ops",
    Basis.FOUR_LEVELS: "4 levels of ops",
    Basis.ALL_OPS: "all ops before",
    Basis.WITHOUT_WRONG_OPS: "without wrong ops",
    Basis.RANGES: "ranges",
    Basis.DECLARED: "declared intervals",
    Basis.PROMISES: "promises",
}


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One claim, of an op or of an output: it is what the program says.

    ``signal``: that of the op. ``how``: what was needed beyond the plain statement. ``inputs``: the bits of every
    input, as decimal text, on which it fails.
    """

    op: int | None = None
    output: int | None = None
    status: Status
    method: Method
    signal: str = ""
    how: str = ""
    inputs: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        key: tuple[str, int],
        status: Status,
        method: Method,
        *,
        signal: str = "",
        basis: Basis = Basis.PLAIN,
        inputs: tuple[str, ...] | None = None,
    ) -> Claim:
        """Return the claim of ``key``: ``op`` or ``output``, and which."""
        kind, number = key
        op, output = (number, None) if kind == "op" else (None, number)
        return cls(op=op, output=output, status=status, method=method, signal=signal, how=basis.words, inputs=inputs)

    @property
    def basis(self) -> Basis:
        """The basis that ``how`` names. Raises ``ValueError`` for a word of a later version."""
        return Basis.of(self.how)

    @property
    def kind(self) -> str:
        """``op`` or ``output``."""
        return "output" if self.op is None else "op"

    @property
    def number(self) -> int:
        """The number of the op or output."""
        return (self.output or 0) if self.op is None else self.op

    @property
    def name(self) -> str:
        """The name of the claim."""
        return f"{self.kind} {self.number}"

    @property
    def means(self) -> str:
        """The method, and the basis of the proof."""
        return f"{self.method.value}{f', {self.how}' if self.how else ''}"


@dataclass(frozen=True)
class Timing:
    """``latency`` in edges of ``clock``, of those at which ``enable`` is 1 if there is one."""

    latency: int
    clock: str
    enable: str | None


def as_inputs(vector: Iterable[int]) -> tuple[str, ...]:
    """Return the bits of every input as records have them."""
    return tuple(map(str, vector))


@dataclass(frozen=True)
class Replay:
    """The results of golden model and simulators for a counterexample."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    first_mismatch: Mismatch | None = None


@dataclass(frozen=True)
class Counterexample:
    """An input vector on which ``output`` is wrong. ``op``: the first that is wrong by its own fault, if known."""

    inputs: tuple[str, ...]
    output: int
    op: int | None = None
    mnemonic: str | None = None
    replay: Replay | None = None

    @property
    def vector(self) -> tuple[int, ...]:
        """The bits of every input."""
        return tuple(map(int, self.inputs))


@dataclass(frozen=True)
class Handshake:
    """The result for the pin that marks outputs as valid, and the method.

    ``trace``: pins by name before each edge of a run. Before the last one the pin must be ``due``, and is ``found``.
    """

    status: Status
    how: str
    due: int = 0
    trace: tuple[dict[str, int], ...] = ()
    found: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """The result of simulating RTL that was proved.

    ``verdict``: PASS if one or more agree in every bit, NOT_RUN if none can tell. ``unconfirmed``: why, by simulator.
    """

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    first_mismatch: Mismatch | None = None

    @property
    def contradicts(self) -> bool:
        """True if a simulator saw proved RTL go wrong, or our own models differ."""
        return self.verdict not in (Verdict.PASS, Verdict.NOT_RUN)

    def weigh(self, message: str, why: str = "") -> tuple[Verdict, str]:
        """Return the verdict of a proof that passed with ``message``, and its message, in the light of this.

        ``why``: a reason in the RTL for which simulators may run another design than was proved.
        """
        if self.verdict is Verdict.SIMULATORS_DISAGREE:
            return Verdict.UNKNOWN, (
                f"simulators read the RTL in different ways, so it is ambiguous ({self.message}); the proof said:"
                f" {message}"
            )
        if self.contradicts:
            found = f"{why or 'a defect of dais-verif, please report it'} ({self.verdict.value}, {self.message})"
            return Verdict.UNKNOWN, f"proof and simulation disagree: {found}; the proof said: {message}"
        if any(ENDED_BY_RTL in reason for reason in self.unconfirmed.values()):
            return Verdict.UNKNOWN, f"{ENDED_BY_RTL} by $fatal or $finish; the proof said: {message}"
        if self.verdict is Verdict.NOT_RUN:
            return Verdict.PASS, f"{message}; not confirmed by simulation: {self.message}"
        failed = [name for name, reason in self.unconfirmed.items() if ASSERTION_FAILED in reason]
        if failed:
            return Verdict.PASS, f"{message}; {failed[0]} says that an assertion of the RTL fails, which is not proved"
        return Verdict.PASS, message


@dataclass(frozen=True)
class Sample:
    """Obligations that the solver was asked as they are written: ``sampled`` of ``population``, drawn with ``seed``.

    ``claims``: one that rests on each. ``confirmed``: how many hold. ``undecided``: why the solver could not tell, by
    claim; ``contradicted``: claims that it found not to hold though they were proved. ``terms``: what was written
    again.
    """

    population: int
    seed: int
    claims: list[str]
    sampled: int
    confirmed: int
    undecided: dict[str, str] = field(default_factory=dict)
    contradicted: list[str] = field(default_factory=list)
    terms: str = "as written"

    @property
    def message(self) -> str:
        """The text for the user."""
        said = f"{self.confirmed} of {self.sampled} obligations confirmed by the solver, {self.terms}"
        return said + (f"; {len(self.undecided)} undecided" if self.undecided else "")


@dataclass(frozen=True)
class Worst:
    """The claim that took longest, and how long."""

    claim: str
    seconds: float


@dataclass(frozen=True)
class WrittenStatements:
    """Statements written for other solvers: the number of ``files``, and how many must get each answer."""

    folder: str
    files: int
    answers: dict[str, int]
    terms: str


@dataclass(frozen=True, kw_only=True)
class ProvedRtl:
    """The RTL that was proved. ``emitted``: it is our own. ``widths``: what tells those of the ports.

    ``front_end``: what was asked to read it; ``front_ends``: what did; ``unread``: why others did not; ``readers``:
    versions of what else had a say. ``sha256``: of ``files``; ``data``: that of each file that the RTL reads.
    ``project``: the folder that was given for program or RTL. ``bitstream``: of which the RTL was read back.
    """

    top: str | None = None
    emitted: bool = False
    files: list[str] = field(default_factory=list)
    widths: str = ""
    front_end: str = ""
    front_ends: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    readers: list[str] = field(default_factory=list)
    sha256: list[str] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)
    project: ProjectInfo | None = None
    bitstream: BitstreamFacts | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class ProofRecord(RunRecord):
    """A run of ``prove``.

    ``claims``: how many ops and outputs are of each status. ``conditional``: promises of the program had to be assumed.
    ``held``: inputs that are resets, with the values at which they are not active. ``left_out``: assertions of the RTL
    that are not proved. ``seconds``: of each stage. ``simulate``: the command that runs the counterexample.
    ``confirmation``: None where nothing was proved, the RTL is our own, or the user left it out. ``proved_outputs``:
    those that equal the program for all inputs whatever became of other claims; None in older records. ``sample``:
    obligations that the solver was asked as they are written; None where there are none, the claims failed, or the user
    left it out. ``machine``: of machines; ``kernel``: of hardware of kernels; ``link``: of bitstreams behind a link.
    """

    SCHEMA: ClassVar = PROOF_SCHEMA

    tools: dict[str, str]
    claims: dict[str, dict[str, int]] = field(default_factory=dict)
    methods: dict[str, int] = field(default_factory=dict)
    conditional: bool = False
    within_declared_intervals: bool = False
    timing: Timing | None = None
    held: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    signals_agreed: int | None = None
    obligations: int = 0
    cached_claims: int = 0
    worst: Worst | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    ops_without_signal: list[int] = field(default_factory=list)
    signals_matched_by_value: int = 0
    ops: list[Claim]
    outputs: list[Claim]
    proved_outputs: list[int] | None = None
    counterexample: Counterexample | None = None
    sample: Sample | None = None
    handshake: Handshake | None = None
    confirmation: Confirmation | None = None
    program: ProgramInfo
    rtl: ProvedRtl
    obligations_written: WrittenStatements | None = None
    unchecked: bool = False
    timeout: float | None = None
    warnings: list[str] = field(default_factory=list)
    reproduce: str
    simulate: str | None = None
    machine: ProvedMachine | None = None
    kernel: ProvedKernel | None = None
    link: ProvedLink | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as dictionaries, lists, strings and numbers."""
        return dict(msgspec.json.decode(self._encoded()))

    def to_json(self) -> str:
        """Return one JSON object. No claim, of which there may be a million, is made a dictionary on the way."""
        return msgspec.json.format(self._encoded(), indent=2).decode()

    def _encoded(self) -> bytes:
        tree = {each.name: getattr(self, each.name) for each in fields(self)}
        head = {"schema": self.SCHEMA, "verdict": tree.pop("verdict"), "exit_code": self.verdict.exit_code}
        if self.handshake is not None and not self.handshake.trace:  # nothing was due
            tree["handshake"] = {"status": self.handshake.status, "how": self.handshake.how}
        return msgspec.json.encode({**head, **self.about(), **tree})
