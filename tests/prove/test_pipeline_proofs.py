"""Pipelines are proved as the logic that they compute, with their latency, and missing registers are found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prove.door import run_prove
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.spec.program import Program

EVERY = every_opcode()


def pipelined(stages: int, **control: bool) -> str:
    return emit_pipeline(EVERY, "model", PipelineOptions(stages=stages, **control)).text


@pytest.mark.parametrize("stages", [1, 2, 5])
@pytest.mark.parametrize("control", [(), ("enable",), ("valid",), ("enable", "valid", "reset")])
def test_our_pipelines(stages: int, control: tuple[str, ...], tmp_path: Path) -> None:
    """Our pipelines are proved without named pins: the prover infers the clock and the enable."""
    run = run_prove(EVERY, tmp_path, rtl=pipelined(stages, **dict.fromkeys(control, True)))
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert set(run.statuses("op").values()) == {"PROVED"}
    enable = "en" if "enable" in control else None
    assert run.tree["timing"] == {"latency": stages, "clock": "clk", "enable": enable}


def test_a_large_pipeline_in_scopes(tmp_path: Path) -> None:
    run = run_prove(ODD_PROGRAMS["large"], tmp_path, "--stages", 3)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"]["latency"] == 3


def test_a_bug_in_a_pipeline_is_refuted_and_simulated(tmp_path: Path) -> None:
    rtl = re.sub(r"(op_15 = op_3\w*) \*", r"\1 +", pipelined(3, enable=True, valid=True, reset=True))
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    assert run.tree["counterexample"]["op"] == 15
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


def changed(old: str, new: str, **control: bool) -> str:
    text = pipelined(3, **control)
    assert re.search(old, text), "choose another place, the emitter has changed"
    return re.sub(old, new, text, count=1)


@pytest.mark.parametrize(
    ("old", "new", "control", "message"),
    [
        (r"op_(\d+)_s3 <= op_\1_s2;", r"op_\1_s3 <= op_\1;", {}, "op_1_s3"),
        (r"always @\(posedge clk\)", "always @(negedge clk)", {}, ".clk(~clk)"),
        (r"always @\(posedge clk\)", "always @(posedge model_inp[0])", {}, ""),
        (r"if \(en\) begin", "if (1) begin", {"enable": True}, "clock enables: "),
        (r"(op_\d+_s2) <= ", r"\1 <= \1 ^ ", {}, "'op_0_s2'"),
        (r"(op_\d+_s2) <= ", r"\1 = ", {}, "is assigned with = at a clock edge"),
        (r"op_0 = model_inp", "op_0 = clk ^ model_inp", {}, "block reads 'clk'"),
    ],
    ids=[
        "register-missing",
        "falling-edge",
        "data-as-clock",
        "enable-forgotten",
        "feedback",
        "blocking",
        "clock-as-data",
    ],
)
def test_what_is_no_pipeline_is_refused(
    old: str, new: str, control: dict[str, bool], message: str, tmp_path: Path
) -> None:
    run = run_prove(EVERY, tmp_path, rtl=changed(old, new, **control))
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


def test_two_clocks_and_two_enables_are_refused(tmp_path: Path) -> None:
    text = pipelined(3).replace("input  wire clk,", "input  wire clk, input wire clk2,")
    run = run_prove(EVERY, tmp_path, rtl=text.replace("posedge clk)", "posedge clk2)", 1))
    assert run.ending == ("INVALID_INPUT", 2)
    assert "clk, clk2" in run.tree["message"]
    text = pipelined(3, enable=True).replace("input  wire en,", "input  wire en, input wire en2,")
    run = run_prove(EVERY, tmp_path, rtl=text.replace("if (en)", "if (en2)", 1))
    assert "clock enables: " in run.tree["message"]
    as_recorded(run.tree["message"])


def test_a_gated_clock_is_refused_and_one_by_another_name_is_not(tmp_path: Path) -> None:
    gated = pipelined(2).replace(
        "  // Stage 1", "  wire gate = clk & model_inp[0];\n  wire same = clk;\n  // Stage 1", 1
    )
    run = run_prove(EVERY, tmp_path, rtl=gated.replace("posedge clk", "posedge gate"))
    assert run.ending == ("INVALID_INPUT", 2)
    run = run_prove(EVERY, tmp_path, rtl=gated.replace("posedge clk", "posedge same"))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["clock"] == "clk"
    enabled = pipelined(2, enable=True).replace(
        "  // Stage 1", "  wire sometimes = en & model_inp[0];\n  // Stage 1", 1
    )
    run = run_prove(EVERY, tmp_path, rtl=enabled.replace("if (en)", "if (sometimes)"))
    assert run.ending == ("INVALID_INPUT", 2)


def test_registers_in_instances(tmp_path: Path) -> None:
    """A pipeline with one module per stage, as other tools write it, is proved."""
    program = Program.build(
        [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 3, (1, 8, 0)), (7, 1, 1, 0, (1, 17, 0))], [(2, 0, 0)], inp_shift=[0]
    )
    rtl = """
module add3 (input clk, input signed [7:0] a, output reg signed [8:0] y);
  always @(posedge clk) y <= a + 4'sd3;
endmodule
module square (input clk, input signed [8:0] a, output reg signed [17:0] y);
  always @(posedge clk) y <= a * a;
endmodule
module model (input clk, input [7:0] model_inp, output [17:0] model_out);
  wire [8:0] between;
  add3 first (.clk(clk), .a(model_inp), .y(between));
  square second (clk, between, model_out);
endmodule
"""
    run = run_prove(program, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"] == {"latency": 2, "clock": "clk", "enable": None}
    wrong = run_prove(program, tmp_path / "wrong", rtl=rtl.replace("4'sd3", "4'd3"))
    assert wrong.ending == ("RTL_MISMATCH", 1), (wrong.tree["message"], wrong.stderr)
    assert wrong.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


def test_outputs_of_different_ages_are_refused(tmp_path: Path) -> None:
    rtl = changed(r"wire \[6:0\] out_1 = \w+\[6:0\];", "wire [6:0] out_1 = op_12[6:0];")
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    as_recorded(run.tree["message"])


PINS = ("--clock", "clk", "--reset", "rst", "--enable", "en", "--valid-in", "in_valid", "--valid-out", "out_valid")


def test_pins_and_a_latency_that_are_given(tmp_path: Path) -> None:
    rtl = pipelined(3, enable=True, valid=True, reset=True)
    run = run_prove(EVERY, tmp_path / "right", *PINS, "--latency", 3, rtl=rtl)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    run = run_prove(EVERY, tmp_path / "late", *PINS, "--latency", 4, rtl=rtl)
    assert run.ending == ("RTL_MISMATCH", 1)
    as_recorded(run.tree["message"])
    run = run_prove(EVERY, tmp_path / "open", *PINS[:4], "--latency", 3, rtl=rtl)
    assert run.ending == ("INVALID_INPUT", 2)
    as_recorded(run.tree["message"])
