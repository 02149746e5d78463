"""How jobs ended in earlier runs on this machine: it decides in which order they run, and nothing else.

A file that is none of ours, broken or not to be written, counts as no history.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["History", "Past"]

_SECONDS = 5


class Past(NamedTuple):
    """Whether a job passed when it last ran, and its seconds."""

    passed: bool
    seconds: float


class History:
    """The history kept in the file ``path``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, keys: Iterable[str]) -> dict[str, Past]:
        """What is known of the jobs ``keys``."""
        found: dict[str, Past] = {}
        with contextlib.suppress(sqlite3.Error, OSError, TypeError, ValueError), self._open() as file:
            for key in keys:
                for passed, seconds in file.execute("SELECT passed, seconds FROM past WHERE job = ?", (key,)):
                    found[key] = Past(bool(passed), float(seconds))
        return found

    def note(self, key: str, past: Past) -> None:
        """Remember how job ``key`` ended."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as file:
            row = (key, past.passed, past.seconds)
            file.execute("INSERT OR REPLACE INTO past VALUES (?, ?, ?)", row)
            file.commit()

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self._path, timeout=_SECONDS)) as file:
            file.execute("PRAGMA synchronous = OFF")
            file.execute("CREATE TABLE IF NOT EXISTS past (job TEXT PRIMARY KEY, passed INTEGER, seconds REAL)")
            yield file
