"""List every input of a run: what decides its result, and so what its fingerprint, keys and certificate cover.

These are the program, the RTL, the files that it includes, the tables that it reads, files and folders among the
arguments, dais-verif itself, Python packages, and the files of the tools (``base.toolchain.tool_files``).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import DaisError, RtlFileError, ToolError
from dais_verif.base.files import read_plain
from dais_verif.base.toolchain.rtl_files import MOST_RTL_BYTES, DataFile, data_files, is_vhdl, read_others
from dais_verif.base.toolchain.tool_files import (
    PACKAGES,
    content_of,
    installed,
    own_files,
    package_files,
    python_files,
    stamp_of,
    tool_files,
)
from dais_verif.hardware.ports.outside_effects import included_in
from dais_verif.hardware.ports.verilog import included_names
from dais_verif.subject.referred_files import referred_files

__all__ = [
    "RtlInputs",
    "deciders",
    "digest_of_tools",
    "digests_of_job",
    "files_of_job",
    "includes_of_copies",
    "rtl_inputs",
]

#: Options of ``sim`` whose value may be a folder.
_FOLDERS = ("--rtl", "--data", "--netlist", "--bitstream", "--wrapped")
_HDL = (".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl")
_QUOTED = re.compile(rb'"((?:[^"\\\n]|\\.){1,250})"')
#: Names that macros form: which file they name cannot be read from the text.
_FORMED = re.compile(rb'`"|``|`include\s+[^"\s]')
_MOST_TEXT = 64 << 20


class RtlInputs(NamedTuple):
    """The files that RTL reads: ``includes``, directly or not, and the ``tables`` that sources or includes name."""

    includes: tuple[Path, ...]
    tables: tuple[DataFile, ...]


def rtl_inputs(sources: Sequence[Path], given: Sequence[Path] = (), *, strict: bool = True) -> RtlInputs:
    """Return the files that ``sources`` read. ``given``: tables, or folders of them.

    Raises ``InputError`` if tables are ambiguous, and, if ``strict``, for an include that has no name in quotes, or is
    not beside the sources.
    """
    folders = list(dict.fromkeys(source.absolute().parent for source in sources))
    found: dict[Path, None] = {}
    waiting = [source for source in sources if not is_vhdl(source)]
    while waiting:
        source = waiting.pop()
        text = read_plain(source, MOST_RTL_BYTES, "RTL file")
        for name in included_in(text) if read_others([text]) else ():
            if name is None:
                if not strict:
                    continue
                raise RtlFileError(
                    f"{str(source)!r} has an include without a file name in quotes: it cannot be certified"
                )
            places = (folder / name for folder in (source.absolute().parent, *folders))
            there = [_without_dots(path) for path in places if path.is_file()]
            if not there and strict:
                raise RtlFileError(f"{str(source)!r} includes {name!r}, which is not beside the RTL files")
            for path in there:  # if several files match, the simulator chooses one; therefore all of them count
                if path not in found:
                    found[path] = None
                    waiting.append(path)
    return RtlInputs(tuple(found), data_files([*sources, *found], given))


def _without_dots(path: Path) -> Path:
    """Return ``path`` in its real folder: files that include each other by ``..`` would get ever longer paths."""
    return path.parent.resolve() / path.name


def includes_of_copies(sources: Sequence[Path]) -> tuple[DataFile, ...]:
    """Return the files that must lie beside copies of ``sources`` in one folder, for the copies to include the same.

    Raises ``InputError`` for a name of which no copy can be made there, and the errors of ``read_files``.
    """
    if not read_others([source.read_bytes() for source in sources]):
        return ()
    own = {source.name for source in sources}
    places = {source.name: source for source in sources}
    for name, path in included_names(sources):
        if ".." in Path(name).parts or places.setdefault(name, path).read_bytes() != path.read_bytes():
            raise RtlFileError(
                f"{name!r} is included; here copies of the RTL in one folder are changed, and an included file cannot "
                "have this name there: include it without '..', by a name that no other file has"
            )
    return tuple(DataFile(name, places[name]) for name in places if name not in own and not Path(name).is_absolute())


def files_of_job(program: Path, arguments: Sequence[str], files: Iterable[Path], cwd: Path) -> list[Path]:
    """Return the files that a job reads: the program, the files and folders among its arguments, and what these name.

    Every text in quotes in a source that names a file near any source counts, so no input is missed, whatever reads it;
    if macros form names, all files near a source count.
    """
    waiting = [file for path in (program, *files) for file in _files_in(cwd / path)]
    for option, word in pairwise(["", *arguments]):
        if word.startswith("--"):
            option, _, word = word.partition("=")
        if word and ((cwd / word).is_file() or option in _FOLDERS):
            waiting += _files_in(cwd / word)
    near = _Near(cwd)
    while waiting:
        path = waiting.pop()
        if path not in near.found:
            near.found[path] = None
            waiting += near.named_by(path)
        if not waiting:
            waiting += near.further()
    return sorted(near.found)


def digests_of_job(program: Path, arguments: Sequence[str], files: Iterable[Path], cwd: Path) -> list[tuple[str, str]]:
    """Return the paths, relative to ``cwd``, and the hashes of ``files_of_job``; why there is none if unreadable."""
    return [(os.path.relpath(path, cwd), _digest(path)) for path in files_of_job(program, arguments, files, cwd)]


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def deciders(others: Iterable[str]) -> tuple[str, ...]:
    """Return what a kept proof depends on: dais-verif, Python packages, and the tools ``others`` behind front ends."""
    return (
        content_of(own_files()),
        *map(installed, PACKAGES),
        *(stamp_of(tool_files(name)) for name in others),
    )


def digest_of_tools(simulators: Iterable[str]) -> Mapping[str, str]:
    """Return a hash of dais-verif, of each Python package, and of the files of each tool behind ``simulators``."""
    found = {"dais-verif": content_of(own_files()), "python": stamp_of(python_files())}
    found |= {name: content_of(package_files(name) or ()) for name in PACKAGES}
    for name in simulators:
        try:
            found[name] = content_of(tool_files(name))
        except ToolError:
            found[name] = "none"
    return found


def _files_in(path: Path) -> Iterator[Path]:
    try:
        if path.is_file():
            yield path.absolute()
        elif path.is_dir():
            yield from (file.absolute() for file in path.rglob("*") if file.is_file())
    except (OSError, ValueError):  # a word that is no name of a file
        return


class _Near:
    """The files ``found`` so far, and the ``folders`` where the ``names`` in their texts are looked up.

    A name in one source may be that of a file beside another one, as include folders are common to all sources.
    """

    def __init__(self, cwd: Path) -> None:
        self.found: dict[Path, None] = {}
        self.folders: dict[Path, None] = {}
        self._cwd = cwd
        self.names: set[str] = set()
        self._formed = False
        self._tried: set[tuple[Path, str]] = set()

    def named_by(self, path: Path) -> Iterator[Path]:
        """Yield the files that ``path`` itself lists; note the names in it if it is a text with which they are read."""
        try:
            yield from (file.absolute() for file in referred_files(path))
            if path.suffix.lower() not in (*_HDL, ".mach") or path.stat().st_size > _MOST_TEXT:
                return
            text = path.read_bytes()
            below = [folder for folder in path.parent.iterdir() if folder.is_dir()]
        except (OSError, DaisError):
            return  # the job will report the error
        self._formed |= _FORMED.search(text) is not None
        self.folders |= dict.fromkeys((path.parent, *below))
        names = {found.decode(errors="surrogateescape") for found in _QUOTED.findall(text)}
        self.names |= names | {Path(name).name for name in names}  # tables are found by their last names, too

    def further(self) -> list[Path]:
        """Return the files that the noted names may be, as far as they were not returned before."""
        new = {(folder, name) for folder in (self._cwd, *self.folders) for name in self.names} - self._tried
        self._tried |= new
        named = [_without_dots(folder / name) for folder, name in new if _is_file(folder / name)]
        every = [file for folder in self.folders if self._formed for file in _entries(folder) if _is_file(file)]
        return [file for file in (*named, *every) if file not in self.found]


def _entries(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):  # the job will report the error
        yield from (file.absolute() for file in folder.iterdir())


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError):  # no permission for a folder, or a text that is no name
        return path.is_file()
    return False
