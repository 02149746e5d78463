"""Networks of products: the programs are right, and the measurement fails if one is not proved in time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from bench import products
from dais_verif.golden.oracle import evaluate


def test_the_programs_are_products_and_their_sums() -> None:
    a, b, c, d, e, f = (Fraction(n) for n in (3, -2048, 7, 2047, -2048, 5))
    assert evaluate(products.separate(2), [a, b, c, d]) == [a * c, a * d, b * c, b * d]
    assert evaluate(products.summed(2), [a, b, c, d, e, f]) == [a * c + b * d, a * e + b * f]


def test_a_tree_of_an_odd_number_has_all_terms() -> None:
    x = [Fraction(n) for n in range(1, 4)]
    assert evaluate(products.summed(3), [*x, *x, *x, *x]) == [Fraction(14)] * 3


@pytest.mark.parametrize(("verdict", "seconds", "code"), [("PASS", 3.0, 0), ("UNKNOWN", 3.0, 1), ("PASS", 301.0, 1)])
def test_it_fails_if_one_is_not_proved_in_time(
    verdict: str, seconds: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(verb: str, *rest: object) -> tuple[dict[str, Any], float]:
        return ({"counts": {"LUT": 7, "carry": 1}}, 2.0) if verb == "synth" else ({"verdict": verdict}, seconds)

    monkeypatch.setattr(products, "_run", run)
    assert products.main(["--row", "2", "--target", "ice40"]) == code
    assert f"| summed | ice40 | 8 | 2 | {seconds} | {verdict} |" in capsys.readouterr().out
