"""Find the current locations of a certificate's files, and compare their content with the certified content."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dais_verif.base.errors import InputError
from dais_verif.record.signoff import CertificateFinding
from dais_verif.signoff.certificate import CertifiedFile
from dais_verif.signoff.signed_design import sha256_of

__all__ = ["Places", "find_files"]

#: Roles of files that lie in a folder of RTL, and suffixes of files that a tool takes as HDL from such a folder.
_OF_RTL = ("rtl", "include", "data")
#: Roles of files that RTL reads by their names, so that another name is another design.
_BY_NAME = ("include", "data")
_HDL = (".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl", ".verilog", ".vp", ".svp", ".vo", ".vm")


@dataclass(frozen=True)
class Places:
    """Locations of moved files. ``rtl``: files, or folders, which must hold all certified RTL and no other."""

    program: Path | None = None
    rtl: tuple[Path, ...] = ()

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """The folders among the places of RTL."""
        return tuple(place for place in self.rtl if place.is_dir())

    @cached_property
    def found(self) -> dict[Path, str | InputError]:
        """The hash of each file of RTL that was given, or that a given folder holds, or why there is none."""
        files = [file for place in self.rtl for file in (_in(place) if place.is_dir() else [place])]
        return {file: _hash(file) for file in files}


def find_files(
    certified: Sequence[CertifiedFile], folder: Path, places: Places
) -> tuple[list[Path], list[CertificateFinding]]:
    """Return the current path of each file of ``certified``, and a finding for each deviation.

    A file that the caller names replaces the certified file with the same content, otherwise the one with the same
    name; files that RTL includes or reads keep their names. If the file replaces none, that is a finding, since the
    caller believes that it was signed off. If folders are given, all certified RTL must be in them, and they must hold
    no other HDL: a tool that takes all of it would build other hardware. ``folder``: the folder of the certificate.
    """
    of_rtl = [Path(file.path).parts for file in certified if file.role in _OF_RTL]
    files, findings = [], []
    for file in certified:
        now = _now(file, folder, places, _tail(Path(file.path).parts, of_rtl) if file.role in _OF_RTL else 1)
        if now is None:
            where = ", ".join(map(str, places.folders))
            findings.append(CertificateFinding(f"{file.role} {Path(file.path).name}", f"a file in {where}", "none"))
            files.append(Path(file.path))
            continue
        files.append(now)
        found = places.found[now] if now in places.found else _hash(now)
        if isinstance(found, InputError):
            findings.append(CertificateFinding(f"{file.role} {file.path}", f"sha256 {file.sha256}", str(found)))
        elif found != file.sha256:
            findings.append(CertificateFinding(f"{file.role} {now}", f"sha256 {file.sha256}", f"sha256 {found}"))
    return files, [*findings, *_strangers(certified, places, files)]


def _in(folder: Path) -> Iterator[Path]:
    """Yield all files in ``folder`` and below, also behind links, each folder once."""
    seen = set()
    for place, below, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            below.clear()
            continue
        seen.add(real)
        yield from (Path(place) / name for name in sorted(names))


def _hash(path: Path) -> str | InputError:
    try:
        return sha256_of(path)
    except InputError as error:
        return error


def _tail(parts: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> int:
    """Return how many last parts of a path tell it from ``others``."""
    alike = Counter(other[-length:] for other in others for length in range(1, len(parts)))
    return next((length for length in range(1, len(parts)) if alike[parts[-length:]] == 1), len(parts))


def _now(file: CertifiedFile, folder: Path, places: Places, tail: int) -> Path | None:
    """Return the current path of ``file``: the given path, that relative to the certificate, or the original path.

    Return None if folders were given that must hold it, and do not. ``tail``: how many parts of its path are its name.
    """
    if file.role in ("program", "kernel", "configuration") and places.program is not None and places.program.is_dir():
        return places.program / Path(file.path).name  # a folder was given instead of a file
    if file.role == "program":
        if places.program is not None:
            return places.program
    else:
        parts = Path(file.path).parts[-tail:]
        named = [path for path in places.found if path.parts[-len(parts) :] == parts]
        same = [path for path in places.found if places.found[path] == file.sha256]
        renamed = [] if tail > 1 or file.role in _BY_NAME else same
        for path in (*(path for path in named if path in same), *renamed, *named):
            return path
        if file.role in _OF_RTL and places.folders:
            return None
    near = folder / file.near
    return near if near.is_file() else Path(file.path)


def _strangers(
    certified: Sequence[CertifiedFile], places: Places, files: Sequence[Path]
) -> Iterator[CertificateFinding]:
    """Yield a finding for every given file, and all HDL in a given folder, that was not signed off."""
    others = [file for file in certified if file.role != "program"]
    contents: dict[str, set[str]] = {}
    for file in others:
        if file.role in _BY_NAME:
            contents.setdefault(Path(file.path).name, set()).add(file.sha256)
    known, taken = {file.sha256 for file in others}, set(files)
    own = list(dict.fromkeys(Path(file.path).name for file in others))
    names = ", ".join(own[:8])
    for path, told in places.found.items():
        counts = path in places.rtl or path.suffix.lower() in _HDL or path.name in own
        if counts and told not in contents.get(path.name, known) and path not in taken:
            found = str(told) if isinstance(told, InputError) else f"sha256 {told}, which is not one of them"
            yield CertificateFinding(f"--rtl {path}", f"one of the files that were signed off: {names}", found)
