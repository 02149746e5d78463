"""RTL in common SystemVerilog styles (arrays, structures, patterns, loops) is proved, and refuted if it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.door import run_sim
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import StateError
from dais_verif.base.verdict import Verdict
from dais_verif.spec.program import Program

#: y0 = x0 + x1, y1 = -x0, y2 = word x1 of a table; inputs s4.1 and u3.0.
ROWS = [(-1, 0, -1, 0, (1, 2, 1)), (-1, 1, -1, 0, (0, 3, 0)), (0, 0, 1, 0, (1, 4, 1)), (8, 1, -1, 0, (1, 3, 0))]
OUTPUTS = [(2, 0, 0), (0, 0, 1), (3, 0, 0)]
PROGRAM = Program.build(ROWS, OUTPUTS, inp_shift=[0, 0], tables=[[3, -4, 7, 0, -8, 5, 1, -1]])

PORTS = """
[inputs]
port = "x_{}"
[outputs]
port = "y_{}"
"""
HEAD = "module model (input signed [3:0] x_0, input [2:0] x_1, output signed [5:0] y_0, output signed [4:0] y_1, "
HEAD += "output signed [3:0] y_2);\n"
CLOCKED = HEAD.replace("(", "(input clk, ", 1)
WORDS = "localparam logic signed [3:0] WORDS [8] = '{3, -4, 7, 0, -8, 5, 1, -1};\n"
SUM = "x_0 + $signed({1'b0, x_1, 1'b0})"

#: Each design, and a mistake to seed in it: a text, its replacement, and the output that becomes wrong.
DESIGNS = {
    "arrays that assigns fill": (
        f"""
  logic signed [5:0] t [0:1];
  assign t[0] = {SUM}, t[1] = -x_0;
  {WORDS}
  assign y_0 = t[0], y_1 = t[1], y_2 = WORDS[x_1];
""",
        ("y_1 = t[1]", "y_1 = t[0]", 1),
    ),
    "loops over arrays": (
        f"""
  {WORDS}
  logic signed [5:0] part [3][2];
  always_comb begin
    foreach (part[i, j]) part[i][j] = 0;
    part[0][0] = x_0;
    for (int j = 0; j < 2; j++) part[1][j] += j == 1 ? x_0 : $signed({{1'b0, x_1, 1'b0}});
    foreach (part[, j]) part[2][j] = part[0][j] + part[1][0] * (1 - j) - part[1][1] * j;
  end
  assign y_0 = part[2][0];
  assign y_1 = part[2][1];
  assign y_2 = WORDS[x_1];
""",
        ("part[1][1] * j", "part[1][1] * (j - 1)", 0),
    ),
    "parts that different blocks assign": (
        f"""
  logic signed [5:0] t [2];
  logic [3:0] bits;
  always_comb t[0] = {SUM};
  always_comb t[1] = -x_0;
  for (genvar i = 0; i < 4; i++) begin : each
    always_comb bits[i] = 32'hFB2CC9B5 >> (x_1 * 4 + i);
  end
  localparam logic [31:0] NIBBLES = {{4'hF, 4'h1, 4'h5, 4'h8, 4'h0, 4'h7, 4'hC, 4'h3}};
  logic [3:0] chosen;
  always_comb for (int i = 0; i < 4; i++) chosen[i] = NIBBLES[x_1 * 4 + i];
  assign y_0 = t[0], y_1 = t[1], y_2 = chosen;
""",
        ("4'h5", "4'h4", 2),
    ),
    "structures and a function": (
        f"""
  typedef struct packed {{ logic signed [4:0] minus; logic [3:0] word; }} rest_t;
  typedef struct packed {{ logic signed [5:0] sum; rest_t rest; }} all_t;
  {WORDS}
  function automatic all_t found(input logic signed [3:0] a, input logic [2:0] b);
    found.sum = a + $signed({{1'b0, b, 1'b0}});
    found.rest = '{{minus: -a, word: WORDS[b]}};
  endfunction
  all_t q;
  always_comb q = found(x_0, x_1);
  assign {{y_0, y_1}} = {{q.sum, q.rest.minus}};
  assign y_2 = q.rest.word;
