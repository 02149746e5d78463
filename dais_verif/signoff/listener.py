"""Listeners for the progress of a sign-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dais_verif.record.signoff import StageResult

__all__ = ["SignOffListener"]


class SignOffListener:
    """Receives the progress of the stages; this base class ignores it."""

    def stage_begins(self, name: str, number: int, total: int) -> None:
        """Receive the start of stage ``name``, the ``number``-th of ``total``."""

    def stage_ends(self, result: StageResult) -> None:
        """Receive the result of a stage."""
