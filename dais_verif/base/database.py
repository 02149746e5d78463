"""Store earlier results in an SQLite database. It is only a cache, so its errors never stop a run.

A damaged database is removed, so that the next writer creates a new one; a database in use or read-only is kept.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["read", "write"]

_T = TypeVar("_T")
_SECONDS = 5
#: Suffixes of the files that SQLite keeps next to a database; files left from another database would corrupt it.
_BESIDE = ("-journal", "-wal", "-shm")
#: Operational errors about the content of the file. Other errors are about the system: locks, rights, a full disk.
_OF_CONTENT = ("no such column", "has no column", "because it is a view", "malformed", "could not decode")


def read(path: Path, ask: Callable[[sqlite3.Connection], _T], nothing: _T) -> _T:
    """Return the result of ``ask`` on the database at ``path``, or ``nothing`` if reading fails."""
    if not path.is_file():
        return nothing
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_SECONDS)) as connection:
            return ask(connection)
    except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
        _remove_damaged(path, error)
    return nothing


def write(path: Path, keep: Callable[[sqlite3.Connection], None]) -> None:
    """Let ``keep`` write into the database at ``path``; a damaged database is created again, failures are ignored."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(2):
            try:
                with contextlib.closing(sqlite3.connect(path, timeout=_SECONDS)) as connection, connection:
                    keep(connection)
            except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
                if _remove_damaged(path, error):
                    continue
            return


def _remove_damaged(path: Path, error: Exception) -> bool:
    """Remove the database if ``error`` means that it is damaged; return True if it was removed."""
    text = str(error).lower()
    if isinstance(error, sqlite3.OperationalError) and not any(words in text for words in _OF_CONTENT):
        return False
    try:
        path.unlink(missing_ok=True)
        for suffix in _BESIDE:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError:
        return False
    return True
