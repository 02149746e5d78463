"""The record of a proof: claims about ops and outputs, their status, basis and method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum, Flag, auto
from functools import cache
from typing import Any, ClassVar

import msgspec

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import RunRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.program import BitstreamFacts, ProgramInfo, ProjectInfo, ProvedLink
from dais_verif.record.simulation import Mismatch, SimulatorResult

__all__ = [
    "Basis",
    "Claim",
    "Confirmation",
    "Counterexample",
    "Handshake",
    "Method",
    "PROOF_SCHEMA",
    "ProofRecord",
    "ProvedMachine",
    "ProvedRtl",
    "Replay",
    "Sample",
    "Status",
    "Timing",
    "Worst",
    "WrittenStatements",
    "as_inputs",
]


PROOF_SCHEMA = "dais-verif/proof/1"


class Method(Enum):
    """The method that decided an obligation."""

    #: Both sides have one normal form.
    IDENTICAL = "identical"
    #: All combinations of the values of inputs were checked.
    EXHAUSTIVE = "exhaustive"
    #: The SMT solver.
    SMT = "smt"
    #: Bit by bit, along internal points that both sides share.
    SWEEP = "sweep"


class Status(Enum):
    """The status of one claim."""

    #: The claim holds for all values of the inputs of its cone.
    PROVED = "PROVED"
    #: The claim fails on a known input vector.
    REFUTED = "REFUTED"
    #: Neither is known.
    UNKNOWN = "UNKNOWN"


class Basis(Flag):
    """The assumptions that the proof of a claim makes beyond the plain statement."""

    PLAIN = 0
    #: The semantics of this many levels of preceding ops.
    ONE_LEVEL = auto()
    TWO_LEVELS = auto()
    FOUR_LEVELS = auto()
    #: The semantics of all preceding ops, down to the inputs.
    ALL_OPS = auto()
    #: Signals that differ from their ops are not cut points.
    WITHOUT_WRONG_OPS = auto()
    #: Proved ranges of values.
    RANGES = auto()
    #: Assumed: inputs are within the intervals that the source of the program declares.
    DECLARED = auto()
    #: Assumed: the program keeps its promises.
    PROMISES = auto()

    @property
    @cache
    def words(self) -> str:
        """The text in records and output, which is empty for ``PLAIN``."""
        return ", ".join(text for flag, text in _WORDS.items() if flag in self)

    @classmethod
    @cache
    def of(cls, words: str) -> Basis:
        """Return the basis with the text ``words``. Raises ``ValueError`` if there is none."""
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
    """One claim: the RTL's signal for an op, or an output of the RTL, equals the value in the program.

    ``signal``: the RTL's signal for the op. ``how``: the basis beyond the plain statement. ``inputs``: an input vector
    on which the claim fails: the bits of every input, as decimal text.
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
        """Return the claim about ``key``, which is ``op`` or ``output`` with a number."""
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
    """``latency`` in edges of ``clock``; only edges at which ``enable`` is 1 count, if there is an enable."""

    latency: int
    clock: str
    enable: str | None


def as_inputs(vector: Iterable[int]) -> tuple[str, ...]:
    """Return the bits of every input as text, as in records."""
    return tuple(map(str, vector))


