"""Outputs that are reported as exhausted have met all their inputs, as brute force on the oracle confirms."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.exhaustive_vectors import U8, check_promises, declare, low_bits, port_rows, reads, values_of
from support.said import raises
from support.strategies import programs
from support.tier import examples

from dais_verif.base.errors import InputError
from dais_verif.golden import oracle
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import input_bits
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus.pseudo_exhaustive.plan import LeftOut, plan


@given(programs(widest=8) | programs(widest=8, alir=True))
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_bit_outside_the_cone_changes_nothing(case: tuple[Program, random.Random]) -> None:
    program, rng = case
    width = ports_of(program).input_bits
    cones = input_bits(program)
    for _ in range(3):
        port = rng.getrandbits(width) if width else 0
        expected = oracle.evaluate(program, values_of(program, port), check=False)
        idle = rng.sample(range(width), min(width, 24))
        for flipped in [1 << bit for bit in idle] + [rng.getrandbits(width) for _ in range(4) if width]:
            found = oracle.evaluate(program, values_of(program, port ^ flipped), check=False)
            for output, mask in enumerate(cones):
                assert mask is not None
                if not flipped & mask:
                    assert found[output] == expected[output], f"output {output}, flipped {flipped:#x} of {port:#x}"


@given(programs(widest=8) | programs(widest=8, alir=True))
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bits_outside_the_cone_changed_together_change_nothing(case: tuple[Program, random.Random]) -> None:
    program, rng = case
    width = ports_of(program).input_bits
    for output, mask in enumerate(input_bits(program)):
        assert mask is not None and mask >> width == 0
        for _ in range(4):
            port, other = (rng.getrandbits(width + 1) >> 1 for _ in range(2))
            mixed = port & mask | other & ~mask
            first, second = (
                oracle.evaluate(program, values_of(program, p), check=False)[output] for p in (port, mixed)
            )
            assert first == second


@given(programs(widest=5) | programs(widest=5, alir=True))
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_output_that_is_exhausted_has_met_all_its_values(case: tuple[Program, random.Random]) -> None:
    program, _ = case
    found = plan(program, max_rows=600, max_bits=9)
    check_promises(program, found)
    limited = input_bits(program, at_most=9)
    exact = input_bits(program)
    for output, mask in enumerate(exact):
        assert mask is not None
        few = limited[output] is not None
        assert limited[output] in ((mask, None) if mask.bit_count() <= 9 else (None,))
        left = LeftOut(output, 1 << mask.bit_count())
        has_bits = program.output_types[output].width > 0
        assert [output in found.exhausted, left in found.could].count(True) == (few and has_bits)


def test_a_small_cone_in_a_large_program() -> None:
    program = Program.build(
        [*reads(125), low_bits(7, 2), (-1, 40, -1, 0, U8), (7, 125, 126, 0, (0, 10, 0))],
        [(127, 0, 0), *((j, 0, 0) for j in range(1, 3)), (5, 0, 0)],
        inp_shift=[0] * 125,
    )
    assert ports_of(program).input_bits == 1000
    found = plan(program, max_rows=1 << 24)
    assert (found.rows, found.exhausted, found.could) == (1024, (0, 1, 2, 3), ())
    check_promises(program, found)
    # In the other bits, 0 and 1 are about equally frequent.
    rows = port_rows(found.passes[0])
    counts = [sum(row >> bit & 1 for row in rows) for bit in range(1000)]
    assert min(counts) > 400 and max(counts) < 624


def test_constant_outputs_are_exhausted_by_one_row_and_those_without_bits_are_not_mentioned() -> None:
    rows = [*reads(1), (5, -1, -1, 5, (0, 3, 0)), (3, 0, -1, 0, (0, 0, 0)), (3, 0, -1, 0, (0, 11, -8))]
    program = Program.build(rows, [(1, 0, 0), (-1, 0, 0), (2, 0, 0), (3, 0, 0)], inp_shift=[0])
    assert input_bits(program) == (0, 0, 0, 0)
    found = plan(program, max_rows=1)
    assert (found.rows, found.exhausted, found.could) == (1, (0, 3), ())
    assert len(port_rows(found.passes[0])) == 1
    assert plan(program, max_rows=0).could == (LeftOut(0, 1), LeftOut(3, 1))
    larger = Program.build(rows, [(1, 0, 0), (0, 0, 0)], inp_shift=[0])
    assert plan(larger, max_rows=256).rows == 256
    assert plan(larger, max_rows=256).exhausted == (0, 1)


def test_programs_without_inputs_or_outputs() -> None:
    assert plan(Program.build([], []), max_rows=9).passes == ()
    constant = Program.build([(5, -1, -1, 5, (0, 3, 0))], [(0, 0, 0)])
    (exhaustive,) = plan(constant, max_rows=9).passes
    assert exhaustive.batch(0, 1, 0).rows == 1 and exhaustive.packed(0, 1, 0).tolist() == [[0]]


def xor(a: int, b: int) -> tuple[Any, ...]:
    return (10, a, b, 2 << 56, U8)


def test_cones_share_passes() -> None:
    """Disjoint, equal, nested and overlapping cones share passes."""
    rows = [*reads(4), low_bits(0, 3), low_bits(1, 3), xor(0, 1), xor(1, 2)]
    program = Program.build(rows, [(0, 0, 0), (0, 1, 1), (4, 0, 0), (1, 0, 0), (3, 0, 0)], inp_shift=[0] * 4)
    found = plan(program, max_rows=1 << 20)
    assert [(exhaustive.rows, len(exhaustive.counters)) for exhaustive in found.passes] == [(256, 3)]
    check_promises(program, found)
    # No output reads both x0 and x2, so that the two share a counter.
    program = Program.build(rows, [(6, 0, 0), (7, 0, 0), (3, 0, 0)], inp_shift=[0] * 4)
    found = plan(program, max_rows=1 << 20)
    assert [(exhaustive.rows, len(exhaustive.counters)) for exhaustive in found.passes] == [(1 << 16, 2)]
    check_promises(program, found)


def window_sums(n: int, window: int) -> Program:
    """Return a program whose outputs are the sums of ``window`` neighbours among ``n`` one-bit inputs."""
    rows = reads(n, (0, 1, 0))
    outputs = []
    for first in range(n - window + 1):
        total = first
        for j in range(1, window):
            rows.append((0, total, first + j, 0, (0, j.bit_length() + 1, 0)))
            total = len(rows) - 1
        outputs.append((total, 0, 0))
    return Program.build(rows, outputs, inp_shift=[0] * n)


def test_a_window_in_all_places_takes_the_rows_of_one() -> None:
    program = window_sums(300, 9)
    found = plan(program, max_rows=512)
    assert (found.rows, len(found.exhausted), len(found.passes)) == (512, 292, 1)
    check_promises(program, found)


@pytest.mark.parametrize("seed", range(3))
def test_bits_that_count_together_are_not_alike(seed: int) -> None:
    """Windows whose bits count together differ in some row, so that reading a neighbour's bits would be found."""
    program = window_sums(100, 5)
    (exhaustive,) = plan(program, max_rows=32).passes
    ports = port_rows(exhaustive, seed=seed)
    columns = [tuple(port >> bit & 1 for port in ports) for bit in range(100)]
    for distance in range(1, 90):
        assert any(columns[first + j] != columns[first + distance + j] for first in range(5) for j in range(5))


