"""RTL with a fault is shrunk to small RTL with the same fault and a small program; right RTL is not shrunk."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.files import read_case
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.record.campaigns import ShrinkRecord
from dais_verif.spec.program import load
from dais_verif.spec.program.opcodes import INPUT, Code

EXAMPLE = Path(__file__).parents[2] / "examples/quantised_mac.bin"
pytestmark = pytest.mark.skipif(not tools.has_icarus(), reason="needs Icarus")

#: The example as third-party RTL, without names of ops, and with a wrong constant.
THEIRS = """\
module times #(parameter N = 2) (input signed [5:0] x, output signed [8:0] y);
  wire signed [8:0] unused = x + 1;
  assign y = x * N;
endmodule
module spare (input a, output b); assign b = a; endmodule
module top (input signed [5:0] x_0, x_1, x_2, output reg [5:0] y_0);
  wire signed [8:0] x3;
  wire nothing;
  times #(.N(3)) t (.x(x_1), .y(x3));
  spare s (.a(x_0[0]), .b(nothing));
  reg signed [9:0] sum;
  reg [9:0] debug;
  always @* begin
    debug = 4;
    sum = ((x_0 + x3) <<< 1) - x_2 - 9;
    if (sum[9]) y_0 = 6'd0; else begin y_0 = sum >>> 2; debug = 3; end
  end
endmodule
"""


def faulty(folder: Path) -> Path:
    text = emit_verilog(load(EXAMPLE))
    assert text.count("5'sd10") == 1
    path = folder / "bad.v"
    path.write_text(text.replace("5'sd10", "5'sd9"))
    return path


def texts(record: ShrinkRecord) -> str:
    assert record.rtl is not None
    return "\n".join(Path(record.folder, name).read_text() for name in record.rtl.files)


def still_wrong(record: ShrinkRecord, **ports: Any) -> None:
    """Check that the kept case gives RTL_MISMATCH, and again with the command that is printed."""
    assert record.rtl is not None
    case, kept = read_case(Path(record.folder))
    rtl = [Path(record.folder, name) for name in record.rtl.files]
    vectors = Path(record.folder, "vectors.csv")
    again = dais_verif.simulate(
        case.program,
        rtl=rtl,
        top=record.rtl.top,
        inputs=vectors,
        vectors=0,
        exhaustive_bits=0,
        simulators="icarus",
        **ports,
    )
    assert again.verdict is Verdict.RTL_MISMATCH and kept.replay == record.replay
    assert main._run([*record.replay.split()[1:], "--sim", "icarus"]) == 1


def test_one_op_of_ours(tmp_path: Path) -> None:
    record = dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=faulty(tmp_path), time=600)
    assert record.verdict is Verdict.PASS and record.complete and record.rtl is not None
    assert (record.after.ops, record.after.computing, record.after.vectors) == (2, 1, 1)
    assert record.rtl.lines < 20 and "op_6 = op_5 - 5'sd9" in texts(record)
    assert not {"op_0", "op_4", "op_7", "3 inputs"} & {*texts(record).split()}
    still_wrong(record)


def test_rtl_that_is_right_is_no_case(tmp_path: Path) -> None:
    right = tmp_path / "right.v"
    right.write_text(emit_verilog(load(EXAMPLE)))
    record = dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=right, vectors=10)
    assert record.verdict is Verdict.NOT_RUN and "PASS" in record.message
    assert not (tmp_path / "small/rtl").exists()


@pytest.mark.slow
def test_modules_and_statements_of_others(tmp_path: Path) -> None:
    """If no signal is named after an op, the program is kept, and the RTL is reduced to what the mismatch needs."""
    path, ports = tmp_path / "theirs.v", tmp_path / "ports.toml"
    path.write_text(THEIRS)
    ports.write_text('[inputs]\nport = "x_{}"\n[outputs]\nport = "y_{}"\n')
    one, two = (
        dais_verif.shrink(EXAMPLE, tmp_path / name, rtl=path, top="top", ports=ports, time=600) for name in "ab"
    )
    assert texts(one) == texts(two) and one.attempts == two.attempts
    assert one.verdict is Verdict.PASS and one.after.vectors == 1
    found = texts(one)
    assert not [word for word in ("spare", "debug", "unused", "nothing", "else") if word in found]
    assert "- 9" in found and "x * N" in found
    still_wrong(one, ports=str(ports))


@pytest.mark.slow
def test_one_output_of_a_pipeline(tmp_path: Path) -> None:
    """A clocked design is shrunk to a new top module with only the wrong output, and with constant other inputs."""
    text = """\
module model (input clk, input [11:0] model_inp, output reg [9:0] model_out);
  always @(posedge clk) begin
    model_out[4:0] <= model_inp[3:0] + model_inp[7:4];
    model_out[9:5] <= model_inp[3:0] + model_inp[11:8] + 1;
  end
