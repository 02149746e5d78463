"""Adapt blocks to tensors: their inputs get the tensor's type, independent of the block's original types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.conversion.lowering import Builder
from dais_verif.spec.program.opcodes import Code

__all__ = ["Behind", "behind_tensors", "join", "type_of_inputs"]


class Behind(NamedTuple):
    """A block that reads tensors. ``moved``: for each op of the original block, the op that has its value."""

    block: Program
    moved: Mapping[int, int] | Sequence[int]


def join(kinds: Sequence[FixedType]) -> FixedType:
    """Return the smallest type that holds all values of ``kinds``."""
    there = [kind for kind in kinds if kind.width]
    if not there:
        return FixedType(0, 0, 0)
    return FixedType(max(kind.k for kind in there), max(kind.i for kind in there), max(kind.f for kind in there))


def type_of_inputs(block: Program, first: int, end: int) -> FixedType:
    """Return the smallest type with all bits that a block reads of inputs ``first`` to ``end - 1``."""
    shifts = block.inp_shift.tolist()
    reads = [op for op in block.ops if op.code == Code.INPUT and first <= op.id0 < end]
    return join([_shifted(op.type, -shifts[op.id0]) for op in reads])


def behind_tensors(block: Program, kinds: Sequence[FixedType]) -> Behind:
    """Return the block that reads input ``n`` as a value of ``kinds[n]``, without an ``inp_shift``.

    For values of these types the returned block computes the same as ``block``. A block that read bits outside of the
    type would differ between a machine, where wires have the tensor's type, and the program of all members.
    """
    within = all(_within(op.type, kinds[op.id0]) for op in block.ops if op.code == Code.INPUT)
    if within and not block.inp_shift.any():
        return Behind(block, range(block.n_ops))
    made, shifts = Builder(replace(block, inp_shift=np.zeros_like(block.inp_shift))), block.inp_shift.tolist()
    for op in block.ops:
        interval = block.intervals[op.index] if block.intervals else None
        if op.code == Code.INPUT:
            kind, shift = kinds[op.id0], shifts[op.id0]
            value = made.add(Code.INPUT, kind, op.id0)
            if shift:
                value = made.add(Code.ADD, _shifted(kind, shift), made.zero(), value, shift)
            made.add(Code.QUANT, op.type, value, interval=interval, of=op.index)
        else:
            new = op.rewired(made.index.__getitem__)
            made.add(op.code, op.type, new.id0, new.id1, new.data, terms=new.terms, interval=interval, of=op.index)
    program = made.program(block.origin)
    return Behind(program if block.intervals else replace(program, intervals=None), made.index)


def _shifted(kind: FixedType, shift: int) -> FixedType:
    return FixedType(kind.k, kind.i + shift, kind.f - shift)


def _within(read: FixedType, kind: FixedType) -> bool:
    """Return True if all bits that are read are bits of a type."""
    return not read.width or (read.f <= kind.f and read.k + read.i <= kind.k + kind.i)