""",
        ("minus: -a", "minus: ~a", 1),
    ),
    "values of declarations": (
        f"""
  logic signed [3:0] words [8] = '{{3, -4, 7, 0, -8, 5, 1, -1}};
  logic signed [1:0] minus = '1;
  assign y_0 = {SUM}, y_1 = x_0 * minus, y_2 = words[x_1];
""",
        ("5, 1", "1, 5", 2),
    ),
    "arrays through an instance": (
        f"""
  logic signed [5:0] given [1:0], found [0:2];
  assign given = '{{6'(x_0), $signed({{1'b0, x_1, 1'b0}})}};
  parts inner (.x(given), .y(found));
  assign y_0 = found[2], y_1 = found[1], y_2 = found[0];
endmodule
module parts (input logic signed [5:0] x [1:0], output logic signed [5:0] y [0:2]);
  {WORDS}
  assign y[2] = x[0] + x[1];
  always_comb y[1] = -x[1];
  always_comb y[0] = WORDS[x[0][3:1]];
""",
        ("y[1] = -x[1]", "y[1] = -x[0]", 1),
    ),
}
REGISTERS = {
    "a pipeline in an array": (
        f"""
  {WORDS}
  logic signed [5:0] p [3][3];
  always_ff @(posedge clk) begin
    p[0][0] <= {SUM};
    p[1][0] <= -x_0;
    p[2][0] <= WORDS[x_1];
    for (int i = 0; i < 3; i++) for (int s = 1; s < 3; s++) p[i][s] <= p[i][s-1];
  end
  assign y_0 = p[0][2], y_1 = p[1][2], y_2 = p[2][2];
""",
        ("p[1][0] <= -x_0", "p[1][0] <= x_0", 1),
        3,
    ),
    "a pipeline generated": (
        f"""
  {WORDS}
  wire signed [5:0] first [3];
  assign first[0] = {SUM}, first[1] = -x_0, first[2] = WORDS[x_1];
  for (genvar i = 0; i < 3; i++) begin : lane
    logic signed [5:0] r [0:2];
    assign r[0] = first[i];
    for (genvar s = 0; s < 2; s++) begin : stage
      always_ff @(posedge clk) r[s + 1] <= r[s];
    end
  end
  assign y_0 = lane[0].r[2], y_1 = lane[1].r[2], y_2 = lane[2].r[2];
""",
        ("y_1 = lane[1]", "y_1 = lane[0]", 1),
        2,
    ),
    "a structure of registers": (
        f"""
  {WORDS}
  typedef struct packed {{ logic signed [5:0] sum; logic signed [4:0] minus; logic signed [3:0] word; }} all_t;
  all_t q, r;
  always_ff @(posedge clk) begin
    q <= '{{sum: {SUM}, minus: -x_0, word: WORDS[x_1]}};
    r <= q;
  end
  assign {{y_0, y_1, y_2}} = r;
