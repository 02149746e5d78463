"""Write lines of text with indentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["Writer"]

_WIDTH = 120


class Writer:
    """Collects lines of text."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._level = 0

    def line(self, text: str) -> None:
        """Add one line at the current indentation."""
        self._lines.append("  " * self._level + text)

    def wrapped(self, head: str, words: Sequence[str], tail: str) -> None:
        """Add ``words`` between ``head`` and ``tail``: on one line, or on lines of ``_WIDTH`` columns."""
        joined = " ".join(words)
        if len(joined) <= _WIDTH:
            self.line(f"{head}{joined}{tail}")
            return
        self.line(head)
        with self.indent():
            for row in textwrap.wrap(joined, _WIDTH, break_long_words=False, break_on_hyphens=False):
                self.line(row)
        self.line(tail)

    @contextmanager
    def indent(self) -> Iterator[None]:
        """Indent the lines that are added in the block by one more level."""
        self._level += 1
        yield
        self._level -= 1

    def text(self) -> str:
        """Return all lines, each ended by a newline."""
        return "\n".join(self._lines) + "\n"
