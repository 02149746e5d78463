"""Listeners for the progress of a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dais_verif.campaigns.regression.journal import Past
    from dais_verif.record.campaigns import JobResult

__all__ = ["RegressionWatcher"]


class RegressionWatcher:
    """A receiver of reports about jobs; this class ignores them."""

    def jobs_planned(self, jobs: int, past: Mapping[str, Past]) -> None:
        """Take the number of planned ``jobs``; ``past``: their earlier results, by name."""

    def job_ends(self, result: JobResult) -> None:
        """Take the result of a job, of this run or of the resumed one."""

    def jobs_running(self, names: Sequence[str], workers: int) -> None:
        """Note which jobs run now, on how many workers; called several times a second."""