""",
        ("{y_0, y_1, y_2} = r", "{y_0, y_1, y_2} = r ^ 16", 1),
        2,
    ),
}
ALL = {name: (HEAD + body, bug, 0) for name, (body, bug) in DESIGNS.items()}
ALL |= {name: (CLOCKED + body, bug, latency) for name, (body, bug, latency) in REGISTERS.items()}


def proved(rtl: str, folder: Path, *options: object) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.toml").write_text(PORTS)
    return run_prove(PROGRAM, folder, "--ports", folder / "ports.toml", *options, rtl=rtl + "endmodule\n")


@pytest.mark.parametrize("name", ALL)
def test_a_design_is_proved(name: str, tmp_path: Path) -> None:
    rtl, _, latency = ALL[name]
    run = proved(rtl, tmp_path, *(("--clock", "clk") if latency else ()))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.statuses("output") == dict.fromkeys(range(3), "PROVED")
    assert (run.tree["timing"] or {"latency": 0})["latency"] == latency


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_verilator_agrees(name: str, tmp_path: Path) -> None:
    rtl, _, latency = ALL[name]
    (tmp_path / "ports.toml").write_text(PORTS)
    clock = ("--clock", "clk", "--latency", latency) if latency else ()
    run = run_sim(
        PROGRAM,
        tmp_path,
        *("--ports", tmp_path / "ports.toml", *clock, "--vectors", 500),
        rtl=rtl + "endmodule\n",
        simulator="verilator",
    )
    assert run.ending == ("PASS", 0), run.record["message"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if n in (0, 6) else pytest.mark.slow) for n, name in enumerate(ALL)]
)
def test_a_mistake_is_refuted_and_confirmed(name: str, tmp_path: Path) -> None:
    rtl, (old, new, output), latency = ALL[name]
    assert rtl.count(old) == 1
    run = proved(rtl.replace(old, new), tmp_path, *(("--clock", "clk") if latency else ()))
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]
    assert run.tree["counterexample"]["output"] == output
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("logic [5:0] t [2]; always_comb t[0] = x_0; assign y_0 = t[1];", "signal 't'"),
        ("logic [5:0] t [2]; assign t[0] = 0; always_comb t[0] = x_0; assign y_0 = t[0];", "is also driven at"),
        ("logic [5:0] t [2]; assign t[1] = t[0], t[0] = t[1]; assign y_0 = t[0];", "depends on itself (t[0]"),
        ("logic [5:0] t [2]; always_comb if (x_1[0]) t[1] = x_0; assign y_0 = t[1];", "makes it a latch"),
        ("logic [5:0] t [2]; always_comb t[x_1[0]] = x_0; assign y_0 = t[1];", "makes it a latch"),
        (
            "logic [5:0] t = 0; initial t = 5; initial t = 4; assign y_0 = t;",
            "signal 't'",
        ),
        (
            "logic [5:0] t = 0; initial t++; assign y_0 = t;",
            "'t' is read in an initial block",
        ),
        (
            'logic [5:0] t = 0; logic f; initial f = $value$plusargs("t=%d", t); assign y_0 = t;',
            "signal 't'",
        ),
        ("logic [5:0] t [0:2000000000]; assign y_0 = t[x_1];", "2,000,000,001 elements"),
        (
            "logic [5:0] t = 0; function [5:0] f(input [3:0] v); t = v; f = v; endfunction assign y_0 = f(x_0) + t;",
            "'t'",
        ),
        (
            "union { logic [5:0] a; } t; assign t.a = x_0; assign y_0 = t.a;",
            "'t': an unpacked union",
        ),
        ("logic [5:0] t [int]; assign y_0 = t[0];", "'t': an array whose size changes"),
    ],
)
def test_what_means_nothing_is_refused(body: str, message: str, tmp_path: Path) -> None:
    run = proved(f"{HEAD}{body} assign y_1 = 0, y_2 = 0;", tmp_path)
    assert run.tree["verdict"] != "PASS"
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


def test_a_block_reads_bits_of_its_own_or_of_others_but_no_mixture(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 2, 0))], [(0, 0, 0)], inp_shift=[0])
    reads = {"y[1:0]": False, "{y[1], y[0]}": True}
    for read, proved in reads.items():
        (tmp_path / "rtl.sv").write_text(
            "module model(input logic [1:0] model_inp, output logic [1:0] model_out);\n  logic [2:0] y;\n"
            f"  always_comb begin y[0] = model_inp[0]; model_out = {read}; end\n"
            "  always_comb y[2:1] = {1'b0, model_inp[1]};\nendmodule\n"
        )
        if proved:
            assert dais_verif.prove(program, rtl=tmp_path / "rtl.sv").verdict is Verdict.PASS
        else:
            with pytest.raises(StateError):
                dais_verif.prove(program, rtl=tmp_path / "rtl.sv")
