"""Lines and indentation; nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Writer"]


class Writer:
    """Collects lines of text."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._level = 0

    def line(self, text: str) -> None:
        """Add one line at the current indentation."""
        self._lines.append("  " * self._level + text)

    @contextmanager
    def indent(self) -> Iterator[None]:
        """Lines written inside stand one level deeper."""
        self._level += 1
        yield
        self._level -= 1

    def text(self) -> str:
        """All lines, each ended by a newline."""
        return "\n".join(self._lines) + "\n"
