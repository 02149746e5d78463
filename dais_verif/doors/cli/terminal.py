"""The progress of a flow on the terminal: warnings and steps on stderr, and bars if stderr is a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dais_verif.doors.cli.common import ShownWarnings, notices
from dais_verif.report.spoken import spoken

if TYPE_CHECKING:
    from dais_verif.report.live import Display

__all__ = ["TerminalProgress"]


def _nothing(text: str) -> None:
    """Drop the text."""


class TerminalProgress(ShownWarnings):
    """A listener that shows the reports of a flow. The module for drawing is only loaded when needed."""

    def __init__(self) -> None:
        self._display: Display | None = None

    def notice(self, text: str) -> None:
        """Print a step above the lines of simulators."""
        if spoken().quiet:
            return
        if self._display is not None:
            self._display.notice(text)
        else:
            notices().print(text, markup=False)

    def stage(self, name: str) -> None:
        """Show the current stage of a simulator in its line."""
        if spoken().verbose:
            self.notice(name)
        if self._display is not None:
            self._display.stage(name)

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Show the number of vectors that ``simulator`` has run."""
        if self._display is not None:
            self._display.vectors(simulator, done, total)

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a line that disappears after the block; with ``-v``, a line that stays, with the time."""
        if spoken().quiet:
            yield _nothing
            return
        begin = time.monotonic()
        with notices().status(what) as status:
            yield status.update
        if spoken().verbose:
            notices().print(f"{what.rstrip(' .')}: {time.monotonic() - begin:.1f} s", markup=False)

    @contextmanager
    def simulators(self) -> Iterator[None]:
        """Show a line for each simulator while the block runs."""
        if spoken().quiet:
            yield
            return
        from dais_verif.report.live import Display

        with Display(notices()) as display:
            self._display = display
            try:
                yield
            finally:
                self._display = None
