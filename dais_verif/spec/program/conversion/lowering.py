"""Convert ALIR to DAIS.

A sum becomes a chain of sums of two terms. Intermediate results have exact types, so that only the last op, which has
the type of the sum, can break a promise. A negation is merged into its only reader, if the reader has a negating form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dais_verif.base.errors import ConversionError
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.model import Columns, Estimates, Op, Origin, Program, Terms
from dais_verif.spec.program.opcodes import OPCODES, Code, Term, opcode_of_sum
from dais_verif.spec.program.types import LIMIT, FixedType, type_of_interval

__all__ = ["Builder", "ZERO", "to_dais"]


_WITH_NEGATION = {
    Code.RELU: Code.RELU_NEG,
    Code.QUANT: Code.QUANT_NEG,
    Code.MUX: Code.MUX_NEG,
    Code.BIT_UNARY: Code.BIT_UNARY_NEG,
}
_NEGATE_A, _NEGATE_B = 1 << 32, 1 << 33


def to_dais(program: Program, *, keep_windows: bool = False) -> Program:
    """Return the DAIS program equivalent to ``program``.

    ``keep_windows``: keep ops that only declare where a table begins, which JSON needs. Raises ``InputError``, which
    names the op, if a sum needs a type beyond the limits.
    """
    if program.origin.layout != "alir" and not any(OPCODES[code].alir for code in set(program.columns.code.tolist())):
        return program
    lowering = _Lowering(program, keep_windows)
    for op in program.ops:
        lowering.take(op)
    known = program.origin
    made = lowering.made.program(Origin("memory", file_sha256=known.file_sha256, path=known.path))
    return made if program.intervals is not None else replace(made, intervals=None)


class _Lowering:
    def __init__(self, program: Program, keep_windows: bool) -> None:
        self.source, self.made = program, Builder(program)
        readers = Counter(operand for op in program.ops for operand in op.operands)
        readers.update(index for index in program.out_idx.tolist() if index >= 0)
        last_reader = {operand: op for op in program.ops for operand in op.operands}
        #: The operands of negations that are merged into their reader, and of quantisations that change nothing.
        self.negated: dict[int, int] = {}
        self.passed: dict[int, int] = {}
        alone = [(op, reader) for op in program.ops if readers[op.index] == 1 and (reader := last_reader.get(op.index))]
        for op, reader in alone:
            if not keep_windows and reader.code == Code.LOOKUP and self._changes_nothing(op):
                self.passed[op.index] = op.id0
        for op, reader in alone:
            if reader.index not in self.passed and self._is_negation(op) and self._takes_negation(reader, op):
                self.negated[op.index] = op.terms[0].op

    def _is_negation(self, op: Op) -> bool:
        """Return True if ``op`` is a negation whose result always fits its type."""
        if op.code != Code.SUM or opcode_of_sum(op.terms).number != -2:
            return False
        operand, kind = self.source.ops[op.terms[0].op].type, op.type
        if not operand.width:
            return True
        exact = type_of_interval(-operand.raw_max, -operand.raw_min, operand.f)
        return kind.k >= exact.k and kind.i >= exact.i and kind.f >= exact.f

    def _changes_nothing(self, op: Op) -> bool:
        """Return True if ``op`` quantises its operand to the type that the operand already has."""
        return op.code == Code.QUANT and self.source.ops[op.id0].type == op.type

    def _takes_negation(self, reader: Op, op: Op) -> bool:
        """Return True if ``reader`` has a form that negates ``op``'s operand itself."""
        if reader.code == Code.MUX:
            return reader.id1 == op.index
        if reader.code == Code.BIT_UNARY:  # the result of the reduction depends on the type of its operand
            operand = self.source.ops[op.terms[0].op].type
            same = operand.width > 0 and operand.f == op.type.f
            return reader.data == 1 or (same and reader.data == 0 and reader.type.k == 1)
        return reader.code in (Code.RELU, Code.QUANT, Code.BIT_BINARY)

    def value(self, index: int) -> int:
        """Return the number of the op that computes op ``index``, or its operand if it is a merged negation."""
        index = self.negated.get(index, index)
        return self.made.index[self.passed.get(index, index)]

    def take(self, op: Op) -> None:
        if op.index in self.negated or op.index in self.passed:
            return
        made, kind = self.made, op.type
        interval = self.source.intervals[op.index] if self.source.intervals else None
        if op.code == Code.SUM:
            self.sum(op, interval)
            return
        if op.code == Code.SHIFT:
            self.shift(op, interval)
            return
        moved = op.rewired(self.value)
        code, data = op.code, moved.data
        if op.code == Code.BIT_BINARY:
            data |= (_NEGATE_A if op.id0 in self.negated else 0) | (_NEGATE_B if op.id1 in self.negated else 0)
        elif op.operands and (op.id0 in self.negated or op.id1 in self.negated) and op.code != Code.INPUT:
            code = _WITH_NEGATION[Code(op.code)]
        made.add(code, kind, moved.id0, moved.id1, data, interval=interval, of=op.index)

    def shift(self, op: Op, interval: tuple[int, int] | None) -> None:
        """Add an exact shift, then a quantisation."""
        made, a = self.made, self.value(op.id0)
        kind = made.types[a]
        if not kind.width:  # the value is 0 in any units
            made.add(Code.CONST, op.type, interval=interval, of=op.index)
            return
        exact = kind._replace(i=kind.i + op.data, f=kind.f - op.data)
        _require_type(op, exact)
        if exact == op.type:
            made.add(Code.ADD, exact, made.zero(), a, op.data, interval=interval, of=op.index)
            return
        shifted = made.add(Code.ADD, exact, made.zero(), a, op.data)
        made.add(Code.QUANT, op.type, shifted, interval=interval, of=op.index)

    def sum(self, op: Op, interval: tuple[int, int] | None) -> None:
        made = self.made
        if self._is_negation(op):  # quantisation changes nothing
            made.add(Code.QUANT_NEG, op.type, self.value(op.terms[0].op), interval=interval, of=op.index)
            return
        total, terms = self.first(op)
        kind = made.types[total]
        lo, hi, f = kind.raw_min, kind.raw_max, kind.f
        for place, (index, shift, negative) in enumerate(terms):
            b = self.value(index) if index >= 0 else made.zero()
            code = Code.SUB if negative else Code.ADD
            if place == len(terms) - 1:
                made.add(code, op.type, total, b, shift, interval=interval, of=op.index)
                return
            lo, hi, f = _sum((lo, hi, f), made.types[b], shift, negative)
            exact = type_of_interval(lo, hi, f)
            _require_type(op, exact)
            total = made.add(code, exact, total, b, shift, interval=(lo, hi))

    def first(self, op: Op) -> tuple[int, list[Term]]:
        """Return the first value of the chain, and the terms to add to it, of which there is at least one."""
        made, terms = self.made, list(op.terms)
        for term in op.terms:
            if term.op < 0:
                kind = type_of_interval(op.data, op.data, -term.shift)
                _require_type(op, kind)
                terms.remove(term)
                total = made.add(Code.CONST, kind, data=op.data, interval=(op.data, op.data))
                return total, terms or [Term(-1, 0, False)]
        for term in op.terms:
            if not term.negative and term.shift == 0 and len(terms) > 1:
                terms.remove(term)
                return self.value(term.op), terms
        return made.zero(), terms