@dataclass(frozen=True)
class Replay:
    """The results of the golden model and of simulators for a counterexample."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    first_mismatch: Mismatch | None = None


@dataclass(frozen=True)
class Counterexample:
    """An input vector on which ``output`` is wrong. ``op``: the first faulty op, if known."""

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
    """The result for the pin that marks valid outputs, and the method of its proof.

    ``trace``: pins by name before each edge of a run. Before the last edge, the pin must be ``due`` but is ``found``.
    """

    status: Status
    how: str
    due: int = 0
    trace: tuple[dict[str, int], ...] = ()
    found: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """The result of simulating proved RTL.

    ``verdict``: PASS if a simulator agrees in every bit, NOT_RUN if none could build the RTL, TOOL_FAILURE if one built
    it and stopped. ``unconfirmed``: reasons by simulator.
    """

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult] = field(default_factory=list)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    first_mismatch: Mismatch | None = None

    @property
    def contradicts(self) -> bool:
        """True if proved RTL fails or stops in a simulator, or our own models differ."""
        return self.verdict not in (Verdict.PASS, Verdict.NOT_RUN)

    def weigh(self, message: str, why: str = "") -> tuple[Verdict, str]:
        """Return the verdict and message of a proof that passed with ``message``, after this confirmation.

        ``why``: the reason, if any, why simulators may run a design that differs from the proved one.
        """
        if self.verdict is Verdict.SIMULATORS_DISAGREE:
            return Verdict.UNKNOWN, (
                f"simulators read the RTL in different ways, so it is ambiguous ({self.message}); the proof said:"
                f" {message}"
            )
        if self.verdict is Verdict.TOOL_FAILURE:
            return Verdict.UNKNOWN, f"a simulation of the RTL stopped ({self.message}); the proof said: {message}"
        if self.contradicts:
            found = f"{why or 'a defect of dais-verif, please report it'} ({self.verdict.value}, {self.message})"
            return Verdict.UNKNOWN, f"proof and simulation disagree: {found}; the proof said: {message}"
        if self.verdict is Verdict.NOT_RUN:
            return Verdict.PASS, f"{message}; not confirmed by simulation: {self.message}"
        return Verdict.PASS, message


@dataclass(frozen=True)
class Sample:
    """Obligations that the solver checked again from SMT-LIB files: ``sampled`` of ``population``, with ``seed``.

    ``claims``: one claim per obligation. ``confirmed``: how many hold. ``undecided``: why the solver could not decide,
    by claim. ``contradicted``: proved claims that the solver found false. ``terms``: how terms were written.
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
    """The claim that took the longest time, and this time."""

    claim: str
    seconds: float


@dataclass(frozen=True)
class WrittenStatements:
    """Statements written for other solvers: the number of ``files``, and of files for each required answer."""

    folder: str
    files: int
    answers: dict[str, int]
    terms: str


@dataclass(frozen=True, kw_only=True)
class ProvedRtl:
    """The proved RTL. ``emitted``: whether it is our own. ``widths``: the source of the port widths.

    ``front_end``: the requested one; ``front_ends``: those that read the RTL; ``unread``: why others did not;
    ``readers``: versions of other tools. ``sha256``: of each of ``files``; ``data``: SHA-256 of each file that the RTL
    reads. ``project``: the given folder of program or RTL. ``bitstream``: the one from which the RTL was read back.
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

    ``claims``: the number of ops and outputs by status. ``conditional``: the proof assumes promises of the program.
    ``held``: reset inputs, with their inactive values. ``left_out``: assertions of the RTL that are not proved.
    ``seconds``: the time of each stage. ``simulate``: the command that runs the counterexample. ``confirmation``: None
    if nothing was proved, the RTL is our own, or the user disabled it. ``proved_outputs``: outputs that equal the
    program for all inputs, independent of other claims; None in older records. ``sample``: None if there are no
    obligations, claims failed, or the user disabled it. ``machine``, ``kernel``, ``link``: results for machines, for
    hardware of kernels, and for bitstreams behind a link.
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
        """Return one JSON object. Claims, up to a million, are not converted to dictionaries."""
        return msgspec.json.format(self._encoded(), indent=2).decode()

    def _encoded(self) -> bytes:
        tree = {each.name: getattr(self, each.name) for each in fields(self)}
        head = {"schema": self.SCHEMA, "verdict": tree.pop("verdict"), "exit_code": self.verdict.exit_code}
        if self.handshake is not None and not self.handshake.trace:  # nothing was due
            tree["handshake"] = {"status": self.handshake.status, "how": self.handshake.how}
        return msgspec.json.encode({**head, **self.about(), **tree})


# Additional fields of the record of a proof of a machine's RTL.


@dataclass(frozen=True, kw_only=True)
class ProvedMachine:
    """The result of the proof of a machine.

    ``outputs``: the description of each claim about an output: for outputs in any cycle, and for registers after the
    edge of the cycle. ``registers``: the bits of the RTL's registers, each with the element that it holds.

    ``invariants``: the proved properties of the state; ``assumed``: properties that are assumed without proof.
    ``unproved_ops``: for each claim about an op that is not proved, by number, the block and the op. ``cycles``: the
    length of the sequence that shows a difference; in its last cycle, ``wrong`` is wrong. ``replay``: the result of
    simulators for this sequence.
    """

    outputs: list[str]
    registers: dict[str, str]
    invariants: list[str]
    assumed: list[str]
    unproved_ops: dict[str, str] = field(default_factory=dict)
    cycles: int | None = None
    wrong: str | None = None
    replay: str | None = None
