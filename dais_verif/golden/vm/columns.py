"""Facts about all ops of a program as columns, which scheduling, compilation and verification share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import EngineError
from dais_verif.base.text import counted
from dais_verif.golden.integer_width import is_wide
from dais_verif.golden.vm.instructions import ForwardForm
from dais_verif.spec.program import OPCODES, Program
from dais_verif.spec.program.opcodes import Code, Data, Pattern, high_int32, low_int32

__all__ = ["at", "form_of", "operands_of", "shapes_of", "widths_of"]

Ints = NDArray[np.int32]

#: The most entries of the columns of operands, half a gigabyte. Each op has as many entries as the largest sum has
#: terms.
_MOST_ENTRIES = 1 << 27


def at(column: Ints, indices: NDArray[np.integer[Any]] | Sequence[int]) -> Ints:
    """Return ``column`` at ``indices`` of any shape; -1 stays -1."""
    return np.append(column, np.int32(-1))[np.asarray(indices, dtype=np.int32)]


def operands_of(program: Program) -> Ints:
    """Return ``Op.operands`` of every op, (n_ops, 3), -1 for none; there are more columns if a sum has more terms.

    Raises ``InputError`` if a sum has too many terms for the VM.
    """
    code, id0, id1, data = program.columns[:4]
    terms = program.terms
    read = terms.op >= 0
    owner = np.repeat(np.flatnonzero(code == Code.SUM), id1[code == Code.SUM])[read]
    counts = np.bincount(owner, minlength=program.n_ops)
    most = int(counts.max(initial=3))
    if program.n_ops * most > _MOST_ENTRIES:
        raise EngineError(
            f"the virtual machine cannot run this program: op {int(counts.argmax())} has {most} operands, and there are"
            f" {counted(program.n_ops, 'op')}; use dais-verif run"
        )
    reads = np.full((program.n_ops, most), -1, dtype=np.int32)
    reads[owner, np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]] = terms.op[read]
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
    """Return the width of every op's type in bits, (n_ops,)."""
    k, i, f = program.columns[4:7]
    return (k + i + f).astype(np.int32)


def shapes_of(program: Program) -> NDArray[np.int64]:
    """Return all parameters of every op's computation except the values that it reads: (n_ops, 15).

    These parameters are opcode, types and data. The last column identifies the shifts, signs and types in the terms of
    a sum.
    """
    code, data, inputs = program.columns.code, program.columns.data.copy(), program.columns.code == Code.INPUT
    for spec in OPCODES.values():
        if spec.data is Data.NONE:
            data[code == spec.code] = 0
        elif spec.data is Data.MUX:  # the low half is an operand
            data[code == spec.code] = high_int32(data[code == spec.code])
    data[inputs] = program.inp_shift[program.columns.id0[inputs]]
    own = np.column_stack(program.columns[4:7])
    # Missing operands get an invalid type.
    read = np.concatenate([own, [[-1, -1, -1]]])[operands_of(program)[:, :3]].reshape(-1, 9)
    return np.column_stack([code, data, own, read, _terms(program)])


def _terms(program: Program) -> NDArray[np.int64]:
    """Return, for every sum, a number for the shifts, signs and types of its terms; -1 for other ops."""
    numbers = np.full(program.n_ops, -1, dtype=np.int64)
    known: dict[Hashable, int] = {}
    for index in np.flatnonzero(program.columns.code == Code.SUM).tolist():
        terms = tuple(
            (shift, negative, program.ops[op].type if op >= 0 else None)
            for op, shift, negative in program.ops[index].terms
        )
        numbers[index] = known.setdefault(terms, len(known))
    return numbers


def form_of(program: Program, index: int) -> ForwardForm:
    """Return the compiled form of op ``index``, which all ops of the same shape share."""
    op = program.ops[index]
    return ForwardForm(index, is_wide(op, [program.ops[i].type for i in op.operands]))
