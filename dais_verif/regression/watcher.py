"""Listeners for the progress of a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dais_verif.record.regression import JobResult
    from dais_verif.regression.history import Past

__all__ = ["RegressionWatcher"]


class RegressionWatcher:
    """Told of the jobs; this one does nothing."""

    def jobs_planned(self, jobs: int, past: Mapping[str, Past]) -> None:
        """Take that ``jobs`` are planned; ``past``: what is known of them, by name."""

    def job_ends(self, result: JobResult) -> None:
        """Take what became of a job, in this run or in the one that was taken over."""

    def jobs_running(self, names: Sequence[str], workers: int) -> None:
        """Note which jobs run now, on how many workers; called several times a second."""
