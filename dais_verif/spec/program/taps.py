"""Add taps to a program: additional outputs with the values of some ops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.model import Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["live", "tapped", "tappable"]


def tapped(program: Program, ops: Sequence[int]) -> Program:
    """Return ``program`` with further outputs after its own ones: the unchanged value of each of ``ops``."""
    return replace(
        program,
        out_idx=np.concatenate([program.out_idx, np.array(ops, dtype=np.int64)]),
        out_shift=np.concatenate([program.out_shift, np.zeros(len(ops), dtype=np.int64)]),
        out_neg=np.concatenate([program.out_neg, np.zeros(len(ops), dtype=np.int64)]),
    )


def tappable(program: Program, root: int) -> list[int]:
    """Return the ops on which op ``root`` depends, including ``root``, whose values can be wrong: all but constants."""
    ops = (program.ops[index] for index in cone(program, [root]))
    return [op.index for op in ops if op.type.width and op.code != Code.CONST]


def live(program: Program, ops: Iterable[int], last: int) -> list[int]:
    """Return those of ``ops`` up to ``last`` that ops among ``ops`` after ``last`` read.

    ``ops`` must be in SSA order.
    """
    inside = set(ops)
    beyond = (index for index in inside if index > last)
    return sorted({i for index in beyond for i in program.ops[index].operands if i <= last and i in inside})
