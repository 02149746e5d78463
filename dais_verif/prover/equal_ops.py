"""Find ops that compute the same value from the same operands: the RTL may read the signal of any of them."""

from __future__ import annotations

from typing import Any

from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT, MUXES, Code

__all__ = ["first_twins"]

#: Codes whose operands may be swapped if ``data``, the shift of an addition, is 0.
_COMMUTATIVE = (Code.ADD, Code.MUL)


def first_twins(program: Program) -> list[int]:
    """Return, for each op, the first op that is equal to it by construction; usually this is the op itself."""
    first: list[int] = []
    known: dict[object, int] = {}
    for op in program.ops:
        operands: tuple[Any, ...] = tuple(first[i] for i in op.operands)
        if op.code in MUXES:
            operands += (op.condition,)
        elif op.code in _COMMUTATIVE and not op.data:
            operands = tuple(sorted(operands))
        elif op.terms:  # the order of terms does not matter
            operands = tuple(sorted((first[t.op] if t.op >= 0 else -1, t.shift, t.negative) for t in op.terms))
        source = op.id0 if op.code == INPUT else None
        key = op.code, op.type, op.data, operands, source
        first.append(known.setdefault(key, op.index))
    return first
