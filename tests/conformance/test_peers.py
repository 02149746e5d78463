"""The table detects known mistakes of other implementations, which are seeded in the oracle one by one.

Each mistake is a wrong rule of an opcode, or a wrong quantisation. At least one row must fail for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from dais_verif.golden import oracle
from dais_verif.golden.oracle import Context, two
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.opcodes import bitwise_fields, high_int32, low_int32

from .engines import ENGINES, problems
from .table import TABLE

Rule = Callable[[Context], Fraction]
right = dict(oracle.RULES)


def kind_of(c: Context, index: int) -> FixedType:
    return c.type_of(index)


def wrapped(value: Fraction, kind: FixedType) -> Fraction:
    return oracle.quantise(value, kind)


def unnegated(c: Context) -> Context:
    """Return ``c`` with the positive code of its pair of opcodes."""
    return Context(c.program, replace(c.op, code=abs(c.op.code)), c._values, c.inputs)


def msb_by(test: Callable[[int, FixedType], bool]) -> Rule:
    """Return the rule of a mux whose condition is decided by ``test`` of its raw value."""

    def rule(c: Context) -> Fraction:
        condition = c.op.condition
        arm = -c.b if c.op.code < 0 else c.b
        return c.a if test(c.raw(condition), kind_of(c, condition)) else arm * two(high_int32(c.op.data))

    return rule


def index_by(offset: Callable[[Context], int]) -> Rule:
    """Return the rule of a lookup at raw value plus ``offset``, clamped to the table."""

    def rule(c: Context) -> Fraction:
        table = c.program.tables[low_int32(c.op.data)]
        index = min(max(c.raw(c.op.id0) + offset(c), 0), len(table) - 1)
        return int(table[index]) * two(-c.op.type.f) if len(table) else Fraction(0)

    return rule


def bitwise_by(
    negate: Callable[[Fraction, FixedType], Fraction] = lambda v, _: -v,
    extend: Callable[[int, FixedType], int] = lambda v, _: v,
    grid: Callable[[int, int], int] = max,
    shift_sign: int = 1,
) -> Rule:
    """Return the rule of op 10 with one step changed."""

    def rule(c: Context) -> Fraction:
        fields = bitwise_fields(c.op.data)
        kinds = kind_of(c, c.op.id0), kind_of(c, c.op.id1)
        a = negate(c.a, kinds[0]) if fields.negate_a else c.a
        b = negate(c.b, kinds[1]) if fields.negate_b else c.b
        shift = fields.shift * shift_sign
        g = grid(kinds[0].f, kinds[1].f - shift)
        x = extend(math.floor(a * two(g)), kinds[0])
        y = extend(math.floor(b * two(shift + g)), kinds[1])
        return (x & y, x | y, x ^ y)[fields.operation] * two(-g)

    return rule


def not_by(modulus: Callable[[Context], int], signed: Callable[[Context], int]) -> Rule:
    """Return the rule of NOT with another modulus or another condition for signed results; reductions are unchanged."""

    def rule(c: Context) -> Fraction:
        if c.op.data:
            return right[c.op.code](c)
        t = c.raw(c.op.id0, c.signed_a)
        return (-t - 1 if signed(c) else (-t - 1) % (1 << modulus(c))) * two(-kind_of(c, c.op.id0).f)

    return rule


def own_signed(c: Context) -> int:
    return c.op.type.k


def id0_width(c: Context) -> int:
    return kind_of(c, c.op.id0).width


def all_by_value(c: Context) -> Fraction:
    """AND-reduce the real value, as if the type had no fractional bits."""
    if c.op.data != 2:
        return right[c.op.code](c)
    return Fraction(c.signed_a == (-1 if kind_of(c, c.op.id0).k else (1 << id0_width(c)) - 1))


def extended_by_top_bit(value: int, kind: FixedType) -> int:
    """Return ``value`` with the top bit of an unsigned value taken for a sign bit."""
    top = kind.width > 0 and value >= 0 and value >> (kind.width - 1) & 1
    return value - (1 << kind.width) if top and not kind.k else value


MISTAKES: dict[str, dict[int, Rule]] = {
    "inp_shift is ignored": {-1: lambda c: c.inputs[c.op.id0]},
    "inp_shift is negated": {-1: lambda c: c.inputs[c.op.id0] * two(-int(c.program.inp_shift[c.op.id0]))},
    "shift of 0 is modulo 64": {0: lambda c: c.a + c.b * two(int(math.fmod(c.op.data, 64)))},
    "shift of 1 is modulo 64": {1: lambda c: c.a - c.b * two(int(math.fmod(c.op.data, 64)))},
    "shift of 0 acts on the sum": {0: lambda c: (c.a + c.b) * two(c.op.data)},
    "shift of 1 acts on id0": {1: lambda c: c.a * two(c.op.data) - c.b},
    "-2 wraps before the max": {-2: lambda c: max(wrapped(-c.a, kind_of(c, c.op.id0)), Fraction(0))},
    "-2 is 2": {-2: lambda c: right[2](unnegated(c))},
    "2 takes the absolute value": {2: lambda c: abs(c.a)},
    "2 clips at the type instead of wrapping": {
        2: lambda c: min(max(c.a, Fraction(0)), c.op.type.raw_max * two(-c.op.type.f))
    },
    "-3 wraps before the quantisation": {-3: lambda c: wrapped(-c.a, kind_of(c, c.op.id0))},
    "-3 floors before the negation": {-3: lambda c: -wrapped(c.a, FixedType(1, 4000, c.op.type.f))},
    "data of 4 in units of id0": {4: lambda c: c.a + c.op.data * two(-kind_of(c, c.op.id0).f)},
    "data of 4 as int32": {4: lambda c: c.a + low_int32(c.op.data) * two(-c.op.type.f)},
    "data of 5 as int32": {5: lambda c: low_int32(c.op.data) * two(-c.op.type.f)},
    "data of 5 as an integer": {5: lambda c: Fraction(c.op.data)},
    "condition above 2**(w-2)": {6: msb_by(lambda m, t: m < 0 if t.k else m > 1 << max(t.width - 2, 0))},
    "condition negative only": {6: msb_by(lambda m, t: m < 0)},
    "condition not 0": {6: msb_by(lambda m, t: m != 0)},
    "condition of width 0 is true": {6: msb_by(lambda m, t: t.width == 0 or m % (1 << t.width) >> (t.width - 1) == 1)},
    "-6 negates either arm": {-6: lambda c: -right[6](c)},
    "-6 is 6": {-6: lambda c: right[6](unnegated(c))},
    "shift of 6 is ignored": {6: lambda c: right[6](c) if high_int32(c.op.data) == 0 else wrapped(c.b, c.op.type)},
    "product floored to f0 + f1 - 1": {7: lambda c: wrapped(c.a * c.b, FixedType(1, 4000, c.op.type.f - 1))},
    "product of raw integers": {7: lambda c: c.raw(c.op.id0) * c.raw(c.op.id1) * two(-c.op.type.f)},
    "product in doubles": {7: lambda c: Fraction(float(c.a) * float(c.b))},
    "offset added": {8: index_by(lambda c: high_int32(c.op.data) - kind_of(c, c.op.id0).raw_min)},
    "offset ignored": {8: index_by(lambda c: -kind_of(c, c.op.id0).raw_min)},
    "raw_min forgotten": {8: index_by(lambda c: -high_int32(c.op.data))},
    "outside clamps": {8: index_by(lambda c: -kind_of(c, c.op.id0).raw_min - high_int32(c.op.data))},
    "NOT modulo its own width": {9: not_by(lambda c: c.op.type.width, own_signed)},
    "NOT signed as id0 is": {9: not_by(id0_width, lambda c: kind_of(c, c.op.id0).k)},
    "-9 is 9": {-9: lambda c: right[9](unnegated(c))},
    "AND-reduce by value": {9: all_by_value, -9: all_by_value},
    "negation of 10 wraps": {10: bitwise_by(negate=lambda v, t: wrapped(-v, t))},
    "negation of 10 is ignored": {10: bitwise_by(negate=lambda v, _: v)},
    "10 extends the top bit of unsigned": {10: bitwise_by(extend=extended_by_top_bit)},
    "10 on the coarser grid": {10: bitwise_by(grid=min)},
    "10 on the grid of a": {10: bitwise_by(grid=lambda a, b: a)},
    "shift of 10 is negated": {10: bitwise_by(shift_sign=-1)},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_rule_is_refused(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = MISTAKES[mistake]
    monkeypatch.setattr(oracle, "RULES", right | wrong)
    rows = [row for row in TABLE if any(op[0] in wrong for op in row.ops)]
    assert any(problems(row, ENGINES["oracle"]) for row in rows)


def _towards_zero(value: Fraction, kind: FixedType) -> Fraction:
    return _truth(Fraction(math.trunc(value * two(kind.f)), 1) * two(-kind.f), kind)


def _rounded(value: Fraction, kind: FixedType) -> Fraction:
    return _truth(value + two(-kind.f - 1), kind)


def _saturated(value: Fraction, kind: FixedType) -> Fraction:
    return min(max(_truth(value, FixedType(1, 4096, kind.f)), kind.raw_min * two(-kind.f)), kind.raw_max * two(-kind.f))


def _never_signed_beyond_32(value: Fraction, kind: FixedType) -> Fraction:
    found = _truth(value, kind)
    return found + two(kind.width - kind.f) if kind.width > 32 and found < 0 else found


def _signed_one_bit_as_zero_or_one(value: Fraction, kind: FixedType) -> Fraction:
    return abs(_truth(value, kind)) if kind.width == 1 else _truth(value, kind)


def _unfloored_when_finer(value: Fraction, kind: FixedType) -> Fraction:
    return value if kind.f > 1 and kind.width else _truth(value, kind)


_truth = oracle.quantise
QUANTISATIONS = (
    _towards_zero,
    _rounded,
    _saturated,
    _never_signed_beyond_32,
    _signed_one_bit_as_zero_or_one,
    _unfloored_when_finer,
)


@pytest.mark.parametrize("wrong", QUANTISATIONS, ids=lambda wrong: wrong.__name__.strip("_"))
def test_a_wrong_quantisation_is_refused(
    wrong: Callable[[Fraction, FixedType], Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "quantise", wrong)
    assert any(problems(row, ENGINES["oracle"]) for row in TABLE)
