"""Facts about all ops of a program as columns, which scheduling, compilation and verification share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.integer_width import is_wide
from dais_verif.golden.vm.codes import ForwardForm
from dais_verif.program import OPCODES, Program
from dais_verif.program.opcodes import Code, Data, Pattern, high_int32, low_int32

__all__ = ["at", "form_of", "operands_of", "shapes_of", "widths_of"]

Ints = NDArray[np.int32]


def at(column: Ints, indices: NDArray[np.integer[Any]] | Sequence[int]) -> Ints:
    """``column`` at ``indices`` of any shape; -1 stays -1."""
    return np.append(column, np.int32(-1))[np.asarray(indices, dtype=np.int32)]


def operands_of(program: Program) -> Ints:
    """``Op.operands`` of every op, (n_ops, 3), -1 for none."""
    code, id0, id1, data = program.columns[:4]
    reads = np.full((program.n_ops, 3), -1, dtype=np.int32)
    for spec in OPCODES.values():
        of = code == spec.code
        if spec.pattern in (Pattern.UNARY, Pattern.BINARY):
            reads[of, 0] = id0[of]
        if spec.pattern is Pattern.BINARY:
            reads[of, 1] = id1[of]
        if spec.data is Data.MUX:
            reads[of, 2] = low_int32(data[of])
    return reads


def widths_of(program: Program) -> Ints:
    """Width of every op's type in bits, (n_ops,)."""
    k, i, f = program.columns[4:7]
    return (k + i + f).astype(np.int32)


def shapes_of(program: Program) -> NDArray[np.int64]:
    """All that the computation of every op depends on but the values it reads, (n_ops, 14): opcode, types, data."""
    code, data, inputs = program.columns.code, program.columns.data.copy(), program.columns.code == Code.INPUT
    for spec in OPCODES.values():
        if spec.data is Data.NONE:
            data[code == spec.code] = 0
        elif spec.data is Data.MUX:  # its low half is an operand
            data[code == spec.code] = high_int32(data[code == spec.code])
    data[inputs] = program.inp_shift[program.columns.id0[inputs]]
    own = np.column_stack(program.columns[4:7])
    # Operands that are not there get a type that is none.
    read = np.concatenate([own, [[-1, -1, -1]]])[operands_of(program)].reshape(-1, 9)
    return np.column_stack([code, data, own, read])


def form_of(program: Program, index: int) -> ForwardForm:
    """The compiled form of op ``index``, and of all ops of its shape."""
    op = program.ops[index]
    return ForwardForm(index, is_wide(op, [program.ops[i].type for i in op.operands]))
