"""Find the current locations of a certificate's files, and compare their content with the certified content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import InputError
from dais_verif.record.certificate import CertificateFinding
from dais_verif.signoff.certificate import CertifiedFile
from dais_verif.signoff.subject import sha256_of

__all__ = ["Places", "find_files"]


@dataclass(frozen=True)
class Places:
    """Locations of moved files. ``rtl``: files, or folders that hold files with the certified names."""

    program: Path | None = None
    rtl: tuple[Path, ...] = ()


def find_files(
    certified: Sequence[CertifiedFile], folder: Path, places: Places
) -> tuple[list[Path], list[CertificateFinding]]:
    """Return the current path of each file of ``certified``, and a finding for each deviation.

    A file that the caller names replaces the certified file with the same content, otherwise the one with the same
    name. If the file replaces none, that is a finding, since the caller believes that it was signed off. ``folder``:
    the folder of the certificate.
    """
    given = list(_given(certified, places.rtl))
    hashes = {path: _hash(path) for path in {path for _, path in given}}
    files, findings = [], []
    for file in certified:
        now = _now(file, folder, places, hashes)
        files.append(now)
        found = hashes[now] if now in hashes else _hash(now)
        if isinstance(found, InputError):
            findings.append(CertificateFinding(f"{file.role} {file.path}", f"sha256 {file.sha256}", str(found)))
        elif found != file.sha256:
            findings.append(CertificateFinding(f"{file.role} {now}", f"sha256 {file.sha256}", f"sha256 {found}"))
    return files, [*findings, *_strangers(certified, places, given, hashes, files)]


def _given(certified: Sequence[CertifiedFile], rtl: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield every given path with each of its files: the path itself, or files with certified names in the folder."""
    names = dict.fromkeys(Path(file.path).name for file in certified if file.role != "program")
    for place in rtl:
        if not place.is_dir():
            yield place, place
            continue
        for name in names:
            if (place / name).is_file():
                yield place, place / name


def _hash(path: Path) -> str | InputError:
    try:
        return sha256_of(path)
    except InputError as error:
        return error


def _now(file: CertifiedFile, folder: Path, places: Places, hashes: dict[Path, str | InputError]) -> Path:
    """Return the current path of ``file``: the given path, that relative to the certificate, or the original path."""
    if file.role in ("program", "kernel", "configuration") and places.program is not None and places.program.is_dir():
        return places.program / Path(file.path).name  # a folder was given instead of a file
    if file.role == "program":
        if places.program is not None:
            return places.program
    else:
        named = [path for path in hashes if path.name == Path(file.path).name]
        same = [path for path in hashes if hashes[path] == file.sha256]
        for path in (*(path for path in named if path in same), *same, *named):
            return path
    near = folder / file.near
    return near if near.is_file() else Path(file.path)


def _strangers(
    certified: Sequence[CertifiedFile],
    places: Places,
    given: Sequence[tuple[Path, Path]],
    hashes: dict[Path, str | InputError],
    files: Sequence[Path],
) -> Iterator[CertificateFinding]:
    """Yield a finding for every given path that holds none of the certified files."""
    others = [file for file in certified if file.role != "program"]
    known, taken = {file.sha256 for file in others}, set(files)
    names = ", ".join(list(dict.fromkeys(Path(file.path).name for file in others))[:8])
    for place in places.rtl:
        found = [path for one, path in given if one == place]
        if place.is_dir():
            if not found:
                yield CertificateFinding(f"--rtl {place}", f"a folder with {names}", "none of them")
            continue
        for path in found:
            if hashes[path] not in known and path not in taken:
                told = hashes[path]
                told = str(told) if isinstance(told, InputError) else f"sha256 {told}, which is not one of them"
                yield CertificateFinding(f"--rtl {place}", f"one of the files that were signed off: {names}", told)
