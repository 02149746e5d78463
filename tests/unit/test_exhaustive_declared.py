"""With declared intervals, outputs meet all of their declared inputs, and no claim goes beyond the declarations."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.exhaustive_vectors import check_promises, declare, port_rows, reads
from support.strategies import programs
from support.tier import examples

from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import input_bits
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus.pseudo_exhaustive.domain import domain_of
from dais_verif.stimulus.pseudo_exhaustive.plan import LeftOut, plan


def declared_ports(program: Program) -> set[int]:
    """Return, by brute force, all values of ``model_inp`` that lie in the declared intervals of all readers."""
    ports = ports_of(program)
    shifts = program.inp_shift.tolist()
    readers = [(op, *ports.slice_of(op, shifts[op.id0])) for op in program.ops if op.code == -1 and op.type.width]
    assert program.intervals is not None
    allowed = set()
    for port in range(1 << ports.input_bits):
        for op, start, width in readers:
            raw = (port >> start) % (1 << width)
            raw -= 1 << width if raw > op.type.raw_max else 0
            if not program.intervals[op.index][0] <= raw <= program.intervals[op.index][1]:
                break
        else:
            allowed.add(port)
    return allowed


def test_declared_intervals_are_what_is_exhausted() -> None:
    rows = [*reads(1, (1, 3, 0)), (-1, 1, -1, 0, (0, 3, 1)), (0, 0, 1, 0, (1, 5, 1)), (-1, 2, -1, 0, (0, 3, 0))]
    program = declare(Program.build(rows, [(2, 0, 0), (0, 0, 0)], inp_shift=[0, 0, 0]), (-5, 6), (2, 11))
    found = plan(program, max_rows=1000)
    assert (found.rows, found.exhausted) == (12 * 10, (0, 1))
    ports = port_rows(found.passes[0])
    assert {port % 256 for port in ports} == {port % 256 for port in declared_ports(program)}
    assert len({port % 256 for port in ports}) == 120
    batch = found.passes[0].batch(0, 120, 0)
    assert {int(v) for v in batch.columns[0].mantissa} == set(range(-5, 7))
    assert {int(v) for v in batch.columns[1].mantissa} == set(range(2, 12))
    assert plan(program, max_rows=119).could == (LeftOut(0, 120),)
    # Without declarations all bit patterns are counted.
    assert plan(replace(program, intervals=None), max_rows=1000).rows == 256


@given(programs(widest=6))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_with_intervals_every_declared_combination_of_a_cone_is_met(case: tuple[Program, random.Random]) -> None:
    program, rng = case
    if ports_of(program).input_bits > 11:
        return
    intervals = []
    for op in program.ops:
        ends = sorted(rng.randint(op.type.raw_min, op.type.raw_max) for _ in range(2))
        intervals.append((ends[0], ends[1]) if rng.random() < 0.7 else (op.type.raw_min, op.type.raw_max))
    program = replace(program, intervals=tuple(intervals))
    allowed = declared_ports(program)
    domain = domain_of(program)
    found = plan(program, max_rows=1 << 12, max_bits=11)
    check_promises(program, found)
    cones = input_bits(program)
    for exhaustive in found.passes:
        ports = port_rows(exhaustive)
        if not domain.tangled:
            assert set(ports) <= allowed
        for output in exhaustive.outputs:
            mask = cones[output]
            assert mask is not None
            wanted = {port & mask for port in allowed}
            assert not wanted or {port & mask for port in ports} == wanted
    left = {left.output for left in found.could}
    for output, mask in enumerate(cones):
        assert mask is not None
        bits = program.output_types[output].width > 0
        assert (output in found.exhausted or output in left) == (bits and not mask & domain.tangled)


@pytest.mark.parametrize("seed", range(60))
def test_declared_cones_that_overlap_nest_and_share_inputs(seed: int) -> None:
    """Outputs that are reported as exhausted meet all of their declared inputs, in random programs.

    Outputs are sums of low, high or all bits of some of four small inputs, about half of which declare intervals.
    """
    rng = random.Random(seed)
    rows: list[Any] = []
    intervals = []
    for j in range(4):
        k, width = rng.getrandbits(1), rng.randint(2, 3)
        ends = (0, (1 << width) - 1) if not k else (-(1 << width - 1), (1 << width - 1) - 1)
        lo, hi = sorted((rng.randint(*ends), rng.randint(*ends))) if rng.random() < 0.5 else ends
        rows.append((-1, j, -1, 0, (k, width - k, 0)))
        intervals.append((lo, hi))
    outputs = []
    for _ in range(rng.randint(2, 6)):
        total = None
        for j in rng.sample(range(4), rng.randint(1, 3)):
            low, high = rng.choice(((0, 3), (0, 1), (1, 3), (1, 2)))
            rows.append((3, j, -1, 0, (0, high, -low)))
            if total is not None:
                rows.append((10, total, len(rows) - 1, 2 << 56, (0, 3, 0)))
            total = len(rows) - 1
        assert total is not None
        outputs.append((total, 0, 0))
    program = declare(Program.build(rows, outputs, inp_shift=[0] * 4), *intervals)
    allowed = declared_ports(program)
    for max_rows in (rng.randint(1, 200), 1 << 12):
        found = plan(program, max_rows=max_rows, max_bits=12)
        assert found.rows <= max_rows
        assert sorted([*found.exhausted, *(left.output for left in found.could)]) == list(range(len(outputs)))
        check_promises(program, found)
        for exhaustive in found.passes:
            ports = port_rows(exhaustive, seed=seed)
            assert set(ports) <= allowed
            for output in exhaustive.outputs:
                mask = input_bits(program)[output]
                assert mask is not None
                assert {port & mask for port in ports} == {port & mask for port in allowed}
    assert not found.could


def test_a_part_of_a_declared_interval() -> None:
    """Of the patterns of three bits in the middle of a wide input, exactly those that the interval allows occur."""
    rows = [*reads(1, (0, 70, 0)), (3, 0, -1, 0, (0, 3 + 4, -4)), (3, 1, -1, 0, (0, 7, -4))]
    for lo, hi, patterns in ((0, 1 << 69, 8), (35, 1 << 69, 8), (35, 90, 4), (33, 40, 1), (100, 200, 7), (120, 130, 2)):
        program = declare(Program.build(rows, [(2, 0, 0)], inp_shift=[0]), (lo, hi))
        (exhaustive,) = plan(program, max_rows=100).passes
        assert exhaustive.rows == patterns
        seen = [port_rows(exhaustive, seed=seed) for seed in range(5)]
        for ports in seen:
            assert all(lo <= port <= hi for port in ports)
            assert len({port >> 4 & 7 for port in ports}) == patterns
        assert len({tuple(ports) for ports in seen}) > 1


def test_declarations_that_do_not_fit_together_are_never_exhausted() -> None:
    """One op reads six bits, declared 3..40, and another one reads the low four of them, declared 0..9.

    Both declarations hold only for 3..9, so that neither op meets all of its declared values.
    """
    rows = [*reads(1, (0, 6, 0)), (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 2, 0))]
    program = Program.build(rows, [(0, 0, 0), (1, 0, 0), (2, 0, 0)], inp_shift=[0, 0])
    found = plan(declare(program, (3, 40), (0, 9)), max_rows=1000)
    assert (found.exhausted, found.could, found.rows) == ((2,), (), 4)
    assert all(3 <= port % 64 <= 9 for seed in range(20) for port in port_rows(found.passes[0], seed=seed))
    nothing_in_common = plan(declare(program, (30, 40), (0, 9)), max_rows=1000)
    assert nothing_in_common.exhausted == (2,)
    signed_too = [(-1, 0, -1, 0, (1, 5, 0)), (-1, 0, -1, 0, (0, 6, 0))]
    program = Program.build(signed_too, [(0, 0, 0), (1, 0, 0)], inp_shift=[0])
    assert plan(declare(program, (-20, 20), (5, 50)), max_rows=1000).exhausted == ()
    alike = [*reads(1, (0, 6, 0)), *reads(1, (0, 6, 0))]
    program = Program.build(alike, [(0, 0, 0), (1, 0, 0)], inp_shift=[0])
    found = plan(declare(program, (3, 40), (9, 50)), max_rows=1000)
    assert (found.exhausted, found.rows) == ((0, 1), 32)


def test_an_interval_narrow_in_many_bits_is_few_rows() -> None:
    program = declare(Program.build(reads(1, (0, 30, 0)), [(0, 0, 0)], inp_shift=[0]), (10**9, 10**9 + 4))
    found = plan(program, max_rows=1000)
    assert (found.exhausted, found.rows) == ((0,), 5)
    assert sorted(port_rows(found.passes[0])) == [10**9 + n for n in range(5)]
