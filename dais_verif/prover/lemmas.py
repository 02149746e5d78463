"""Lemmas: ranges of values that a proof may use after each has been proved.

Range analysis only suggests an interval. It is proved by induction over the program: if the operands of an op lie
within their intervals, the value of the op lies within its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dais_verif.prover.obligations import Builder
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.random_simulation import Bools, Columns, Trace
from dais_verif.prover.solve.discharge import Discharge
from dais_verif.prover.terms import Term, band, bnot, const, eq, extract, resize, slt, ult
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element
from dais_verif.spec.program.ranges import Interval, analyse

__all__ = ["Assumptions", "Lemmas", "within"]


Decide = Callable[[Term, Term, tuple[Term, ...]], Discharge]


def within(kind: FixedType, value: Term, interval: Interval) -> Term:
    """Return whether ``value``, of type ``kind``, lies in ``interval`` and has the trailing zeros of the interval."""
    less = slt if kind.k else ult
    inside = const(1, 1)
    if interval.lo > kind.raw_min:
        inside = band(inside, bnot(less(value, const(value.width, interval.lo))))
    if interval.hi < kind.raw_max:
        inside = band(inside, bnot(less(const(value.width, interval.hi), value)))
    zeros = min(interval.zeros, value.width)
    if zeros:
        inside = band(inside, eq(extract(value, 0, zeros), const(zeros, 0)))
    return inside


class Lemmas:
    """The ranges of values, each proved at its first use and then remembered.

    ``decide``: decides whether two terms are equal wherever all of a tuple of terms are 1. ``declared``: whether inputs
    are assumed to lie in the intervals that the source of the program declares.
    """

    def __init__(self, program: Program, builder: Builder, decide: Decide, declared: bool = False) -> None:
        self._program, self._builder, self._decide = program, builder, decide
        self._intervals = analyse(program, declared=declared).intervals
        declares = declared and program.intervals is not None
        #: For each op whose range was proved, the question that was answered with yes.
        self.proved: dict[int, tuple[Term, Term, tuple[Term, ...]]] = {}
        self._known = {op.index: True for op in program.ops if op.code == INPUT and declares}

    def of(self, index: int, value: Term) -> Term:
        """Return the lemma about op ``index`` as a statement about ``value``, which may lack redundant high bits."""
        kind = self._program.ops[index].type
        if not kind.width or not self._holds(index):
            return const(1, 1)
        return within(kind, resize(value, kind.width, bool(kind.k)), self._intervals[index])

    def _says_nothing(self, index: int) -> bool:
        kind, interval = self._program.ops[index].type, self._intervals[index]
        return (interval.lo, interval.hi, interval.zeros) == (kind.raw_min, kind.raw_max, 0)

    def _holds(self, index: int) -> bool:
        waiting = [index]
        while waiting:
            i = waiting[-1]
            if i in self._known:
                waiting.pop()
                continue
            op = self._program.ops[i]
            missing = [x for x in op.operands if x not in self._known]
            if self._says_nothing(i) or op.type.width == 0:
                self._known[i] = True
            elif missing:
                waiting += missing
                continue
            else:
                self._known[i] = self._proved(i)
            waiting.pop()
        return self._known[index]

    def _proved(self, index: int) -> bool:
        value, operands = self._builder.meaning_of(index)
        kind = self._program.ops[index].type
        given = tuple(
            within(self._program.ops[i].type, term, self._intervals[i])
            for i, term in operands.items()
            if self._known[i] and self._program.ops[i].type.width
        )
        claim = within(kind, value, self._intervals[index])
        holds = self._decide(claim, const(1, 1), given).equal is True
        if holds:
            self.proved[index] = claim, const(1, 1), given
        return holds


# Intervals that the source of a program, such as da4ml's JSON, declares for its inputs; they are not proved.
#
# Users of RTL for such a program must keep inputs within these intervals; ports may be too narrow for other values.


class Assumptions:
    """The declared input intervals of ``program``; false if there are none.

    ``elements``: the bits of each input. ``wanted``: whether to use the declared intervals at all.
    """

    def __init__(self, program: Program, elements: Sequence[Element], wanted: bool = True) -> None:
        self._program, self._elements = program, elements
        self._bounds: list[tuple[Op, Interval]] = []
        if wanted and program.intervals is not None:
            self._bounds = list(_bounds(program))

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def allowed(self, found: Trace) -> Bools:
        """Return which rows have every input within its declared interval: bool, shape (rows,)."""
        rows = np.ones(found.rows, dtype=bool)
        for op, interval in self._bounds:
            values = found.values[op.index].astype(object)
            if op.type.k:
                half = 1 << (op.type.width - 1)
                values = (values ^ half) - half
            rows &= np.asarray((values >= interval.lo) & (values <= interval.hi), dtype=bool)
        return rows

    def of_input(self, number: int, variable: Term) -> list[Term]:
        """Return the assumptions about input ``number``, with the bits ``variable``: terms that are assumed to be 1."""
        terms = []
        for op, interval in self._bounds:
            if op.id0 == number:
                value = interpret_op(self._program, op, [variable], self._elements[number]).value
                terms.append(within(op.type, value, interval))
        return [term for term in terms if term.op != "const"]

    def moved_inside(self, columns: Columns) -> Columns:
        """Return the same vectors with values outside an interval moved into it.

        Only inputs that are read by a single op, which reads all their bits, are moved; the others stay as they are.
        """
        columns = list(columns)
        for op, interval in self._bounds:
            element = self._elements[op.id0]
            if element.width == op.type.width and sum(other.id0 == op.id0 for other, _ in self._bounds) == 1:
                half = 1 << (op.type.width - 1) if op.type.k else 0
                raw = (columns[op.id0].astype(object) ^ half) - half
                outside = (raw < interval.lo) | (raw > interval.hi)
                raw[outside] = (raw[outside] - interval.lo) % (interval.hi - interval.lo + 1) + interval.lo
                columns[op.id0] = raw & ((1 << op.type.width) - 1)
        return columns


def _bounds(program: Program) -> Iterator[tuple[Op, Interval]]:
    """Yield the ops that read an input and whose declared interval is smaller than their type."""
    intervals = analyse(program, declared=True).intervals
    for op in program.ops:
        if op.code == INPUT and op.type.width:
            interval = intervals[op.index]
            if interval.lo > op.type.raw_min or interval.hi < op.type.raw_max:
                yield op, interval
