"""What a person sees of a regression while it runs: a table that stays in place, or a line a job where there is no
terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dais_verif.cli.terminal import TerminalProgress
from dais_verif.printable import printable
from dais_verif.record.regression import JobResult
from dais_verif.report.console import verdict_text
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.regression.history import Past

__all__ = ["RegressDisplay", "duration"]

_SHOWN_FAILURES = 12
_SHOWN_RUNNING = 8
_LONGEST_NAME = 60


class RegressDisplay(TerminalProgress):
    """Counts, what runs, what failed so far, and when it may be over."""

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
        """The table appears."""
        self._jobs, self._past, self._begun = jobs, past, time.monotonic()
        if self._err.is_terminal:
            self._live.start()
        else:
            self._err.print(f"{jobs} jobs", markup=False)

    def job_ends(self, result: JobResult) -> None:
        """A line, where there is no terminal."""
        self._results.append(result)
        self._done.add(result.job.id)
        if not self._err.is_terminal:
            text = f"[{len(self._results)}/{self._jobs}] {_word(result)}  {result.job.id}"
            more = f"  {result.message}" if result.verdict is not Verdict.PASS else ""
            self._err.print(f"{text}{more}", markup=False)

    def jobs_running(self, names: Sequence[str], workers: int) -> None:
        """The table is drawn again."""
        self._running, self._workers = names, workers
        if self._err.is_terminal:
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Group:
        passed = sum(result.verdict is Verdict.PASS for result in self._results)
        failed = [result for result in self._results if result.verdict is not Verdict.PASS]
        flaky = sum(result.flaky for result in self._results)
        head = Text.assemble(
            f"{len(self._results)} of {self._jobs} jobs  ",
            (f"{passed} passed", "green"),
            "  ",
            (f"{len(failed)} failed", "red" if failed else "dim"),
            *([f"  {flaky} flaky"] if flaky else []),
            f"  {duration(time.monotonic() - self._begun)}",
            f", about {duration(self._left())} left" if self._results else "",
            f"  {self._workers} workers",
        )
        bar = Table.grid()
        bar.add_row(ProgressBar(max(self._jobs, 1), len(self._results), width=60))
        table = Table(box=None, pad_edge=False, show_header=False)
        for result in failed[-_SHOWN_FAILURES:]:
            table.add_row(verdict_text(result.verdict, ""), Text(_short(result.job.id)), Text(_short(result.message)))
        for name in self._running[:_SHOWN_RUNNING]:
            table.add_row(Text("running", style="dim"), Text(_short(name)), "")
        return Group(head, bar, table)

    def _left(self) -> float:
        """Seconds: what is known of the jobs that are left, or what those that ended took."""
        own = [result.seconds for result in self._results if not result.resumed and result.attempts]
        usual = sum(own) / len(own) if own else 0.0
        known = [past.seconds for name, past in self._past.items() if name not in self._done]
        unknown = self._jobs - len(self._results) - len(known)
        return (sum(known) + unknown * usual) / max(self._workers, 1)


def duration(seconds: float) -> str:
    """``45 s``, ``3:05``, ``2:00:00``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _word(result: JobResult) -> str:
    word = f"{result.verdict.value}{' (flaky)' if result.flaky else ''}{' (taken over)' if result.resumed else ''}"
    return word if result.resumed else f"{word} {result.seconds:.1f} s"


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST_NAME else f"…{text[-_LONGEST_NAME + 1 :]}"
