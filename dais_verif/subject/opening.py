"""Find out what was given in place of PROGRAM, by its content. Nothing else asks that."""

from __future__ import annotations

from pathlib import Path

from dais_verif.compile import network_folder
from dais_verif.spec.machine import Machine, load_machine, looks_like_machine
from dais_verif.spec.program import Program
from dais_verif.subject.design_folders import brings_rtl
from dais_verif.subject.given import AnyProgram, is_folder
from dais_verif.subject.programs import is_network
from dais_verif.subject.subject import Kind, Subject

__all__ = ["open_subject"]

_GZIP = b"\x1f\x8b"

#: Where alkaid stores a machine, and next to it the program that it was made from, which takes precedence.
_IN_FOLDER, _PROGRAMS = "model/fsm.json.gz", ("comb.json.gz", "comb.json")


def open_subject(given: AnyProgram, layout: str | None = None) -> Subject:
    """Return ``given`` as a subject: a program, a machine, the bytes or the path of a file, or a folder.

    ``layout``: how a file of a program is to be read. What cannot be read, or is nothing known, is a program, whose
    reader will say so. Raises ``ProgramError`` if a file claims to be a machine and is not a valid one, ``InputError``
    if a folder of a kernel or of a network was changed since it was written.
    """
    if isinstance(given, Machine):
        return Subject(given, layout, Kind.MACHINE, given)
    if isinstance(given, Program):
        return Subject(given, layout, Kind.PROGRAM)
    if is_folder(given):
        return _folder(given, Path(str(given)), layout)
    machine = _machine(given)
    if machine is not None:
        return Subject(given, layout, Kind.MACHINE, machine)
    return Subject(given, layout, Kind.NETWORK if is_network(given) else Kind.PROGRAM)


def _folder(given: AnyProgram, path: Path, layout: str | None) -> Subject:
    # Imported when a folder is given, which few subjects are: kernels load much.
    from dais_verif.compile.kernels import folder as kernel_folder

    kernel = kernel_folder.read_folder(path)
    if kernel is not None:
        return Subject(given, layout, Kind.KERNEL, kernel=kernel)
    if network_folder.holds_network(path):
        from dais_verif.compile.networks.hardware.folder import read_folder

        hardware = read_folder(path)
        assert hardware is not None  # it has a manifest
        return Subject(given, layout, Kind.HARDWARE, hardware=hardware)
    file = path / _IN_FOLDER
    if not any(file.with_name(name).exists() for name in _PROGRAMS) and (machine := _machine(file)) is not None:
        return Subject(given, layout, Kind.MACHINE_PROJECT, machine)
    return Subject(given, layout, Kind.PROJECT if brings_rtl(path) else Kind.PROGRAM)


def _machine(given: bytes | str | Path) -> Machine | None:
    if isinstance(given, bytes):
        return load_machine(given) if looks_like_machine(given) else None
    path = Path(given)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            begin = file.read(64)
            if b"\0" in begin and not begin.startswith(_GZIP):  # a binary
                return None
            machine = looks_like_machine(begin + file.read())
    except (OSError, ValueError):
        return None
    return load_machine(path) if machine else None
