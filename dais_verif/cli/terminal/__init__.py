"""The progress of a flow on the terminal: warnings and steps on stderr, and bars if stderr is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dais_verif.cli.common import ShownWarnings, notices

if TYPE_CHECKING:
    from dais_verif.report.simulation_display import Display

__all__ = ["TerminalProgress"]


class TerminalProgress(ShownWarnings):
    """A listener that shows the reports of a flow. The module for drawing is only loaded when needed."""

    def __init__(self) -> None:
        self._display: Display | None = None

    def notice(self, text: str) -> None:
        """Print a step above the lines of simulators."""
        if self._display is not None:
            self._display.notice(text)
        else:
            notices().print(text, markup=False)

    def stage(self, name: str) -> None:
        """Show the current stage of a simulator in its line."""
        if self._display is not None:
            self._display.stage(name)

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Show the number of vectors that ``simulator`` has run."""
        if self._display is not None:
            self._display.vectors(simulator, done, total)

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a line that disappears after the block."""
        with notices().status(what) as status:
            yield status.update

    @contextmanager
    def simulators(self) -> Iterator[None]:
        """Show a line for each simulator while the block runs."""
        from dais_verif.report.simulation_display import Display

        with Display(notices()) as display:
            self._display = display
            try:
                yield
            finally:
                self._display = None
