"""Third-party designs with their own ports, clocks and pins: right ones pass, and wrong ones get the right blame."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.door import Run, run_sim
from support.said import as_recorded
from support.tier import some

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.spec.program import Program

#: Inputs s4.0 and s6.1; outputs their sum s8.1, minus their product s11.1, and a constant 0.
PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, (1, 3, 0)),
        (-1, 1, -1, 0, (1, 4, 1)),
        (0, 0, 1, 0, (1, 6, 1)),
        (7, 0, 1, 0, (1, 8, 1)),
    ],
    [(2, 0, 0), (3, 0, 1), (-1, 0, 0)],
    inp_shift=[0, 0],
)

PORTS = """
[inputs]
port = "x_{}"
[outputs]
port = "y{}"
"""

COMBINATIONAL = """
module model(input signed [3:0] x_0, input signed [5:0] x_1, output signed [7:0] y0, output signed [10:0] y1);
  wire signed [9:0] p = x_0 * x_1;
  assign y0 = x_0 * 2 + x_1;
  assign y1 = -p;
endmodule
"""

#: A design with every pin; its reset is asynchronous and active low.
CLOCKED = """
module model(
  input clk, input rst_n, input ce, input vin, output reg vout,
  input signed [3:0] x_0, input signed [5:0] x_1, output reg signed [7:0] y0, output reg signed [10:0] y1);
  reg signed [3:0] a; reg signed [5:0] b; reg v;
  always @(posedge clk) if (ce) begin
    a <= x_0;
    b <= x_1;
    y0 <= a * 2 + b;
    y1 <= -(a * b);
  end
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      v <= 0;
      vout <= 0;
    end else if (ce) begin
      v <= vin;
      vout <= v;
    end
