"""The noun after a count is in the singular for 1, and otherwise in the plural."""

from __future__ import annotations

import pytest
from support.said import as_recorded

from dais_verif.base.text import counted, equal_text


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


def test_messages_of_a_pass() -> None:
    as_recorded(equal_text(60, 10))
    as_recorded(equal_text(6, 1))
    as_recorded(equal_text(1, 1))
