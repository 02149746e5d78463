"""``mutate`` refuses invalid manifests, and an output that would be lost, before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import raises

import dais_verif
from dais_verif.base.errors import MutationError, RequestError
from dais_verif.verbs.mutation.mutate import read_expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[expect]]\nby = ["any"]', ""),
        ("[[expect]]\nby = {any = 1}", ""),
        ('[[expect]]\nkind = "operator"', ""),
        ('[[expect]]\nby = "any"\nold = ' + 5000 * "[" + 5000 * "]", "read"),
    ],
    ids=["list", "table", "missing", "deep"],
)
def test_manifests_of_expectations_that_cannot_be_used(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text(text)
    with raises(MutationError, match=said):
        read_expected(tmp_path / "expected.toml")


def test_vectors_are_not_written_where_the_record_goes(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for folder in (tmp_path, tmp_path / "link"):
        with raises(RequestError):
            dais_verif.mutate("a.bin", output=tmp_path, add_vectors=folder / "mutation.json")


@pytest.mark.parametrize("name", ["floor", "most_unknown"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "5"])
def test_a_limit_is_a_finite_number(name: str, value: object) -> None:
    """NaN is refused as a limit: as nothing is above NaN, it would allow everything."""
    with raises(RequestError):
        dais_verif.mutate("a.bin", **{name: value})
