"""Messages about failed assertions of the RTL, and about SystemVerilog that a simulator does not support."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from prove.door import run_prove
from rich.console import Console
from support.adder import ADDER
from support.pages import signoff
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import StageResult
from dais_verif.report.signoff_text import print_sign_off
from dais_verif.simulation import launch
from dais_verif.simulation.simulators import icarus

SUM = "model_inp[3:0] + model_inp[7:4]"


def test_a_proof_is_not_confirmed_by_a_run_that_a_failed_assertion_stops(tmp_path: Path) -> None:
    check = 'always_comb begin assert (model_out != 7) else $error("seven"); end'
    ports = "input [7:0] model_inp, output [4:0] model_out"
    text = f"module model({ports}); assign model_out = {SUM}; {check} endmodule"
    run = run_prove(ADDER, tmp_path, rtl=text, confirm=True)
    assert run.ending == ("UNKNOWN", 6)
    assert "RTL failed" in run.tree["message"] and "design.v:1" in run.tree["message"]
    assert {one["name"]: one["stopped"] for one in run.tree["confirmation"]["simulators"]} == {
        "icarus": False,
        "verilator": True,
    }
    why = run.tree["confirmation"]["unconfirmed"]["verilator"]
    assert all(part in why for part in ("RTL failed, or", "$error, at design.v:1", "correct", "RTL"))


def test_registers_out_of_step_are_simulated_where_icarus_cannot_build_them(tmp_path: Path) -> None:
    text = """module model(input clk, input en, input [7:0] model_inp, output reg [4:0] model_out);
      reg [3:0] a, b;
      always @(posedge clk) begin a <= model_inp[3:0]; if (en) b <= model_inp[7:4]; end
      always @(posedge clk) if (en) model_out <= a + b;
      assert property (@(posedge clk) 1);
    endmodule"""
    run = run_prove(ADDER, tmp_path, "--clock", "clk", "--enable", "en", rtl=text)
    assert run.ending == ("RTL_MISMATCH", 1)
    as_recorded(run.tree["message"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "[0] %Error: as.sv:4: Assertion failed in bulk.model: seven\n%Error: rtl/0/as.sv:4: Verilog $stop\n",
            "as.sv:4, seven",
        ),
        (
            "[15] %Fatal: rtl/3/b.sv:40: Assertion failed in a.b\n",
            "$fatal at b.sv:40",
        ),
        ("- rtl/0/as.sv:4: Verilog $finish\n", None),
    ],
    ids=["with words", "without", "none"],
)
def test_the_place_of_a_failed_assertion_is_in_the_log(text: str, found: str | None, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    said = launch._failed_assertion(tmp_path / "log")
    assert said is None if found is None else found in str(said)
    as_recorded(said)


def test_what_icarus_cannot_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    def refusal(text: str) -> str:
        (tmp_path / "a.sv").write_text(text)
        with pytest.raises(ToolError) as error:
            icarus.build([tmp_path / "a.sv"], "model", tmp_path / "build")
        return str(error.value)

    bus = "interface bus; logic a; modport src(output a); endinterface // a struct"
    hint = "SystemVerilog (interface, modport)"
    said = refusal(f"{bus}\nmodule model(bus.src p); endmodule")
    assert hint in said
    as_recorded(said)
    assert "SystemVerilog" not in refusal("module model; wire = 1; endmodule // interface")


def test_a_sign_off_shows_what_its_proof_did_not_prove() -> None:
    def shown(stages: list[StageResult]) -> str:
        out = io.StringIO()
        print_sign_off(replace(signoff(), stages=stages), Path("out"), Console(file=out, width=200))
        return out.getvalue()

    stage = StageResult("proof", Verdict.PASS, "all; not proved: assertion at a.sv:7", True, True)
    assert "\nproof      all; not proved: assertion at a.sv:7\n" in shown([stage])
    assert "\nproof      " not in shown([replace(stage, passed=False)])
