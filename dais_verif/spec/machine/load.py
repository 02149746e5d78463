"""Machines from files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.base.errors import MachineError, ProgramError
from dais_verif.base.files import read_plain
from dais_verif.spec.machine.alirfsm import looks_like_alirfsm, parse_alirfsm
from dais_verif.spec.machine.model import Machine
from dais_verif.spec.program import Program, parse
from dais_verif.spec.program.machine_begin import begins_machine

__all__ = ["load_machine", "looks_like_machine", "parse_machine"]

_MOST_BYTES = 4 << 30


def load_machine(path: str | Path | bytes) -> Machine:
    """Return the valid machine in a file, given as path or bytes: alkaid's ALIRFSM, plain or gzip, or text.

    Raises ``ProgramError`` if the content is not a valid machine, ``InputError`` if a file cannot be read.
    """
    if isinstance(path, bytes):
        return parse_machine(path)
    data = read_plain(Path(path), _MOST_BYTES, advice="give the path of a machine (ALIRFSM, or its text)")
    if begins_machine(data):
        # Imported when needed: preparing the parser takes as long as importing the rest of the package.
        from dais_verif.spec.machine.parse import parse_text

        machine = parse_text(data, str(path), lambda name: _read_block(Path(path).parent / name))
    else:
        try:
            machine = parse_alirfsm(data)
        except ProgramError as error:
            raise MachineError(f"{path}: {error}") from None
    return replace(machine, origin=replace(machine.origin, path=str(path)))


def parse_machine(data: bytes) -> Machine:
    """Return the valid machine in ``data``. Raises ``ProgramError`` that names the signal, connection or block."""
    if not begins_machine(data):
        return parse_alirfsm(data)
    from dais_verif.spec.machine.parse import parse_text

    return parse_text(data)


def looks_like_machine(data: bytes) -> bool:
    """Return True if ``data`` claims to be a machine: JSON, plain or gzip, with a machine's ``meta``, or a text."""
    return begins_machine(data) or looks_like_alirfsm(data)


def _read_block(path: Path) -> tuple[bytes, Program | str]:
    """Read the program of a block: from text, whose names the machine can use, or from any other file of a program."""
    data = read_plain(path, _MOST_BYTES, advice="give the path of a program")
    if path.suffix == ".dais":
        from dais_verif.spec.program.assembler import decoded

        return data, decoded(data, str(path), "it is not the text of a program")
    return data, parse(data)
