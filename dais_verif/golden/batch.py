"""The batch engine: the semantics of the oracle, with one numpy expression per op over thousands of rows.

Values are raw integers in units of the op's ``2**-f``. An op is computed in int64 if its types show that operands,
intermediates and result fit 62 bits, and in Python integers otherwise, by the same expression: numpy's object arrays
support the same operators. Floats are never used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.integer_width import constant_term, fits_int64, is_wide
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.numbers import Batch, IntArray, floor_to_grid
from dais_verif.spec.program.opcodes import Code, bitwise_fields, high_int32, low_int32
from dais_verif.spec.program.ranges import PromiseStatus, analyse

__all__ = [
    # for a whole program
    "Compiled",
    "compile_program",
    # for one op
    "Mask",
    "Values",
    "msb_of",
    "output_of",
    "run_op",
]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Exact:
    """An exact result before quantisation: integers in units of ``2**-f``. ``outside``: which rows have no result."""

    raw: IntArray
    f: int
    outside: Mask | None = None


class Compiled:
    """A program ready to run on batches. Made by ``compile_program``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        #: For each op, whether quantisation can change its value; derived from types alone, so it holds for every
        #: input.
        self._changes = analyse(program).changes
        self._last_use = _last_uses(program)
        self._wide = [is_wide(op, [program.ops[i].type for i in op.operands]) for op in program.ops]

    def run(self, batch: Batch, *, check: bool = True) -> tuple[list[IntArray], tuple[int, int] | None]:
        """Return raw outputs, one array (rows,) per output in units of ``2**-f`` of its type, and the first violation.

        The violation is (row, op index) for the lowest row that has one, or None; it is looked for only if ``check`` is
        set. The outputs are always those of the unchecked run.
        """
        values: list[IntArray | None] = [None] * self.program.n_ops
        first: tuple[int, int] | None = None
        for op, changed in self._steps(values, batch, check):
            if changed is not None and changed.any():
                row = int(np.argmax(changed))
                if first is None or row < first[0]:
                    first = (row, op.index)
            for index in self._last_use[op.index]:
                values[index] = None
        return [_output(values, *output, batch.rows) for output in self.program.outputs], first

    def trace(self, batch: Batch) -> list[IntArray | None]:
        """Return the raw values of every op in the unchecked run, one array (rows,) per op."""
        values: list[IntArray | None] = [None] * self.program.n_ops
        for _ in self._steps(values, batch, False):
            pass
        return values

    def evaluate(self, index: int, values: list[IntArray | None], rows: int) -> IntArray:
        """Return the raw values (rows,) of op ``index``, computed from ``values`` of its operands without checks.

        The op must not be an ``input``. ``values`` has one entry per op. The operands may have any raw integers of
        their types, even values that no input leads to, because range analysis is not used here.
        """
        op, wide = self.program.ops[index], self._wide[index]
        return run_op(self.program, op, values, Batch(rows, ()), wide=wide, change=PromiseStatus.POSSIBLE, check=False)[
            0
        ]

    def _steps(self, values: list[IntArray | None], batch: Batch, check: bool) -> Iterator[tuple[Op, Mask | None]]:
        """Fill ``values`` op by op; yield each op and, if it was checked, the rows that broke its promise."""
        for op in self.program.ops:
            wide, change = self._wide[op.index], self._changes[op.index]
            values[op.index], changed = run_op(self.program, op, values, batch, wide=wide, change=change, check=check)
            yield op, changed


def compile_program(program: Program) -> Compiled:
    """Prepare a valid ``program`` for running any number of batches."""
    return Compiled(program)


class Values(Protocol):
    """Raw values (rows,) by op index: a list with one entry per op, or an equivalent."""

    def __getitem__(self, index: int, /) -> IntArray | None: ...


def run_op(
    program: Program, op: Op, values: Values, batch: Batch, *, wide: bool, change: PromiseStatus, check: bool
) -> tuple[IntArray, Mask | None]:
    """Return raw values (rows,) of ``op`` in its own type, and, if ``check``, which rows break its promise.

    The values are computed from ``values`` of the operands and the inputs in ``batch``. ``wide``: the result of
    ``is_wide`` for the op. ``change``: the result of range analysis for the op; a SAFE op is not quantised. The second
    result is None if nothing had to be checked.
    """
    exact = RULES[op.code](Step(program, op, values, batch, wide))
    if wide and exact.raw.dtype != object:
        exact = replace(exact, raw=exact.raw.astype(object))
    quantised, changed = _quantise(exact, op.type, change, check and op.spec.promise)
    return _stored(quantised, op.type), changed


