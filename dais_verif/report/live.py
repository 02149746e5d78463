"""The progress display of simulators: a line for each simulator, with its step, a bar and vectors per second."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dais_verif.base.text import printable
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import JobResult
from dais_verif.report.console import verdict_text

__all__ = ["Display", "duration", "job_word", "regression_table", "seconds_left"]


class Display:
    """Lines that disappear on a terminal; elsewhere plain lines, one per step."""

    def __init__(self, err: Console) -> None:
        self._err = err
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("vectors"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def notice(self, text: str) -> None:
        """Show a step, in words."""
        if self._err.is_terminal:
            self._progress.console.print(text, markup=False, style="dim")
        else:
            self._err.print(text, markup=False)

    def stage(self, name: str) -> None:
        """Show that stage ``name`` begins; for stages of a simulator it starts with the simulator's name."""
        simulator, _, step = name.partition(" ")
        if step == "replay":
            self._progress.update(self._task(f"{simulator} replay"), description=f"{simulator} replay")
        elif step in ("compile", "verilate", "run"):
            self._progress.update(self._task(simulator), description=f"{simulator} {step}")

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Show the number of vectors that ``simulator`` has run."""
        self._progress.update(self._task(simulator), completed=done, total=total)

    def _task(self, simulator: str) -> TaskID:
        with self._lock:
            if simulator not in self._tasks:
                self._tasks[simulator] = self._progress.add_task(simulator, total=None)
            return self._tasks[simulator]


# The live table of a running regression.


_SHOWN_FAILURES = 12
_SHOWN_RUNNING = 8
_LONGEST_NAME = 60


def regression_table(
    jobs: int, results: Sequence[JobResult], running: Sequence[str], workers: int, elapsed: float, left: float
) -> Group:
    """Return a table of counts, the latest failures and the ``running`` jobs. ``elapsed``, ``left``: seconds."""
    passed = sum(result.verdict is Verdict.PASS for result in results)
    failed = [result for result in results if result.verdict is not Verdict.PASS]
    flaky = sum(result.flaky for result in results)
    head = Text.assemble(
        f"{len(results)} of {jobs} jobs  ",
        (f"{passed} passed", "green"),
        "  ",
        (f"{len(failed)} failed", "red" if failed else "dim"),
        *([f"  {flaky} flaky"] if flaky else []),
        f"  {duration(elapsed)}",
        f", about {duration(left)} left" if results else "",
        f"  {workers} workers",
    )
    bar = Table.grid()
    bar.add_row(ProgressBar(max(jobs, 1), len(results), width=60))
    table = Table(box=None, pad_edge=False, show_header=False)
    for result in failed[-_SHOWN_FAILURES:]:
        table.add_row(verdict_text(result.verdict, ""), Text(_short(result.job.id)), Text(_short(result.message)))
    for name in running[:_SHOWN_RUNNING]:
        table.add_row(Text("running", style="dim"), Text(_short(name)), "")
    return Group(head, bar, table)


def seconds_left(jobs: int, results: Sequence[JobResult], known: Sequence[float], workers: int) -> float:
    """Estimate the seconds of all remaining jobs: their ``known`` seconds, else the average of finished jobs."""
    own = [result.seconds for result in results if not result.resumed and result.attempts]
    usual = sum(own) / len(own) if own else 0.0
    return (sum(known) + (jobs - len(results) - len(known)) * usual) / max(workers, 1)


def job_word(result: JobResult) -> str:
    """Return the outcome of a job: verdict, remarks, seconds."""
    word = f"{result.verdict.value}{' (flaky)' if result.flaky else ''}{' (resumed)' if result.resumed else ''}"
    return word if result.resumed else f"{word} {result.seconds:.1f} s"


def duration(seconds: float) -> str:
    """Return a duration as ``45 s``, ``3:05`` or ``2:00:00``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST_NAME else f"…{text[-_LONGEST_NAME + 1 :]}"
