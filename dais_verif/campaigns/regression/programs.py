"""Find the programs and designs of a regression, from a file, a folder or a glob, with their names."""

from __future__ import annotations

import codecs
import errno
import glob
import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dais_verif.subject.design_folders import design_mark, folder_of_model

__all__ = ["SUFFIXES", "Found", "Search", "find", "names_of", "stem_of", "unjudged"]

#: Suffixes of programs, machines and networks; a JSON file counts if it is a list or begins like alkaid's files.
SUFFIXES = (".bin", ".bin.gz", ".dais", ".mach", ".onnx", ".json", ".json.gz")
_ALIR = re.compile(rb'\s*\{\s*("model"\s*:|"meta"\s*:\s*"(ALIRModel|ALIRFSM|DAISModel)"|"spec_version"\s*:)')
#: A folder with one of these records of dais-verif was written by a run; what lies below it is of that run.
_OURS = ("result.json", "regression.json", "signoff.json", "mutation.json", "synth.json", "build.json")
_OUR_SCHEMA = re.compile(rb'"schema"\s*:\s*"dais-verif/')
_RTL = (".v", ".sv", ".vhd", ".vhdl")
_MOST_BEGIN = 4096


@dataclass(frozen=True)
class Found:
    """A program at ``path``, or a folder with a design; ``name``: its path relative to the requested folder, if any."""

    path: Path
    name: str

    @property
    def is_design(self) -> bool:
        """True if it is a folder, whose own RTL is judged."""
        return self.path.is_dir()


class Search(NamedTuple):
    """What a search found. ``left_out``: entries that may hold programs and cannot be read, each with the reason.

    ``rtl``: files of RTL that were searched and belong to no found design.
    """

    found: tuple[Found, ...]
    left_out: tuple[str, ...] = ()
    rtl: tuple[Path, ...] = ()


def find(pattern: str) -> Search:
    """Return what matches ``pattern``, sorted; nothing if a folder holds no program, or a glob matches nothing.

    A path without a pattern is always a program; errors are left to its reader. A folder that is one design is found as
    a whole.
    """
    path = Path(pattern)
    if path.is_dir():
        return _search([path], path)
    if path.exists() or not glob.has_magic(pattern):
        return Search((Found(path, path.name),))
    found = _search([Path(match) for match in sorted(glob.glob(pattern, recursive=True))], None)
    closed = (f"{place!r} cannot be read: permission denied" for place in _closed(pattern))
    return found._replace(left_out=(*found.left_out, *closed))


def unjudged(search: Search) -> list[str]:
    """Return why emitted RTL does not answer for ``search``: RTL of the user that no job would verify, by name."""
    owners = {owner: each.path for each in search.found if (owner := folder_of_model(each.path)) is not None}
    lines = [
        f"{str(model)!r} is the model of the project folder {str(folder)!r}, whose RTL no job verifies: name the folder"
        for folder, model in owners.items()
    ]
    if search.rtl:
        more = f" and {len(search.rtl) - 1} more" if len(search.rtl) > 1 else ""
        lines.append(
            f"no job verifies the RTL {str(search.rtl[0])!r}{more}: name it in a manifest, as rtl of a variant"
        )
    return [f"{line}, or ask for emitted RTL with --stages 0" for line in lines]


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


def _search(places: Iterable[Path], base: Path | None) -> Search:
    """Search ``places``; names are relative to ``base``, or to each place if it is None."""
    found: list[Found] = []
    left_out: list[str] = []
    rtl: list[Path] = []
    seen: set[Path] = set()

    def name_of(path: Path, place: Path) -> str:
        below = path.relative_to(base or (place if path != place else place.parent)).as_posix()
        return Path(os.path.abspath(path)).name if below == "." else below

    def take(path: Path, place: Path) -> None:
        why = _unreadable(path)
        if why is not None:
            left_out.append(f"{str(path)!r} {why}")
        elif path.is_dir():
            if _real(path) not in seen:  # a link to a folder above it
                seen.add(_real(path))
                enter(path, place)
        elif _is_program(path):
            found.append(Found(path, name_of(path, place)))
        elif path.suffix.lower() in _RTL:
            rtl.append(path)

    def enter(folder: Path, place: Path) -> None:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            left_out.append(f"{str(folder)!r} cannot be read: {error.strerror}")
            return
        if design_mark(folder) is not None:
            found.append(Found(folder, name_of(folder, place)))
            return
        mine = [folder / entry.name for entry in entries if not entry.name.startswith(".")]
        hidden = (folder / entry.name for entry in entries if entry.name.startswith("."))
        if folder != place and (record := _record_in(folder)) is not None:
            left_out.extend(
                f"{str(path)!r} is beside {record} of an earlier run, so it is taken for one of that run"
                for path in mine
                if _is_judged(path)
            )
            return
        left_out.extend(
            f"{str(path)!r} is hidden, so it is not searched: name it, or move it away"
            for path in hidden
            if _is_judged(path)
        )
        for path in [*(one for one in mine if not one.is_dir()), *(one for one in mine if one.is_dir())]:
            take(path, place)

    for place in places:
        take(place, place)
    return Search(tuple(found), tuple(left_out), tuple(rtl))


def _closed(pattern: str) -> list[str]:
    """Return the folders that a glob has to list and that must not be listed: ``glob`` passes over them."""
    parts = Path(pattern).parts
    places = [str(Path(*parts[:at])) for at, part in enumerate(parts) if glob.has_magic(part)]
    listed = {folder for place in places for folder in glob.glob(place, recursive=True) if os.path.isdir(folder)}
    return sorted(folder for folder in listed if not os.access(folder, os.R_OK | os.X_OK))


def _unreadable(path: Path) -> str | None:
    """Return why ``path`` is neither a file nor a folder, if it may be meant as a program or hold some."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        broken = path.is_symlink() and error.errno == errno.ENOENT
        return f"is a broken link to {os.readlink(path)!r}" if broken else f"cannot be read: {error.strerror}"
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or not _has_suffix(path):
        return None
    return "is neither a file nor a folder"


def _record_in(folder: Path) -> str | None:
    """Return the name of a record of dais-verif in ``folder``; None if there is none."""
    for name in _OURS:
        try:
            with (folder / name).open("rb") as file:
                if _OUR_SCHEMA.search(file.read(_MOST_BEGIN)):
                    return name
        except OSError:
            continue
    return None


def _has_suffix(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def _is_judged(path: Path) -> bool:
    """Return True if ``path`` alone is a job: a program or a folder that is one design."""
    return _is_program(path) or (path.is_dir() and design_mark(path) is not None)


def _is_program(path: Path) -> bool:
    """Return True if a folder argument includes this file, by its suffix; JSON only if it begins like a program."""
    name = path.name.lower()
    if not _has_suffix(path) or not path.is_file():
        return False
    if not name.endswith((".json", ".json.gz")):
        return True
    try:
        with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
            begin = bytes(file.read(_MOST_BEGIN)).removeprefix(codecs.BOM_UTF8)
    except (OSError, EOFError, zlib.error):
        return True  # a damaged file, which its reader reports
    return begin.lstrip()[:1] == b"[" or _ALIR.match(begin) is not None
