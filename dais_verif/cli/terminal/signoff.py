"""The progress of a sign-off: the stage that runs, as a line that goes away; those that ended, as lines that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dais_verif.cli.common import notices
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.record.signoff import StageResult
from dais_verif.report.words import stage_word

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["SignOffProgress"]


class SignOffProgress(TerminalProgress):
    """Shows the stages within what the flow says that it works on."""

    def __init__(self) -> None:
        super().__init__()
        self._status: Status | None = None

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a line that goes away again."""
        with notices().status(what) as self._status:
            yield self._status.update

    def stage_begins(self, name: str, number: int, total: int) -> None:
        """Show that stage ``name`` runs."""
        if self._status is not None:
            self._status.update(f"{number} of {total}: {name} ...")

    def stage_ends(self, result: StageResult) -> None:
        """Print what became of it."""
        if self._status is not None:
            line = f"{result.name}: {stage_word(result)}, {result.seconds:.1f} s"
            self._status.console.print(line, markup=False, style="dim")
