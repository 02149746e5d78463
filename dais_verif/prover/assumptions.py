"""Intervals that the source of a program, such as da4ml's JSON, declares for its inputs; they are not proved.

Users of RTL for such a program must keep inputs within these intervals; ports may be too narrow for other values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dais_verif.program import Op, Program
from dais_verif.program.opcodes import INPUT
from dais_verif.program.ports import Element
from dais_verif.program.ranges import Interval, analyse
from dais_verif.prover.lemmas import within
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.random_simulation import Bools, Columns, Trace
from dais_verif.prover.terms import Term

__all__ = ["Assumptions"]


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
