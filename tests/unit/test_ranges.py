"""Range analysis is sound on random programs, and as sharp as these tables say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.places import ALIR
from support.strategies import batches, programs
from support.tier import examples

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import oracle
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ranges import Analysis, PromiseStatus, analyse, sharp_ranges

FAST = settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_sound(analysis: Analysis, inputs: Sequence[Fraction], *, declared: bool = False) -> None:
    """Assert that each value lies in its interval and has its zeros, and that SAFE and CERTAIN statuses are right."""
    program = analysis.program
    values = oracle.trace(program, inputs, violations=[])
    if declared and not all(within(program, i, values[i]) for i in range(program.n_ops)):
        return  # the inputs are outside of the declared intervals
    for op in program.ops:
        raw = values[op.index] * Fraction(2) ** op.type.f
        lo, hi, f, zeros = analysis.intervals[op.index]
        assert f == op.type.f
        assert op.type.raw_min <= lo <= raw <= hi <= op.type.raw_max, f"{op}: {raw} not in {lo}..{hi}"
        assert raw.numerator % (1 << min(zeros, 5000)) == 0, f"{op}: {raw} has not {zeros} zeros"
        if op.code != -1:
            status = analysis.changes[op.index]
            changed = exact_of(program, op.index, values, inputs) != values[op.index]
            assert status is not (PromiseStatus.SAFE if changed else PromiseStatus.CERTAIN), (
                f"{op}: {status!r}, changed {changed}"
            )


def exact_of(program: Program, index: int, values: list[Fraction], inputs: Sequence[Fraction]) -> Fraction | None:
    """Return the exact result of an op, or None for an index outside its table, which counts as a change."""
    op = program.ops[index]
    try:
        return oracle.RULES[op.code](oracle.Context(program, op, values, inputs))
    except oracle._Outside:
        return None


def within(program: Program, index: int, value: Fraction) -> bool:
    op = program.ops[index]
    if op.code != -1 or program.intervals is None:
        return True
    lo, hi = program.intervals[index]
    return lo <= value * Fraction(2) ** op.type.f <= hi


def assert_all_sound(program: Program, rows: list[list[Any]], rng: random.Random) -> None:
    """Check both analyses, with intervals alone and with sums kept as sums, with and without declared intervals."""
    with_declared, batch = with_intervals(program, rng), Batch.of(rows, program.n_in)
    for made in (analyse, sharp_ranges):
        analysis, declared = made(program, declared=False), made(with_declared, declared=True)
        for row in range(batch.rows):
            assert_sound(analysis, batch.row(row))
            assert_sound(declared, batch.row(row), declared=True)


@given(batches() | batches(alir=True) | batches(promise_keeping=True, widest=12, alir=True), programs())
@FAST
def test_sound_on_random_programs(case: tuple[Program, list[list[Any]]], other: tuple[Any, random.Random]) -> None:
    assert_all_sound(*case, other[1])


def with_intervals(program: Program, rng: random.Random) -> Program:
    """Return ``program`` with a declared interval per op: about half of its range, or one value, at random."""
    intervals = []
    for op in program.ops:
        middle, half = rng.randint(op.type.raw_min, op.type.raw_max), rng.choice((0, 1 << max(op.type.width - 2, 0)))
        intervals.append((max(middle - half, op.type.raw_min), min(middle + half, op.type.raw_max)))
    return replace(program, intervals=tuple(intervals))


@given(programs(promise_keeping=True) | programs(promise_keeping=True, alir=True))
@FAST
def test_types_that_are_wide_enough_are_proved_safe(case: tuple[Program, random.Random]) -> None:
    assert analyse(case[0]).worst is PromiseStatus.SAFE


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_sound_on_10_000_programs(chunk: int) -> None:
    for seed in range(chunk * 1000, chunk * 1000 + 1000):
        rng = random.Random(seed)
        program = random_program(rng, rng.randint(1, 24), widest=rng.choice((3, 8, 70)), alir=seed % 2 == 1)
        assert_all_sound(program, random_rows(rng, program, 4), rng)


S4, U4, U0 = (1, 3, 0), (0, 4, 0), (0, 0, 0)

#: Name: types of two inputs, the op that is analysed, its raw interval and number of trailing zeros, its status.
JUDGED: dict[str, tuple[Any, ...]] = {
    "most negative plus most negative": (S4, S4, (0, 0, 1, 0, (1, 4, 0)), (-16, 14, 0), PromiseStatus.SAFE),
    "minus the most negative overflows": (S4, U0, (1, 1, 0, 0, S4), (-8, 7, 0), PromiseStatus.POSSIBLE),
    "minus the most negative fits one bit more": (S4, U0, (1, 1, 0, 0, (1, 4, 0)), (-7, 8, 0), PromiseStatus.SAFE),
    "a sum in an unsigned type": (S4, S4, (0, 0, 1, 0, (0, 5, 0)), (0, 31, 0), PromiseStatus.POSSIBLE),
    "shift acts on the second only": (U4, U4, (0, 0, 1, 2, (0, 7, 0)), (0, 75, 0), PromiseStatus.SAFE),
    "shift down loses a fraction": (U4, U4, (0, 0, 1, -1, (0, 5, 0)), (0, 22, 0), PromiseStatus.POSSIBLE),
    "shift down kept by a finer type": (U4, U4, (0, 0, 1, -1, (0, 5, 1)), (0, 45, 0), PromiseStatus.SAFE),
    "zeros make a coarser result exact": ((0, 6, -2), U0, (0, 0, 0, 0, (0, 7, -2)), (0, 30, 0), PromiseStatus.SAFE),
    "a constant too large, below": (U0, U0, (5, -1, -1, -9, S4), (7, 7, 0), PromiseStatus.CERTAIN),
    "a constant too large, above": (U0, U0, (5, -1, -1, 8, S4), (-8, -8, 3), PromiseStatus.CERTAIN),
    "the most negative constant": (U0, U0, (5, -1, -1, -8, S4), (-8, -8, 3), PromiseStatus.SAFE),
    "add_const past the end for some": (U4, U0, (4, 0, -1, 1, U4), (0, 15, 0), PromiseStatus.POSSIBLE),
    "add_const past the end for all": (U4, U0, (4, 0, -1, 16, U4), (0, 15, 0), PromiseStatus.CERTAIN),
    "relu keeps no negative": (S4, U0, (2, 0, -1, 0, (0, 3, 0)), (0, 7, 0), PromiseStatus.SAFE),
    "negated relu of the most negative": (S4, U0, (-2, 0, -1, 0, U4), (0, 8, 0), PromiseStatus.SAFE),
    "negated relu of unsigned is 0": (U4, U0, (-2, 0, -1, 0, U4), (0, 0, 1 << 20), PromiseStatus.SAFE),
    "quant floors negatives": (S4, U0, (3, 0, -1, 0, (1, 3, -1)), (-4, 3, 0), PromiseStatus.POSSIBLE),
    "negated quant wraps one value": (S4, U0, (-3, 0, -1, 0, S4), (-8, 7, 0), PromiseStatus.POSSIBLE),
    "a square is never negative": (S4, U0, (7, 0, 0, 0, (0, 7, 0)), (0, 64, 0), PromiseStatus.SAFE),
    "a product of both signs": (S4, S4, (7, 0, 1, 0, (1, 7, 0)), (-56, 64, 0), PromiseStatus.SAFE),
    "a product one bit short": (S4, S4, (7, 0, 1, 0, (1, 6, 0)), (-64, 63, 0), PromiseStatus.POSSIBLE),
    "mux of an unsigned condition": (U4, S4, (6, 0, 1, 0, (1, 4, 0)), (-8, 15, 0), PromiseStatus.SAFE),
    "mux negates the second": (U4, S4, (-6, 0, 1, 0, (1, 4, 0)), (-7, 15, 0), PromiseStatus.SAFE),
    "mux of a width-0 condition": (U0, S4, (6, 0, 1, 0, S4), (-8, 7, 0), PromiseStatus.SAFE),
    "not of a signed value": (S4, U0, (9, 0, -1, 0, S4), (-8, 7, 0), PromiseStatus.SAFE),
    "not of an unsigned value into signed": (U4, U0, (9, 0, -1, 0, (1, 4, 0)), (-16, -1, 0), PromiseStatus.SAFE),
    "not of an unsigned value into unsigned": (U4, U0, (9, 0, -1, 0, U4), (0, 15, 0), PromiseStatus.SAFE),
    "reduce is 0 or 1": (U4, U0, (9, 0, -1, 1, (0, 1, 0)), (0, 1, 0), PromiseStatus.SAFE),
    "reduce into one signed bit": (U4, U0, (9, 0, -1, 1, (1, 0, 0)), (-1, 0, 0), PromiseStatus.POSSIBLE),
    "all of width 0 is 1": (U0, U0, (9, 0, -1, 2, (0, 1, 0)), (1, 1, 0), PromiseStatus.SAFE),
    "and with an unsigned value": (S4, U4, (10, 0, 1, 0, U4), (0, 15, 0), PromiseStatus.SAFE),
    "or with a signed value": (S4, U4, (10, 0, 1, 1 << 56, (1, 4, 0)), (-16, 15, 0), PromiseStatus.SAFE),
    "xor of unsigned values": (U4, U4, (10, 0, 1, 2 << 56, U4), (0, 15, 0), PromiseStatus.SAFE),
}


@pytest.mark.parametrize("name", JUDGED)
def test_interval_and_status(name: str) -> None:
    first, second, row, (lo, hi, zeros), status = JUDGED[name]
    rows = [(-1, 0, -1, 0, first), (-1, 1, -1, 0, second), row]
    analysis = analyse(Program.build(rows, [(2, 0, 0)], inp_shift=[0, 0]))
    assert analysis.intervals[2] == (lo, hi, row[-1][2], zeros)
    assert analysis.changes[2] is status


#: Name: intervals of the operands a and b, the bitwise operation, the interval of the result.
BITWISE = {
    "and of negatives is negative": ((-8, -3), (-2, -1), 0, (-8, -1)),
    "and of mixed signs": ((-8, 7), (-2, -1), 0, (-8, 7)),
    "and with a positive is bounded by it": ((-8, 7), (0, 5), 0, (0, 5)),
    "or with a negative is negative": ((-8, 7), (-5, -1), 1, (-8, -1)),
    "or of positives is no less than either": ((2, 7), (3, 5), 1, (3, 7)),
    "xor of opposite signs is negative": ((-8, -1), (0, 7), 2, (-8, -1)),
    "xor of negatives is positive": ((-8, -1), (-3, -2), 2, (0, 7)),
    "xor of anything": ((-8, 7), (0, 7), 2, (-8, 7)),
}


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_on_declared_intervals(name: str) -> None:
    a, b, operation, expected = BITWISE[name]
    rows = [(-1, 0, -1, 0, S4), (-1, 1, -1, 0, S4), (10, 0, 1, operation << 56, S4)]
    program = replace(Program.build(rows, [(2, 0, 0)], inp_shift=[0, 0]), intervals=(a, b, (-8, 7)))
    analysis = analyse(program, declared=True)
    assert analysis.intervals[2][:2] == expected
    assert analysis.changes[2] is PromiseStatus.SAFE


#: Table, raw offset of its first entry, interval of the result, status; the index is an s4.0 (raw -8..7).
LOOKUPS = {
    "covers all": ([-3, *range(15)], 0, (-3, 14), PromiseStatus.SAFE),
    "misses the most negative index": ([5] * 15, 1, (0, 5), PromiseStatus.POSSIBLE),
    "misses the largest index": ([-5] * 15, 0, (-5, 0), PromiseStatus.POSSIBLE),
    "begins beyond the operand": ([5] * 4, 16, (0, 0), PromiseStatus.CERTAIN),
    "ends before the operand": ([5] * 4, -4, (0, 0), PromiseStatus.CERTAIN),
    "is empty": ([], 0, (0, 0), PromiseStatus.CERTAIN),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_lookup(name: str) -> None:
    table, offset, (lo, hi), status = LOOKUPS[name]
    rows = [(-1, 0, -1, 0, S4), (8, 0, -1, offset << 32, (1, 6, 0))]
    analysis = analyse(Program.build(rows, [(1, 0, 0)], inp_shift=[0], tables=[table]))
    assert analysis.intervals[1][:2] == (lo, hi)
    assert analysis.changes[1] is status


def test_trailing_zeros_of_a_single_value_are_all_counted() -> None:
    """All entries of the table are 4, so dropping two fractional bits loses nothing and is safe."""
    rows = [(-1, 0, -1, 0, (0, 1, 0)), (8, 0, -1, 0, (0, 3, 2)), (0, 1, 1, 0, (0, 4, 0))]
    analysis = analyse(Program.build(rows, [(2, 0, 0)], inp_shift=[0], tables=[[4, 4]]))
    assert analysis.intervals[1] == (4, 4, 2, 2)
    assert analysis.changes[2] is PromiseStatus.SAFE


def test_a_wrapped_interval_within_one_period_stays_an_interval() -> None:
    """A u2 value plus 16 in a u4 always breaks the promise; unchecked, the result is the value again."""
    rows = [(-1, 0, -1, 0, (0, 2, 0)), (4, 0, -1, 16, U4), (4, 0, -1, 14, U4)]
    analysis = analyse(Program.build(rows, [(2, 0, 0)], inp_shift=[0]))
    assert analysis.intervals[1][:2] == (0, 3)
    assert analysis.intervals[2][:2] == (0, 15)  # 14..17 wraps at 16


def test_declared_intervals_count_only_when_trusted() -> None:
    rows = [(-1, 0, -1, 0, S4), (4, 0, -1, 4, S4)]
    program = Program.build(rows, [(1, 0, 0)], inp_shift=[0])
    program = replace(program, intervals=((-8, 3), (-8, 7)))
    assert analyse(program).promises(PromiseStatus.POSSIBLE) == [1]
    assert analyse(program, declared=True).promises(PromiseStatus.SAFE) == [1]
    assert analyse(program, declared=True).worst is PromiseStatus.SAFE


def test_worst_ignores_ops_that_imply_quantisation() -> None:
    rows = [(-1, 0, -1, 0, S4), (3, 0, -1, 0, (0, 1, 0))]
    analysis = analyse(Program.build(rows, [(1, 0, 0)], inp_shift=[0]))
    assert analysis.changes[1] is PromiseStatus.POSSIBLE
    assert analysis.worst is PromiseStatus.SAFE
    assert [analysis.promises(status) for status in PromiseStatus] == [[], [], []]


S8, SUM_KIND = (1, 7, 0), (1, 7, 2)

#: Ops over input 0 (s8.0), the terms of sums among them, and whether intervals alone prove the last op.
KEPT: dict[str, tuple[list[Any], list[tuple[int, int, int]], bool]] = {
    "x - x/4": ([(1, 0, 0, -2, SUM_KIND)], [], False),
    "x + x/2 - x/4 in one": ([(11, 0, 3, 0, (1, 8, 2))], [(0, 0, 0), (0, -1, 0), (0, -2, 1)], True),
    "2x - (x + x/4)": ([(0, 0, 0, -2, (1, 8, 2)), (11, 0, 2, 0, SUM_KIND)], [(0, 1, 0), (1, 0, 1)], False),
    "x/2 moved down, then up": ([(12, 0, -1, -1, (1, 6, 1)), (11, 0, 2, 3, S8)], [(1, 1, 0), (-1, -9, 0)], False),
    "fractions that cancel": (
        [(12, 0, -1, -2, (1, 5, 2)), (11, 0, 3, 0, S8)],
        [(0, 0, 0), (1, 0, 0), (1, 0, 1)],
        True,
    ),
    "fractions that cancel over two ops": (
        [(0, 0, 0, -2, (1, 8, 2)), (11, 0, 2, 0, (1, 7, 0))],
        [(1, 0, 0), (0, -2, 1)],
        False,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_sums_are_kept_as_sums(name: str) -> None:
    """Keeping sums as sums proves every case except the fourth, whose constant is lost; it must never be proved."""
    ops, terms, plain = KEPT[name]
    program = Program.build([(-1, 0, -1, 0, S8), *ops], [(len(ops), 0, 0)], inp_shift=[0], terms=terms)
    assert (analyse(program).changes[-1] is PromiseStatus.SAFE) == plain
    loses = any(op < 0 for op, _, _ in terms)
    assert (sharp_ranges(program, declared=False).changes[-1] is PromiseStatus.SAFE) != loses


@pytest.mark.parametrize(("name", "left"), [("a02_mlp_ternary", 0), ("a03_conv_pool", 0), ("a05_where", 3)])
def test_real_models_of_alir_are_proved_by_sums(name: str, left: int) -> None:
    """Alkaid writes products as differences: 3/4 x is x - x/4, for which intervals alone are too wide."""
    program = load(next((ALIR / name).glob("alir.json*")))
    assert len(analyse(program, declared=True).promises(PromiseStatus.POSSIBLE)) > left
    assert len(sharp_ranges(program, declared=True).promises(PromiseStatus.POSSIBLE)) == left
