"""Instruction sequences of the virtual machine, stored as columns so that half a million ops cost milliseconds.

Every output has one instruction, and so has every op, unless it is fused into the instruction of its operand. An
instruction reads and writes *slots*: buffers of one number per row, which hold one value after another. Besides the
slots, an instruction names the values that it must read from them, so that this can be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.vm.memory import Allocation, Tape, freeze
from dais_verif.spec.program import OPCODES, FixedType, Program
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.opcodes import INPUT, Code, Data, bitwise_fields, high_int32
from dais_verif.spec.program.ranges import PromiseStatus

if TYPE_CHECKING:
    from dais_verif.golden.vm.machine import ForwardExecutor

__all__ = [
    "Checks",
    "Columns",
    "Compilation",
    "ForwardForm",
    "Instruction",
    "InstructionSequence",
    "OUTPUT",
    "Pull",
    "PullForm",
    "Runtime",
    "comment",
    "disassemble",
    "instruction_lines",
    "neighbours",
]


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


# The operation of an instruction: its code, and the compiled form that instructions of the same shape share.


#: Code of a forward instruction that delivers an output; all other instructions have the codes of the opcode table.
OUTPUT = 100


class Pull(IntEnum):
    """Codes of the pullback. Each instruction adds one contribution to a gradient."""

    #: The gradient of an output, given by the caller: ``±g * 2**shift``.
    SEED = 0
    #: Operand of a sum, difference or negation: ``±g * 2**shift``.
    SHIFT = 1
    #: Operand of a relu: ``±g`` where its (negated) value was positive, else 0.
    GATE = 2
    #: First arm of a mux: ``g`` where the condition's MSB was 1, else 0.
    FIRST = 3
    #: Second arm of a mux: ``±g * 2**shift`` where the condition's MSB was 0, else 0.
    SECOND = 4
    #: Operand of a product: ``g`` times the value of the other operand.
    MUL = 5
    #: An input that an ``input`` op reads: ``g * 2**shift``.
    GRAD = 6


class ForwardForm(NamedTuple):
    """The computation of ops of one shape, in Python integers if ``wide``, else int64. ``op``: the first such op."""

    op: int
    wide: bool


class PullForm(NamedTuple):
    """The effect of a pullback instruction on ``g``; ``kind`` is the type of the saved value that it reads."""

    code: Pull
    shift: int = 0
    negated: bool = False
    kind: FixedType | None = None


# Instructions as one short line of text, in which ``%N`` is the value of an op and ``g%N`` its gradient.


def comment(iseq: InstructionSequence, position: int) -> str:
    """Return the line for instruction ``position``, including the ops that are fused into it."""
    return _pull(iseq, position) if iseq.direction == "pullback" else _forward(iseq, position)


def _forward(iseq: InstructionSequence, position: int) -> str:
    program, columns = iseq.program, iseq.columns
    if columns.code[position] == OUTPUT:
        port = int(columns.port[position])
        index, shift, negated = program.outputs[port]
        value = f"{'-' if negated else ''}%{index}{_shift(shift)}" if index >= 0 else "0"
        return f"output {port} = {value}"
    op = program.ops[int(columns.node[position])]
    fused = (program.ops[index] for index in iseq.fused.get(op.index, ()))
    return "; fused: ".join(f"%{o.index} {o.type} = {in_words(program, o)}" for o in (op, *fused))


def _pull(iseq: InstructionSequence, position: int) -> str:
    columns = iseq.columns
    node, target, port = (int(column[position]) for column in (columns.node, columns.target, columns.port))
    form = iseq.forms[int(columns.form[position])]
    assert isinstance(form, PullForm)
    minus = "-" if form.negated else ""
    gradient = f"grad {port}" if form.code is Pull.GRAD else f"g%{target}"
    source = f"seed {port}" if form.code is Pull.SEED else f"g%{node}"
    kept = int(columns.keeps[position, 0])
    words = f"{minus}{source}{_shift(form.shift)}"
    match form.code:
        case Pull.GATE:
            words += f" where {minus}%{kept} > 0"
        case Pull.FIRST | Pull.SECOND:
            words += f" where msb(%{kept}) = {int(form.code is Pull.FIRST)}"
        case Pull.MUL:
            words += f" * %{kept}"
    return f"{gradient} {'+=' if columns.reads[position, 1] >= 0 else '='} {words}"


def _shift(bits: int) -> str:
    return "" if bits == 0 else f"<<{bits}" if bits > 0 else f">>{-bits}"


# Instruction sequences as text.


def disassemble(compilation: Compilation) -> str:
    """Return both sequences, one instruction per line, followed by counts and a newline.

    A line has the position, the instruction, its slots (``s`` holds a value of the forward run, ``g`` a gradient; the
    written slot comes first, ``keep`` marks slots that the pullback needs), ``+`` if the compiled form existed already,
    and the computation.

    Counts: *instructions*; *tensors* are slots, each with one number per row; *scalars* are numbers within
    instructions: constants and shifts that are not 0.
    """
    lines = ["[Forward]", *instruction_lines(compilation.forward, range(len(compilation.forward)))]
    lines += ["", "[Pullback]"]
    if compilation.backward is None:
        lines.append("  not compiled")
    else:
        lines += instruction_lines(compilation.backward, range(len(compilation.backward)))
    return "\n".join([*lines, "", *_counts(compilation)]) + "\n"


def instruction_lines(iseq: InstructionSequence, positions: Iterable[int], *, guilty: int = -1) -> Iterator[str]:
    """Yield one line per instruction; the line at position ``guilty`` is marked with ``*``."""
    rows = [(iseq[position], _slots(iseq, iseq[position])) for position in positions]
    op_width = max((len(row.op) for row, _ in rows), default=0)
    slot_width = max((len(slots) for _, slots in rows), default=0)
    for row, slots in rows:
        mark, cached = "*" if row.position == guilty else " ", "+" if row.cached else " "
        yield f"{mark} {row.position:>4}  {row.op:<{op_width}}  {slots:<{slot_width}} {cached} ; {row.comment}"


def neighbours(iseq: InstructionSequence, position: int) -> str:
    """Return the line of instruction ``position``, marked with ``*``, with the three lines before and after it."""
    around = range(max(position - 3, 0), min(position + 4, len(iseq)))
    return "\n".join(instruction_lines(iseq, around, guilty=position))


def _slots(iseq: InstructionSequence, row: Instruction) -> str:
    code, port = int(iseq.columns.code[row.position]), int(iseq.columns.port[row.position])
    if iseq.direction == "pullback":
        read = [f"seed{port}"] if code == Pull.SEED else []
        read += [*(f"g{slot}" for slot in row.args), *(f"s{slot}" for slot in row.saved)]
        return f"g{row.out} <- {', '.join(read)}"
    written = f"out{port}" if code == OUTPUT else f"s{row.out}"
    read = [f"in{port}"] if code == Code.INPUT else [f"s{slot}" for slot in row.args]
    kept = f" keep {', '.join(f's{slot}' for slot in row.saved)}" if row.saved else ""
    return (f"{written} <- {', '.join(read)}" if read else written) + kept


def _counts(compilation: Compilation) -> Iterator[str]:
    forward, backward, allocation = compilation.forward, compilation.backward, compilation.allocation
    fused = sum(map(len, forward.fused.values()))
    n_backward, n_gradients = (len(backward), allocation.n_gradients) if backward is not None else (0, 0)
    scalars = _forward_scalars(forward), _pull_scalars(backward) if backward is not None else 0
    yield f"instructions  {len(forward) + n_backward:>6}  forward {len(forward)}, pullback {n_backward}, fused {fused}"
    yield (
        f"tensors       {allocation.n_slots + n_gradients:>6}  "
        f"forward {allocation.n_slots} ({len(allocation.saved)} kept for the pullback), pullback {n_gradients}"
    )
    yield f"scalars       {sum(scalars):>6}  forward {scalars[0]}, pullback {scalars[1]}"


def _forward_scalars(iseq: InstructionSequence) -> int:
    program, c, count = iseq.program, iseq.columns, 0
    for code, node, port in zip(c.code.tolist(), c.node.tolist(), c.port.tolist(), strict=True):
        if code == OUTPUT:
            count += program.outputs[port][1] != 0
            continue
        op = program.ops[node]
        match op.spec.data:
            case Data.CONSTANT:
                count += 1
            case Data.SHIFT | Data.SHIFT_ONLY:
                count += op.data != 0
            case Data.TERM:  # the constant, and the shifts of operands
                count += sum(term.op < 0 or term.shift != 0 for term in op.terms)
            case Data.MUX | Data.TABLE:  # a shift, an offset
                count += high_int32(op.data) != 0
            case Data.BITWISE:
                count += bitwise_fields(op.data).shift != 0
            case _:
                count += op.code == INPUT and int(program.inp_shift[op.id0]) != 0
    return count


def _pull_scalars(iseq: InstructionSequence) -> int:
    shifted = np.array([isinstance(form, PullForm) and form.shift != 0 for form in iseq.forms], dtype=bool)
    return int(shifted[iseq.columns.form].sum())