endmodule
"""

PINS = """
[clock]
port = "clk"
reset = "rst_n"
reset_active = "low"
enable = "ce"
valid_in = "vin"
valid_out = "vout"
"""

BOTH = ("icarus", "verilator")
#: For tests in which Verilator is only a second simulator for the same bench.
MOSTLY_ICARUS = ("icarus", pytest.param("verilator", marks=pytest.mark.slow))


def sim(rtl: str, folder: Path, *options: object, ports: str = PORTS, simulator: str = "icarus", n: int = 400) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.toml").write_text(ports)
    more = ("--ports", folder / "ports.toml") if ports else ()
    return run_sim(PROGRAM, folder, "--vectors", n, *more, *options, rtl=rtl, simulator=simulator)


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} is not once in the design"
    return text.replace(old, new)


@pytest.mark.parametrize("simulator", BOTH)
def test_a_port_an_element(simulator: str, tmp_path: Path) -> None:
    run = sim(COMBINATIONAL, tmp_path, simulator=simulator)
    assert run.ending == ("PASS", 0)
    assert run.record["simulators"][0]["bits_compared"] == 400 * 19


@pytest.mark.parametrize("simulator", MOSTLY_ICARUS)
def test_a_wrong_port_is_named_by_its_output(simulator: str, tmp_path: Path) -> None:
    run = sim(changed(COMBINATIONAL, "-p", "-p + (x_0 == 7)"), tmp_path, simulator=simulator)
    assert run.ending == ("RTL_MISMATCH", 1)
    assert run.record["first_mismatch"]["output"] == 1
    assert run.blame["kind"] == "cone" and all(part in run.blame["text"] for part in ("1", "3 ops", "inputs 0, 1"))
    assert "waves" in run.record["reproduce"] or run.record["first_mismatch"]["views"]


def test_elements_of_an_array(tmp_path: Path) -> None:
    rtl = """
    module model(input signed [5:0] x [0:1], output signed [10:0] y [0:1]);
      wire signed [3:0] a = x[0][4:1];
      wire signed [9:0] p = a * x[1];
      assign y[0] = x[0] + x[1];
      assign y[1] = -p;
    endmodule
    """
    ports = """
    [inputs]
    port = "x[{}]"
    types = "s6.1"
    [outputs]
    ports = ["y[0]", "y[1]", "none"]
    types = ["s11.1", "s11.1", "u0.0"]
    """
    # The program reads input 0 without its fractional bit: the value of that bit must not matter.
    wrong = sim(rtl, tmp_path / "wrong", ports=ports, simulator="verilator")
    assert wrong.ending == ("RTL_MISMATCH", 1) and wrong.record["first_mismatch"]["output"] == 0
    right = sim(rtl.replace("x[0] + x[1]", "(a <<< 1) + x[1]"), tmp_path, ports=ports, simulator="verilator")
    assert right.ending == ("PASS", 0)
    as_recorded(right.record["rtl"]["widths"])


def test_a_value_that_a_port_cannot_hold(tmp_path: Path) -> None:
    rtl = changed(COMBINATIONAL, "signed [7:0] y0", "signed [4:0] y0")
    ports = PORTS + 'types = ["s5.1", "s11.1", "u0.0"]\n'
    run = sim(rtl, tmp_path, ports=ports)
    assert run.ending == ("PROGRAM_INVALID", 2)
    assert "output 0 is" in run.record["message"] and "s5.1" in run.record["message"]


def test_an_input_that_keeps_its_value(tmp_path: Path) -> None:
    rtl = changed(COMBINATIONAL, "module model(", "module model(input [2:0] mode, ")
    rtl = changed(rtl, "= -p", "= mode == 5 ? -p : 11'sd0")
    assert sim(rtl, tmp_path / "open").ending == ("INVALID_INPUT", 2)
    assert sim(rtl, tmp_path / "right", ports=PORTS + "[tie]\nmode = 5\n").ending == ("PASS", 0)
    assert sim(rtl, tmp_path / "wrong", ports=PORTS + "[tie]\nmode = 4\n").ending == ("RTL_MISMATCH", 1)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("latency", "simulator"),
    [
        ("auto", "icarus"),
        (2, "icarus"),
        ("auto", "verilator"),
        pytest.param(2, "verilator", marks=pytest.mark.slow),
    ],
)
def test_a_clocked_design(latency: object, simulator: str, tmp_path: Path) -> None:
    ports = PORTS + PINS + f"latency = {latency!r}\n"
    run = sim(CLOCKED, tmp_path, ports=ports, simulator=simulator, n=3000)
    assert run.ending == ("PASS", 0)
    assert run.record["simulators"][0]["latency"] == 2
    assert run.record["simulators"][0]["vectors_compared"] == 3000


@pytest.mark.parametrize("simulator", MOSTLY_ICARUS)
def test_only_a_clock(simulator: str, tmp_path: Path) -> None:
    rtl = "module model(input clk, input [9:0] model_inp, output reg [18:0] model_out);\n"
    rtl += "wire signed [3:0] x_0 = model_inp[3:0]; wire signed [5:0] x_1 = model_inp[9:4];\n"
    rtl += "wire signed [7:0] y0; wire signed [10:0] y1;\ninner i(x_0, x_1, y0, y1);\n"
    rtl += "always @(posedge clk) model_out <= {y1, y0};\nendmodule\n" + COMBINATIONAL.replace("model(", "inner(")
    run = sim(rtl, tmp_path, "--clock", "clk", ports="", simulator=simulator, n=3000)
    assert run.ending == ("PASS", 0) and run.record["simulators"][0]["latency"] == 1
    wrong = sim(rtl, tmp_path, "--clock", "clk", "--latency", 3, ports="", simulator=simulator)
    assert wrong.ending == ("RTL_MISMATCH", 1) and wrong.blame["kind"] == "timing"


@pytest.mark.parametrize("simulator", MOSTLY_ICARUS)
def test_a_latency_of_zero(simulator: str, tmp_path: Path) -> None:
    rtl = COMBINATIONAL.replace("module model(", "module model(input clk, ")
    run = sim(rtl, tmp_path, "--clock", "clk", simulator=simulator)
    assert run.ending == ("PASS", 0) and run.record["simulators"][0]["latency"] == 0


def test_outputs_that_never_change_fit_every_latency(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 1, 0)), (5, -1, -1, 5, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    rtl = "module model(input clk, input model_inp, output [2:0] model_out); assign model_out = 5; endmodule"
    run = run_sim(program, tmp_path, "--clock", "clk", rtl=rtl)
    assert run.ending == ("INVALID_INPUT", 2)
    assert (
        "cannot tell the latencies 0, 1, 2, 3, 4, 5, ... apart; give the right one with --latency"
        in run.record["message"]
    )
    assert run_sim(program, tmp_path, "--clock", "clk", "--latency", 3, rtl=rtl).ending == ("PASS", 0)


#: Faults of the clocked design, and what the message, or the place of the mismatch, must have.
FAULTS = {
    "a register missing": "output 0",
    "the last register missing": "output 0",
    "a register too many": "output 1",
    "no hold in one register": "out",
    "no hold at the output": "out",
    "valid out of step": "vout",
    "valid not held": "vout",
    "valid not reset": "vout",
    "reset at the wrong level": "vout",
    "a sample dropped": "output",
    "an old sample comes twice": "vout",
    "what is computed": "output 0",
}


def has(fault: str) -> str:
    """Return the Verilog expression that is true where the tied port chooses ``fault``."""
    return f"(fault == {list(FAULTS).index(fault) + 1})"


#: The clocked design with each fault, of which a tied port chooses one, so that all of them share a build.
FAULTY = f"""
module model(
  input clk, input rst_n, input ce, input vin, input [3:0] fault, output reg vout,
  input signed [3:0] x_0, input signed [5:0] x_1, output signed [7:0] y0, output signed [10:0] y1);
  reg signed [3:0] a, a2; reg signed [5:0] held, free; reg v;
  reg signed [7:0] s, s_free; reg signed [10:0] p;
  wire signed [5:0] b = {has("no hold in one register")} ? free : held;
  wire reset_n = {has("reset at the wrong level")} ? !rst_n : rst_n;
  assign y0 = {has("the last register missing")} ? a * 2 + b : {has("no hold at the output")} ? s_free : s;
  assign y1 = p;
  always @(posedge clk) begin
    free <= x_1;
    s_free <= a * 2 + b;
    if (ce) begin
      if (!({has("a sample dropped")} && x_0 == 3)) a <= x_0;
      a2 <= a;
      held <= x_1;
      s <= {has("what is computed")} ? a * 2 - b : {has("a register missing")} ? a * 2 + x_1 : a * 2 + b;
      p <= -(({has("a register too many")} ? a2 : a) * b);
    end
  end
  always @(posedge clk or negedge reset_n)
    if (!reset_n) begin
      if (!{has("valid not reset")}) v <= 0;
      vout <= 0;
    end else if (ce || {has("valid not held")}) begin
      v <= vin;
      vout <= {has("valid out of step")} ? vin : {has("an old sample comes twice")} ? v | vout & b[0] : v;
    end
