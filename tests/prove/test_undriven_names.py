"""Proofs that go by bits, or without named signals, name undriven bits as other proofs do."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.said import as_recorded

from dais_verif.spec.program import Program
from dais_verif.spec.program.assembler import assemble

SAME = assemble("input a\nx = u4.0 input a\noutput s = x\n")
#: A hundred ops without names of signals: outputs are compared as a whole first.
MANY = assemble(
    "input a\nx0 = u4.0 input a\n" + "".join(f"x{n + 1} = u4.0 x{n} xor x0\n" for n in range(120)) + "output s = x120\n"
)
NETLIST = """module model(input [3:0] model_inp, output [3:0] model_out);
wire [1:0] n;
{}
assign model_out[3] = model_inp[3];
assign model_out[2] = model_inp[2];
assign model_out[1] = model_inp[1];
assign model_out[0] = {};
endmodule
"""
NAME = "bit 1 of signal 'n'"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (SAME, NETLIST.format("", "model_inp[0] ^ n[1]")),
        (MANY, NETLIST.format("assign n[0] = model_inp[0];", "n[0] ^ n[1]")),
        (
            SAME,
            "module model(input clk, input [3:0] model_inp, output reg [3:0] model_out); wire [1:0] n; reg [3:0] a;\n"
            "always @(posedge clk) begin a <= model_inp ^ {3'd0, n[1]}; model_out <= a; end\nendmodule\n",
        ),
    ],
    ids=["by bits", "as a whole", "a pipeline"],
)
def test_undriven_bits_are_named(program: Program, text: str, tmp_path: Path) -> None:
    clock = ("--clock", "clk") if "clk" in text else ()
    run = run_prove(program, tmp_path, *clock, "--front-end", "slang", rtl=text)
    assert run.tree["verdict"] != "PASS" and NAME in run.tree["message"], run.tree["message"]
    as_recorded(run.tree["message"])
    clean = text.replace(" ^ n[1]", "").replace("n[1]", "1'b0")
    assert NAME not in run_prove(program, tmp_path / "clean", *clock, rtl=clean).tree["message"]
