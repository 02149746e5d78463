"""Vectors for both sides of the conditions in RTL: simulators contradict a reader that misreads a rare branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prove.door import run_prove
from support.said import as_recorded

from dais_verif.hardware.ports.interface import packed
from dais_verif.prover import conditions, slang
from dais_verif.prover.conditions import Sides, sides_of
from dais_verif.prover.slang.execution import Execution
from dais_verif.spec.program.assembler import assemble

SUM = assemble("input a, b\nx = u16.0 input a\ny = u16.0 input b\ns = u17.0 x + y\noutput s = s\n")
HEAD = "module model(input [31:0] model_inp, output reg [16:0] model_out);\n"
ADDED = "wire [16:0] s = model_inp[15:0] + model_inp[31:16];\n"
#: A branch that is taken for one input of 2^32, and a comparison with a limit.
RARE = f"{HEAD}{ADDED}always @* begin model_out = s; if (model_inp == 32'hDEAD1234) model_out = 0; end endmodule"


def _sides(text: str, folder: Path) -> Sides:
    (folder / "design.sv").write_text(text)
    netlist = slang.elaborate([folder / "design.sv"], "model")
    return sides_of(SUM, netlist, packed(SUM), (), True, 10.0)


def test_each_side_of_a_condition_is_reached(tmp_path: Path) -> None:
    found = _sides(RARE, tmp_path)
    assert found.reached == found.sides == 2
    assert (0x1234, 0xDEAD) in found.vectors


def test_the_values_around_a_limit_are_reached(tmp_path: Path) -> None:
    text = f"{HEAD}{ADDED}always @* model_out = s < 17'd70001 ? s : s + 17'd0; endmodule"
    sums = {sum(vector) for vector in _sides(text, tmp_path).vectors}
    assert {70_000, 70_001, 70_002} <= sums


def test_a_condition_whose_branches_do_not_matter_is_reached_too(tmp_path: Path) -> None:
    text = f"""{HEAD}{ADDED}function automatic [16:0] f(input rare, input [16:0] v); reg [16:0] t;
    begin t = v; if (rare) t = v; f = t; end endfunction
    always @* model_out = f(model_inp == 32'hDEAD1234, s); endmodule"""
    assert (0x1234, 0xDEAD) in _sides(text, tmp_path).vectors


def test_what_cannot_be_reached_is_counted(tmp_path: Path) -> None:
    text = f"{HEAD}{ADDED}always @* model_out = (s == 17'd131071) ? 0 : s; endmodule"
    found = _sides(text, tmp_path)
    assert (found.reached, found.sides) == (1, 2)


def _blind(self: Any, condition: Any, first: Callable[[], None], second: Callable[[], None]) -> None:
    self.design.conditions[condition] = None
    second()


@pytest.mark.parametrize("directed", [True, False])
def test_a_misread_branch_is_no_pass(directed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader takes no branch at all here; without these vectors, nothing contradicts it."""
    monkeypatch.setattr(Execution, "_choose", _blind)
    if not directed:
        monkeypatch.setattr(conditions, "sides_of", lambda *_: Sides())
    run = run_prove(SUM, tmp_path, "--front-end", "slang", rtl=RARE, confirm=True)
    if directed:
        assert run.ending == ("UNKNOWN", 6)
        as_recorded(run.tree["message"])
    else:
        assert run.ending == ("PASS", 0)


def test_the_number_is_in_the_record(tmp_path: Path) -> None:
    run = run_prove(SUM, tmp_path, rtl=RARE.replace("model_out = 0;", "model_out = s;"), confirm=True)
    assert run.ending == ("PASS", 0)
    assert run.tree["confirmation"]["message"].endswith("2 of 2 sides of conditions reached")