def msb_of(raw: IntArray, kind: FixedType) -> Mask:
    """Return the top bit of the bit pattern of ``raw`` values of type ``kind``; False for types without bits."""
    if kind.width == 0:
        return np.zeros(len(raw), dtype=bool)
    return (raw < 0 if kind.k else raw >= 1 << (kind.width - 1)).astype(bool)


def output_of(raw: IntArray, negated: bool) -> IntArray:
    """Return raw values of an output in units of its own type's ``2**-f``; its shift only moves the binary point."""
    return -raw if negated else raw


def _last_uses(program: Program) -> list[list[int]]:
    """Return, for every op, the values that are no longer needed after it."""
    last = list(range(program.n_ops))
    for op in program.ops:
        for operand in op.operands:
            last[operand] = op.index
    kept = {index for index, _, _ in program.outputs}
    uses: list[list[int]] = [[] for _ in last]
    for index, user in enumerate(last):
        if index not in kept:
            uses[user].append(index)
    return uses


class Step:
    """The data that the expression of one op may use."""

    def __init__(self, program: Program, op: Op, values: Values, batch: Batch, wide: bool) -> None:
        self.program, self.op, self.batch = program, op, batch
        self._values, self._wide = values, wide

    def raw(self, index: int) -> IntArray:
        """Return the raw values of op ``index``, as Python integers if this op needs them."""
        value = self._values[index]
        assert value is not None
        return self.widened(value)

    def widened(self, value: IntArray) -> IntArray:
        """Return ``value`` as Python integers if this op needs more than int64."""
        return value.astype(object) if self._wide and value.dtype != object else value

    def type_of(self, index: int) -> FixedType:
        return self.program.ops[index].type

    def full(self, value: int) -> IntArray:
        """Return the constant ``value`` in every row."""
        return np.full(self.batch.rows, value, dtype=object if self._wide else np.int64)


def _shift(raw: IntArray, bits: int) -> IntArray:
    """Return ``floor(raw * 2**bits)``. A left shift fits by construction; int64 supports shifts up to 63."""
    if bits >= 0:
        return raw << bits if bits else raw
    return raw >> (-bits if raw.dtype == object else min(-bits, 63))


def _aligned(a: IntArray, f_a: int, b: IntArray, f_b: int) -> tuple[IntArray, IntArray, int]:
    f = max(f_a, f_b)
    return _shift(a, f - f_a), _shift(b, f - f_b), f


def _wrap(raw: IntArray, kind: FixedType) -> IntArray:
    if kind.width == 0:
        return raw * 0
    mask = (1 << kind.width) - 1
    if not kind.k:
        return raw & mask
    half = 1 << (kind.width - 1)
    return ((raw & mask) ^ half) - half


def _quantise(exact: Exact, kind: FixedType, change: PromiseStatus, check: bool) -> tuple[IntArray, Mask | None]:
    """Return the raw values in type ``kind``, and, if ``check``, where quantisation changed the value."""
    drop = exact.f - kind.f
    floored = _shift(exact.raw, -drop)
    if change is PromiseStatus.SAFE:
        return floored, None
    wrapped = _wrap(floored, kind)
    if not check:
        return wrapped, None
    changed: Mask = (wrapped != floored).astype(bool)
    if drop > 0:
        # The remainder dropped by the floor: nonzero when scaled back to the finer grid.
        lost = _shift(floored, drop) if drop < 63 or exact.raw.dtype == object else floored * 0
        changed |= (lost != exact.raw).astype(bool)
    if exact.outside is not None:
        changed |= exact.outside
    return wrapped, changed


def _stored(raw: IntArray, kind: FixedType) -> IntArray:
    """Return ``raw`` as int64 if the type fits it, so that wide ops do not slow down later ops."""
    if raw.dtype == object and fits_int64(kind):
        return raw.astype(np.int64)
    if raw.dtype != object and not fits_int64(kind):
        return raw.astype(object)
    return raw


def _output(values: list[IntArray | None], index: int, shift: int, negated: bool, rows: int) -> IntArray:
    if index < 0:
        return np.zeros(rows, dtype=np.int64)
    raw = values[index]
    assert raw is not None
    return output_of(raw, negated)


def _input(s: Step) -> Exact:
    shift = int(s.program.inp_shift[s.op.id0])
    kind = s.op.type
    return Exact(_wrap(s.widened(floor_to_grid(s.batch.columns[s.op.id0], kind.f + shift)), kind), kind.f)


