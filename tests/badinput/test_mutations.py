"""Damaged programs are valid programs or are refused, and nothing else happens, in little time and memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.damage import corpus_seeds, generated_seeds, limits, try_mutants


@pytest.fixture
def limited() -> Iterator[None]:
    with limits():
        yield


@pytest.mark.parametrize("count", [2_800, pytest.param(14_000, marks=pytest.mark.slow)])
def test_mutants_of_generated_programs(limited: None, count: int) -> None:
    tally = try_mutants(generated_seeds(random.Random(1)), count, 1)
    assert tally["refused"] > count / 3 and tally["valid"] > count / 14 and tally["used"] > count / 14, tally


@pytest.mark.parametrize("count", [1_200, pytest.param(6_000, marks=pytest.mark.slow)])
def test_mutants_of_real_programs(limited: None, corpus: Path, count: int) -> None:
    tally = try_mutants(corpus_seeds(corpus), count, 2)
    assert tally["refused"] > count / 3 and tally["valid"] > count / 12 and tally["used"] > count / 60, tally


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_200_000_mutants(limited: None, corpus: Path, chunk: int) -> None:
    number = 100 + 2 * chunk
    tally = try_mutants(generated_seeds(random.Random(number)), 14_000, number)
    tally += try_mutants(corpus_seeds(corpus), 6_000, number + 1)
    assert min(tally.values()) > 1000, tally
