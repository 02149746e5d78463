"""Executors of jobs: this machine, or workers of Dask, which is a separate package."""

from __future__ import annotations

import functools
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from dais_verif.campaigns.regression.job import Task, run_job, run_jointly
from dais_verif.campaigns.regression.launcher import Launcher
from dais_verif.record.campaigns import JobResult

__all__ = ["ENTRY", "PRELOAD", "Executor", "Local"]

#: The function that jobs call, and modules that they always need, which are loaded only once.
ENTRY = "dais_verif.doors.cli.main:main"
PRELOAD = (
    "dais_verif.doors.cli.sim",
    "dais_verif.report.live",
    "dais_verif.golden.fast",
    "dais_verif.simulation.verify",
    "dais_verif.verbs.simulate_jointly",
    "numpy.random",
    "rich.progress",
)


class Executor(Protocol):
    """An executor of tasks, which runs many at once."""

    def workers(self) -> int:
        """Return how many jobs can run at once now."""

    def submit(self, task: Task) -> Future[JobResult]:
        """Run ``task``; its future ends in ``Stopped`` or ``CancelledError`` if the executor is closed before."""

    def submit_jointly(self, tasks: Sequence[Task]) -> Future[list[JobResult | None]]:
        """Run ``tasks`` as one job; tasks with the result None must be submitted again, alone."""

    def doubts(self, ended: Future[JobResult]) -> bool:
        """Return True if a job failed, and another one that was under way at the same time may be the cause."""

    def running(self) -> list[str]:
        """Return the jobs that run now, as far as that is known."""

    def close(self) -> None:
        """End all tasks, and return when none of their processes is left."""


class Local:
    """An executor on this machine, which runs ``jobs`` jobs at once."""

    def __init__(self, jobs: int, entry: str = ENTRY, preload: tuple[str, ...] = PRELOAD) -> None:
        self._jobs = jobs
        self._launcher = Launcher(entry, preload)
        self._pool = ThreadPoolExecutor(jobs)
        self._closed = threading.Event()
        self._running: dict[str, None] = {}

    def workers(self) -> int:
        """Return how many jobs can run at once."""
        return self._jobs

    def submit(self, task: Task) -> Future[JobResult]:
        """Run ``task`` as soon as a thread is free."""
        return self._pool.submit(functools.partial(self._run, task))

    def submit_jointly(self, tasks: Sequence[Task]) -> Future[list[JobResult | None]]:
        """Run ``tasks`` as one job, as soon as a thread is free."""
        return self._pool.submit(functools.partial(self._run_jointly, tasks))

    def doubts(self, ended: Future[JobResult]) -> bool:
        """Return False: each job has a process of its own."""
        return False

    def running(self) -> list[str]:
        """Return the jobs that run now."""
        return list(self._running)

    def close(self) -> None:
        """End all tasks and their processes."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._launcher.close()
        self._pool.shutdown()
        self._launcher.close()

    def _run(self, task: Task) -> JobResult:
        with self._shown([task]):
            return run_job(task, self._launcher, socket.gethostname(), self._closed.is_set)

    def _run_jointly(self, tasks: Sequence[Task]) -> list[JobResult | None]:
        with self._shown(tasks):
            return run_jointly(tasks, self._launcher, socket.gethostname(), self._closed.is_set)

    @contextmanager
    def _shown(self, tasks: Sequence[Task]) -> Iterator[None]:
        self._running |= dict.fromkeys(task.job.id for task in tasks)
        try:
            yield
        finally:
            for task in tasks:
                self._running.pop(task.job.id, None)
