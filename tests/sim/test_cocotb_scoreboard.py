"""The scoreboard in users' benches passes right designs, names what is wrong, and never passes without a comparison."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from contextlib import suppress
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation import launch
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.spec.program import load

ROOT = Path(__file__).parents[2]
MAC = (ROOT / "examples" / "cocotb" / "mac.v").read_text()

#: The designs: right, wrong, with delays, without a driver, clocked, and one that does not fit.
TOP = """
`timescale 1ns/1ps
module top;
  reg [17:0] x; wire [17:0] open;
  reg clk = 0, rst_n, en, in_valid;
  reg signed [5:0] a, b, c;
  model good(.model_inp(x));
  model never(.model_inp(open));
  bad_model bad(.model_inp(x));
  slow_model slow(.model_inp(x));
  late_model late(.model_inp(x));
  narrow_model narrow(.model_inp(x[6:0]), .clk(clk));
  mac mac(.clk(clk), .rst_n(rst_n), .en(en), .in_valid(in_valid), .a(a), .b(b), .c(c));
  bad_mac second(.clk(clk), .rst_n(rst_n), .en(en), .in_valid(in_valid), .a(a), .b(b), .c(c));
endmodule
module slow_model(input wire [17:0] model_inp, output wire [5:0] model_out);
  wire [5:0] now;
  model core(model_inp, now);
  assign #5 model_out = now;
endmodule
module late_model(input wire [17:0] model_inp, output wire [5:0] model_out);
  wire [5:0] now;
  reg late = 0;
  model core(model_inp, now);
  always @(model_inp) begin
    late = 0;
    late <= #3 1;
  end
  assign model_out = now ^ late;
endmodule
module narrow_model(input wire clk, input wire [6:0] model_inp, output wire [5:0] model_out);
  assign model_out = 0;
endmodule
"""

#: The words in the log of each bench that must fail.
FAILS = {
    "combinational_wrong": ["RTL_MISMATCH at ", "op 6 (add_const) is the first op whose value diverges"],
    "all_mismatches": ["vectors differ from the golden model; RTL_MISMATCH", "op 6 (add_const)"],
    "nothing_driven": ["NOT_RUN: no output bit of good was compared"],
    "nothing_compared": ["NOT_RUN: no output bit of never was compared"],
    "delays_too_short": ["X_IN_OUTPUT"],
    "wrong_later": ["RTL_MISMATCH"],
    "wrong_later_than_settled": ["RTL_MISMATCH"],
    "pipeline_wrong": ["RTL_MISMATCH", "give its files as rtl to find the wrong op"],
    "another_latency": ["out_valid is 1 before the clock edge at", "must be 0"],
    "nothing_came_out": ["NOT_RUN", "1 vector entered the design, but the test ended before"],
    "unknown_inputs": ["in_valid is 1 at", "hold X or Z"],
}
PASSES = ["combinational", "delays", "pipeline", "pipeline_by_steps", "does_not_fit", "pipeline_wrong_replayed"]


def verdicts(results: Path) -> dict[str, bool]:
    """Return which of the benches passed."""
    cases = {str(case.get("name")): case for case in ET.parse(results).iter("testcase")}
    return {name: case.find("failure") is None and case.find("error") is None for name, case in cases.items()}


def simulate(folder: Path, text: str, only: str | None = None, **environment: str) -> tuple[dict[str, bool], str]:
    """Run the benches in Icarus with cocotb's own runner; return which of them passed, and the log of the run."""
    (folder / "top.v").write_text(text)
    runner = get_runner("icarus")
    runner.build(sources=[folder / "top.v"], hdl_toplevel="top", build_dir=folder)
    with suppress(SystemExit):  # raised by the runner if a test failed
        runner.test(
            hdl_toplevel="top",
            test_module="support.user_benches",
            build_dir=folder,
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            test_filter=only,
            extra_env={"PYTHONPATH": str(ROOT / "tests"), "NO_COLOR": "1", "COCOTB_ANSI_OUTPUT": "0", **environment},
            log_file=str(folder / "log"),
        )
    return verdicts(folder / "results.xml"), (folder / "log").read_text()


def sources() -> str:
    model = emit_verilog(load(ROOT / "examples" / "quantised_mac.bin"))
    wrong = model.replace("5'sd10", "5'sd9").replace("module model", "module bad_model")
    return TOP + model + wrong + MAC + MAC.replace("10'sd10", "10'sd9").replace("module mac", "module bad_mac")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bool], str]:
    return simulate(tmp_path_factory.mktemp("benches"), sources())


def said_by(log: str, name: str) -> str:
    """Return the part of the log that belongs to one bench."""
    return log.partition(f"running support.user_benches.{name} (")[2].partition("running support.")[0]


def test_every_bench_ran(ran: tuple[dict[str, bool], str]) -> None:
    assert sorted(ran[0]) == sorted([*FAILS, *PASSES])


@pytest.mark.parametrize("name", PASSES)
def test_what_is_right_passes(ran: tuple[dict[str, bool], str], name: str) -> None:
    assert ran[0][name], said_by(ran[1], name)


@pytest.mark.parametrize("name", FAILS)
def test_what_is_wrong_fails_and_says_why(ran: tuple[dict[str, bool], str], name: str) -> None:
    said = said_by(ran[1], name)
    assert not ran[0][name], said
    for words in FAILS[name]:
        assert words in said, said


@pytest.mark.slow
def test_a_replay_names_the_op_of_an_instance(tmp_path: Path) -> None:
    name = "pipeline_wrong_replayed"
    passed, log = simulate(tmp_path, sources(), f"{name}$", BENCH_RTL=str(tmp_path / "top.v"))
    assert not passed[name]
    assert "op 6 (add_const) is the first op whose value diverges" in log and "waves      gtkwave " in log
    assert "--ports " in log.partition("reproduce  ")[2].partition("\n")[0]  # a file with the ports


@pytest.mark.slow
def test_verilator_shows_the_same(tmp_path: Path) -> None:
    """Verilator, too, shows the values before a rising edge at that edge; it supports neither X nor these delays."""
    source = tmp_path / "top.v"
    source.write_text(sources().replace("assign #5 ", "assign ").replace("<= #3 ", "<= "))
    mac = ["clk", "rst_n", "en", "in_valid", "out_valid", "a", "b", "c", "y"]
    signals = ["x", "model_inp", "model_out", *mac, *(f"op_{op}" for op in range(8))]
    ports = RtlDesign((source,), "top")
    built = build("verilator", ports, tmp_path / "build", signals=signals)
    names = ["combinational", "combinational_wrong", "all_mismatches", "pipeline", "pipeline_wrong", "another_latency"]
    env = {
        "PYTHONPATH": str(ROOT / "tests"),
        "COCOTB_TEST_FILTER": "|".join(f"user_benches.{name}$" for name in [*names, "pipeline_by_steps"]),
    }
    found = verdicts(launch.run(built, "support.user_benches", tmp_path, env=env))
    assert {name: passed for name, passed in found.items() if name in [*names, "pipeline_by_steps"]} == {
        **{name: name not in FAILS for name in names},
        "pipeline_by_steps": True,
    }
