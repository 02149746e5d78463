"""Copy RTL into our own folder under our own names, because tools may misread the names of the user's files.

A name may contain a quote, a dollar sign or a line break, or begin with a dash, so that a tool may take it for an
option, a variable or a command. Tools build the copies, so that the hashed content is used even if an original changes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorError
from dais_verif.base.line_directives import without_lines
from dais_verif.base.toolchain.rtl_files import is_vhdl, read_others

__all__ = ["Private", "copied", "options", "original", "others", "plain_name", "read", "shown"]

_COPIES, _BESIDE = "rtl", "beside"

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)

_PLACE = re.compile(r"(?:\./)?(rtl|beside)/(\d+)/")
_FILE = re.compile(r"(?<![\w/.-])(?:\./)?(?:rtl|beside)/\d+/[^\s:,)'\"]+")


class Private(NamedTuple):
    """Copies of RTL. ``sources``: relative paths of the copies. ``folders``: links to the folders of the originals."""

    sources: tuple[Path, ...]
    folders: tuple[Path, ...]


def copied(sources: Sequence[Path], folder: Path, texts: Sequence[bytes] | None = None) -> Private:
    """Copy ``sources`` into ``folder``, replacing earlier copies. ``texts``: the bytes of ``sources``, if already read.

    If the sources include other files, the folders of the sources are linked as well, under safe names. Otherwise there
    are no links, since copying ``folder`` would not end if it held a link to a parent folder. Raises ``InputError`` if
    files of the user are in the way.
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
        raise SimulatorError(
            f"folder {str(folder)!r} holds {found[0]!r}, which would be lost: dais-verif keeps copies of RTL there; "
            "choose another folder with -o"
        )


def options(own: Private) -> list[str]:
    """Return the options by which RTL finds include files beside the originals.

    There are no options if the RTL includes nothing, since Verilator would also look in these folders for missing
    modules.
    """
    return [f"-I{folder}" for folder in own.folders]


def others(files: Iterable[str], own: Private, sources: Sequence[Path]) -> tuple[Path, ...]:
    """Return the original paths of the ``files`` that a tool has read, without ``sources``."""
    given = {str(source) for source in own.sources}
    names = [name for name in dict.fromkeys(files) if name.removeprefix("./") not in given]
    found = (Path(original(name, sources)) for name in names)
    # A tool also lists the names that `line directives in included files give them.
    return tuple(path for path in found if path.is_file())


def read(source: Path) -> bytes:
    """Return the bytes of an RTL file, for tools to read. Raises ``InputError`` if it cannot be read."""
    try:
        text = source.read_bytes()
    except OSError as error:
        raise SimulatorError(f"RTL file {str(source)!r} cannot be read: {error.strerror}") from None
    return text if is_vhdl(source) else without_lines(text)


def original(place: str, sources: Sequence[Path]) -> str:
    """Return the original path of ``place``, which a tool writes relative to the folder of the copies."""
    found = _PLACE.match(place)
    if found is None:
        return place
    number, rest = int(found[2]), place[found.end() :]
    if found[1] == _COPIES and number < len(sources) and rest == plain_name(sources[number], number):
        return str(sources[number].absolute())
    places = _places(sources)
    return str(places[number] / rest) if found[1] == _BESIDE and number < len(places) else place


def shown(text: str, sources: Sequence[Path]) -> str:
    """Return ``text``, a message of a tool, with the paths of the originals instead of those of the copies."""

    def named(found: re.Match[str]) -> str:
        return original(found[0], sources)

    return _FILE.sub(named, text)


def plain_name(source: Path, number: int) -> str:
    """Return the name of ``source``, or one made from ``number`` if it has characters that tools may misread."""
    if _PLAIN.fullmatch(source.name):
        return source.name
    suffix = source.suffix if _PLAIN.fullmatch(source.suffix[1:] or "-") else ""
    return f"source_{number}{suffix}"


def _places(sources: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(source.absolute().parent for source in sources))