endmodule
"""
    kind = (0, 4, 0)
    program = dais_verif.spec.program.Program.build(
        [(-1, j, -1, 0, kind) for j in range(3)] + [(0, 0, 1, 0, (0, 5, 0)), (0, 0, 2, 0, (0, 5, 0))],
        [(3, 0, 0), (4, 0, 0)],
        inp_shift=[0, 0, 0],
    )
    path = tmp_path / "pipe.v"
    path.write_text(text)
    record = dais_verif.shrink(program, tmp_path / "small", rtl=path, clock="clk", latency=1, time=600)
    assert record.verdict is Verdict.PASS and record.rtl is not None and record.rtl.top == "dais_case"
    assert (record.after.inputs, record.after.outputs) == (2, 1)
    assert "model_out[4:0] <=" not in texts(record)
    still_wrong(record, clock="clk", latency=1)


@pytest.mark.slow
def test_five_thousand_ops(tmp_path: Path) -> None:
    """Of 5,000 ops with one bad one, at most five ops and one vector remain, within a minute on an idle machine."""
    n_ops = 5000
    rows = [(int(INPUT), j, -1, 0, (1, 7, 0)) for j in range(8)]
    for n in range(8, n_ops):
        mux, code = n % 3 == 0, Code.QUANT_NEG if n % 7 == 0 else Code.QUANT
        rows.append((Code.MUX if mux else code, n - 1, n - 8 if mux else -1, n - 5 if mux else 0, (1, 7, 0)))
    program = dais_verif.spec.program.Program.build(rows, [(n_ops - 1 - n, 0, 0) for n in range(8)], inp_shift=[0] * 8)
    text = emit_verilog(program)
    line = next(one for one in text.splitlines() if one.strip().startswith(f"op_{n_ops - 20} ="))
    path = tmp_path / "bad.v"
    path.write_text(text.replace(line, line.replace(";", " + 1;", 1)))
    record = dais_verif.shrink(program, tmp_path / "small", rtl=path)
    assert record.verdict is Verdict.PASS and record.rtl is not None
    assert record.after.ops <= 5 and record.after.vectors == 1 and record.rtl.lines < 40


def test_a_command_decides(tmp_path: Path) -> None:
    """RTL is shrunk as far as a command still fails, here a tool that fails on any ``<<<``, a shift and add."""
    tool = tmp_path / "tool.py"
    tool.write_text(
        "import sys\ntext = ''.join(open(name).read() for name in sys.argv[2:])\nsys.exit(3 if '<<<' in text else 0)\n"
    )
    path = tmp_path / "good.v"
    path.write_text(emit_verilog(load(EXAMPLE)))
    command = f"{sys.executable} {tool} {{program}} {{rtl}}"
    record = dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=path, command=command, vectors=2, time=600)
    assert record.verdict is Verdict.PASS and record.complete
    assert texts(record).count("<<<") == 1 and "op_7 =" not in texts(record)
    kept = json.loads((tmp_path / "small/case.json").read_text())
    assert kept["against"] == command and kept["replay"].endswith("rtl/good.v")
    passes = dais_verif.shrink(EXAMPLE, tmp_path / "none", rtl=path, command="true {program} {rtl}", vectors=2)
    assert passes.verdict is Verdict.NOT_RUN


def test_what_cannot_be_made_small(tmp_path: Path) -> None:
    (tmp_path / "model.vhd").write_text("entity model is end;")
    with pytest.raises(RequestError, match="Verilog"):
        dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=tmp_path / "model.vhd")
    with raises(InputError):
        dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=tmp_path / "none.v")
    with pytest.raises(RequestError, match="RTL"):
        dais_verif.shrink(EXAMPLE, tmp_path / "small", clock="clk")
    with pytest.raises(RequestError, match=r"\{rtl\}"):
        dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=faulty(tmp_path), command="true {program}")


def test_what_the_rtl_includes_is_kept_beside_it(tmp_path: Path) -> None:
    """An include beside another source, or below it, lies beside the smaller RTL, which still includes it."""
    text = faulty(tmp_path).read_text()
    (tmp_path / "b" / "more").mkdir(parents=True)
    (tmp_path / "bad.v").write_text('`include "more/k.vh"\n' + text.replace("5'sd9", "`K"))
    (tmp_path / "b" / "more" / "k.vh").write_text("`define K 5'sd9\n")
    (tmp_path / "b" / "other.v").write_text("module other; endmodule\n")
    rtl = [tmp_path / "bad.v", tmp_path / "b" / "other.v"]
    record = dais_verif.shrink(EXAMPLE, tmp_path / "small", rtl=rtl, vectors=20)
    still_wrong(record)
    assert (tmp_path / "small/rtl/more/k.vh").read_text() == "`define K 5'sd9\n"
