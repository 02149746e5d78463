"""The journal of finished jobs, one JSON line each, so that they need not run again after an interruption."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import msgspec

from dais_verif.record.base import to_tree
from dais_verif.record.regression import JobResult
from dais_verif.structs import decoded

__all__ = ["Journal", "read_journal"]

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
