"""Two programs on the same vectors: whether, where and why they first differ.

Values compare as exact real numbers, so types, op lists and inputs' types may differ. A difference is reported with
a witness that the oracle confirmed and, as far as that is cheap, made simple.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError, ViolationError
from dais_verif.golden import Engine, oracle, run_raw
from dais_verif.program import Op, Program
from dais_verif.program.model import meaningful_data
from dais_verif.program.numbers import Batch, Column, IntArray, floor_to_grid
from dais_verif.program.opcodes import high_int32, low_int32

__all__ = ["Comparison", "OpValues", "Witness", "compare", "first_different_op", "require_same_shape"]

#: Ops that may be evaluated, one vector at a time, to make a witness simple: about ten seconds.
_SIMPLIFY_BUDGET = 1_000_000

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class OpValues:
    """The value of op ``index`` in either program."""

    index: int
    a: Fraction
    b: Fraction


@dataclass(frozen=True)
class Witness:
    """An input vector on which ``output`` differs: ``a`` and ``b`` are its values there, as real numbers.

    ``inputs`` is the vector ``given`` (number ``row`` of the batch), with as many zeros and short numbers as were
    found to keep the difference. ``op``: the first op whose value differs on ``inputs``, if the programs correspond
    op by op as far as that: same opcodes and operands.
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
    """Result of ``compare``: ``differing`` of ``rows`` vectors show a difference, ``witness`` is one for the first.

    ``bits``: of all outputs together, those of the wider type counted; with 0 bits or rows nothing was compared.
    """

    rows: int
    bits: int
    differing: int
    witness: Witness | None


def require_same_shape(a: Program, b: Program, names: Sequence[str]) -> None:
    """Raise ``InputError``, which calls the programs by ``names``, unless they have as many inputs and outputs."""
    for what, x, y in (("inputs", a.n_in, b.n_in), ("outputs", a.n_out, b.n_out)):
        if x != y:
            raise InputError(
                f"{names[0]} has {x} {what} and {names[1]} has {y}; only programs with the same number can be compared"
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
    program, if ``check`` and either breaks a promise on any vector, whether or not they differ before that.
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
    row = int(rows[0])
    witness = _witness(a, b, row, int(np.argmax(differs[row])), tuple(batch.row(row)), check)
    return Comparison(batch.rows, bits, len(rows), witness)


def _unequal(x: IntArray, f_x: int, y: IntArray, f_y: int) -> NDArray[np.bool_]:
    """Where ``x * 2**-f_x`` and ``y * 2**-f_y`` are different numbers."""
    f = max(f_x, f_y)
    unequal: NDArray[np.bool_] = floor_to_grid(Column(x, -f_x), f) != floor_to_grid(Column(y, -f_y), f)
    return unequal


def first_different_op(a: Program, b: Program) -> int | None:
    """Index of the first op that is not the same in both programs, or that only one has; None if there is none.

    The same means: opcode, operands, type, meaningful data, and the ``inp_shift`` or the table that it refers to.
    """
    pairs = zip_longest(_identities(a), _identities(b))
    return next((index for index, (x, y) in enumerate(pairs) if x != y), None)


def _identities(program: Program) -> Iterator[Hashable]:
    for op, data in zip(program.ops, meaningful_data(program.columns).tolist(), strict=True):
        extra: Hashable = data
        if op.code == -1:
            extra = int(program.inp_shift[op.id0])
        elif op.code == 8:
            extra = high_int32(data), program.tables[low_int32(data)].tobytes()
        yield op.code, op.id0, op.id1, op.type, extra


def _witness(a: Program, b: Program, row: int, output: int, given: Vector, check: bool) -> Witness:
    judge = _Judge(a, b, output, check)
    if not judge.differ(given):
        raise AssertionError(f"batch engine and oracle differ: output {output}, row {row}")
    inputs = _with_short_numbers(_with_zeros(given, judge), judge)
    values_a, values_b = (oracle.trace(program, inputs, violations=[]) for program in (a, b))
    return Witness(
        row,
        output,
        given,
        inputs,
        oracle.outputs_of(a, values_a)[output],
        oracle.outputs_of(b, values_b)[output],
        _first_different_value(a, b, values_a, values_b),
    )


class _Judge:
    """Whether a vector shows a difference, in the oracle; says no once the budget is spent."""

    def __init__(self, a: Program, b: Program, output: int, check: bool) -> None:
        self._programs, self._output, self._check = (a, b), output, check
        self._left = max(1, _SIMPLIFY_BUDGET // max(a.n_ops + b.n_ops, 1))

    def differ(self, inputs: Vector) -> bool:
        if not self._left:
            return False
        self._left -= 1
        try:
            x, y = (oracle.evaluate(program, inputs, check=self._check)[self._output] for program in self._programs)
        except ViolationError:
            return False
        return x != y


def _with_zeros(vector: Vector, judge: _Judge) -> Vector:
    """``vector`` with inputs set to zero while the difference stays: all of them, then halves, quarters, ..."""
    size = len(vector)
    while size:
        for start in range(0, len(vector), size):
            block = vector[start : start + size]
            simpler = (*vector[:start], *(Fraction(0) for _ in block), *vector[start + size :])
            if any(block) and judge.differ(simpler):
                vector = simpler
        size //= 2
    return vector


def _with_short_numbers(vector: Vector, judge: _Judge) -> Vector:
    """``vector`` with every number replaced by the shortest that keeps the difference."""
    for j, value in enumerate(vector):
        for shorter in _shorter(value):
            simpler = (*vector[:j], shorter, *vector[j + 1 :])
            if judge.differ(simpler):
                vector = simpler
                break
    return vector


def _shorter(value: Fraction) -> Iterator[Fraction]:
    """1 and -1, then ``value`` cut to its first bit, its first two bits, ..."""
    if abs(value) not in (0, 1):
        yield from (Fraction(1), Fraction(-1))
    mantissa = abs(value.numerator)
    for dropped in range(mantissa.bit_length() - 1, 0, -1):
        cut = Fraction(mantissa >> dropped << dropped, value.denominator)
        if cut != abs(value):
            yield cut if value > 0 else -cut


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
    return op.code, op.id0, op.id1, op.operands
