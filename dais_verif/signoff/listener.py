"""Listeners for the progress of a sign-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dais_verif.record.signoff import StageResult

__all__ = ["SignOffListener"]


class SignOffListener:
    """Told of the stages; this one does nothing."""

    def stage_begins(self, name: str, number: int, total: int) -> None:
        """Take that stage ``name`` begins, the ``number``-th of ``total``."""

    def stage_ends(self, result: StageResult) -> None:
        """Take what became of a stage."""
