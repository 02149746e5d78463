"""Instruction sequences as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dais_verif.golden.vm.codes import OUTPUT, Pull, PullForm
from dais_verif.golden.vm.instructions import Compilation, Instruction, InstructionSequence
from dais_verif.program.opcodes import INPUT, Code, Data, bitwise_fields, high_int32

__all__ = ["disassemble", "instruction_lines", "neighbours"]


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
