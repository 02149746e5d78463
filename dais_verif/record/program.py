"""The program or machine of a run."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.machine import Machine
from dais_verif.program import Program

__all__ = ["MACHINE_LAYOUTS", "ProgramInfo"]

#: Names of the layouts of machines: JSON, and text.
MACHINE_LAYOUTS = ("alirfsm", "mach")


@dataclass(frozen=True)
class ProgramInfo:
    """A program, and the format of its file.

    For a machine, the layout is ``alirfsm``, or ``mach`` for its text, and the numbers are those of the elements of its
    inputs and outputs and of the ops of all its blocks.
    """

    path: str | None
    hash: str
    file_sha256: str | None
    layout: str
    layout_assumed: bool
    n_in: int
    n_out: int
    n_ops: int

    @classmethod
    def of(cls, program: Program) -> ProgramInfo:
        """Return the facts about ``program``."""
        origin = program.origin
        return cls(
            origin.path,
            program.hash,
            origin.file_sha256,
            origin.layout,
            origin.assumed,
            program.n_in,
            program.n_out,
            program.n_ops,
        )

    @classmethod
    def of_machine(cls, machine: Machine) -> ProgramInfo:
        """Return the facts about ``machine``."""
        origin = machine.origin
        n_in, n_out = (sum(len(signal.types) for signal in side) for side in (machine.inputs, machine.outputs))
        n_ops = sum(block.program.n_ops for block in machine.blocks.values())
        layout = "mach" if origin.layout == "mach" else "alirfsm"
        return cls(origin.path, machine.hash, origin.file_sha256, layout, False, n_in, n_out, n_ops)
