"""The results of jobs in earlier runs on this machine, which only determine the order of jobs.

A file that is not a history, is damaged or cannot be written counts as an empty history.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dais_verif import database

__all__ = ["History", "Past"]


class Past(NamedTuple):
    """The result of a job's last run, and its duration in seconds."""

    passed: bool
    seconds: float


class History:
    """The history kept in the file ``path``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, keys: Iterable[str]) -> dict[str, Past]:
        """Return the results known for the jobs ``keys``."""

        def ask(file: sqlite3.Connection) -> dict[str, Past]:
            found: dict[str, Past] = {}
            for key in keys:
                for passed, seconds in file.execute("SELECT passed, seconds FROM past WHERE job = ?", (key,)):
                    found[key] = Past(bool(passed), float(seconds))
            return found

        return database.read(self._path, ask, {})

    def note(self, key: str, past: Past) -> None:
        """Store the result of job ``key``."""

        def keep(file: sqlite3.Connection) -> None:
            file.execute("PRAGMA synchronous = OFF")
            file.execute("CREATE TABLE IF NOT EXISTS past (job TEXT PRIMARY KEY, passed INTEGER, seconds REAL)")
            row = (key, past.passed, past.seconds)
            file.execute("INSERT OR REPLACE INTO past (job, passed, seconds) VALUES (?, ?, ?)", row)

        database.write(self._path, keep)
