"""Values of 100,000 bits, and many assignments at variable indices, are proved or refused without long run times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from prove.door import run_prove
from prove.reading import elaborated, term_of, value_of
from support.adder import ADDER

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.slang import design
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import as_written, bnot, concat, const, eq, extract, mul, ult, var
from dais_verif.prover.terms.evaluate import evaluate

WIDE = 100_000
HEAD = "module model(input [7:0] model_inp, output [4:0] model_out); wire [7:0] IN = model_inp;"
SUM = "5'(IN[3:0]) + 5'(IN[7:4])"


@pytest.mark.parametrize(
    ("value", "bit", "expected"),
    [
        ("{12500{IN}}", "^x[19998:0]", lambda x: x >> 7),
        ("{12500{IN}} * {12500{IN}}", "x[2]", lambda x: int(x % 4 == 2)),
    ],
    ids=["parity", "product"],
)
def test_a_bit_of_a_very_wide_value(value: str, bit: str, expected: Callable[[int], int], tmp_path: Path) -> None:
    text = f"{HEAD} wire [{WIDE - 1}:0] x = {value}; assign model_out = {bit}; endmodule"
    term = term_of(elaborated(text, tmp_path, "slang", "model"), "model_out")
    assert [value_of(term, {"model_inp": x}) for x in (0, 2, 77, 130, 255)] == [
        expected(x) for x in (0, 2, 77, 130, 255)
    ]
    proved = text.replace(f"= {bit};", f"= {SUM} + 5'({bit} ^ {bit});")
    assert run_prove(ADDER, tmp_path / "proof", rtl=proved).ending == ("PASS", 0)


def test_what_is_too_large_for_the_solver_is_not_given_to_it() -> None:
    x = var(WIDE, "x")
    with as_written():
        assert satisfy([extract(mul(x, x), WIDE - 1, 1)], 1.0).verdict == "unknown"


def test_a_model_has_variables_of_any_width() -> None:
    x = var(20_000, "x")
    answer = satisfy([bnot(ult(x, const(20_000, -9)))], 5.0)
    assert answer.verdict == "sat" and answer.model[x] >= (1 << 20_000) - 9


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_a_concatenation_has_its_parts_in_order(count: int) -> None:
    parts = [var(n % 5 + 1, f"x{n}") for n in range(count)]
    row = [37 * (n + 1) % (1 << x.width) for n, x in enumerate(parts)]
    given = {x: np.array([value], dtype=object) for x, value in zip(parts, row, strict=True)}
    expected = 0
    for x, value in zip(parts, row, strict=True):
        expected = expected << x.width | value
    assert int(evaluate([concat(*parts)], given)[0][0]) == expected


def test_any_bits_of_a_concatenation_are_found() -> None:
    parts = [var(n % 3 + 1, f"x{n}") for n in range(9)]
    whole = concat(*parts)
    bits = [extract(x, bit, 1) for x in reversed(parts) for bit in range(x.width)]
    for low in range(whole.width):
        for width in range(1, whole.width - low + 1):
            assert extract(whole, low, width) is concat(*reversed(bits[low : low + width]))


def test_assignments_at_variable_places_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_MOST_CHOICES", 1 << 14)

    def text(turns: int) -> str:
        loop = f"for (int i = 0; i < {turns}; i++) y[12'(IN * i)] = IN[i % 8];"
        return f"{HEAD} reg [4095:0] y; always_comb begin y = 0; {loop} end assign model_out = y[4:0]; endmodule"

    term = term_of(elaborated(text(3), tmp_path, "slang", "model"), "model_out")
    assert [value_of(term, {"model_inp": x}) for x in (1, 2, 255)] == [1, 4, 1]
    with pytest.raises(UnsupportedVerilog, match=r"dut\.v:1: .*16,384"):
        elaborated(text(4096), tmp_path, "slang", "model")


def test_equality_of_wide_values_is_decided() -> None:
    x = var(WIDE, "x")
    assert satisfy([eq(x, const(WIDE, 5)), extract(x, 1, 1)], 5.0).verdict == "unsat"
