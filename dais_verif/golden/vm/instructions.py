"""Instruction sequences of the virtual machine, stored as columns so that half a million ops cost milliseconds.

Every output has one instruction, and so has every op, unless it is fused into the instruction of its operand. An
instruction reads and writes *slots*: buffers of one number per row, which hold one value after another. Besides the
slots, an instruction names the values that it must read from them, so that this can be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.vm.codes import OUTPUT, ForwardForm, Pull, PullForm
from dais_verif.golden.vm.comments import comment
from dais_verif.golden.vm.memory import Allocation, Tape, freeze
from dais_verif.program import OPCODES, Program
from dais_verif.program.opcodes import Code
from dais_verif.program.ranges import PromiseStatus

if TYPE_CHECKING:
    from dais_verif.golden.vm.machine import ForwardExecutor

__all__ = ["Checks", "Columns", "Compilation", "Instruction", "InstructionSequence", "Runtime"]

Ints = NDArray[np.int32]


class Columns(NamedTuple):
    """The instructions as int32 columns of shape (n,), or (n, 3) and (n, 2) for operands; -1 stands for none.

    If a sum has more than three terms, the columns for operands are wider for the whole sequence.

    Values have numbers: in a forward sequence that of the op that computes the value, in a pullback that of the
    contribution that was added last.
    """

    #: An opcode or ``OUTPUT``; in a pullback a ``Pull`` code.
    code: Ints
    #: The op for which the instruction was made.
    node: Ints
    #: The op whose value or gradient the instruction computes.
    target: Ints
    #: The input that the instruction reads or whose gradient it computes, or the output that it delivers or starts
    #: from.
    port: Ints
    #: The value that the instruction computes, and the slot that receives this value.
    value: Ints
    out: Ints
    #: The values that the instruction reads, and their slots; in a pullback, the gradient, then the value to which it
    #: adds.
    reads: Ints
    args: Ints
    #: The ops whose values the pullback of ``node`` needs, and the slots in which they are kept.
    keeps: Ints
    saves: Ints
    #: Index of the compiled form, and 1 if an earlier instruction has the same one.
    form: Ints
    cached: Ints


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a sequence, for inspection."""

    position: int
    #: Mnemonic of the opcode table, or ``output``; in a pullback the name of a ``Pull`` code in lower case.
    op: str
    #: Index of the op for which the instruction was made; None for an output that is constant 0.
    node: int | None
    #: Slot that the instruction writes; None for an output.
    out: int | None
    args: tuple[int, ...]
    #: Slots with values of the forward run that are kept for the pullback of the instruction's op.
    saved: tuple[int, ...]
    comment: str
    #: True if an earlier instruction had the same opcode, types and data, so that its compiled form existed already.
    cached: bool


class Checks(NamedTuple):
    """The numbers of promise ops in a sequence: all, those proved safe by ranges, and those checked at run time."""

    promises: int
    proved: int
    checked: int

    def __str__(self) -> str:
        made, proved, checked = self
        return f"promises: {made} made, {proved} proved by range analysis, {checked} checked at run time"


@dataclass
class Runtime:
    """Statistics of the runs of a sequence.

    ``checked``: whether a run that checked promises for at least one row is completed. ``verified``: the columns in
    which no fault was found. ``executors``: the prepared executors, by engine.
    """

    checked: bool = False
    verified: tuple[Ints, ...] = ()
    executors: dict[str, ForwardExecutor] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class InstructionSequence:
    """A compiled sequence; ``iseq[p]`` is instruction ``p``. Made by ``compile_forward_and_backward``.

    ``holder`` (n_ops,): for each op, the op whose slot holds its value, which is the op itself unless it is fused.
    ``changes``: the result of range analysis for every op. A copy made with ``dataclasses.replace`` starts without
    runs.
    """

    program: Program
    direction: Literal["forward", "pullback"]
    columns: Columns
    forms: tuple[ForwardForm | PullForm, ...]
    holder: Ints
    changes: tuple[PromiseStatus, ...]
    allocation: Allocation
    tape: Tape
    runtime: Runtime = field(init=False, default_factory=Runtime, repr=False)

    def __post_init__(self) -> None:
        freeze(*self.columns, self.holder)

    def __repr__(self) -> str:
        return f"<InstructionSequence {self.direction}, {len(self)} instructions>"

    def __len__(self) -> int:
        return len(self.columns.code)

    def __iter__(self) -> Iterator[Instruction]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, position: int) -> Instruction:
        if not 0 <= position < len(self):
            raise IndexError(f"position must be 0..{len(self) - 1}, not {position}")
        c = self.columns
        node, out = int(c.node[position]), int(c.out[position])
        return Instruction(
            position=position,
            op=self.mnemonic(position),
            node=node if node >= 0 else None,
            out=out if out >= 0 else None,
            args=given(c.args[position]),
            saved=given(c.saves[position]),
            comment=comment(self, position),
            cached=bool(c.cached[position]),
        )

    def mnemonic(self, position: int) -> str:
        """Return the name of the operation of instruction ``position``."""
        code = int(self.columns.code[position])
        if self.direction == "pullback":
            return Pull(code).name.lower()
        if code == Code.SUM:  # ALIR has several names for it
            return self.program.ops[int(self.columns.node[position])].spec.mnemonic
        return "output" if code == OUTPUT else OPCODES[code].mnemonic

    @cached_property
    def fused(self) -> dict[int, list[int]]:
        """The ops without an instruction of their own, by the op whose slot holds their value."""
        found: dict[int, list[int]] = {}
        for index in np.flatnonzero(self.holder != np.arange(len(self.holder))).tolist():
            found.setdefault(int(self.holder[index]), []).append(index)
        return found

    @cached_property
    def checks(self) -> Checks:
        """The promises of a forward sequence. A pullback has none."""
        if self.direction == "pullback":
            return Checks(0, 0, 0)
        known = [s for op, s in zip(self.program.ops, self.changes, strict=True) if op.spec.promise]
        proved = sum(status is PromiseStatus.SAFE for status in known)
        return Checks(len(known), proved, len(known) - proved)


def given(row: Ints) -> tuple[int, ...]:
    """Return the entries of a row of operands, without those that are -1."""
    return tuple(v for v in row.tolist() if v >= 0)


@dataclass(frozen=True, eq=False)
class Compilation:
    """A program compiled for the VM.

    ``leaves``: indices of the ``input`` ops at which gradients end, in program order. ``seed``: the default gradient
    from which the pullback starts, float64 (n_out,), all ones. ``backward``: the pullback; None if it was not
    requested.
    """

    program: Program
    forward: InstructionSequence
    backward: InstructionSequence | None
    leaves: tuple[int, ...]
    seed: NDArray[np.float64]
    allocation: Allocation
    tape: Tape