def test_many_overlapping_cones() -> None:
    """All pairs of six one-bit inputs are exhausted in at most 20 rows; then, cones of nine out of ten bits."""
    rows = reads(6, (0, 1, 0))
    pairs = [(a, b) for a in range(6) for b in range(a)]
    rows += [(10, a, b, 0, (0, 1, 0)) for a, b in pairs]
    program = Program.build(rows, [(6 + n, 0, 0) for n in range(len(pairs))], inp_shift=[0] * 6)
    found = plan(program, max_rows=64)
    assert found.exhausted == tuple(range(15)) and found.rows <= 20
    check_promises(program, found)
    rows = [*reads(10, (0, 1, 0))]
    outputs = []
    for left_out in range(10):
        before = 9 if left_out == 0 else 0
        for j in range(10):
            if j not in (left_out, before):
                rows.append((10, before, j, 2 << 56, (0, 1, 0)))
                before = len(rows) - 1
        outputs.append((before, 0, 0))
    program = Program.build(rows, outputs, inp_shift=[0] * 10)
    found = plan(program, max_rows=1 << 20)
    assert (found.rows, len(found.exhausted)) == (1024, 10)
    check_promises(program, found)
    # With nine counter bits, two of the ten inputs count together in each pass, which serves the two cones that lack
    # one of them.
    found = plan(program, max_rows=1 << 20, max_bits=9)
    assert (found.rows, len(found.exhausted)) == (5 * 512, 10)
    check_promises(program, found)


