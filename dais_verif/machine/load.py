"""Machines from files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.errors import ProgramError
from dais_verif.files import read_plain
from dais_verif.machine.alirfsm import parse_machine
from dais_verif.machine.model import Machine

__all__ = ["load_machine"]

_MOST_BYTES = 4 << 30


def load_machine(path: str | Path | bytes) -> Machine:
    """The valid machine in the file ``path``, or in the bytes of one: alkaid's ALIRFSM, plain or gzip.

    Raises ``ProgramError`` if there is none, ``InputError`` if the file cannot be read.
    """
    if isinstance(path, bytes):
        return parse_machine(path)
    data = read_plain(Path(path), _MOST_BYTES, advice="give the path of a machine (ALIRFSM)")
    try:
        machine = parse_machine(data)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None
    return replace(machine, origin=replace(machine.origin, path=str(path)))
