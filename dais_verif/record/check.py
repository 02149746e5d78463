"""The record of ``check``: the contents of a program, and its overflow analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.network import NetworkInfo
from dais_verif.record.program import ProgramInfo, ProjectInfo

__all__ = ["CheckRecord", "NamedOp", "Overflow", "PortWidths", "WidthSummary"]


@dataclass(frozen=True, kw_only=True)
class NamedOp:
    """An op with its name. ``how``: the basis of a proof. ``inputs``: exact inputs that break the op's promise.

    ``block``: the block of a machine in which the op has the number ``op``; ``connections`` if the op checks an index.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("how", "inputs", "block")

    op: int
    mnemonic: str
    type: str
    how: str | None = None
    inputs: list[str] | None = None
    block: str | None = None

    def __str__(self) -> str:
        where = "" if self.block is None else f"{self.block} "
        return f"{where}op {self.op} ({self.mnemonic} {self.type})"


@dataclass(frozen=True, kw_only=True)
class Overflow:
    """The overflow analysis of the ops that promise not to change their value.

    ``proved_impossible``: the number of ops that intervals prove safe. ``possible``: the ops that intervals do not
    prove safe. Of these, a proof shows ``proved_by_proof`` to be safe, ``broken`` to be broken by some inputs, and
    leaves others ``undecided``; these fields are None if no proof was requested or needed. ``certain``: the ops whose
    promise every input breaks. ``inputs``: where the intervals of the inputs come from.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("proved_by_proof", "broken", "undecided")

    proved_impossible: int
    possible: list[NamedOp]
    certain: list[NamedOp]
    inputs: str
    proved_by_proof: list[NamedOp] | None = None
    broken: list[NamedOp] | None = None
    undecided: list[NamedOp] | None = None


@dataclass(frozen=True)
class WidthSummary:
    """The widths of the ops, in bits: the largest width, the number of ops without bits, and the sum of all widths."""

    max: int
    zero: int
    sum: int


@dataclass(frozen=True)
class MachineSummary:
    """The parts of a machine: the numbers of ops and dead ops of each block, and of elements of each port.

    ``uninitialised``: the registers whose value is unknown until the first write.
    """

    blocks: dict[str, int]
    dead_ops: dict[str, int]
    inputs: dict[str, int]
    outputs: dict[str, int]
    registers: int
    state_bits: int
    uninitialised: list[str]
    connections: int


@dataclass(frozen=True)
class PortWidths:
    """Widths of the packed ports, in bits."""

    model_inp: int
    model_out: int


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckRecord(RunRecord):
    """A run of ``check``. ``tables``: their lengths. ``opcodes``, ``widths``: the numbers of ops by opcode and width.

    ``project``: the given folder, and its contents. ``machine``: the parts of a machine; its ops are then counted over
    all blocks, and the depth is that of one cycle. ``network``: the nodes of a network with their types. ``depth``: the
    length of the longest chain of ops. ``meaningless_data``: the ops with data that their opcode does not use.
    """

    SCHEMA: ClassVar = "dais-verif/check/1"

    LEFT_OUT_IF_NONE: ClassVar = ("network",)

    program: ProgramInfo
    warnings: list[str]
    spec_version: int | None
    firmware_version: int | None
    tables: list[int]
    opcodes: dict[str, int]
    width: WidthSummary
    widths: dict[int, int]
    depth: int
    ports: PortWidths
    dead_ops: list[int]
    meaningless_data: list[int]
    overflow: Overflow
    project: ProjectInfo | None = None
    machine: MachineSummary | None = None
    network: NetworkInfo | None = None
