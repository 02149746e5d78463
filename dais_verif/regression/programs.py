"""Find the files of a regression, from a file, a folder or a glob, with their names."""

from __future__ import annotations

import glob
import gzip
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SUFFIXES", "Found", "find", "names_of", "stem_of"]

#: Suffixes of programs, machines and networks; a JSON file counts if it is a list or begins like alkaid's files.
SUFFIXES = (".bin", ".bin.gz", ".dais", ".mach", ".onnx", ".json", ".json.gz")
_ALIR = re.compile(rb'\s*\{\s*("model"\s*:|"meta"\s*:\s*"(ALIRModel|ALIRFSM|DAISModel)"|"spec_version"\s*:)')
#: A folder with one of these files was written by a run of dais-verif, and holds no programs.
_OURS = ("result.json", "regression.json", "signoff.json")


@dataclass(frozen=True)
class Found:
    """A program at ``path``; ``name``: its path relative to the requested folder, if any."""

    path: Path
    name: str


def find(pattern: str) -> list[Found]:
    """Return the programs that match ``pattern``, sorted; none if a folder holds none, or a glob matches nothing.

    A path without a pattern is always a program; errors are left to its reader.
    """
    path = Path(pattern)
    if path.is_dir():
        return [Found(file, file.relative_to(path).as_posix()) for file in _walk(path)]
    if path.exists() or not glob.has_magic(pattern):
        return [Found(path, path.name)]
    found: list[Found] = []
    for match in sorted(glob.glob(pattern, recursive=True)):
        found += find(match) if Path(match).is_dir() or _is_program(Path(match)) else []
    return found


def names_of(found: Iterable[Found]) -> dict[Path, str]:
    """Return a unique name for each program, by its real path: its own name, with as many folders as necessary."""
    names: dict[Path, str] = {}
    for each in found:
        names.setdefault(_real(each.path), each.name)
    while True:
        by_name: dict[str, list[Path]] = {}
        for path, name in names.items():
            by_name.setdefault(name, []).append(path)
        twice = [path for paths in by_name.values() if len(paths) > 1 for path in paths]
        if not twice:
            return names
        for path in twice:
            names[path] = _longer(path, names[path])


def stem_of(path: Path) -> str:
    """Return the name of a program's file without its suffix, which may have two parts."""
    suffix = next((suffix for suffix in reversed(SUFFIXES) if path.name.endswith(suffix)), path.suffix)
    return path.name.removesuffix(suffix)


def _longer(path: Path, name: str) -> str:
    parts: Sequence[str] = path.parts
    return "/".join(parts[-min(name.count("/") + 2, len(parts) - 1) :])


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if here != folder and any(name in files for name in _OURS):
            folders.clear()
            continue
        yield from (here / name for name in sorted(files) if not name.startswith(".") and _is_program(here / name))


def _is_program(path: Path) -> bool:
    """Return True if a folder argument includes this file, by its suffix; JSON only if it begins like a program."""
    if not path.name.endswith(SUFFIXES) or not path.is_file():
        return False
    if not path.name.endswith((".json", ".json.gz")):
        return True
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            begin = bytes(file.read(64))
    except (OSError, EOFError):
        return True  # a damaged file, which its reader reports
    return begin.lstrip()[:1] == b"[" or _ALIR.match(begin) is not None
