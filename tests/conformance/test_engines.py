"""Every row, run by itself, gives the values of the table in every golden engine, checked and unchecked."""

from __future__ import annotations

import pytest

from .engines import ENGINES, problems, takes
from .row import Row
from .table import TABLE

PAIRS = [pytest.param(name, row, id=f"{name}-{row}") for name in ENGINES for row in TABLE if takes(name, row)]


@pytest.mark.parametrize(("engine", "row"), PAIRS)
def test_row(engine: str, row: Row) -> None:
    assert problems(row, ENGINES[engine]) == []


@pytest.mark.usefixtures("kernel")
def test_the_fast_engine_takes_nearly_all_rows() -> None:
    names = [name for name in ENGINES if name.startswith("fast")]
    assert len(names) >= 2
    assert all(sum(takes(name, row) for row in TABLE) > 0.9 * len(TABLE) for name in names)
