"""Cases of machines as files: the machine as text or as ALIRFSM, and facts about the case as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from dais_verif.counts import counted
from dais_verif.errors import FuzzingError
from dais_verif.files import write_atomically
from dais_verif.fuzzing.files import CASE_NAME, CASE_SCHEMA, KeptCase, read_exact, spelled
from dais_verif.fuzzing.generate.random_kernels import SHIPPED
from dais_verif.fuzzing.machines.case import MachineCase
from dais_verif.machine import load_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.machine.text.writer import machine_text

__all__ = ["MACHINE_NAMES", "machine_case_of", "write_machine_case"]

#: File names of the machine of a case: as text, and as ALIRFSM.
MACHINE_NAMES = ("machine.mach", "machine.json")


def write_machine_case(case: MachineCase, kept: KeptCase, folder: Path) -> None:
    """Write all files of a case: the machine as text, or as ALIRFSM if the text is wrong, and ``case.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    name = MACHINE_NAMES[kept.pair == "text"]
    data = machine_json(case.machine) if kept.pair == "text" else machine_text(case.machine).encode()
    write_atomically(folder / name, data)
    tree = {
        "schema": CASE_SCHEMA,
        **asdict(kept),
        "machine": name,
        "kernel": None if case.kernel is None else list(case.kernel),
        "cycles": case.cycles,
        "sequences": [{signal: spelled(rows) for signal, rows in one.items()} for one in case.sequences],
    }
    write_atomically(folder / CASE_NAME, (json.dumps(tree, indent=2) + "\n").encode())


def machine_case_of(folder: Path, tree: Mapping[str, Any]) -> MachineCase:
    """Return the case in ``folder``, whose ``case.json`` holds ``tree``.

    Raises ``InputError`` if it is not a case, ``ProgramError`` if its machine is invalid.
    """
    path = folder / CASE_NAME
    try:
        name, cycles, kernel = str(tree["machine"]), int(tree["cycles"]), tree["kernel"]
        sequences = tuple({str(key): read_exact(rows) for key, rows in one.items()} for one in tree["sequences"])
        known = None if kernel is None else (str(kernel[0]), int(kernel[1]))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise FuzzingError(f"{path}: not a case as written by fuzz ({type(error).__name__}: {error})") from None
    if Path(name).name != name:
        raise FuzzingError(f"{path}: machine must be the name of a file in the same folder, not {name!r}")
    if known is not None and known[0] not in SHIPPED:
        raise FuzzingError(f"{path}: kernel must be a built-in one, not {known[0]!r}")
    machine = load_machine(folder / name)
    inputs = {signal.name: len(signal.types) for signal in machine.inputs}
    if not sequences or cycles < 1:
        raise FuzzingError(f"{path}: must have a sequence of at least one cycle")
    for one in sequences:
        if set(one) != set(inputs) or any(not _fits(one[name], cycles, inputs[name]) for name in inputs):
            raise FuzzingError(
                f"{path}: each sequence must have {counted(cycles, 'row')} for each input of the machine"
            )
    return MachineCase(machine, sequences, cycles, known)


def _fits(rows: tuple[tuple[Fraction, ...], ...], cycles: int, elements: int) -> bool:
    return len(rows) == cycles and all(len(row) == elements for row in rows)