endmodule
"""


def with_fault(number: int, folder: Path, simulator: str) -> Run:
    ports = PORTS + PINS + f"latency = 2\n[tie]\nfault = {number}\n"
    return sim(FAULTY, folder / f"{number}", ports=ports, simulator=simulator)


@pytest.mark.parametrize("simulator", BOTH)
def test_each_fault_of_a_clocked_design_is_found(simulator: str, tmp_path: Path) -> None:
    assert with_fault(0, tmp_path, simulator).ending == ("PASS", 0)
    missed = []
    for number, (name, words) in some(enumerate(FAULTS.items(), 1), 4):
        run = with_fault(number, tmp_path, simulator)
        mismatch = run.record["first_mismatch"]
        said = f"output {mismatch['output']}" if mismatch else run.record["message"]
        timing = not (mismatch and name.startswith("a register")) or run.blame["kind"] == "timing"
        if run.ending != ("RTL_MISMATCH", 1) or words not in said or not timing:
            missed.append((name, run.record["verdict"], said))
    assert not missed


def test_an_output_that_is_never_reset_is_x_until_it_is_driven(tmp_path: Path) -> None:
    run = sim(
        changed(CLOCKED, "y0 <= a * 2 + b", "if (b == 99) y0 <= a"), tmp_path, ports=PORTS + PINS + "latency = 2\n"
    )
    assert run.ending == ("X_IN_OUTPUT", 4)


class TestOurPipelines:
    @pytest.mark.parametrize(
        ("stages", "simulator"),
        [
            (1, "icarus"),
            (3, "icarus"),
            (8, "icarus"),
            pytest.param(3, "verilator", marks=pytest.mark.slow),
            pytest.param(1, "verilator", marks=pytest.mark.slow),
            pytest.param(8, "verilator", marks=pytest.mark.slow),
        ],
    )
    def test_pass_with_all_their_pins(self, stages: int, simulator: str, tmp_path: Path) -> None:
        run = run_sim(PROGRAM, tmp_path, "--stages", stages, simulator=simulator)
        assert run.ending == ("PASS", 0)
        assert run.record["simulators"][0]["latency"] == stages

    def test_a_wrong_op_is_named(self, tmp_path: Path) -> None:
        text = emit_pipeline(PROGRAM, "model", PipelineOptions(3)).text
        line = next(line for line in text.splitlines() if line.strip().startswith("op_3 ="))
        run = sim(
            text.replace(line, line.replace(";", " + 1;", 1)), tmp_path, "--clock", "clk", "--latency", 3, ports=""
        )
        assert run.ending == ("RTL_MISMATCH", 1)
        assert (run.blame["kind"], run.blame["op"]) == ("op", 3)

    def test_shape_ours_only(self, tmp_path: Path) -> None:
        run = sim(COMBINATIONAL, tmp_path, "--stages", 3)
        assert run.ending == ("INVALID_INPUT", 2)
        as_recorded(run.record["message"])
