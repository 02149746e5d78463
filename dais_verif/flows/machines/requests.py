"""Find machines given instead of a program: a ``Machine``, a file, its bytes, or alkaid's folder."""

from __future__ import annotations

from pathlib import Path

from dais_verif.errors import Argument, RequestError
from dais_verif.flows.kernels.folders import find_kernel
from dais_verif.flows.networks.folders import find_folded
from dais_verif.flows.programs import AnyProgram, is_folder
from dais_verif.machine import Machine, load_machine, looks_like_machine
from dais_verif.program import Program

__all__ = ["find_machine", "require_no_options"]

_GZIP = b"\x1f\x8b"

#: Where alkaid stores a machine, and next to it the program that it was made from, which takes precedence.
_IN_FOLDER, _PROGRAMS = "model/fsm.json.gz", ("comb.json.gz", "comb.json")


def find_machine(program: AnyProgram) -> Machine | None:
    """Return ``program`` as a machine, recognized by its content; None if it is something else, or cannot be read.

    For a folder of alkaid, return the machine in it, unless it also holds the program that the machine was made from.

    Raises ``ProgramError`` if the file claims to be a machine and is not a valid one.
    """
    if isinstance(program, Machine):
        return program
    if isinstance(program, Program):
        return None
    if isinstance(program, bytes):
        return load_machine(program) if looks_like_machine(program) else None
    path = Path(program)
    found = find_kernel(path) or find_folded(path)
    if found is not None:
        return found.machine
    if is_folder(path):
        path = path / _IN_FOLDER
        if any(path.with_name(name).exists() for name in _PROGRAMS):
            return None
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


def require_no_options(**options: object) -> None:
    """Raise ``RequestError`` for the first of ``options`` that is given; all of them are for programs only."""
    for name, value in options.items():
        if value:
            raise RequestError.of(
                "{option} is for programs, but this is a machine (ALIRFSM): leave it out.", option=Argument(name)
            )
