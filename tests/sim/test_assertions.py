"""The message names an assertion of the RTL that fails while the simulator goes on, as Icarus does."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.adder import ADDER
from support.said import as_recorded

from dais_verif import simulate
from dais_verif.base.verdict import Verdict
from dais_verif.simulation import launch

WIRES = "input [7:0] model_inp, output [4:0] model_out"
SUM = "model_inp[3:0] + model_inp[7:4]"
#: Where the assertions are.
PLACE = "model.v:2"


def message(text: str, folder: Path, **options: object) -> str:
    """Return the message of a run in Icarus that passes."""
    (folder / "model.v").write_text(text)
    result = simulate(
        ADDER,
        rtl=[folder / "model.v"],
        top="model",
        simulators=["icarus"],
        vectors=300,
        output=folder / "out",
        **options,  # type: ignore[arg-type]
    )
    assert result.verdict is Verdict.PASS, result.message
    return result.message


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("check", "says"),
    [
        ('assert (model_out != 7) else $error("is %0d", model_out);', ", is 7 ("),
        ("assert (model_out != 7);", " ("),
        ('if (model_out == 7) $error("seven");', ", seven ("),
        ("assert (model_out < 31);", ""),  # X at the start, and X is not less than anything
        ('assert (model_out != 7) else $warning("seven");', ""),
    ],
    ids=["words", "none", "error", "holds", "warning"],
)
def test_an_assertion_that_fails_is_named(check: str, says: str, tmp_path: Path) -> None:
    found = message(
        f"module model({WIRES}); assign model_out = {SUM};\nalways @* begin {check} end endmodule", tmp_path
    )
    assert (PLACE + says in found) == (PLACE in found) == bool(says)
    as_recorded(found)


@pytest.mark.parametrize(("bound", "says"), [(31, False), (30, True)])
def test_registers_that_are_not_filled_yet_break_none(bound: int, says: bool, tmp_path: Path) -> None:
    ports = WIRES.replace("output", "input clk, output reg")
    later = f"a <= model_inp; model_out <= {SUM.replace('model_inp', 'a')};"
    text = f"""module model({ports}); reg [7:0] a; always @(posedge clk) begin {later}
      assert (model_out < {bound}); end endmodule"""
    found = message(text, tmp_path, clock="clk", latency=2)
    assert ("model.v" in found) == says
    as_recorded(found)


@pytest.mark.parametrize("gap", [" ", "  "], ids=["Icarus 11", "Icarus 12"])
def test_the_first_that_fails_late_enough(gap: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "ERROR: a.sv:3: early\n       Time: 16 Scope: model\n"
        "WARNING: a.sv:4: no\n         Time: 17 Scope: model\n"
        "ERROR: rtl/0/a.sv:5: two\nlines\n       Time: 17 Scope: model.b\n"
        "ERROR: a.sv:6: \n       Time: 18 Scope: model\n".replace(" Scope", f"{gap}Scope")
    )
    assert [launch.complaint(log, after) for after in (0, 16, 17, 18)] == [
        "at a.sv:3, early",
        "at a.sv:5, two",
        "at a.sv:6",
        "",
    ]