def _sum(total: tuple[int, int, int], kind: FixedType, shift: int, negative: bool) -> tuple[int, int, int]:
    """Return the raw range and the ``f`` of range ``total`` plus or minus any shifted value of type ``kind``."""
    lo, hi, f = total
    if not kind.width:
        return total
    ends = (-kind.raw_max, -kind.raw_min) if negative else (kind.raw_min, kind.raw_max)
    point = kind.f - shift
    common = max(f, point)
    return (
        (lo << (common - f)) + (ends[0] << (common - point)),
        (hi << (common - f)) + (ends[1] << (common - point)),
        common,
    )


def _require_type(op: Op, kind: FixedType) -> None:
    if max(abs(kind.i), abs(kind.f), kind.width) > LIMIT:
        raise ConversionError(
            f"{op}: in DAIS, an intermediate op would need the type {kind}, beyond the limit of {LIMIT} bits"
        )


# Build a program from another one, op by op.


#: The type of a constant 0 at the start of a sum. The type has one bit, which da4ml's RTL needs.
ZERO = FixedType(0, 1, 0)


class Builder:
    """Ops of a new program. ``index``: the new number of every translated op of ``source``."""

    def __init__(self, source: Program) -> None:
        self.source = source
        self.index: dict[int, int] = {}
        self.types: list[FixedType] = []
        self.intervals: list[tuple[int, int]] = []
        self.tables: list[tuple[int, ...]] = [tuple(table.tolist()) for table in source.tables]
        self._rows: list[tuple[int, ...]] = []
        self._terms: list[Term] = []
        self._estimates: list[tuple[float, float]] = []
        self._zero: int | None = None

    def add(
        self,
        code: int,
        kind: FixedType,
        id0: int = -1,
        id1: int = -1,
        data: int = 0,
        *,
        terms: Sequence[Term] = (),
        interval: tuple[int, int] | None = None,
        of: int | None = None,
    ) -> int:
        """Append an op and return its number. ``of``: the op of the source whose result the new op computes."""
        if code == Code.SUM:
            id0, id1 = len(self._terms), len(terms)
            self._terms += terms
        self._rows.append((code, id0, id1, data, *kind))
        self.types.append(kind)
        self.intervals.append(interval or (kind.raw_min, kind.raw_max))
        known = self.source.estimates if of is not None else None
        # An additional op gets the latency of its latest operand, since da4ml divides stages by latency.
        operands = Op(len(self._rows) - 1, code, id0, id1, data, kind, tuple(terms)).operands
        late = max((self._estimates[operand][0] for operand in operands), default=0.0)
        self._estimates.append((float(known.latency[of]), float(known.cost[of])) if known else (late, 0.0))
        if of is not None:
            self.index[of] = len(self._rows) - 1
        return len(self._rows) - 1

    def zero(self) -> int:
        """Return the number of a constant 0."""
        if self._zero is None:
            self._zero = self.add(Code.CONST, ZERO)
        return self._zero

    def program(self, origin: Origin) -> Program:
        """Return the program, which is valid, with the inputs and outputs of the source."""
        source = self.source
        table = np.array(self._rows, dtype=np.int64).reshape(-1, 7)
        latency, cost = np.array(self._estimates, dtype=np.float64).reshape(-1, 2).T.copy()
        sizes = (source.estimates.carry_size, source.estimates.adder_size) if source.estimates else (-1, -1)
        made = Program(
            inp_shift=source.inp_shift.copy(),
            out_idx=np.array([self.index.get(op, -1) for op in source.out_idx.tolist()], dtype=np.int64),
            out_shift=source.out_shift.copy(),
            out_neg=source.out_neg.copy(),
            columns=Columns(*(np.ascontiguousarray(column) for column in table.T)),
            tables=tuple(np.array(entries, dtype=np.int64) for entries in self.tables),
            intervals=tuple(self.intervals),
            origin=origin,
            terms=Terms.of(self._terms),
            estimates=Estimates(latency, cost, *sizes),
        )
        validate(made)
        return made
