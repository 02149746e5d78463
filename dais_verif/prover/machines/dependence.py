"""Find the elements of a machine's state on which its outputs and its next state depend in one cycle."""

from __future__ import annotations

from dais_verif.machine.step import Step
from dais_verif.program.opcodes import INPUT

__all__ = ["dependence", "ones", "seen_from_outside"]


def dependence(step: Step) -> tuple[list[int], list[int]]:
    """Return the elements on which each output, and each element after the edge, depends, as bit masks."""
    program, n_in, n_out = step.program, len(step.inputs), len(step.outputs)
    masks: list[int] = []
    for op in program.ops:
        mask = 1 << op.id0 if op.code == INPUT else 0
        for operand in op.operands:
            mask |= masks[operand]
        masks.append(mask)
    found = [masks[index] >> n_in for index, _, _ in program.outputs]
    return found[:n_out], found[n_out:]


def seen_from_outside(step: Step) -> set[int]:
    """Return the numbers of the elements on which an output depends, in this cycle or a later one."""
    outputs, after = dependence(step)
    seen = 0
    waiting = [0]
    for mask in outputs:
        waiting[0] |= mask
    while waiting:
        new = waiting.pop() & ~seen
        seen |= new
        waiting += [after[number] for number in ones(new)]
    return set(ones(seen))


def ones(mask: int) -> list[int]:
    """Return the numbers of the bits of ``mask`` that are 1, from the lowest on."""
    return [number for number, digit in enumerate(reversed(bin(mask)[2:])) if digit == "1"]
