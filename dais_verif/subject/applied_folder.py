"""Folders of ``approx apply``: a network under a configuration, as a program, with its source files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from dais_verif.base.errors import NetworkInputError
from dais_verif.base.files import read_plain

__all__ = ["CONFIGURATION", "MANIFEST", "PROGRAM", "applied_program", "files_beside"]

#: The manifest: the applied configuration and its target, with the hashes of all files and of the program.
MANIFEST = "applied.json"
PROGRAM, CONFIGURATION = "program.bin", "configuration.txt"
_MOST_BYTES = 1 << 30


def applied_program(folder: Path) -> Path | None:
    """Return the program in a folder of ``approx apply``; None if it is not such a folder.

    Raises ``InputError`` if one of its files was changed, or is missing.
    """
    if not (folder / MANIFEST).is_file():
        return None
    for name, wanted in _told(folder / MANIFEST)[1].items():
        if _sha256(folder / name) != wanted:
            raise NetworkInputError(
                f"{str(folder / name)!r} was changed since approx apply wrote it; write the folder again"
            )
    return folder / PROGRAM


def files_beside(program: Path, program_hash: str) -> list[Path]:
    """Return the files next to ``program`` that name its configuration; none if it is not from ``approx apply``.

    Raises ``InputError`` if the files are for another program, or were changed.
    """
    manifest = program.with_name(MANIFEST)
    if program.name != PROGRAM or not manifest.is_file():
        return []
    applied_program(program.parent)
    told, files = _told(manifest)
    if told != program_hash:
        raise NetworkInputError(
            f"{str(manifest)!r} belongs to program {told}, but the folder holds program {program_hash}; write it again"
        )
    return [manifest, *(program.with_name(name) for name in files if name != PROGRAM)]


def _told(manifest: Path) -> tuple[str, dict[str, str]]:
    """Return the hash of the program, and of each file."""
    try:
        found = json.loads(read_plain(manifest, _MOST_BYTES))
        program, files = found["program"], found["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        program, files = None, None
    plain = isinstance(files, dict) and set(files) <= {PROGRAM, CONFIGURATION} and PROGRAM in files
    if not isinstance(program, str) or not plain or not all(isinstance(one, str) for one in files.values()):
        raise NetworkInputError(f"{str(manifest)!r} was not written by approx apply; write the folder again")
    return program, files


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_plain(path, _MOST_BYTES)).hexdigest()
