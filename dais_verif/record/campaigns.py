"""Records of runs over many designs, with the result of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.simulation import Times

__all__ = [
    "CaseSize",
    "FUZZING_SCHEMA",
    "Fate",
    "FoundCase",
    "FuzzRecord",
    "Job",
    "JobResult",
    "MUTATION_SCHEMA",
    "MutantRow",
    "MutationRecord",
    "MutationSummary",
    "REGRESSION_SCHEMA",
    "RegressionRecord",
    "SHRINKING_SCHEMA",
    "ShrinkRecord",
    "ShrunkRtl",
    "failures_first",
    "score_of",
]


# The record of ``mutate``: the fate of every mutant.


MUTATION_SCHEMA = "dais-verif/mutation/1"


class Fate:
    """The fate of a mutant, as named in rows."""

    SIMULATION = "killed by simulation"
    PROOF = "killed by proof"
    EQUIVALENT = "equivalent"
    UNKNOWN = "unknown"
    SURVIVED = "survived"
    UNSOUND = "unsound"
    INVALID = "invalid"


@dataclass(frozen=True)
class MutantRow:
    """A mutant: ``new`` replaces ``old`` in ``line`` of ``file``. ``op``: the op whose signal the statement assigns.

    ``fate``: one of ``Fate``. ``simulator``, ``vector``: the simulator and vector number of the first difference.
    ``proof``: the verdict of the prover, or ``refused``; None: the prover did not run. ``text``: the message of the
    prover. ``inputs``: a vector on which the mutant is wrong, found by the prover, as decimals.
    """

    number: int
    kind: str
    file: str
    line: int
    op: int | None
    old: str
    new: str
    fate: str
    simulator: str | None = None
    vector: int | None = None
    proof: str | None = None
    text: str = ""
    inputs: list[str] | None = None


@dataclass(frozen=True)
class MutationSummary:
    """The numbers of mutants by fate. ``mutants``: all mutants except ``invalid`` ones, which no tool can read.

    ``score``: the share of killed mutants among those that are not equivalent, in percent, rounded down; None if there
    are none.
    """

    mutants: int
    killed_by_simulation: int
    killed_by_proof: int
    equivalent: int
    unknown: int
    survived: int
    unsound: int
    invalid: int
    score: float | None

    @property
    def killed(self) -> int:
        """The number of killed mutants."""
        return self.killed_by_simulation + self.killed_by_proof

    @property
    def to_kill(self) -> int:
        """The number of mutants that a check can kill."""
        return self.mutants - self.equivalent

    def reaches(self, floor: float) -> bool:
        """Return True if at least ``floor`` percent of the killable mutants are killed; False without such mutants."""
        return self.to_kill > 0 and 100 * self.killed >= floor * self.to_kill


def score_of(killed: int, to_kill: int) -> float | None:
    """Return percent with two decimals, rounded down, so that 100 means all; None if there are no mutants."""
    return 10_000 * killed // to_kill / 100 if to_kill > 0 else None


@dataclass(frozen=True, kw_only=True, repr=False)
class MutationRecord(RunRecord):
    """A run of ``mutate``.

    ``verdict``: PASS if all mutants were judged and all requirements are met; UNSOUND if a mutant was proved that
    differs from the program in a simulator; else NOT_SIGNED_OFF.

    ``possible``: the number of possible mutants. ``vectors``: the number of simulated vectors. ``kinds``: for each kind
    of mutant, the number of mutants by fate. ``unexpected``: deviations from the manifest of expected judges.
    """

    SCHEMA: ClassVar = MUTATION_SCHEMA

    program: ProgramInfo
    rtl: RtlFacts
    judges: list[str]
    simulators: list[str]
    vectors: int
    seed: int
    possible: int
    summary: MutationSummary
    kinds: dict[str, dict[str, int]]
    mutants: list[MutantRow]
    unexpected: list[str]
    seconds: float
    warnings: list[str]
    reproduce: str


# The records of ``fuzz``, with the disagreements found, and ``shrink``, with the smallest case that still fails.


FUZZING_SCHEMA = "dais-verif/fuzzing/1"


@dataclass(frozen=True)
class FoundCase:
    """A case on which a pair disagreed. ``number``, ``seed``: those of the generated case; None for a replayed folder.

    ``ops``, ``vectors``: the numbers of ops and vectors of the smallest case. ``times``: the number of cases with the
    same cause, including this one. ``fails``: whether the case still fails; None if this was not checked, in which case
    ``text`` states why. ``complete``: False if the case is not fully shrunk, since its time was up.
    """

    pair: str
    kind: str
    text: str
    opcodes: list[str]
    ops: int
    vectors: int
    folder: str
    number: int | None = None
    seed: int | None = None
    times: int = 1
    fails: bool | None = True
    complete: bool = True


@dataclass(frozen=True, kw_only=True, repr=False)
class FuzzRecord(RunRecord):
    """A run of ``fuzz``.

    ``verdict``: PASS if all pairs agreed, DISAGREEMENT if a case was kept, NOT_RUN if nothing was compared.

    ``kind``: the kind of the cases. ``first``, ``cases``: the first number and the count of generated cases. ``pairs``:
    the number of cases that each pair judged; ``undecided``: the number of those without an answer, because there was
    nothing to compare or a proof was UNKNOWN. ``shapes``: the number of cases per shape. ``found``: kept cases, one per
    cause. ``left_out``: the number of disagreeing cases that were not examined, because many similar ones were.
    ``seconds``: wall time.
    """

    SCHEMA: ClassVar = FUZZING_SCHEMA

    seed: int
    first: int
    cases: int
    pairs: dict[str, int]
    shapes: dict[str, int]
    found: list[FoundCase]
    left_out: int
    seconds: float
    versions: dict[str, str]
    warnings: list[str]
    reproduce: str
    kind: str = "program"
    undecided: dict[str, int] = field(default_factory=dict)


SHRINKING_SCHEMA = "dais-verif/shrinking/1"


@dataclass(frozen=True)
class CaseSize:
    """The size of a case. ``computing``: the number of ops that are neither inputs nor constants."""

    ops: int
    computing: int
    inputs: int
    outputs: int
    vectors: int

    def __str__(self) -> str:
        counts = ((self.ops, "op"), (self.inputs, "input"), (self.outputs, "output"), (self.vectors, "vector"))
        return ", ".join(counted(count, what) for count, what in counts)


@dataclass(frozen=True)
class ShrunkRtl:
    """RTL that was shrunk with its program: ``files`` in the folder, the module ``top``, and the number of lines."""

    files: list[str]
    top: str
    lines_before: int
    lines: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ShrinkRecord(RunRecord):
    """A run of ``shrink``. ``verdict``: PASS if there is a smallest case, NOT_RUN if nothing fails.

    ``failure``: the failure in words. ``text``: the smallest program, as text. ``vectors``: the exact vectors of the
    smallest case. ``attempts``: the number of tried cases. ``complete``: no smaller case was left to try. ``folder``:
    the folder of the case. ``replay``: the command that shows the failure again. ``rtl``: the RTL of the case, if it
    has any.
    """

    SCHEMA: ClassVar = SHRINKING_SCHEMA
    LEFT_OUT_IF_NONE: ClassVar = ("rtl",)

    program: ProgramInfo
    failure: str
    before: CaseSize
    after: CaseSize
    text: str
    vectors: list[list[str]]
    attempts: int
    seconds: float
    complete: bool
    folder: str
    replay: str
    warnings: list[str]
    reproduce: str
    rtl: ShrunkRtl | None = None


# The record of a regression: many runs, each with its own record.


REGRESSION_SCHEMA = "dais-verif/regression/1"


@dataclass(frozen=True)
class Job:
    """One planned run.

    ``id``: unique in the regression, made from the other fields, such as ``p02_mlp_jet/emitted/both/0``. ``program``:
    the path as given. ``arguments``: the arguments of the command after the program.
    """

    id: str
    program: str
    variant: str
    simulator: str
    seed: int
    arguments: list[str]


@dataclass(frozen=True)
class JobResult:
    """The result of a job. ``attempts``: the verdicts of all its runs, in order; ``flaky`` if they differ.

    ``result``: the ``result.json`` of the attempt that ended in ``verdict``, relative to the folder of the regression.
    ``resumed``: the result is from before an interruption. ``skipped`` jobs (fail-fast) have the verdict NOT_RUN and no
    attempts. ``blame``: the place of a mismatch, and the first wrong op. ``bits_compared``: the number of bits that all
    simulators compared.
    """

    job: Job
    verdict: Verdict
    message: str
    seconds: float
    attempts: list[Verdict]
    flaky: bool = False
    result: str | None = None
    reproduce: str = ""
    worker: str = ""
    resumed: bool = False
    blame: str = ""
    bits_compared: int = 0


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionRecord(RunRecord):
    """A run of ``regress``.

    ``planned``: the number of jobs of this shard; ``jobs``: finished jobs, in the order of the plan. ``flaky``: the
    number of flaky jobs. ``state``: ``running`` until the run ends, then ``complete``.
    """

    SCHEMA: ClassVar = REGRESSION_SCHEMA
    EXIT_CODE_LAST: ClassVar = True

    planned: int
    reproduce: str
    jobs: list[JobResult] = field(default_factory=list)
    shard: str | None = None
    cluster: str | None = None
    tools: dict[str, str] = field(default_factory=dict)
    times: Times | None = None
    state: str = "complete"
    flaky: int = 0
    warnings: list[str] = field(default_factory=list)


def failures_first(jobs: Iterable[JobResult]) -> list[JobResult]:
    """Sort ``jobs`` for a reader: first failed ones, then those not run, then flaky ones, then all others.

    Within each group, jobs stay in the order of the plan.
    """
    return sorted(jobs, key=lambda job: (job.verdict is Verdict.PASS, not job.attempts, not job.flaky))
