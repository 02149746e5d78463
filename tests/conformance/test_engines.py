"""Every row by itself on every golden engine, checked and unchecked."""

from __future__ import annotations

import pytest

from .engines import ENGINES, fits_doubles, problems
from .row import Row
from .table import TABLE

PAIRS = [
    pytest.param(name, row, id=f"{name}-{row}")
    for name in ENGINES
    for row in TABLE
    if name != "doubles" or fits_doubles(row)
]


@pytest.mark.parametrize(("engine", "row"), PAIRS)
def test_row(engine: str, row: Row) -> None:
    assert problems(row, ENGINES[engine]) == []
