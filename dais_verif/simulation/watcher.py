"""Listeners for the progress of a simulation."""

from __future__ import annotations

__all__ = ["SimulationWatcher"]


class SimulationWatcher:
    """Receives the progress of a simulation; this base class ignores it."""

    def notice(self, text: str) -> None:
        """Receive a description of the current step."""

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Receive the number of vectors that ``simulator`` has run."""
