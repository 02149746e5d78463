"""Properties of RTL files: language, hashes, and whether they may include others."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import RtlFileError
from dais_verif.base.files import require_plain

__all__ = [
    "DataFile",
    "MOST_RTL_BYTES",
    "copy_into",
    "data_files",
    "digests",
    "is_vhdl",
    "mentioned",
    "never_read",
    "read_others",
]


#: The largest size of an RTL file; the RTL of a million ops takes a tenth of it.
MOST_RTL_BYTES = 2 << 30


_INCLUDING = re.compile(rb"\binclude\b|``")


def is_vhdl(source: Path) -> bool:
    """Return True if ``source`` has a suffix of VHDL; all other files are Verilog."""
    return source.suffix.lower() in (".vhd", ".vhdl")


def read_others(texts: Sequence[bytes]) -> bool:
    """Return True if RTL with these texts may include other files, even by a directive that macros form."""
    return any(map(_INCLUDING.search, texts))


def digests(sources: Sequence[Path]) -> list[bytes]:
    """Return the hash of each file."""
    return [hashlib.sha256(source.read_bytes()).digest() for source in sources]


# Find the data files that RTL reads during simulation, such as tables for ``$readmemh`` or VHDL's ``file_open``.
#
# Simulators look for these files in the working folder of a run, so each run gets copies in a folder that has nothing
# else: a data file never takes the place of a file of ours.


#: The suffixes with which a string in RTL counts as the name of a data file.
_SUFFIXES = ("mem", "hex", "dat", "data", "bin", "mif", "coe", "rom", "init", "txt", "csv")

_NAME = re.compile(rb'"([^"\n]{1,250}\.(?:' + "|".join(_SUFFIXES).encode() + rb'))"', re.IGNORECASE)

#: A string, or a comment, whichever begins first; a name in a comment is no name.
_VERILOG = re.compile(rb'"(?:\\.|[^"\\\n])*"|\\\S+|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_VHDL = re.compile(rb"\"[^\"\n]*\"|'.'|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMENTS = (b"//", b"/*", b"--")

#: A Verilog module or VHDL entity with its text; and a parameter or generic with its default.
_MODULE = re.compile(rb"\b(?:module|entity)\s+(\w{1,250})(.*?)(?=\b(?:module|entity)\s|\Z)", re.DOTALL | re.IGNORECASE)
_DEFAULT = re.compile(rb'\b(\w{1,250})\s*(?::\s*string\s*:)?=\s*"([^"\n]{1,250})"', re.IGNORECASE)
#: An instance with parameters, up to its ports.
_INSTANCE = re.compile(rb"\b(module\s+)?(\w{1,250})\s*(?:#|\bgeneric\s+map\b)\s*\(([^;]{0,4000})", re.IGNORECASE)


class DataFile(NamedTuple):
    """A data file. ``name``: the name by which the RTL reads it."""

    name: str
    path: Path


def mentioned(sources: Sequence[Path]) -> list[str]:
    """Return the strings in ``sources`` that look like names of data files, in order and without repetition."""
    found = [name for source in sources for name in _NAME.findall(_without_comments(source))]
    return list(dict.fromkeys(name.decode(errors="surrogateescape") for name in found))


def _without_comments(source: Path) -> bytes:
    """Return the text of a source with a space for each comment."""
    tokens = _VHDL if is_vhdl(source) else _VERILOG
    return tokens.sub(lambda found: b" " if found[0].startswith(_COMMENTS) else found[0], source.read_bytes())


def never_read(sources: Sequence[Path]) -> set[str]:
    """Return the names in ``sources`` that only occur as defaults of parameters which every instance overrides."""
    texts = [_without_comments(source) for source in sources]
    mentions = Counter(name for text in texts for name in _NAME.findall(text))
    given: dict[bytes, list[bytes]] = {}
    for declared, name, values in (found for text in texts for found in _INSTANCE.findall(text)):
        if not declared:
            given.setdefault(name.lower(), []).append(values)
    found: Counter[bytes] = Counter()
    for module, inside in (found for text in texts for found in _MODULE.findall(text)):
        instances = given.get(module.lower(), []) if _bare(module, texts) == 0 else []
        for parameter, default in _DEFAULT.findall(inside):
            found[default] += bool(instances) and all(_sets(parameter, values) for values in instances)
    return {name.decode(errors="surrogateescape") for name, count in mentions.items() if count == found[name]}


def _bare(module: bytes, texts: Sequence[bytes]) -> int:
    """Return the number of instances of ``module`` that do not set any parameter."""
    instance = re.compile(
        rb"\b(module\s+)?" + re.escape(module) + rb"\s+(?!generic)(?:\w+\s*\(|port\s+map\b)", re.IGNORECASE
    )
    return sum(not declared for text in texts for declared in instance.findall(text))


def _sets(parameter: bytes, values: bytes) -> bool:
    """Return True if an instance with the parameter list ``values`` sets ``parameter``, by name or by position."""
    by_name = re.search(rb"\." + re.escape(parameter) + rb"\s*\(|\b" + re.escape(parameter) + rb"\s*=>", values, re.I)
    return by_name is not None or (_NAME.search(values) is not None and not re.match(rb"\s*(?:\.|\w+\s*=>)", values))


def data_files(sources: Sequence[Path], given: Sequence[Path] = ()) -> tuple[DataFile, ...]:
    """Return the data files of ``sources`` that can be found.

    ``given``: files, or folders of files, whose names in the RTL have no folder. Other names are looked up beside the
    sources, in the folders beside them, and in the current folder; an absolute path is used as it is. Raises
    ``InputError`` if a given file does not exist, or if two different files have the same name.
    """
    files: dict[str, Path] = {}
    for path in _expanded(given):
        _add(files, path.name, path)
    named = set(files)
    for name in mentioned(sources):
        if name not in named:
            for path in _candidates(name, sources):
                _add(files, name, path)
    return tuple(DataFile(name, path) for name, path in files.items())


def copy_into(folder: Path, files: Iterable[DataFile]) -> None:
    """Copy ``files`` into ``folder`` under their names; through links, a simulation could write to the originals."""
    for name, path in files:
        if not Path(name).is_absolute():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)


def _expanded(given: Iterable[Path]) -> list[Path]:
    found = []
    for path in given:
        if not path.exists():
            raise RtlFileError(
                f"data file {str(path)!r} does not exist; give the files that the RTL reads in simulation"
            )
        found += sorted(entry for entry in path.iterdir() if entry.is_file()) if path.is_dir() else [path]
    return found


def _candidates(name: str, sources: Sequence[Path]) -> list[Path]:
    if Path(name).is_absolute():
        places = [Path("/")]
    elif ".." in Path(name).parts:
        return []  # folders above the folder of a run do not hold files of the user
    else:
        beside = dict.fromkeys(source.absolute().parent for source in sources)
        below = [entry for folder in beside for entry in sorted(folder.iterdir()) if entry.is_dir()]
        places = [*beside, *below, Path.cwd()]
    return [place / name for place in places if (place / name).is_file()]


def _add(files: dict[str, Path], name: str, path: Path) -> None:
    require_plain(path, MOST_RTL_BYTES, "data file")
    path = path.absolute()
    other = files.setdefault(name, path)
    if other != path and other.read_bytes() != path.read_bytes():
        raise RtlFileError.of(
            "{name!r} may be {other!r} or {path!r}; name the right one with {data}",
            name=name,
            other=str(other),
            path=str(path),
        )
