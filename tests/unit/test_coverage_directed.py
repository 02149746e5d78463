"""Bins that are said to be unreachable are, and directed vectors hit bins that random vectors miss."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.coverage_cases import names, reachable, small_program, verify_claims
from support.said import raises
from support.slow_coverage import Bin, hit_bins
from support.tier import examples

from dais_verif.base.errors import ViolationError
from dais_verif.coverage import Effort, How, Measured, measure, measured, summary
from dais_verif.coverage.directed import Search
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import Generated

#: Each method to decide bins on its own.
WAYS = {
    "ranges": Effort(seconds=0, evaluations=0, rounds=0),
    "pulling back": Effort(seconds=0, evaluations=0),
    "small cones": Effort(seconds=0, rounds=0),
    "solver": Effort(seconds=20, evaluations=0, rounds=0),
}


def found_in(seed: int, effort: Effort, *, keeping: bool = False, alir: bool = False) -> tuple[Measured, np.ndarray]:
    """Measure a small program with three vectors, and return the result and which of its bins are left open."""
    program = small_program(random.Random(seed), promise_keeping=keeping, alir=alir)
    vectors = Generated([program], 3, seed)
    found = measured(program, vectors, check=keeping, seed=seed, effort=effort)
    return found, verify_claims(found, vectors)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 1 << 32), alir=st.booleans())
def test_claims_hold_for_all_inputs(way: str, seed: int, alir: bool) -> None:
    found, left = found_in(seed, WAYS[way], alir=alir)
    if way in ("small cones", "solver"):
        assert not left.any(), f"{found.bins.text(int(np.flatnonzero(left)[0]))} is open"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", range(0, 1000, 250))
def test_claims_hold_for_all_inputs_of_many_programs(way: str, start: int) -> None:
    for seed in range(start, start + 250):
        found, left = found_in(seed, WAYS[way], keeping=seed % 3 == 0, alir=seed % 2 == 1)
        if way in ("small cones", "solver") and seed % 3:
            assert not left.any(), f"seed {seed}: {found.bins.text(int(np.flatnonzero(left)[0]))} is open"


def build(*ops: tuple[int, int, int, int, tuple[int, int, int]], tables: tuple[list[int], ...] = ()) -> Program:
    inputs = max(op[1] for op in ops if op[0] == -1) + 1
    return Program.build(list(ops), [(len(ops) - 1, 0, 0)], inp_shift=[0] * inputs, tables=tables)


#: ``x == y + 1234567`` in a mux; a 32-bit operand of a relu that is exactly 0; a table entry that two comparisons lead
#: to; a sum that wraps with all bits set.
RARE = {
    "wide comparison": (
        build(
            (-1, 0, -1, 0, (0, 24, 0)),
            (-1, 1, -1, 0, (0, 24, 0)),
            (1, 0, 1, 0, (1, 24, 0)),
            (4, 2, -1, -1234567, (1, 25, 0)),
            (9, 3, -1, 1, (0, 1, 0)),
            (6, 0, 1, 4, (0, 24, 0)),
        ),
        ("bit", "op", 4, 0),
    ),
    "carry": (
        build((-1, 0, -1, 0, (1, 31, 0)), (4, 0, -1, 123456789, (1, 32, 0)), (2, 1, -1, 0, (0, 32, 0))),
        ("relu", "op", 2, 1),
    ),
    "table entry": (
        build(
            (-1, 0, -1, 0, (0, 20, 0)),
            (-1, 1, -1, 0, (0, 20, 0)),
            (4, 0, -1, -54321, (1, 20, 0)),
            (4, 1, -1, -12345, (1, 20, 0)),
            (9, 2, -1, 1, (0, 1, 0)),
            (9, 3, -1, 1, (0, 1, 0)),
            (0, 4, 5, 1, (0, 2, 0)),
            (8, 6, -1, 0, (0, 8, 0)),
            tables=([11, 22, 33, 44],),
        ),
        ("table entry", "op", 7, 0),
    ),
    "all ones": (
        build(
            (-1, 0, -1, 0, (0, 20, 0)),
            (-1, 1, -1, 0, (0, 20, 0)),
            (0, 0, 1, 2, (0, 23, 0)),
            (3, 2, -1, 0, (0, 22, 0)),
            (9, 3, -1, 2, (0, 1, 0)),
        ),
        ("bit", "op", 4, 1),
    ),
}


@pytest.mark.parametrize("rare", RARE)
@pytest.mark.parametrize("way", ["pulling back", "solver"])
def test_directed_vectors_hit_what_random_ones_miss(rare: str, way: str) -> None:
    program, wanted = RARE[rare]
    vectors = Generated([program], 5000, 3)
    assert wanted not in hits(measured(program, vectors, directed=False, unreachable=False))
    found = measured(program, vectors, effort=WAYS[way])
    assert wanted in hits(found)
    assert wanted in hit_bins(program, [found.directed.row(row) for row in range(found.directed.rows)])


def hits(found: Measured) -> set[Bin]:
    return {name for name, is_hit in zip(names(found.bins), found.hit.tolist(), strict=True) if is_hit}


def how_of(found: Measured, wanted: Bin) -> How:
    return How(found.how[names(found.bins).index(wanted)])


def test_the_same_seed_finds_the_same_vectors() -> None:
    program, _ = RARE["wide comparison"]
    effort = WAYS["pulling back"]
    runs = [measure(program, Generated([program], 50, 1), seed=7, effort=effort) for _ in range(2)]
    assert runs[0][0] == runs[1][0]
    rows = [[batch.row(row) for row in range(batch.rows)] for _, batch in runs]
    assert rows[0] == rows[1]
    assert rows[0]


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_directed_vectors_break_no_promise_that_is_checked(seed: int) -> None:
    program = small_program(random.Random(seed))
    try:
        _, directed = measure(program, Generated([program], 3, seed), seed=seed, effort=WAYS["small cones"])
    except ViolationError:
        return
    outputs = Golden(program, engine="exact").run_raw(directed)  # ``Golden`` checks promises: a violation would raise
    assert [len(output) for output in outputs] == [directed.rows] * program.n_out


def test_directed_vectors_keep_to_declared_intervals() -> None:
    program = replace(RARE["carry"][0], intervals=((-1000, 1000), (-(2**32), 2**32), (0, 2**32)))
    found = measured(program, Generated([program], 100, 0))
    values = [found.directed.value(row, 0) for row in range(found.directed.rows)]
    assert all(-1000 <= value.__floor__() <= 1000 or abs(value) >= 1 << 31 for value in values)
    assert how_of(found, ("relu", "op", 2, 1)) is not How.NOT
    free = measured(program, Generated([replace(program, intervals=None)], 100, 0), declared=False)
    assert ("relu", "op", 2, 1) in hits(free)


def test_what_is_hit_cannot_be_unreachable() -> None:
    """A wrong proof raises an error if a vector has hit the bin."""
    program, _ = RARE["carry"]
    search = Search(measured(program, Generated([program], 0, 0), directed=False).bins, check=True, declared=True)
    search.count(Generated([program], 100, 0))
    with raises(AssertionError):
        search.exclude(np.array([names(search.bins).index(("bit", "op", 0, 0))]), How.RANGES)


def test_the_numbers_of_a_record() -> None:
    program = build((-1, 0, -1, 0, (0, 2, 0)), (2, 0, -1, 0, (0, 1, 0)))
    found = measured(program, Batch.of([[0], [1]], 1), directed=False)
    coverage = summary(found)
    can = reachable(found.bins)
    assert coverage.vectors == 2
    assert coverage.directed == 0
    assert sum(group.unreachable for group in coverage.groups) == int((~can).sum()) == 2  # below the kink, truncated
    bins, hit = len(can), int(found.hit.sum())
    assert coverage.open_total == len(coverage.open) == bins - 2 - hit
    assert coverage.percent == (hit * 1000 // (bins - 2)) / 10 < 100
    assert [sum(column) for column in zip(*coverage.ops, *coverage.outputs, strict=True)] == [bins - 3, hit - 2, 2]
    texts = [one.text for one in coverage.open]
    assert "op 1 (relu): wrap taken" in texts
    assert "op 0 (input): bit 1 is 1" in texts
    assert "input 0: 3 as u2.0" in texts
    whole, directed = measure(program, Batch.of([[0], [1]], 1))
    assert (whole.percent, whole.open, whole.open_total) == (100.0, [], 0)
    assert whole.directed == directed.rows == whole.vectors - 2
