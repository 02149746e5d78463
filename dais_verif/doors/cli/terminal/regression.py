"""The progress of a regression: a table that is updated on a terminal; else one line per job."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.record.campaigns import JobResult
from dais_verif.report.live import job_word, regression_table, seconds_left

if TYPE_CHECKING:
    from dais_verif.verbs.regress import Past

__all__ = ["RegressDisplay"]


class RegressDisplay(TerminalProgress):
    """The counts of jobs, the running and the failed jobs, and the estimated time left."""

    def __init__(self, err: Console) -> None:
        super().__init__()
        self._err = err
        self._live = Live(console=err, transient=True, refresh_per_second=4, auto_refresh=False)
        self._jobs = 0
        self._past: Mapping[str, Past] = {}
        self._results: list[JobResult] = []
        self._done: set[str] = set()
        self._running: Sequence[str] = ()
        self._workers = 1
        self._begun = time.monotonic()

    def __enter__(self) -> RegressDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def jobs_planned(self, jobs: int, past: Mapping[str, Past]) -> None:
        """Show the table."""
        self._jobs, self._past, self._begun = jobs, past, time.monotonic()
        if self._err.is_terminal:
            self._live.start()
        else:
            self._err.print(counted(jobs, "job"), markup=False)

    def job_ends(self, result: JobResult) -> None:
        """Print a line for the job if stderr is not a terminal."""
        self._results.append(result)
        self._done.add(result.job.id)
        if not self._err.is_terminal:
            text = f"[{len(self._results)}/{self._jobs}] {job_word(result)}  {result.job.id}"
            more = f"  {result.message}" if result.verdict is not Verdict.PASS else ""
            self._err.print(f"{text}{more}", markup=False)

    def jobs_running(self, names: Sequence[str], workers: int) -> None:
        """Draw the table again."""
        self._running, self._workers = names, workers
        if self._err.is_terminal:
            elapsed = time.monotonic() - self._begun
            known = [past.seconds for name, past in self._past.items() if name not in self._done]
            left = seconds_left(self._jobs, self._results, known, self._workers)
            table = regression_table(self._jobs, self._results, self._running, self._workers, elapsed, left)
            self._live.update(table, refresh=True)
