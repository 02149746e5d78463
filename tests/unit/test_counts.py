"""A count agrees with its noun."""

from __future__ import annotations

import pytest

from dais_verif.counts import counted


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("output",), "0 outputs"),
        (1, ("output",), "1 output"),
        (2, ("output",), "2 outputs"),
        (1, ("op is a cut point", "ops are cut points"), "1 op is a cut point"),
        (3, ("op is a cut point", "ops are cut points"), "3 ops are cut points"),
    ],
)
def test_a_count_and_its_noun(count: int, words: tuple[str, ...], text: str) -> None:
    assert counted(count, *words) == text
