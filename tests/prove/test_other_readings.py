"""A reader that misreads an operator is contradicted by simulators, even if the readings rarely differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prove.door import run_prove
from support.said import as_recorded

from dais_verif.prover import conditions, four_state
from dais_verif.prover.conditions import Sides
from dais_verif.prover.slang import expressions
from dais_verif.prover.slang.expressions import ast
from dais_verif.prover.terms import Term, concat, const, extract, resize, top_bit
from dais_verif.spec.program.assembler import assemble

SUM = assemble("input a, b\nx = u16.0 input a\ny = u16.0 input b\ns = u17.0 x + y\noutput s = s\n")
#: Right but where ``b`` is one of 2^16 values, and an operator on ``a`` gives what a reader may not expect.
RTL = """module model(input [31:0] model_inp, output [16:0] model_out);
wire signed [15:0] a = model_inp[15:0];
wire [15:0] b = model_inp[31:16];
wire [16:0] s = model_inp[15:0] + b;
{}
assign model_out = s + (b == 16'hBEEF && unexpected);
endmodule
"""


class Misreading(NamedTuple):
    """``rtl``: drives ``unexpected``, which is always 0 if a name in the reader is replaced by ``instead``.

    ``shown``: whether the sides of conditions alone show it.
    """

    rtl: str
    place: tuple[Any, Any]
    instead: Callable[..., Term]
    shown: bool = False


def _unsigned(term: Term, width: int, signed: bool) -> Term:
    return resize(term, width, False)


def _with_the_sign(term: Term, width: int, signed: bool) -> Term:
    narrowed = signed and width < term.width
    return concat(top_bit(term), extract(term, 0, width - 1)) if narrowed else resize(term, width, signed)


def _cut(a: Term, b: Term) -> Term:
    return four_state.bnot(four_state.eq(extract(a, 0, 16), extract(b, 0, 16)))


BINARY = ast.BinaryOperator
MISREADINGS = {
    "an arithmetic shift as a logical one": Misreading(
        "wire [15:0] t = a >>> 12; wire unexpected = t[15];",
        (expressions._SHIFTS, BINARY.ArithmeticShiftRight),
        four_state.lshr,
    ),
    "a logical shift as an arithmetic one": Misreading(
        "wire [15:0] t = a >> 3; wire unexpected = a[15] & ~t[15];",
        (expressions._SHIFTS, BINARY.LogicalShiftRight),
        four_state.ashr,
    ),
    "a signed comparison as an unsigned one": Misreading(
        "wire unexpected = (a < 16'sd3) & a[15];", (expressions, "slt"), four_state.ult
    ),
    "an unsigned comparison as a signed one": Misreading(
        "wire unexpected = (b > 16'd5) & b[15];", (expressions, "ult"), four_state.slt, shown=True
    ),
    "an extension without the sign": Misreading(
        "wire signed [19:0] t = a; wire unexpected = t[19];", (expressions, "resize"), _unsigned
    ),
    "a narrowing with the sign": Misreading(
        "wire signed [11:0] t = a; wire unexpected = (t < 0) != (a < 0);", (expressions, "resize"), _with_the_sign
    ),
    "a signed division as an unsigned one": Misreading(
        "wire [15:0] t = a / 16'sd3; wire unexpected = t[15];", (expressions, "top_bit"), lambda t: const(1, 0)
    ),
    "a constant beyond the range as its lower bits": Misreading(
        "wire unexpected = a == 16'sh1234 && model_inp[15:0] != 17'h11234;",
        (expressions.ARITHMETIC, BINARY.Inequality),
        _cut,
    ),
}


def _planted(misreading: Misreading, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name = misreading.place
    if isinstance(where, dict):
        monkeypatch.setitem(where, name, misreading.instead)
    else:
        monkeypatch.setattr(where, name, misreading.instead)


@pytest.mark.parametrize("kind", MISREADINGS)
def test_a_misread_operator_is_no_pass(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misreading = MISREADINGS[kind]
    rtl = RTL.format(misreading.rtl)
    _planted(misreading, monkeypatch)
    found = run_prove(SUM, tmp_path / "with", "--front-end", "slang", rtl=rtl, confirm=True)
    monkeypatch.setattr(conditions, "other_readings_of", lambda *_: Sides())
    missed = run_prove(SUM, tmp_path / "without", "--front-end", "slang", rtl=rtl, confirm=True)
    print(kind, found.ending, missed.ending, found.tree["message"], missed.tree.get("confirmation"))
    assert found.ending == ("UNKNOWN", 6)
    as_recorded(found.tree["message"])
    assert missed.ending == (("UNKNOWN", 6) if misreading.shown else ("PASS", 0))
