"""Coverage is counted as a slow and obvious counter counts it, by every engine, on any program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from slow_coverage import Bin, all_bins, hit_bins
from strategies import batches

from dais_verif.coverage.bins import GROUPS, Bins, bins_of
from dais_verif.coverage.count import count_batch
from dais_verif.golden.seen import Watch
from dais_verif.program import Program
from dais_verif.program.numbers import Batch


def names(bins: Bins) -> list[Bin]:
    """What the slow counter calls each bin."""
    found: list[Bin] = []
    for number in range(len(bins.owner)):
        op, source, output = bins.where(number)
        where = ("op", op) if op is not None else ("input", source) if output is None else ("output", output)
        assert where[1] is not None
        found.append((GROUPS[bins.group[number]], where[0], where[1], int(bins.which[number])))
    return found


def counted(program: Program, rows: list[list[Any]], engine: str) -> tuple[list[Bin], set[Bin]]:
    """All bins, and those that are hit."""
    bins = bins_of(program)
    seen = bins.nothing()
    watch = Watch(program, check=False, engine=engine)
    count_batch(bins, watch, Batch.of(rows, program.n_in), seen)
    every, hit = names(bins), bins.hit(seen)
    return every, {name for name, is_hit in zip(every, hit.tolist(), strict=True) if is_hit}


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@settings(max_examples=60)
@given(case=batches(rows=6))
def test_counted_as_the_slow_counter_does(engine: str, case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    every, hit = counted(program, rows, engine)
    assert len(set(every)) == len(every)
    assert set(every) == all_bins(program)
    exact = Batch.of(rows, program.n_in)
    expected = hit_bins(program, [exact.row(row) for row in range(exact.rows)])
    assert hit == expected


def test_nothing_is_hit_by_no_vector() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 2, 0))], [(0, 0, 0)], inp_shift=[0])
    assert not counted(program, [], "auto")[1]
    assert np.zeros(0).size == 0
