"""The progress of a sign-off on the terminal: a temporary line for the running stage, lines for finished stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dais_verif.doors.cli.common import notices
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.record.signoff import StageResult
from dais_verif.report.spoken import spoken
from dais_verif.report.verdict_words import stage_word

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["SignOffProgress"]


class SignOffProgress(TerminalProgress):
    """A listener that shows stages in the line of the work that contains them."""

    def __init__(self) -> None:
        super().__init__()
        self._status: Status | None = None

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a line, in which stages are shown, and which disappears after the block."""
        if spoken().quiet:
            with super().working(what) as tell:
                yield tell
            return
        with notices().status(what) as self._status:
            yield self._status.update

    def stage_begins(self, name: str, number: int, total: int) -> None:
        """Show that stage ``name`` runs."""
        if self._status is not None:
            self._status.update(f"{number} of {total}: {name} ...")

    def stage_ends(self, result: StageResult) -> None:
        """Print the result of a stage."""
        if self._status is not None:
            line = f"{result.name}: {stage_word(result)}, {result.seconds:.1f} s"
            self._status.console.print(line, markup=False, style="dim")
