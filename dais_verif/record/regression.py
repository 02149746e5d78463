"""The record of a regression: many runs, each with its own record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.simulation import Times
from dais_verif.verdict import Verdict

__all__ = ["REGRESSION_SCHEMA", "Job", "JobResult", "RegressionRecord", "failures_first"]

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
