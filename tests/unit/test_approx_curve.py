"""Choice of configurations: HPVM's Pareto curve, and the fastest configuration within a budget."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from support.places import HPVM
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile import approximation as approx

PARETO = json.loads((HPVM / "pareto.json").read_text())["pareto"]


def file_of(*rows: tuple[str, str, str, str]) -> approx.ConfigurationFile:
    """Return a file of configurations; each row is name, speed-up, energy and loss."""
    parts = [
        f"+++++\n{name} {speedup} {energy} 0 {loss}\n1 gpu conv fp32 11\n-----\n"
        for name, speedup, energy, loss in rows
    ]
    return approx.parse("".join(parts).encode())


@pytest.mark.parametrize("name", PARETO)
def test_the_curve_of_a_real_file_is_the_runtimes(name: str) -> None:
    assert approx.pareto(approx.read(HPVM / name)) == PARETO[name]


def test_there_is_a_curve_for_every_real_file() -> None:
    assert sorted(PARETO) == sorted(path.name for path in HPVM.glob("*.txt") if path.name != "global_knobs.txt")


def test_losses_that_are_near_are_one_group() -> None:
    """A group holds the losses near that of its first member, not those near that of the preceding member.

    Among equally good members, the first is taken.
    """
    file = file_of(
        ("a", "1", "1", "0"),
        ("b", "2", "1", "1"),
        ("c", "3", "1", "1.009"),
        ("d", "4", "1", "1.018"),
        ("e", "4", "1", "1.02"),
    )
    assert approx.pareto(file) == ["a", "c", "d"]


def test_the_first_is_always_kept_and_others_must_be_strictly_better() -> None:
    file = file_of(("a", "2", "1", "5"), ("b", "2", "3", "0"), ("c", "1", "2", "1"))
    assert approx.pareto(file) == ["a"]
    assert approx.pareto(file, by="energy") == ["a", "b"]
    with raises(InputError):
        approx.pareto(file, by="accuracy")  # type: ignore[arg-type]


def test_a_difference_of_a_hundredth_counts_as_in_binary32() -> None:
    """-2.99 and -2.98 differ by less than 0.01 in binary32, but not in binary64."""
    assert not -2.98 - -2.99 < 0.01
    file = file_of(("a", "1", "1", "0"), ("b", "2", "1", "-2.99"), ("c", "3", "1", "-2.98"))
    assert approx.pareto(file) == ["a", "c"]


@pytest.mark.parametrize(
    ("budget", "chosen"), [("0.5", "b"), (0.5, "b"), (Decimal("0.49"), "a"), (1, "c"), ("-1", None), ("2", "d")]
)
def test_the_fastest_within_a_budget_that_is_inclusive(budget: str, chosen: str | None) -> None:
    file = file_of(("a", "1", "1", "0"), ("b", "2", "1", "0.5"), ("c", "3", "1", "1.0"), ("d", "4", "1", "2"))
    found = approx.choose(file, budget)
    assert (found.name if found else None) == chosen


def test_a_budget_is_compared_as_decimals() -> None:
    """A loss just above the budget exceeds it, although loss and budget are equal as floats."""
    most, more = "0.1", "0.1000000000000000000001"
    assert float(most) == float(more)
    file = file_of(("a", "1", "1", "0"), ("b", "3", "1", more), ("c", "2", "1", most))
    found = approx.choose(file, 0.1)
    assert found is not None and found.name == "c"


def test_of_equally_fast_ones_the_smaller_loss_then_the_first() -> None:
    file = file_of(("a", "1", "1", "0"), ("b", "2", "1", "0.5"), ("c", "2.0", "1", "0.4"), ("d", "2", "1", "0.40"))
    found = approx.choose(file, 1)
    assert found is not None and found.name == "c"


@pytest.mark.parametrize("budget", ["nan", "inf", "much", float("nan"), None])
def test_a_budget_is_a_finite_number(budget: str) -> None:
    with raises(InputError):
        approx.choose(file_of(("a", "1", "1", "0")), budget)
