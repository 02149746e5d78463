"""Progress reports of a flow. By default they are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dais_verif.base.errors import DaisError, RequestError
from dais_verif.campaigns.regression.watcher import RegressionWatcher
from dais_verif.signoff.listener import SignOffListener
from dais_verif.simulation.watcher import SimulationWatcher

__all__ = ["SILENT", "Progress", "SimulationWatcher", "listener"]


def _nothing(text: str) -> None:
    """Drop the report."""


class Progress(SimulationWatcher, SignOffListener, RegressionWatcher):
    """Listen to a flow. This class shows nothing; a subclass overrides the methods whose reports it shows."""

    def warning(self, text: str) -> None:
        """Take a warning, which is also in the record."""

    def spelled(self, error: DaisError) -> str:
        """Return the message of an error for a record, with arguments named as in the caller's interface."""
        return str(error)

    def stage(self, name: str) -> None:
        """Take the name of a stage that begins; for stages of a simulator it starts with the simulator's name."""

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show ``what`` while the block runs; yields a function that replaces the text."""
        yield _nothing

    @contextmanager
    def simulators(self) -> Iterator[None]:
        """Show ``stage`` and ``vectors`` while the block runs."""
        yield


#: A listener that ignores everything, for any number of flows.
SILENT = Progress()


def listener(progress: object) -> Progress:
    """Return ``progress``, or a listener that drops reports if it is None. Raises ``RequestError`` for other types."""
    if progress is None:
        return SILENT
    if not isinstance(progress, Progress):
        raise RequestError(f"progress must be a dais_verif.Progress, not of type {type(progress).__name__}.")
    return progress
