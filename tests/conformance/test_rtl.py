"""Every row passes as emitted RTL, in both simulators, against the numbers of the table, not the golden model's.

RTL does not check promises: a row that breaks one must give the quantised value. A missing simulator is a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from dais_verif.simulation.simulators.build import SIMULATORS

from .compose import Composition, compose
from .row import Row
from .rtl import expected_bits, problems, simulate
from .table import GROUPS

BUILDS = [(simulator, group) for group in GROUPS for simulator in SIMULATORS]
ROWS = [pytest.param(s, g, row, id=f"{s}-{row}") for s, g in BUILDS for row in GROUPS[g]]


@dataclass(frozen=True)
class Simulated:
    """All rows of a group in one simulator: the found and the expected bits, one string per vector."""

    whole: Composition
    found: list[str]
    expected: list[str]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Simulated]:
    """Return a function that simulates a group once per module, also if it fails, however many rows ask for it."""

    @cache
    def outcome(simulator: str, group: str) -> Simulated | Exception:
        whole = compose(GROUPS[group])
        folder = tmp_path_factory.mktemp(f"{simulator}_{group}") / "run"
        try:
            found = simulate(whole.program, whole.batch, simulator, folder)
        except Exception as error:  # every row fails with it, without another build
            return error
        return Simulated(whole, found, expected_bits(whole))

    def answer(simulator: str, group: str) -> Simulated:
        one = outcome(simulator, group)
        if isinstance(one, Exception):
            raise one
        return one

    return answer


@pytest.mark.parametrize(("simulator", "group", "row"), ROWS)
def test_row(simulated: Callable[[str, str], Simulated], simulator: str, group: str, row: Row) -> None:
    one = simulated(simulator, group)
    assert problems(one.whole, one.found, one.expected, row) == []


@pytest.mark.parametrize(("simulator", "group"), BUILDS)
def test_no_bit_is_left_over(simulated: Callable[[str, str], Simulated], simulator: str, group: str) -> None:
    """Rows are compared output by output; together, their outputs are the whole port."""
    one = simulated(simulator, group)
    assert one.found == one.expected


@pytest.mark.parametrize(("simulator", "group"), BUILDS)
def test_every_bit_is_compared(simulated: Callable[[str, str], Simulated], simulator: str, group: str) -> None:
    """With all expected bits flipped, every output of every row fails, so each is compared."""
    one = simulated(simulator, group)
    flipped = [text.translate(str.maketrans("01", "10")) for text in one.expected]
    for row in one.whole.rows:
        with_bits = [kind for kind in _kinds(row) if sum(kind) > 0]
        assert with_bits, f"{row} has no output bit"
        assert len(problems(one.whole, one.found, flipped, row)) == len(row.cases) * len(with_bits), row


def _kinds(row: Row) -> list[tuple[int, int, int]]:
    """Return the type of the op of every output, and a type of width 0 for a constant 0."""
    return [row.ops[index][4] if index >= 0 else (0, 0, 0) for index, _, _ in row.outputs]
