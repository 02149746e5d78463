"""Sharper ranges: a value that is a sum of others is kept as that sum, so that cancellation is recognised.

Plain intervals do not show that ``x - x`` is 0. Here an op is kept as a sum of multiples of *sources*, which are inputs
or results of nonlinear ops, as long as it exactly equals such a sum. The range of the sum is exact if its sources are
independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.program.model import Op, Program
from dais_verif.program.opcodes import RELUS, Code
from dais_verif.program.ranges import Analysis, Interval, PromiseStatus, analyse

__all__ = ["sharp_ranges"]

#: Sums of more than ``_MOST_SOURCES`` sources become sources themselves; so do all sums after the first
#: ``_MOST_FACTORS`` factors, which take half a gigabyte.
_MOST_SOURCES, _MOST_FACTORS = 512, 4_000_000


class _Sum(NamedTuple):
    """``constant`` and each source's raw value times its factor, in units of ``2**-f``."""

    factors: dict[int, int]
    constant: int
    f: int

    def at(self, f: int) -> _Sum:
        """Return the sum in units of ``2**-f``, which must not be coarser."""
        by = f - self.f
        return _Sum({source: factor << by for source, factor in self.factors.items()}, self.constant << by, f)

    def moved(self, shift: int) -> _Sum:
        return self._replace(f=self.f - shift)

    def plus(self, other: _Sum, sign: int) -> _Sum:
        f = max(self.f, other.f)
        a, b = self.at(f), other.at(f)
        factors = dict(a.factors)
        for source, factor in b.factors.items():
            total = factors.get(source, 0) + sign * factor
            if total:
                factors[source] = total
            else:
                del factors[source]
        return _Sum(factors, a.constant + sign * b.constant, f)

    def is_multiple(self, of: int) -> bool:
        """Return True if the sum is a multiple of ``of`` for all values of its sources."""
        return not (self.constant % of or any(factor % of for factor in self.factors.values()))

    def range(self, known: Sequence[Interval]) -> tuple[int, int]:
        """Return the least and the greatest value of the sum; ``known``: the intervals of its sources."""
        lo = hi = self.constant
        for source, factor in self.factors.items():
            x = known[source]
            lo += factor * (x.lo if factor > 0 else x.hi)
            hi += factor * (x.hi if factor > 0 else x.lo)
        return lo, hi


def sharp_ranges(program: Program, *, declared: bool, most_ops: int = 50_000) -> Analysis:
    """Analyse ranges with sums kept as sums, in programs of at most ``most_ops`` ops; takes some 60 µs per op."""
    if program.n_ops > most_ops:
        return analyse(program, declared=declared)
    return analyse(program, declared=declared, sharpen=_Sums().sharpened)


class _Sums:
    """The sums of all ops so far."""

    def __init__(self) -> None:
        self._sums: list[_Sum] = []
        self._left = _MOST_FACTORS

    def sharpened(
        self, op: Op, known: Sequence[Interval], found: Interval, change: PromiseStatus
    ) -> tuple[Interval, PromiseStatus]:
        """Refine ``found`` and ``change``, the results of intervals for ``op``, by the sums of the ops before it."""
        exact = self._exact(op)
        if exact is not None and len(exact.factors) <= min(_MOST_SOURCES, self._left):
            lo, hi = exact.range(known)
            rectified = op.code in RELUS and lo < 0  # the result equals the sum only where the sum is positive
            by = op.type.f - exact.f
            # Whether no low bits are lost.
            fine = by >= 0 or change is PromiseStatus.SAFE or exact.is_multiple(1 << -by)
            if by >= 0:
                exact, lo, hi = exact.at(op.type.f), lo << by, hi << by
            elif fine:
                lo, hi = -(-lo >> -by), hi >> -by
            if fine and op.type.raw_min <= lo and hi <= op.type.raw_max and not rectified:
                self._sums.append(exact)
                self._left -= len(exact.factors)
                return _common(found, lo, hi), PromiseStatus.SAFE
        self._sums.append(_Sum({op.index: 1}, 0, op.type.f))
        return found, change

    def _exact(self, op: Op) -> _Sum | None:
        """Return the exact result of ``op`` if it is a sum; for a relu, the result where it is not 0."""
        match op.code:
            case Code.ADD | Code.SUB:
                return self._sums[op.id0].plus(self._sums[op.id1].moved(op.data), 1 if op.code == Code.ADD else -1)
            case Code.RELU | Code.QUANT:
                return self._sums[op.id0]
            case Code.RELU_NEG | Code.QUANT_NEG:
                return _Sum({}, 0, op.type.f).plus(self._sums[op.id0], -1)
            case Code.ADD_CONST:
                return self._sums[op.id0].plus(_Sum({}, op.data, op.type.f), 1)
            case Code.SUM:
                total = _Sum({}, 0, 0)
                for term in op.terms:
                    value = self._sums[term.op] if term.op >= 0 else _Sum({}, op.data, 0)
                    total = total.plus(value.moved(term.shift), -1 if term.negative else 1)
                return total
            case Code.SHIFT:
                return self._sums[op.id0].moved(op.data)
        return None


def _common(found: Interval, lo: int, hi: int) -> Interval:
    """Return the intersection of ``found`` and ``lo..hi``, never empty, since both contain every value of the op."""
    lo, hi = max(found.lo, lo), min(found.hi, hi)
    if lo > hi:
        raise AssertionError(f"no value is in {found} and in {lo}..{hi}")
    return found._replace(lo=lo, hi=hi) if (lo, hi) != (found.lo, found.hi) else found
