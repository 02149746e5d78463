"""The journal of finished jobs, one JSON line each, so that they need not run again after an interruption."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from dais_verif.base import database
from dais_verif.base.structs import decoded
from dais_verif.record.base import to_tree
from dais_verif.record.campaigns import JobResult

__all__ = ["History", "Journal", "Past", "read_journal"]


NAME = "journal.jsonl"


class _Line(msgspec.Struct):
    fingerprint: str
    result: JobResult


def read_journal(folder: Path) -> dict[str, JobResult]:
    """Return the results of the run in ``folder``, the last one for each fingerprint.

    Incomplete lines are ignored, and so are results whose file is missing.
    """
    found: dict[str, JobResult] = {}
    try:
        lines = (folder / NAME).read_bytes().split(b"\n")[:-1]
    except OSError:
        return {}
    for text in lines:
        try:
            line = decoded(text, _Line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if line.result.result is None or (folder / line.result.result).is_file():
            found[line.fingerprint] = line.result
    return found


class Journal:
    """The journal of the run in ``folder``: a new one, or the existing one, which is continued."""

    def __init__(self, folder: Path, *, carry_on: bool) -> None:
        self._file = (folder / NAME).open("ab" if carry_on else "wb", buffering=0)
        if carry_on:  # remove an incomplete last line, so that no line is appended to it
            text = (folder / NAME).read_bytes()
            self._file.truncate(text.rfind(b"\n") + 1)

    def add(self, fingerprint: str, result: JobResult) -> None:
        """Append ``result``, and wait until it is on the disk."""
        self._file.write(_line(fingerprint, result))
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _line(fingerprint: str, result: JobResult) -> bytes:
    tree = {"fingerprint": fingerprint, "result": to_tree(replace(result, resumed=False))}
    return json.dumps(tree).encode() + b"\n"


# The results of jobs in earlier runs on this machine, which only determine the order of jobs.
#
# A file that is not a history, is damaged or cannot be written counts as an empty history.


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
