"""Run all jobs in order: each result is written at once, and the verdict is the worst of all."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from dais_verif.base.errors import ClusterFailure, ToolError
from dais_verif.base.files import write_atomically
from dais_verif.base.verdict import Verdict, worst
from dais_verif.campaigns.regression.executors import Executor
from dais_verif.campaigns.regression.job import Stopped, Task, reproduce
from dais_verif.campaigns.regression.journal import History, Journal, Past, read_journal
from dais_verif.campaigns.regression.plan import Planned, grouped, in_order
from dais_verif.campaigns.regression.watcher import RegressionWatcher
from dais_verif.record.campaigns import JobResult, RegressionRecord
from dais_verif.record.read import REGRESSION_NAME
from dais_verif.record.simulation import Times

__all__ = ["Settings", "run_jobs"]

_LOOK_SECONDS = 0.2
#: The least time between two writes of the growing record; all finished jobs are in the journal.
_WRITE_SECONDS = 2.0
_END_SECONDS = 30
#: So few jobs run alone after their common build failed.
_FEW = 4


@dataclass(frozen=True)
class Settings:
    """Settings of a regression.

    ``folder``: where everything is kept. ``take_over``: which valid results in the journal of that folder to reuse:
    ``none``, ``passed`` or ``all``. ``warnings``: reasons why the regression cannot pass, even if all jobs pass.
    ``jointly``: whether small jobs share builds. ``made_by``: a hash of the content of each tool and package.
    """

    folder: Path
    cwd: Path
    reproduce: str
    tools: Mapping[str, str]
    made_by: Mapping[str, str] = field(default_factory=dict)
    take_over: str = "none"
    fail_fast: bool = False
    retries: int = 1
    allow_flaky: bool = False
    threads: int = 1
    shard: str | None = None
    cluster: str | None = None
    warnings: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    jointly: bool = False


def run_jobs(
    plan: Sequence[Planned], executor: Executor, settings: Settings, history: History, watcher: RegressionWatcher
) -> RegressionRecord:
    """Run ``plan`` and return the record, which is also written into the folder, from time to time while jobs run.

    If interrupted by ``KeyboardInterrupt``, it writes a record of the finished jobs and re-raises the exception. The
    executor is closed in any case.
    """
    run = _Run(plan, settings, history, watcher)
    verdict = Verdict.INTERRUPTED
    try:
        try:
            run.begin()
            run.finish(executor)
            verdict = run.verdict()
        finally:
            executor.close()
    finally:
        record = run.write(verdict, "complete")
        run.journal.close()
    return record


class _Run:
    def __init__(
        self, plan: Sequence[Planned], settings: Settings, history: History, watcher: RegressionWatcher
    ) -> None:
        self._plan, self._settings, self._history, self._watcher = plan, settings, history, watcher
        self._results: dict[str, JobResult] = {}
        self._begun = time.monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._written = self._begun
        carry_on = settings.take_over != "none"
        self._kept = read_journal(settings.folder) if carry_on else {}
        self.journal = Journal(settings.folder, carry_on=carry_on)

    def begin(self) -> None:
        """Report the plan, and reuse results of finished jobs."""
        known = self._history.of(planned.past_key for planned in self._plan)
        self._past = known
        by_name = {planned.job.id: known[planned.past_key] for planned in self._plan if planned.past_key in known}
        self._watcher.jobs_planned(len(self._plan), by_name)
        for planned in self._plan:
            kept = self._kept.get(self._fingerprint(planned)) if self._kept else None
            if kept is not None and (kept.verdict is Verdict.PASS or self._takes(kept)):
                # The job's folder is unchanged, but its program may now have another relative path.
                kept = replace(kept, job=planned.job, reproduce=reproduce(planned.job), resumed=True)
                self._results[planned.job.id] = kept
                self._watcher.job_ends(kept)
        self.write(Verdict.NOT_RUN, "running")

    def _takes(self, kept: JobResult) -> bool:
        """Return True if a result that is no pass is reused: a failure of a tool, or of the machine, may be over."""
        passing = (Verdict.TOOL_FAILURE, Verdict.INTERNAL_ERROR, Verdict.INTERRUPTED)
        return self._settings.take_over == "all" and kept.verdict not in passing

    def finish(self, executor: Executor) -> None:
        """Run all remaining jobs."""
        waiting = [planned for planned in self._plan if planned.job.id not in self._results]
        ordered = in_order(waiting, self._past)
        rising = self._settings.take_over != "none"  # it was interrupted: results must come early
        workers = executor.workers()
        groups = (
            grouped(ordered, self._past, workers, rising=rising) if self._settings.jointly else [[p] for p in ordered]
        )
        futures: dict[Future[JobResult], tuple[Planned, str]] = {}
        joint: dict[Future[list[JobResult | None]], list[tuple[Planned, str]]] = {}
        suspects: list[Planned] = []  # they may have failed through others, so each runs again, alone
        alone: set[str] = set()

        def submit(planned: Planned) -> Future[JobResult]:
            future = executor.submit(self._task(planned))
            futures[future] = planned, self._fingerprint(planned)
            return future

        def start(group: Sequence[Planned]) -> Future[Any]:
            if len(group) == 1:
                return submit(group[0])
            many = executor.submit_jointly([self._task(planned) for planned in group])
            joint[many] = [(planned, self._fingerprint(planned)) for planned in group]
            return many

        for group in groups:
            if self._enough():
                break
            start(group)
        pending: set[Future[Any]] = {*futures, *joint}
        while (pending or suspects) and not self._enough():
            if not pending:
                alone.add(suspects[-1].job.id)
                pending.add(submit(suspects.pop()))
            finished, pending = wait(pending, _LOOK_SECONDS, FIRST_COMPLETED)
            for future in finished:
                if future in futures and futures[future][0].job.id not in alone and executor.doubts(future):
                    suspects.append(futures[future][0])
                elif future in futures:
                    self._collect(future.result, *futures[future])
                else:
                    for group in self._collect_jointly(future, joint[future]):
                        pending.add(start(group))
            self._watcher.jobs_running(executor.running(), executor.workers())
            if time.monotonic() - self._written > _WRITE_SECONDS:
                self.write(Verdict.NOT_RUN, "running")
        executor.close()
        # A future that was cancelled before it ran reports nothing, and would be awaited forever.
        for future in wait({future for future in pending if not future.cancelled()}, _END_SECONDS).done:
            with contextlib.suppress(CancelledError, Stopped):
                future.result()  # jobs that ended just before are collected, too
                if future in futures:
                    self._collect(future.result, *futures[future])
                else:
                    self._collect_jointly(future, joint[future])
        for planned in waiting:
            if planned.job.id not in self._results:
                self._results[planned.job.id] = _skipped(planned)

    def _enough(self) -> bool:
        """Return True if a failure makes the remaining jobs unnecessary."""
        return self._settings.fail_fast and any(r.verdict is not Verdict.PASS for r in self._results.values())

    def verdict(self) -> Verdict:
        """Return the worst verdict of all jobs; NOT_RUN if something requested is missing."""
        verdict = worst(result.verdict for result in self._results.values())
        return Verdict.NOT_RUN if verdict is Verdict.PASS and self._settings.warnings else verdict

    def write(self, verdict: Verdict, state: str) -> RegressionRecord:
        """Write the record as it is now into the folder, and return it."""
        results = [self._results[planned.job.id] for planned in self._plan if planned.job.id in self._results]
        record = RegressionRecord(
            verdict=verdict,
            message=self._message(verdict, results),
            planned=len(self._plan),
            reproduce=self._settings.reproduce,
            jobs=results,
            shard=self._settings.shard,
            cluster=self._settings.cluster,
            tools=dict(self._settings.tools),
            times=Times(self._started, round(time.monotonic() - self._begun, 3)),
            state=state,
            flaky=sum(result.flaky for result in results),
            warnings=list(self._settings.warnings),
        )
        write_atomically(self._settings.folder / REGRESSION_NAME, record.to_json().encode())
        self._written = time.monotonic()
        return record

    def _collect(self, outcome: Callable[[], JobResult], planned: Planned, fingerprint: str) -> None:
        """Store the ``outcome`` of a job. An exception is stored in the record, and the job may run again."""
        try:
            # The command may be installed elsewhere on a worker, but users copy the line on this machine.
            result = replace(outcome(), reproduce=reproduce(planned.job))
            if result.result is not None and not (self._settings.folder / result.result).is_file():
                place = f"{str(self._settings.folder)!r} is not the same folder on {result.worker} as it is here"
                raise ClusterFailure(f"{place}; workers must share the file system")
            self._results[planned.job.id] = result  # before the journal, since Ctrl-C may come between the two
            if self._fingerprint(planned) == fingerprint:  # otherwise the job may have used older files
                self.journal.add(fingerprint, result)
        except (CancelledError, Stopped):
            result = _failed(planned, "the cluster did not run the job: its scheduler was lost")
        except ToolError as error:
            result = _failed(planned, str(error))
        except Exception as error:  # an error of this job must not affect others
            text = " ".join(f"{type(error).__name__}: {error}".split())
            result = _failed(planned, f"the job could not be run: {text}")
        self._results[planned.job.id] = result
        self._history.note(planned.past_key, Past(result.verdict is Verdict.PASS, result.seconds))
        self._watcher.job_ends(result)

    def _collect_jointly(
        self, future: Future[list[JobResult | None]], jobs: Sequence[tuple[Planned, str]]
    ) -> list[list[Planned]]:
        """Store passes of jobs that shared a build; return the others, whose results are unknown, in groups.

        If none passed, one job may have broken the common build: the jobs run again in two halves.
        """
        try:
            results = future.result()
        except (Exception, CancelledError):
            results = [None] * len(jobs)
        if len(jobs) > _FEW and not any(results):
            again, middle = [planned for planned, _ in jobs], len(jobs) // 2
            return [again[:middle], again[middle:]]
        for (planned, fingerprint), result in zip(jobs, results, strict=True):
            if result is not None:
                self._collect(partial(_known, result), planned, fingerprint)
        return [[planned] for (planned, _), result in zip(jobs, results, strict=True) if result is None]

    def _message(self, verdict: Verdict, results: Sequence[JobResult]) -> str:
        passed = sum(result.verdict is Verdict.PASS for result in results)
        failed = sum(bool(result.attempts) for result in results) - passed
        skipped = sum(not result.attempts for result in results)
        missing = len(self._plan) - len(results)
        parts = [f"{passed} of {len(self._plan)} jobs passed"]
        for number, what in ((failed, "failed"), (skipped, "skipped"), (missing, "not finished")):
            parts += [f"{number} {what}"] if number else []
        flaky = sum(result.flaky for result in results)
        parts += [f"{flaky} flaky"] if flaky else []
        sentences = [", ".join(parts) if self._plan else "no job was planned: nothing was compared"]
        if verdict is Verdict.INTERRUPTED:
            sentences.append("use --resume to continue")
        return "; ".join([*sentences, *self._settings.warnings])

    def _fingerprint(self, planned: Planned) -> str:
        said = self._settings
        return planned.fingerprint((said.retries, said.allow_flaky), {**said.tools, **said.made_by}, said.cwd)

    def _task(self, planned: Planned) -> Task:
        said = self._settings
        return Task(
            planned.job,
            said.folder,
            f"jobs/{planned.folder}",
            said.cwd,
            planned.timeout,
            said.retries,
            said.allow_flaky,
            said.threads,
            said.env,
            planned.options,
            planned.files,
        )


def _known(result: JobResult) -> JobResult:
    """Return ``result``; ``partial(_known, result)`` is the outcome of a job that has ended."""
    return result


def _skipped(planned: Planned) -> JobResult:
    return JobResult(
        planned.job,
        Verdict.NOT_RUN,
        "skipped: an earlier job failed",
        0.0,
        [],
        reproduce=reproduce(planned.job),
    )


def _failed(planned: Planned, message: str) -> JobResult:
    verdict = Verdict.TOOL_FAILURE
    return JobResult(planned.job, verdict, message, 0.0, [verdict], reproduce=reproduce(planned.job))
