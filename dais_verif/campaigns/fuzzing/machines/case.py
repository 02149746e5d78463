"""A case of a machine: the machine, sequences of its inputs from power-up, and for kernels the request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import FuzzingError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.campaigns.fuzzing.files import CASE_NAME, CASE_SCHEMA, KeptCase, read_exact, spelled
from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, Asked, asked
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.stimulus.machines import InputSequence

__all__ = ["MACHINE_NAMES", "MachineCase", "Rows", "machine_case_of", "parts_of", "write_machine_case"]


#: For each input signal, one row of exact numbers per cycle.
Rows = Mapping[str, tuple[tuple[Fraction, ...], ...]]


@dataclass(frozen=True, eq=False)
class MachineCase:
    """A ``machine`` and ``sequences`` of its inputs, all with ``cycles`` cycles.

    ``kernel``: the name and the seed of the kernel request from which the machine was built, if any.
    """

    machine: Machine
    sequences: tuple[Rows, ...]
    cycles: int
    kernel: tuple[str, int] | None = None

    @cached_property
    def key(self) -> object:
        """The identity of the case."""
        rows = tuple(tuple(sorted(sequence.items())) for sequence in self.sequences)
        return self.machine.hash, self.cycles, rows, self.kernel

    @property
    def words(self) -> str:
        """The size of the case, as text."""
        connections = counted(len(self.machine.connections), "connection")
        return f"{counted(self.ops, 'op')}, {connections}, {counted(self.cycles, 'cycle')}"

    @property
    def ops(self) -> int:
        """The number of ops in all blocks."""
        return sum(block.program.n_ops for block in self.machine.blocks.values())

    @cached_property
    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The inputs of each signal, shape (sequences, cycles, elements)."""
        shape = len(self.sequences), self.cycles
        return {
            signal.name: np.array([[*map(_doubles, rows[signal.name])] for rows in self.sequences]).reshape(
                *shape, len(signal.types)
            )
            for signal in self.machine.inputs
        }

    @property
    def input_sequences(self) -> list[InputSequence]:
        """The sequences in the form for simulations."""
        return [InputSequence(self.cycles, {name: list(rows[name]) for name in rows}) for rows in self.sequences]

    @cached_property
    def request(self) -> Asked | None:
        """The request for the kernel; None if the machine is not a kernel."""
        return None if self.kernel is None else asked(*self.kernel)


def _doubles(row: Any) -> list[float]:
    return [float(value) for value in row]


def parts_of(case: MachineCase) -> tuple[str, ...]:
    """Return the opcodes and features that the machine uses, which cases of the same cause share."""
    machine = case.machine
    codes = {op.spec.mnemonic for block in machine.blocks.values() for op in block.program.ops if op.code != INPUT}
    parts = {
        "register": bool(machine.registers),
        "initial": any(signal.initial is not None for signal in machine.registers),
        "reset": any(signal.reset is not None for signal in machine.registers),
        "enable": any(one.enable is not None for one in machine.connections),
        "alternative": any(one.alternative is not None for one in machine.connections),
        "index": any(one.source.index or one.target.index for one in machine.connections),
    }
    return tuple(sorted(codes) + [name for name, there in parts.items() if there])


# Cases of machines as files: the machine as text or as ALIRFSM, and facts about the case as JSON.


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