def test_rows_are_spent_on_the_smallest_first() -> None:
    """16 rows exhaust three inputs of 4 bits, 256 rows exhaust two sums, too, and 512 rows exhaust all six outputs.

    With 256 rows, the outer inputs of the two sums count together.
    """
    program = Program.build(
        [*reads(3, (0, 4, 0)), xor(0, 1), xor(1, 2), xor(0, 2)],
        [(3, 0, 0), (4, 0, 0), (5, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0)],
        inp_shift=[0] * 3,
    )
    for rows, total, exhausted in ((15, 0, 0), (16, 16, 3), (255, 16, 3), (256, 256, 5), (511, 256, 5), (512, 512, 6)):
        found = plan(program, max_rows=rows)
        assert (found.rows, len(found.exhausted)) == (total, exhausted)
        left = sorted({*range(6)} - {*found.exhausted})
        assert found.could == tuple(LeftOut(output, 256 if output < 3 else 16) for output in left)
        check_promises(program, found)


def test_what_has_room_beside_others_is_not_left_out() -> None:
    """Three overlapping cones need a pass each; a fourth one, disjoint from them, runs beside the first."""
    rows = [*reads(5, (0, 4, 0)), xor(0, 1), xor(1, 2), xor(0, 2), xor(3, 4)]
    program = Program.build(rows, [(5, 0, 0), (6, 0, 0), (7, 0, 0), (8, 0, 0)], inp_shift=[0] * 5)
    found = plan(program, max_rows=256)
    assert len(found.exhausted) == 3 and 3 in found.exhausted
    assert [left.rows for left in found.could] == [256]
    check_promises(program, found)


def wide_program() -> Program:
    """Return a program with inputs of 100, 64, 63 and 5 bits, signed and unsigned, of which few bits are demanded."""
    rows = [
        (-1, 0, -1, 0, (1, 59, 40)),
        (-1, 1, -1, 0, (0, 64, 0)),
        (-1, 2, -1, 0, (1, 62, 0)),
        (-1, 3, -1, 0, (1, 4, 0)),
        (-1, 0, -1, 0, (0, 4, 6)),
        low_bits(1, 3),
        (3, 1, -1, 0, (0, 64, -60)),
        (3, 2, -1, 0, (1, 62, -60)),
    ]
    return Program.build(rows, [(n, 0, 0) for n in range(3, 8)], inp_shift=[0] * 4)


def test_elements_wider_than_a_word() -> None:
    program = wide_program()
    found = plan(program, max_rows=1 << 12)
    assert found.exhausted == (0, 1, 2, 3, 4) and found.rows == 1024
    check_promises(program, found)
    ports = ports_of(program)
    assert [element.width for element in ports.inputs] == [100, 64, 63, 5]
    batch = found.passes[0].batch(0, 1024, 3)
    for column, element, signed in zip(batch.columns, ports.inputs, (1, 0, 1, 1), strict=True):
        values = column.mantissa.tolist()
        assert column.exponent == element.lo
        assert -(signed << element.width - 1) <= min(values) < max(values) < 1 << element.width - signed
        assert (min(values) < 0) == bool(signed)


@pytest.mark.parametrize("kind", [(1, 6, 0), (0, 7, -3), (1, 39, 5), (0, 61, 0), (1, 61, 0)])
def test_elements_that_lie_across_words(kind: tuple[int, int, int]) -> None:
    program = Program.build([*reads(30, kind), low_bits(5, 5)], [(30, 0, 0), (9, 0, 0)], inp_shift=[0] * 30)
    for exhaustive in plan(program, max_rows=1 << 7).passes:
        port_rows(exhaustive)
        batch = exhaustive.batch(0, exhaustive.rows, 0)
        width = sum(kind)
        for column in batch.columns:
            values = [int(value) for value in column.mantissa]
            assert column.mantissa.dtype == np.int64 and column.exponent == -kind[2]
            assert -(kind[0] << width - 1) <= min(values) < max(values) < 1 << width - kind[0]
            assert len(set(values)) > exhaustive.rows // 2 or width < 9


