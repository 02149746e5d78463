"""Lemmas: ranges of values that a proof may use after each has been proved.

Range analysis only suggests an interval. It is proved by induction over the program: if the operands of an op lie
within their intervals, the value of the op lies within its own.
"""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import INPUT
from dais_verif.program.ranges import Interval, analyse
from dais_verif.prover.obligations import Builder
from dais_verif.prover.solving.discharge import Discharge
from dais_verif.prover.terms import Term, band, bnot, const, eq, extract, resize, slt, ult

__all__ = ["Lemmas", "within"]

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
