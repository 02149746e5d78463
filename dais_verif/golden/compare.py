"""Compare two programs on the same vectors: whether, where and why they first differ.

Values are compared as exact real numbers, so types, op lists and input types may differ. A difference is reported with
a witness that the oracle has confirmed and, if that is cheap, simplified.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ComparisonError, ViolationError
from dais_verif.base.text import counted
from dais_verif.golden import Engine, oracle, run_raw
from dais_verif.golden.shrink import Vector, effort, shrunk
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.model import meaningful_data
from dais_verif.spec.program.numbers import Batch, Column, IntArray, floor_to_grid
from dais_verif.spec.program.opcodes import INPUT, Code, high_int32, low_int32

__all__ = ["Comparison", "OpValues", "Witness", "compare", "first_different_op", "require_same_shape"]

#: The most ops that are evaluated, one vector at a time, to simplify a witness; this takes about ten seconds.
_SHRINK_BUDGET = 1_000_000
#: The most differing vectors from which the simplest is chosen before it is simplified further.
_CANDIDATES = 256


@dataclass(frozen=True)
class OpValues:
    """The value of op ``index`` in both programs."""

    index: int
    a: Fraction
    b: Fraction


@dataclass(frozen=True)
class Witness:
    """An input vector ``inputs`` on which ``output`` differs: ``a`` and ``b`` are its values, as real numbers.

    ``given`` is vector ``row`` of the batch, the first one that shows a difference, and ``output`` is the first output
    that differs on it. ``inputs`` shows the same difference with as many zeros and short numbers as possible. ``op``:
    the first op whose value differs on ``inputs``, if both programs have the same opcodes and operands up to this op.
    """

    row: int
    output: int
    given: Vector
    inputs: Vector
    a: Fraction
    b: Fraction
    op: OpValues | None


@dataclass(frozen=True)
class Comparison:
    """Result of ``compare``: ``differing`` of ``rows`` vectors show a difference; ``witness`` shows the first one.

    ``bits``: the width of all outputs together, each counted by the wider of its two types. With 0 bits or rows,
    nothing was compared.
    """

    rows: int
    bits: int
    differing: int
    witness: Witness | None


def require_same_shape(a: Program, b: Program, names: Sequence[str]) -> None:
    """Raise ``InputError``, with ``names``, unless both programs have the same numbers of inputs and outputs."""
    for what, x, y in (("input", a.n_in, b.n_in), ("output", a.n_out, b.n_out)):
        if x != y:
            raise ComparisonError(
                f"{names[0]} has {counted(x, what)} and {names[1]} has {y}; only programs with the same number can be"
                " compared"
            )


def compare(
    a: Program,
    b: Program,
    batch: Batch,
    *,
    engine: Engine = "auto",
    check: bool = True,
    names: Sequence[str] = ("the first program", "the second program"),
) -> Comparison:
    """Evaluate ``a`` and ``b`` on ``batch`` and compare every output.

    Raises ``InputError`` if the numbers of inputs or outputs differ; and ``ViolationError``, which names the
    program, if ``check`` and either program breaks a promise on any vector, even if an earlier vector shows a
    difference.
    """
    require_same_shape(a, b, names)
    outputs = []
    for program, name in zip((a, b), names, strict=True):
        try:
            outputs.append(run_raw(program, batch, engine=engine, check=check))
        except ViolationError as error:
            raise ViolationError(f"{name}: {error}") from None
    bits = sum(max(x.width, y.width) for x, y in zip(a.output_types, b.output_types, strict=True))
    differs = np.zeros((batch.rows, a.n_out), dtype=bool)
    for j, (x, y) in enumerate(zip(*outputs, strict=True)):
        differs[:, j] = _unequal(x, a.output_types[j].f, y, b.output_types[j].f)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return Comparison(batch.rows, bits, 0, None)
    output = int(np.argmax(differs[rows[0]]))
    shown = [tuple(batch.row(row)) for row in np.flatnonzero(differs[:, output])[:_CANDIDATES].tolist()]
    return Comparison(batch.rows, bits, len(rows), _witness(a, b, int(rows[0]), output, shown, check))


def _unequal(x: IntArray, f_x: int, y: IntArray, f_y: int) -> NDArray[np.bool_]:
    """Return in which rows ``x * 2**-f_x`` and ``y * 2**-f_y`` are different numbers."""
    f = max(f_x, f_y)
    unequal: NDArray[np.bool_] = floor_to_grid(Column(x, -f_x), f) != floor_to_grid(Column(y, -f_y), f)
    return unequal


def first_different_op(a: Program, b: Program) -> int | None:
    """Return the index of the first op that differs between the programs, or that only one has; None if there is none.

    Two ops are equal if they have the same opcode, operands, type and meaningful data, the same ``inp_shift`` or table,
    and, for sums, the same terms.
    """
    pairs = zip_longest(_identities(a), _identities(b))
    return next((index for index, (x, y) in enumerate(pairs) if x != y), None)


def _identities(program: Program) -> Iterator[Hashable]:
    for op, data in zip(program.ops, meaningful_data(program.columns).tolist(), strict=True):
        extra: Hashable = data
        if op.code == INPUT:
            extra = int(program.inp_shift[op.id0])
        elif op.code == Code.LOOKUP:
            extra = high_int32(data), program.tables[low_int32(data)].tobytes()
        if op.terms:  # the terms contain everything that the columns contain
            yield op.code, op.terms, op.type, extra
        else:
            yield op.code, op.id0, op.id1, op.type, extra


def _witness(a: Program, b: Program, row: int, output: int, shown: Sequence[Vector], check: bool) -> Witness:
    """Return the witness for ``output``. ``shown``: vectors that differ; the first is row ``row`` of the batch."""
    simplest = min(shown, key=effort)
    if not _differ(a, b, output, simplest, check):
        raise AssertionError(f"batch engine and oracle differ: output {output}, input vector {simplest}")
    tries = iter(range(_SHRINK_BUDGET // max(a.n_ops + b.n_ops, 1)))
    inputs = shrunk(
        simplest, lambda vector: next(tries, None) is not None and _differ(a, b, output, vector, check, True)
    )
    values_a, values_b = (oracle.trace(program, inputs, violations=[]) for program in (a, b))
    return Witness(
        row,
        output,
        shown[0],
        inputs,
        oracle.outputs_of(a, values_a)[output],
        oracle.outputs_of(b, values_b)[output],
        _first_different_value(a, b, values_a, values_b),
    )


def _differ(a: Program, b: Program, output: int, inputs: Vector, check: bool, declared: bool = False) -> bool:
    """Return True if ``inputs`` is allowed and shows a difference at ``output`` in the oracle.

    A vector is not allowed if ``check`` is set and it breaks a promise, or if ``declared`` is set and it is outside of
    a declared input interval.
    """
    found = []
    for program in (a, b):
        try:
            values = oracle.trace(program, inputs, violations=None if check else [])
        except ViolationError:
            return False
        if declared and not _within_declared(program, values):
            return False
        found.append(oracle.outputs_of(program, values)[output])
    return found[0] != found[1]


def _within_declared(program: Program, values: Sequence[Fraction]) -> bool:
    if program.intervals is None:
        return True
    bounds = zip(program.ops, program.intervals, values, strict=True)
    return all(lo <= value * oracle.two(op.type.f) <= hi for op, (lo, hi), value in bounds if op.code == INPUT)


def _first_different_value(
    a: Program, b: Program, values_a: Sequence[Fraction], values_b: Sequence[Fraction]
) -> OpValues | None:
    for op_a, op_b, x, y in zip(a.ops, b.ops, values_a, values_b, strict=False):
        if _skeleton(op_a) != _skeleton(op_b):
            return None
        if x != y:
            return OpValues(op_a.index, x, y)
    return None


def _skeleton(op: Op) -> Hashable:
    return (op.code, op.operands) if op.terms else (op.code, op.id0, op.id1, op.operands)
