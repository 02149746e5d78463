"""A case of a machine: the machine, sequences of its inputs from power-up, and for kernels the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.counts import counted
from dais_verif.fuzzing.generate.random_kernels import Asked, asked
from dais_verif.machine import Machine
from dais_verif.program.opcodes import INPUT
from dais_verif.stimulus.machines import InputSequence

__all__ = ["MachineCase", "Rows", "parts_of"]

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