@pytest.mark.parametrize("declared", [False, True])
def test_rows_are_the_same_however_they_are_cut(declared: bool) -> None:
    program = wide_program()
    if declared:
        program = declare(
            program, (-(1 << 98) - 5, 1 << 70), (3, (1 << 63) + 7), (-(1 << 61), 12345), (-9, 3), (5, 900)
        )
    for exhaustive in plan(program, max_rows=1 << 16).passes:
        rows = port_rows(exhaustive, seed=7)
        for start, stop in ((0, 1), (1, 2), (3, 300), (299, 303), (511, 512), (17, 4000), (5, 5), (1000, 2000)):
            assert port_rows(exhaustive, start, stop, seed=7) == rows[start:stop]
        assert port_rows(exhaustive, seed=7) == rows
        assert port_rows(exhaustive, seed=8) != rows
        assert port_rows(replace(exhaustive, number=99), seed=7) != rows


def test_the_first_rows_are_spread_over_all_combinations() -> None:
    program = Program.build(reads(1, (0, 20, 0)), [(0, 0, 0)], inp_shift=[0])
    (exhaustive,) = plan(program, max_rows=1 << 20).passes
    first = sorted(port_rows(exhaustive, 0, 1000))
    gaps = [b - a for a, b in pairwise(first)]
    assert max(gaps) < 4 * (1 << 20) / 1000


def test_several_readers_see_their_slices() -> None:
    """Two ops read different slices of one shifted input, and their sum needs the bits of both."""
    rows = [(-1, 0, -1, 0, (0, 3, 0)), (-1, 0, -1, 0, (1, 5, -3)), (0, 0, 1, 0, (1, 6, 0))]
    program = Program.build(rows, [(0, 0, 0), (1, 0, 0), (2, 0, 0)], inp_shift=[2])
    assert ports_of(program).inputs[0][1:] == (6, -2)
    assert input_bits(program) == (0b111, 0b111000, 0b111111)
    found = plan(program, max_rows=64)
    assert found.rows == 64
    check_promises(program, found)
    expected = {tuple(oracle.evaluate(program, values_of(program, port))) for port in range(64)}
    batch = found.passes[0].batch(0, 64, 0)
    assert {tuple(oracle.evaluate(program, batch.row(row))) for row in range(64)} == expected


def test_coarse_and_fine_agree_where_bits_do_not_matter() -> None:
    """A result too wide for a bitwise analysis demands all bits of its operands: more than needed, never fewer."""
    rows = [(-1, 0, -1, 0, (1, 199, 0)), (3, 0, -1, 0, (0, 4, 0)), (0, 0, 0, 0, (1, 200, 0)), (3, 2, -1, 0, (0, 4, 0))]
    program = Program.build(rows, [(1, 0, 0), (3, 0, 0)], inp_shift=[0])
    assert input_bits(program) == (0b1111, (1 << 200) - 1)


def test_max_bits_is_bounded() -> None:
    program = Program.build(reads(1), [(0, 0, 0)], inp_shift=[0])
    for bits in (-1, 32):
        with raises(InputError):
            plan(program, max_rows=1, max_bits=bits)


def test_counters_of_the_same_size_do_not_run_in_step() -> None:
    """Two cones of 16 rows run beside one of 4,096 rows, in which most of their 256 pairs of values also occur."""
    rows = [*reads(2, (0, 4, 0)), (-1, 2, -1, 0, (0, 12, 0))]
    program = Program.build(rows, [(0, 0, 0), (1, 0, 0), (2, 0, 0)], inp_shift=[0] * 3)
    (exhaustive,) = plan(program, max_rows=4096).passes
    assert len({port % 256 for port in port_rows(exhaustive)}) > 200


def test_a_sweep_has_another_order_for_another_seed() -> None:
    """RTL that keeps a history is sampled: rows that follow each other differ by many numbers, in an order by seed."""
    program = Program.build(reads(1, (0, 8, 0)), [(0, 0, 0)], inp_shift=[0])
    (exhaustive,) = plan(program, max_rows=1 << 20).passes
    orders = [exhaustive.packed(0, 256, seed)[:, 0].tolist() for seed in range(3)]
    assert [sorted(order) for order in orders] == [list(range(256))] * 3
    pairs = [set(pairwise(order)) for order in orders]
    assert len({b - a for a, b in pairs[0]}) > 100
    assert not pairs[0] & pairs[1] & pairs[2]
