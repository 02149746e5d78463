"""A program with taps: the same ops, and outputs more that read the values of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dais_verif.program.graph import cone
from dais_verif.program.model import Program
from dais_verif.program.opcodes import Code

__all__ = ["live", "tapped", "tappable"]


def tapped(program: Program, ops: Sequence[int]) -> Program:
    """Return ``program`` with one more output for each of ``ops``, after its own: the op's value as it is."""
    return replace(
        program,
        out_idx=np.concatenate([program.out_idx, np.array(ops, dtype=np.int64)]),
        out_shift=np.concatenate([program.out_shift, np.zeros(len(ops), dtype=np.int64)]),
        out_neg=np.concatenate([program.out_neg, np.zeros(len(ops), dtype=np.int64)]),
    )


def tappable(program: Program, root: int) -> list[int]:
    """Return the ops that op ``root`` depends on, itself included, whose values can be wrong: no constants."""
    ops = (program.ops[index] for index in cone(program, [root]))
    return [op.index for op in ops if op.type.width and op.code != Code.CONST]


def live(program: Program, ops: Iterable[int], last: int) -> list[int]:
    """Return those of ``ops`` up to ``last`` that later ones among them read: all that these know of earlier ops.

    ``ops`` in SSA order.
    """
    inside = set(ops)
    beyond = (index for index in inside if index > last)
    return sorted({i for index in beyond for i in program.ops[index].operands if i <= last and i in inside})
