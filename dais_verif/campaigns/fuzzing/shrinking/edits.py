"""Edit cases to make them smaller: ops become inputs or constants, outputs, tables and inputs are removed.

Every edit returns a valid case or None. An op that becomes an input keeps its value, which is added to the vectors, so
that its readers compute the same as before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dais_verif.base.errors import ProgramError
from dais_verif.campaigns.fuzzing.case import Case, Row
from dais_verif.spec.program import Columns, FixedType, Op, Origin, Program, Terms
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.opcodes import INPUT, Code, Term, high_int32, low_int32

__all__ = ["Output", "constant", "rebuilt", "typed"]

#: ``(op, shift, negated)``.
Output = tuple[int, int, bool]


@dataclass(frozen=True)
class _Draft:
    """An edited program: the remaining ops by their original numbers, outputs, input shifts and tables."""

    ops: Mapping[int, Op]
    outputs: Sequence[Output]
    shifts: Sequence[int]
    tables: Sequence[Sequence[int]]


def rebuilt(
    case: Case,
    *,
    replaced: Mapping[int, Op] | None = None,
    forward: Mapping[int, int] | None = None,
    cut: Collection[int] = (),
    outputs: Sequence[Output] | None = None,
    tables: Sequence[Sequence[int]] | None = None,
    shifts: Sequence[int] | None = None,
) -> Case | None:
    """Return ``case`` after these edits, without unused ops; None if the program is not valid.

    ``replaced``: new ops by number. ``forward``: readers of the keys read the values instead. ``cut``: ops that become
    inputs with their values. ``outputs``, ``tables``, ``shifts``: new ones; None: unchanged.
    """
    program = case.program
    to = _follow(forward or {})
    chosen = [(to(index) if index >= 0 else -1, s, n) for index, s, n in (outputs or program.outputs)]
    ops = {op.index: op for op in program.ops} | dict(replaced or {})
    cut = set(cut)
    for index in cut:
        ops[index] = Op(index, int(INPUT), program.n_in + index, -1, 0, program.ops[index].type)
    kept = _cone(ops, chosen, to)
    draft = _Draft(
        ops={index: ops[index].rewired(to) for index in kept},
        outputs=chosen,
        shifts=list(program.inp_shift.tolist()) if shifts is None else shifts,
        tables=[list(table.tolist()) for table in program.tables] if tables is None else tables,
    )
    kept_inputs = set(range(program.n_in)) if case.whole else set()
    inputs = sorted(kept_inputs | {op.id0 for op in draft.ops.values() if op.code == INPUT})
    smaller = _numbered(draft, program.n_in, inputs)
    return None if smaller is None else Case(smaller, _rows(case, inputs, program.n_in), case.whole)


def _follow(forward: Mapping[int, int]) -> Callable[[int], int]:
    def to(index: int) -> int:
        while index in forward:
            index = forward[index]
        return index

    return to


def _cone(ops: Mapping[int, Op], outputs: Sequence[Output], to: Callable[[int], int]) -> list[int]:
    needed = {index for index, _, _ in outputs if index >= 0}
    waiting = list(needed)
    while waiting:
        for operand in map(to, ops[waiting.pop()].operands):
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return sorted(needed)


def _numbered(draft: _Draft, n_in: int, inputs: Sequence[int]) -> Program | None:
    """Return the program of ``draft`` with ops, ``inputs`` and tables renumbered; None if it is not valid."""
    number = {old: new for new, old in enumerate(sorted(draft.ops))}
    ops = [draft.ops[old].rewired(number.__getitem__) for old in sorted(draft.ops)]
    place = {old: new for new, old in enumerate(inputs)}
    used = sorted({low_int32(op.data) for op in ops if op.code == Code.LOOKUP})
    table_of = {old: new for new, old in enumerate(used)}
    rows: list[tuple[int, ...]] = []
    terms: list[Term] = []
    for op in ops:
        id0, id1, data = op.id0, op.id1, op.data
        if op.code == INPUT:
            id0 = place[id0]
        elif op.code == Code.LOOKUP:
            data = high_int32(data) << 32 | table_of[low_int32(data)]
        elif op.terms:
            id0, id1 = len(terms), len(op.terms)
            terms += op.terms
        rows.append((op.code, id0, id1, data, *op.type))
    outputs = [(number[index] if index >= 0 else -1, s, n) for index, s, n in draft.outputs]
    table = np.array(rows, dtype=np.int64).reshape(-1, 7)
    outs = np.array(outputs, dtype=np.int64).reshape(-1, 3)
    made = Program(
        inp_shift=np.array([draft.shifts[j] if j < n_in else 0 for j in inputs], dtype=np.int64),
        out_idx=outs[:, 0].copy(),
        out_shift=outs[:, 1].copy(),
        out_neg=outs[:, 2].copy(),
        columns=Columns(*(np.ascontiguousarray(column) for column in table.T)),
        tables=tuple(np.array(draft.tables[j], dtype=np.int64) for j in used),
        terms=Terms.of(terms),
        origin=Origin(),
    )
    try:
        validate(made)
    except ProgramError:
        return None
    return made


def _rows(case: Case, inputs: Sequence[int], n_in: int) -> tuple[Row, ...]:
    """Return the vectors for ``inputs``; numbers from ``n_in`` on are ops that were cut, with their values."""
    if all(j < n_in for j in inputs):
        return tuple(tuple(row[j] for j in inputs) for row in case.rows)
    pairs = zip(case.rows, case.values, strict=True)
    return tuple(tuple(row[j] if j < n_in else values[j - n_in] for j in inputs) for row, values in pairs)


def constant(op: Op, raw: int = 0) -> Op:
    """Return a constant of the type of ``op``, which replaces it."""
    return Op(op.index, int(Code.CONST), -1, -1, raw, op.type)


def typed(op: Op, kind: FixedType) -> Op:
    """Return ``op`` with another type."""
    return replace(op, type=kind)
