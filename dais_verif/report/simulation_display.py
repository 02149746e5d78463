"""The progress display of simulators: a line for each simulator, with its step, a bar and vectors per second."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

__all__ = ["Display"]


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
