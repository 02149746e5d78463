"""Range analysis: propagate exact intervals through the program, to prove the absence of overflow.

Every value gets the smallest interval of raw integers that interval arithmetic can show, and the number of low bits
known to be zero (to show that a coarser result loses nothing). The rules are those of the semantics page, applied to
intervals. Values that wrap get the interval of the wrapped value, so results also hold for unchecked runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from dais_verif.spec.program.model import Op, Program
from dais_verif.spec.program.opcodes import RELUS, Code, bitwise_fields, high_int32, low_int32
from dais_verif.spec.program.types import FixedType

__all__ = ["Analysis", "Interval", "PromiseStatus", "analyse", "sharp_ranges"]


#: The number of zero low bits of the value 0.
_ALL_ZERO = 1 << 20


class PromiseStatus(IntEnum):
    """Whether quantisation can change the value of an op. For an op with a promise, a change is a violation."""

    #: Proved by intervals: it never changes the value.
    SAFE = 0
    #: Intervals do not exclude a change.
    POSSIBLE = 1
    #: Proved by intervals: it changes the value for every input.
    CERTAIN = 2


class Interval(NamedTuple):
    """``lo <= raw <= hi`` in units of ``2**-f``, and ``raw`` is a multiple of ``2**zeros``."""

    lo: int
    hi: int
    f: int
    zeros: int


@dataclass(frozen=True)
class Analysis:
    """Result of ``analyse``: tuples with one entry per op."""

    program: Program
    intervals: tuple[Interval, ...]
    #: For every op, whether quantisation can change the value.
    changes: tuple[PromiseStatus, ...]

    @property
    def worst(self) -> PromiseStatus:
        """The worst status of all ops with a promise; SAFE if there are none."""
        promised = (s for op, s in zip(self.program.ops, self.changes, strict=True) if op.spec.promise)
        return max(promised, default=PromiseStatus.SAFE)

    def promises(self, status: PromiseStatus) -> list[int]:
        """Return the indices of the ops with a promise that have ``status``."""
        pairs = zip(self.program.ops, self.changes, strict=True)
        return [op.index for op, found in pairs if found is status and op.spec.promise]


def analyse(program: Program, *, declared: bool = False, sharpen: Sharpen | None = None) -> Analysis:
    """Return the intervals of every op of a valid ``program``.

    ``declared``: trust the input intervals that the source declares (da4ml's JSON). Otherwise only types bound the
    inputs, and the result holds for all inputs. ``sharpen``: returns a better interval and status for an op, given the
    op, the intervals of earlier ops, and its own interval and status.
    """
    intervals: list[Interval] = []
    changes: list[PromiseStatus] = []
    trusted = program.intervals if declared else None
    for op in program.ops:
        interval, change = _RULES[op.code](program, op, intervals, trusted)
        if sharpen is not None:
            interval, change = sharpen(op, intervals, interval, change)
        intervals.append(interval)
        changes.append(change)
    return Analysis(program, tuple(intervals), tuple(changes))


Known = list[Interval]
Sharpen = Callable[[Op, Sequence[Interval], Interval, PromiseStatus], tuple[Interval, PromiseStatus]]
Declared = tuple[tuple[int, int], ...] | None
Outcome = tuple[Interval, PromiseStatus]


def _interval(lo: int, hi: int, f: int, zeros: int) -> Interval:
    return Interval(lo, hi, f, _trailing_zeros(lo) if lo == hi else zeros)


def _trailing_zeros(raw: int) -> int:
    return (raw & -raw).bit_length() - 1 if raw else _ALL_ZERO


def _shifted(x: Interval, shift: int) -> Interval:
    """Return ``x * 2**shift``: the same integers with another binary point."""
    return x._replace(f=x.f - shift)


def _aligned(x: Interval, f: int) -> Interval:
    """Return ``x`` in units of ``2**-f``; ``f`` is at least ``x.f``."""
    d = f - x.f
    return Interval(x.lo << d, x.hi << d, f, x.zeros + d)


def _negated(x: Interval) -> Interval:
    return Interval(-x.hi, -x.lo, x.f, x.zeros)


def _sum(a: Interval, b: Interval) -> Interval:
    f = max(a.f, b.f)
    a, b = _aligned(a, f), _aligned(b, f)
    return Interval(a.lo + b.lo, a.hi + b.hi, f, min(a.zeros, b.zeros))


def _union(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.lo, b.lo), max(a.hi, b.hi), a.f, min(a.zeros, b.zeros))


def _quantise(exact: Interval, kind: FixedType) -> Outcome:
    """Return the interval after TRUNC and WRAP to ``kind``, and whether that changes the value."""
    lo, hi, _, zeros = _interval(*exact)
    drop = exact.f - kind.f
    status = PromiseStatus.SAFE
    if drop > 0:
        if zeros < drop:
            status = PromiseStatus.CERTAIN if lo == hi else PromiseStatus.POSSIBLE
        lo, hi, zeros = lo >> drop, hi >> drop, max(zeros - drop, 0)
    else:
        lo, hi, zeros = lo << -drop, hi << -drop, zeros - drop
    if lo < kind.raw_min or hi > kind.raw_max:
        outside = hi < kind.raw_min or lo > kind.raw_max
        status = PromiseStatus.CERTAIN if outside else max(status, PromiseStatus.POSSIBLE)
        periods = (lo - kind.raw_min) >> kind.width
        if periods == (hi - kind.raw_min) >> kind.width:
            lo, hi = lo - (periods << kind.width), hi - (periods << kind.width)
        else:
            lo, hi = kind.raw_min, kind.raw_max
        zeros = min(zeros, kind.width)
    return _interval(lo, hi, kind.f, zeros), status


def _input(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    lo, hi = declared[op.index] if declared else (op.type.raw_min, op.type.raw_max)
    return _interval(lo, hi, op.type.f, 0), PromiseStatus.POSSIBLE


def _add(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    b = _shifted(known[op.id1], op.data)
    return _quantise(_sum(known[op.id0], _negated(b) if op.code == Code.SUB else b), op.type)


def _relu(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    x = _negated(known[op.id0]) if op.spec.negate else known[op.id0]
    return _quantise(_interval(max(x.lo, 0), max(x.hi, 0), x.f, x.zeros), op.type)


def _quant(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    return _quantise(_negated(known[op.id0]) if op.spec.negate else known[op.id0], op.type)


def _add_const(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    return _quantise(_sum(known[op.id0], _constant(op.data, op.type.f)), op.type)


def _const(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    return _quantise(_constant(op.data, op.type.f), op.type)


def _terms(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    total = Interval(0, 0, 0, _ALL_ZERO)
    least = min(term.shift for term in op.terms)
    # An operand that occurs in several terms counts once, with the sum of its weights, so that x - x is 0.
    weights: dict[int, int] = {}
    for operand, shift, negative in op.terms:
        weight = 1 << (shift - least)
        weights[operand] = weights.get(operand, 0) + (-weight if negative else weight)
    for operand, weight in weights.items():
        if weight:
            x = known[operand] if operand >= 0 else _constant(op.data, 0)
            total = _sum(total, _scaled(x, weight, least))
    return _quantise(_interval(*total), op.type)


def _scaled(x: Interval, weight: int, shift: int) -> Interval:
    """Return ``x`` times ``weight * 2**shift``; the weight is not 0."""
    lo, hi = x.lo * weight, x.hi * weight
    return Interval(min(lo, hi), max(lo, hi), x.f - shift, x.zeros + _trailing_zeros(weight))


def _shift(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    return _quantise(_shifted(known[op.id0], op.data), op.type)


def _constant(raw: int, f: int) -> Interval:
    return Interval(raw, raw, f, _trailing_zeros(raw))


def _mux(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    b = _shifted(known[op.id1], high_int32(op.data))
    taken = _quantise(known[op.id0], op.type)
    other = _quantise(_negated(b) if op.spec.negate else b, op.type)
    condition, kind = known[op.condition], program.ops[op.condition].type
    half = 1 << (kind.width - 1) if kind.width else 1
    msb_set = condition.hi < 0 if kind.k else condition.lo >= half
    msb_clear = condition.lo >= 0 if kind.k else condition.hi < half
    if msb_set or msb_clear:
        return taken if msb_set else other
    return _union(taken[0], other[0]), PromiseStatus.POSSIBLE if max(taken[1], other[1]) else PromiseStatus.SAFE


def _mul(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    a, b = known[op.id0], known[op.id1]
    products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    lo = min(products)
    if op.id0 == op.id1:  # a square is never negative
        lo = 0 if a.lo <= 0 <= a.hi else min(a.lo * a.lo, a.hi * a.hi)
    return _quantise(_interval(lo, max(products), a.f + b.f, a.zeros + b.zeros), op.type)


def _lookup(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    table = program.tables[low_int32(op.data)]
    offset = program.ops[op.id0].type.raw_min + high_int32(op.data)
    first, last = known[op.id0].lo - offset, known[op.id0].hi - offset
    reached = table[max(first, 0) : max(last + 1, 0)]
    if first >= 0 and last < len(table):
        return _interval(int(reached.min()), int(reached.max()), op.type.f, 0), PromiseStatus.SAFE
    if len(reached) == 0:
        return _interval(0, 0, op.type.f, 0), PromiseStatus.CERTAIN
    lo, hi = min(int(reached.min()), 0), max(int(reached.max()), 0)
    return _interval(lo, hi, op.type.f, 0), PromiseStatus.POSSIBLE


def _bit_unary(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    t = _negated(known[op.id0]) if op.spec.negate else known[op.id0]
    period = program.ops[op.id0].type.width
    if op.data == 0:
        lo, hi = -t.hi - 1, -t.lo - 1
        if not op.type.k:
            if lo >> period == hi >> period:
                lo, hi = lo - (lo >> period << period), hi - (hi >> period << period)
            else:
                lo, hi = 0, (1 << period) - 1
        return _quantise(_interval(lo, hi, t.f, 0), op.type)
    ones = (1 << period) - 1
    if t.lo == t.hi:
        lo = hi = int(t.lo != 0 if op.data == 1 else t.lo & ones == ones)
    elif op.data == 1 and (t.lo > 0 or t.hi < 0):
        lo = hi = 1
    else:
        lo, hi = 0, 1
    return _quantise(_interval(lo, hi, 0, 0), op.type)


def _bit_binary(program: Program, op: Op, known: Known, declared: Declared) -> Outcome:
    fields = bitwise_fields(op.data)
    a, b = known[op.id0], _shifted(known[op.id1], fields.shift)
    a = _negated(a) if fields.negate_a else a
    b = _negated(b) if fields.negate_b else b
    f = max(a.f, b.f)
    a, b = _aligned(a, f), _aligned(b, f)
    # AND keeps the low zeros of either operand, OR and XOR keep those common to both.
    zeros = max(a.zeros, b.zeros) if fields.operation == 0 else min(a.zeros, b.zeros)
    lo, hi = _BITWISE[fields.operation](a, b)
    return _quantise(_interval(lo, hi, f, zeros), op.type)


def _span(a: Interval, b: Interval) -> tuple[int, int]:
    """Return the tightest range ``-2**n .. 2**n - 1`` that contains both intervals."""
    bits = max((v if v >= 0 else -1 - v).bit_length() for v in (a.lo, a.hi, b.lo, b.hi))
    return -(1 << bits), (1 << bits) - 1


def _and(a: Interval, b: Interval) -> tuple[int, int]:
    lo, hi = _span(a, b)
    bounds = [x.hi for x in (a, b) if x.lo >= 0]
    if bounds:
        return 0, min(bounds)
    return lo, -1 if a.hi < 0 and b.hi < 0 else hi


def _or(a: Interval, b: Interval) -> tuple[int, int]:
    lo, hi = _span(a, b)
    if a.lo >= 0 and b.lo >= 0:
        return max(a.lo, b.lo), hi
    return lo, -1 if a.hi < 0 or b.hi < 0 else hi


def _xor(a: Interval, b: Interval) -> tuple[int, int]:
    lo, hi = _span(a, b)
    signs = [-1 if x.hi < 0 else 1 if x.lo >= 0 else 0 for x in (a, b)]
    product = signs[0] * signs[1]
    return (0, hi) if product > 0 else (lo, -1) if product < 0 else (lo, hi)


_BITWISE = (_and, _or, _xor)

_RULES: dict[int, Callable[[Program, Op, Known, Declared], Outcome]] = {
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
    Code.SUM: _terms,
    Code.SHIFT: _shift,
}


# Sharper ranges: a value that is a sum of others is kept as that sum, so that cancellation is recognised.
#
# Plain intervals do not show that ``x - x`` is 0. Here an op is kept as a sum of multiples of *sources*, which are
# inputs or results of nonlinear ops, as long as it exactly equals such a sum. The range of the sum is exact if its
# sources are independent.


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
