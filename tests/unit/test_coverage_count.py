"""Every engine counts the coverage of any program as a slow, simple counter does."""

from __future__ import annotations

import random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.coverage_cases import names
from support.fast_cases import forced, isas
from support.said import raises
from support.slow_coverage import Bin, all_bins, hit_bins
from support.strategies import batches
from support.tier import examples

from dais_verif.base.errors import ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.coverage.bins import bins_of
from dais_verif.coverage.count import count_batch
from dais_verif.golden import coverage_probes as seen_module
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column

Case = tuple[Program, list[list[Any]]]


def counted(program: Program, batch: Batch, engine: str = "auto", jobs: int = 1) -> set[Bin]:
    """Return the bins that are hit."""
    bins = bins_of(program)
    seen = bins.nothing()
    count_batch(bins, CoverageProbes(program, check=False, engine=engine), batch, seen, jobs=jobs)
    return {name for name, is_hit in zip(names(bins), bins.hit(seen).tolist(), strict=True) if is_hit}


def slowly(program: Program, batch: Batch) -> set[Bin]:
    return hit_bins(program, [batch.row(row) for row in range(batch.rows)])


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@settings(max_examples=examples(50), deadline=None)
@given(case=batches(rows=6) | batches(rows=6, alir=True))
def test_it_is_counted_as_the_slow_counter_does(engine: str, case: Case) -> None:
    program, rows = case
    batch = Batch.of(rows, program.n_in)
    every = names(bins_of(program))
    assert len(set(every)) == len(every)
    assert set(every) == all_bins(program)
    assert counted(program, batch, engine) == slowly(program, batch)


@pytest.mark.parametrize("value", [-(1 << 62), -(1 << 61), 1 << 61, (1 << 62) - 1, -(1 << 63)])
@pytest.mark.parametrize("f", [-61, -62, -63])
def test_inputs_at_the_ends_of_int64_lose_what_is_below_the_grid(value: int, f: int) -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 2 - f, f))], [(0, 0, 0)], inp_shift=[0])
    batch = Batch.of([[value]], 1)
    assert counted(program, batch) == slowly(program, batch)


@pytest.mark.parametrize("isa", isas())
@settings(max_examples=examples(25), deadline=None)
@given(seed=st.integers(0, 1 << 32), rows=st.sampled_from((1, 33, 2047, 2049, 4111)), jobs=st.sampled_from((1, 2)))
def test_however_many_vectors_and_threads(isa: str, seed: int, rows: int, jobs: int) -> None:
    """Coverage is right for any number of rows and threads; the vector of one random row differs from all others."""
    rng = random.Random(seed)
    program = random_program(rng, rng.choice((3, 8, 15)), widest=rng.choice((4, 16, 64)))
    distinct = Batch.of(random_rows(rng, program, 2), program.n_in)
    order = np.zeros(rows, dtype=np.intp)
    order[rng.randrange(rows)] = 1
    batch = Batch(rows, tuple(Column(c.mantissa[order], c.exponent) for c in distinct.columns))
    with forced(isa):
        assert counted(program, batch, jobs=jobs) == slowly(program, distinct if rows > 1 else distinct.slice(1, 2))


def test_what_is_counted_in_stretches_is_the_same() -> None:
    rng = random.Random(5)
    program = random_program(rng, 12)
    batch = Batch.of(random_rows(rng, program, 40), program.n_in)
    bins, probes = bins_of(program), CoverageProbes(program, check=False)
    whole, parts = bins.nothing(), bins.nothing()
    count_batch(bins, probes, batch, whole)
    for start in range(0, 40, 7):
        count_batch(bins, probes, batch.slice(start, start + 7), parts)
    assert (whole == parts).all()
    assert whole.any()


def test_no_vector_hits_nothing() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 2, 0)), (6, 0, 0, 0, (1, 2, 0))], [(1, 0, 0)], inp_shift=[0])
    assert counted(program, Batch.of(np.zeros((0, 1)), 1)) == set()


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_a_broken_promise_is_an_error_unless_nobody_checks(engine: str) -> None:
    ops = [(-1, 0, -1, 0, (0, 3, 0)), (4, 0, -1, 1, (0, 3, 0))]
    program = Program.build(ops, [(1, 0, 0)], inp_shift=[0])
    batch = Batch.of([[1], [7], [2]], 1)
    with raises(ViolationError):
        probes = CoverageProbes(program, engine=engine)
        probes.see(batch, probes.nothing(), named=10)
    assert counted(program, batch, engine) == slowly(program, batch)


#: A program with many kinds of ops, and vectors that do not hit all of its bins.
_MIXED = Program.build(
    [
        (-1, 0, -1, 0, (1, 3, 2)),
        (-1, 1, -1, 0, (0, 3, 0)),
        (2, 0, -1, 0, (0, 2, 1)),
        (-3, 0, -1, 0, (1, 1, 1)),
        (6, 2, 3, 1 << 32 | 0, (1, 2, 1)),
        (8, 1, -1, 0, (1, 3, 0)),
    ],
    [(4, 0, 1), (5, 0, 0)],
    inp_shift=[0, 0],
    tables=[[3, -4, 0, 1, 2, -1, 5, 7]],
)
_VECTORS = Batch.of([[1.25, 3], [-4, 1], [0, 7], [-8.125, 2]], 2)

_SEEDED = {
    "a bit that is 1 counts as one that is 0": ("_value", "seen[bit] |= not all_of", "seen[bit] |= some"),
    "0 is not seen": ("_value", "(raw == 0)", "(raw < 0)"),
    "0 is positive": ("_value", "(raw > 0)", "(raw >= 0)"),
    "below zero by the quantised value": ("_changes", "_three(lost, negative", "_three(lost, ~negative"),
    "wrap and truncation in each other's place": ("_changes", "seen[WRAPPED:]", "seen[LOST:]"),
    "the wrong arm": ("_of_mux", "_three(differs.astype(bool), msb", "_three(differs.astype(bool), ~msb"),
    "the next entry": ("_beyond_the_value", "index < size)]).astype(np.int64)", "index < size)]).astype(np.int64) - 1"),
}


@pytest.mark.parametrize("bug", _SEEDED)
def test_a_bug_in_counting_is_caught(bug: str) -> None:
    import inspect
    import textwrap

    name, old, new = _SEEDED[bug]
    source = textwrap.dedent(inspect.getsource(getattr(seen_module, name)))
    assert source.count(old) == 1
    scope = dict(vars(seen_module))
    exec(source.replace(old, new), scope)
    assert counted(_MIXED, _VECTORS, "numpy") == slowly(_MIXED, _VECTORS)
    with mock.patch.object(seen_module, name, scope[name]):
        assert counted(_MIXED, _VECTORS, "numpy") != slowly(_MIXED, _VECTORS)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 4000, 500))
def test_many_programs(start: int) -> None:
    for seed in range(start, start + 500):
        rng = random.Random(seed)
        program = random_program(
            rng, rng.choice((2, 5, 10, 20)), widest=rng.choice((4, 8, 16, 40, 70)), alir=seed % 2 == 1
        )
        batch = Batch.of(random_rows(rng, program, 5), program.n_in)
        expected = slowly(program, batch)
        for engine in ("auto", "numpy"):
            assert counted(program, batch, engine) == expected, seed
