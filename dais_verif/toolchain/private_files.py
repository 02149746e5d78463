"""RTL in a folder of ours, under names of ours: what the user calls a file is data, and no tool may see more in it.

A name may hold a quote, a dollar or a line break, or begin with a dash; compilers take that for an option, a variable
or a command. What is built is the copy, so that it is what was hashed whatever becomes of the original.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.toolchain.sources import read_others

__all__ = ["Private", "copied", "options", "original", "others", "plain_name", "read", "shown"]

_COPIES, _BESIDE = "rtl", "beside"

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)

_PLACE = re.compile(r"(?:\./)?(rtl|beside)/(\d+)/")
_FILE = re.compile(r"(?<![\w/.-])(?:\./)?(?:rtl|beside)/\d+/[^\s:,)'\"]+")


class Private(NamedTuple):
    """Copies of RTL. ``sources``: as seen from the folder. ``folders``: in which the originals lie, in the same way."""

    sources: tuple[Path, ...]
    folders: tuple[Path, ...]


def copied(sources: Sequence[Path], folder: Path, texts: Sequence[bytes] | None = None) -> Private:
    """Copy ``sources`` into ``folder``, in the place of earlier copies. ``texts``: their bytes, if they were read.

    If they include files, the folders that they lie in are linked as well, under safe names. Else there are no links: a
    link to a parent folder would make a copy endless. Raises ``InputError`` if their place holds files of the user.
    """
    for old in (folder / _COPIES, folder / _BESIDE):
        if old.is_symlink():
            old.unlink()
        _refuse_foreign(old)
        shutil.rmtree(old, ignore_errors=True)
    copies, folders, written = [], [], []
    for number, source in enumerate(sources):
        copy = Path(_COPIES, str(number), plain_name(source, number))
        text = texts[number] if texts is not None else read(source)
        (folder / copy).parent.mkdir(parents=True)
        (folder / copy).write_bytes(text)
        copies.append(copy)
        written.append(text)
    for number, place in enumerate(_places(sources) if read_others(written) else ()):
        (folder / _BESIDE).mkdir(exist_ok=True)
        (folder / _BESIDE / str(number)).symlink_to(place)
        folders.append(Path(_BESIDE, str(number)))
    return Private(tuple(copies), tuple(folders))


def _refuse_foreign(folder: Path) -> None:
    """Raise ``InputError`` if ``folder`` holds anything but the numbered entries that ``copied`` makes."""
    found = sorted(entry.name for entry in folder.iterdir() if not entry.name.isdecimal()) if folder.is_dir() else []
    if found:
        raise InputError(
            f"folder {str(folder)!r} holds {found[0]!r}, which would be lost: dais-verif keeps copies of RTL there; "
            "choose another folder with -o"
        )


def options(own: Private) -> list[str]:
    """Options that let RTL include what lies beside it.

    None if nothing is included: Verilator also looks there for modules that no source holds.
    """
    return [f"-I{folder}" for folder in own.folders]


def others(files: Iterable[str], own: Private, sources: Sequence[Path]) -> tuple[Path, ...]:
    """Return the paths of those ``files``, as a tool names its inputs, that are not among ``sources``."""
    given = {str(source) for source in own.sources}
    names = [name for name in dict.fromkeys(files) if name.removeprefix("./") not in given]
    return tuple(Path(original(name, sources)) for name in names)


def read(source: Path) -> bytes:
    """Return the bytes of an RTL file. Raises ``InputError`` if it cannot be read."""
    try:
        return source.read_bytes()
    except OSError as error:
        raise InputError(f"RTL file {str(source)!r} cannot be read: {error.strerror}") from None


def original(place: str, sources: Sequence[Path]) -> str:
    """Return the user's name for the file that a tool calls ``place``, relative to the folder of the copies."""
    found = _PLACE.match(place)
    if found is None:
        return place
    number, rest = int(found[2]), place[found.end() :]
    if found[1] == _COPIES and number < len(sources) and rest == plain_name(sources[number], number):
        return str(sources[number].absolute())
    places = _places(sources)
    return str(places[number] / rest) if found[1] == _BESIDE and number < len(places) else place


def shown(text: str, sources: Sequence[Path]) -> str:
    """Return ``text``, a message of a tool, with the names that the user has for ``sources``."""

    def named(found: re.Match[str]) -> str:
        return original(found[0], sources)

    return _FILE.sub(named, text)


def plain_name(source: Path, number: int) -> str:
    """Return the name of ``source``, or a plain one with ``number`` if it has characters that tools may misread."""
    if _PLAIN.fullmatch(source.name):
        return source.name
    suffix = source.suffix if _PLAIN.fullmatch(source.suffix[1:] or "-") else ""
    return f"source_{number}{suffix}"


def _places(sources: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(source.absolute().parent for source in sources))
