"""Right RTL of common styles is proved, and the same RTL with one fault is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.prover import slang
from dais_verif.spec.program.assembler import assemble

DECODER = assemble("layout v1\ninput x\ntable t = [\n1, 2, 4, 8,\n]\na = u2.0 input x\ny = u4.0 t[a]\noutput y = y\n")
TABLE = assemble(
    "layout v1\ninput x\ntable t = [\n0, 0, 3, 1, 4, 1, 0, 0,\n]\na = u3.0 input x\ny = u4.0 t[a]\noutput y = y\n"
)
SUM = assemble("input a, b\nx = u4.0 input a\ny = u4.0 input b\ns = u5.0 x + y\noutput s = s\n")
ADDED = "model_inp[3:0] + model_inp[7:4]"
PORTS = "input [7:0] model_inp, output reg [4:0] model_out"
FILLED = 'for (i = 0; i < 8; i = i + 1) t[i] = 0; $readmemh("t.mem", t, 2, 5);'
#: Program, text, and a replacement that makes it wrong.
RIGHT = {
    "a default, then an index": (
        DECODER,
        "module model(input [1:0] model_inp, output reg [3:0] model_out);\n"
        "always @* begin model_out = '0; model_out[model_inp] = 1'b1; end endmodule",
        ("1'b1", "1'b0"),
    ),
    "a part of a memory from a file": (
        TABLE,
        "module model(input [2:0] model_inp, output [3:0] model_out); reg [3:0] t [0:7]; integer i;\n"
        f"initial begin {FILLED} end assign model_out = t[model_inp]; endmodule",
        ("t, 2, 5", "t, 3, 6"),
    ),
    "delays of registers": (
        SUM,
        f"module model(input clk, {PORTS}); parameter TCQ = 1; reg [7:0] q;\n"
        "always @(posedge clk) q <= #TCQ model_inp;\n"
        f"always @(posedge clk) model_out <= #1 {ADDED.replace('model_inp', 'q')}; endmodule",
        ("q[3:0] +", "q[3:0] -"),
    ),
    "waves": (
        SUM,
        f'module model({PORTS}); initial begin $dumpfile("w.vcd"); $dumpvars(0, model); end\n'
        f"always @* model_out = {ADDED}; endmodule",
        ("[3:0] +", "[3:0] -"),
    ),
    "a range of an ascending vector": (
        SUM,
        f"module model({PORTS}); wire [0:7] z = {{model_inp[3:0], model_inp[7:4]}};\n"
        "wire [2:0] k = model_inp[0] ? 4 : 0; always @* model_out = z[k +: 4] + z[4 - k +: 4]; endmodule",
        ("z[k +: 4] +", "z[k +: 4] -"),
    ),
    "the name of an unnamed block": (
        SUM,
        f"module model({PORTS}); generate if (1) begin wire [4:0] q; assign q = {ADDED}; end endgenerate\n"
        "always @* model_out = genblk1.q; endmodule",
        ("= genblk1.q", "= ~genblk1.q"),
    ),
    "the name of an unnamed array of blocks": (
        SUM,
        f"module model({PORTS}); genvar i;\n"
        "for (i = 0; i < 2; i = i + 1) begin wire [3:0] q = model_inp[4*i +: 4]; end\n"
        "always @* model_out = genblk1[0].q + genblk1[1].q; endmodule",
        ("genblk1[1].q", "genblk1[0].q"),
    ),
    "parts of parameters": (
        DECODER,
        "module model(input [1:0] model_inp, output reg [3:0] model_out); localparam [15:0] P = 16'h8421;\n"
        "typedef struct packed {logic [7:0] h, l;} halves; localparam halves Q = 16'h8421;\n"
        "always @* case (model_inp) 0: model_out = P[3:0]; 1: model_out = P[7:4]; 2: model_out = Q.h[3:0];\n"
        "default: model_out = Q.h >> 4; endcase endmodule",
        ("Q.h[3:0]", "Q.l[3:0]"),
    ),
}


def _verdict(name: str, folder: Path, text: str) -> str:
    (folder / "t.mem").write_text("/* four\n words */ 3 1 // two\n4 1\n")
    options = ("--clock", "clk") if "clk" in text else ()
    data = ("--data", folder / "t.mem") if "t.mem" in text else ()
    run = run_prove(RIGHT[name][0], folder, *options, *data, rtl=text)
    return str(run.tree.get("verdict", run.stderr))


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_proved_if_it_is_right(name: str, tmp_path: Path) -> None:
    _, text, (old, new) = RIGHT[name]
    assert text.count(old) >= 1
    assert _verdict(name, tmp_path, text) == "PASS"
    assert _verdict(name, tmp_path, text.replace(old, new)) == "RTL_MISMATCH"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("module m(output [39:0] y); assign y = 4294967296; endmodule", "0 [-Wint-overflow]; simulators"),
        ('module m(input a, output (* keep = "yes" *) reg y); always @* y = a; endmodule', "no-shreg"),
        ("module m(output y); reg [3:0] t [0:3]; initial $readmemh(\"t.mem\", t, 3, 1); assign y = t[0]; endmodule",
         "$readmemh"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_do(text: str, advice: str, tmp_path: Path) -> None:
    (tmp_path / "m.sv").write_text(text)
    with raises(InputError, match=r"m\.sv:1") as error:
        slang.elaborate([tmp_path / "m.sv"], "m", {"t.mem": tmp_path / "t.mem"})
    assert advice in str(error.value)
    as_recorded(error.value)


def test_ports_that_are_not_found_name_the_option_for_the_clock(tmp_path: Path) -> None:
    text = "module model(input ck, input [7:0] a, output reg [4:0] y); always @(posedge ck) y <= a; endmodule"
    run = run_prove(SUM, tmp_path, rtl=text)
    assert run.ending[0] == "INVALID_INPUT" and "--clock ck" in run.stderr


def test_a_signal_in_an_unnamed_array_of_blocks_has_the_name_of_the_standard(tmp_path: Path) -> None:
    (tmp_path / "model.v").write_text(RIGHT["the name of an unnamed array of blocks"][1])
    read = slang.elaborate([tmp_path / "model.v"], "model", {})
    assert {"genblk1[0].q", "genblk1[1].q"} <= {*read.signals}
