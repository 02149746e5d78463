"""Listeners for the progress of a simulation."""

from __future__ import annotations

__all__ = ["SimulationWatcher"]


class SimulationWatcher:
    """Told of what goes on; this one does nothing."""

    def notice(self, text: str) -> None:
        """Take a step, in words."""

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Take how many vectors ``simulator`` has run."""