def _add(s: Step) -> Exact:
    op = s.op
    a, b, f = _aligned(s.raw(op.id0), s.type_of(op.id0).f, s.raw(op.id1), s.type_of(op.id1).f - op.data)
    return Exact(a - b if op.code == Code.SUB else a + b, f)


def _signed(s: Step) -> IntArray:
    raw = s.raw(s.op.id0)
    return -raw if s.op.spec.negate else raw


def _relu(s: Step) -> Exact:
    return Exact(np.maximum(_signed(s), 0), s.type_of(s.op.id0).f)


def _quant(s: Step) -> Exact:
    return Exact(_signed(s), s.type_of(s.op.id0).f)


def _add_const(s: Step) -> Exact:
    a, b, f = _aligned(s.raw(s.op.id0), s.type_of(s.op.id0).f, s.full(s.op.data), s.op.type.f)
    return Exact(a + b, f)


def _sum(s: Step) -> Exact:
    """Add all terms, in the units of the finest term that has bits."""
    op, constant = s.op, constant_term(s.op)
    read = [(term, s.type_of(term.op)) for term in op.terms if term.op >= 0]
    read = [(term, kind) for term, kind in read if kind.width]
    f = max([kind.f - term.shift for term, kind in read] + ([constant[1]] if constant else []), default=op.type.f)
    total = s.full(constant[0] << (f - constant[1]) if constant else 0)
    for term, kind in read:
        value = _shift(s.raw(term.op), f - (kind.f - term.shift))
        total = total - value if term.negative else total + value
    return Exact(total, f)


def _shifted(s: Step) -> Exact:
    return Exact(s.raw(s.op.id0), s.type_of(s.op.id0).f - s.op.data)


def _const(s: Step) -> Exact:
    return Exact(s.full(s.op.data), s.op.type.f)


def _mux(s: Step) -> Exact:
    op, kind = s.op, s.op.type
    msb = msb_of(s.raw(op.condition), s.type_of(op.condition))
    b = s.raw(op.id1)
    # Both arms are converted to the op's own units before one is chosen; a mux floors either arm anyway.
    taken = _shift(s.raw(op.id0), kind.f - s.type_of(op.id0).f)
    other = _shift(-b if op.spec.negate else b, kind.f - (s.type_of(op.id1).f - high_int32(op.data)))
    return Exact(np.where(msb, taken, other), kind.f)


def _mul(s: Step) -> Exact:
    op = s.op
    return Exact(s.raw(op.id0) * s.raw(op.id1), s.type_of(op.id0).f + s.type_of(op.id1).f)


def _lookup(s: Step) -> Exact:
    op = s.op
    table = s.program.tables[low_int32(op.data)]
    index = s.raw(op.id0) - (s.type_of(op.id0).raw_min + high_int32(op.data))
    outside = ((index < 0) | (index >= len(table))).astype(bool)
    if len(table) == 0:
        return Exact(s.full(0), op.type.f, outside)
    safe = np.where(outside, 0, index).astype(np.int64)
    return Exact(np.where(outside, 0, table[safe]), op.type.f, outside)


def _bit_unary(s: Step) -> Exact:
    op, kind = s.op, s.type_of(s.op.id0)
    t = _signed(s)
    if op.data == 0:
        inverted = -t - 1
        return Exact(inverted if op.type.k else inverted & ((1 << kind.width) - 1), kind.f)
    ones = (1 << kind.width) - 1
    truth = t != 0 if op.data == 1 else (t & ones) == ones
    return Exact(truth.astype(np.int64), 0)


def _bit_binary(s: Step) -> Exact:
    op, fields = s.op, bitwise_fields(s.op.data)
    a, b = s.raw(op.id0), s.raw(op.id1)
    a, b, f = _aligned(
        -a if fields.negate_a else a,
        s.type_of(op.id0).f,
        -b if fields.negate_b else b,
        s.type_of(op.id1).f - fields.shift,
    )
    result: Any = (a & b, a | b, a ^ b)[fields.operation]
    return Exact(result, f)


#: The exact result of every opcode, over a batch.
RULES: dict[int, Callable[[Step], Exact]] = {
    Code.INPUT: _input,
    Code.ADD: _add,
    Code.SUB: _add,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _quant,
    Code.QUANT_NEG: _quant,
    Code.ADD_CONST: _add_const,
    Code.CONST: _const,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.LOOKUP: _lookup,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _sum,
    Code.SHIFT: _shifted,
}
