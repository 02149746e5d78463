"""Vectors for the conditions of user RTL in ``sim``: a fault on one input of 2^32 is found by any number of vectors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.door import Run, run_sim, save

from dais_verif.spec.program.assembler import assemble
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulate_jointly import simulate_jointly
from dais_verif.verbs.simulation_request import SimulationRequest

SUM = assemble("input a, b\nx = u16.0 input a\ny = u16.0 input b\ns = u17.0 x + y\noutput s = s\n")
WIDE = assemble("input a, b\nx = u34.0 input a\ny = u34.0 input b\ns = u35.0 x + y\noutput s = s\n")
NARROW = assemble("input a, b\nx = u16.0 input a\ny = u16.0 input b\ns = u4.0 x + y\noutput s = s\n")
HEAD = "module model({}input [31:0] model_inp, output reg [16:0] model_out);\n"
ADDED = "wire [16:0] s = model_inp[15:0] + model_inp[31:16];\n"
RARE = f"{HEAD.format('')}{ADDED}always @* model_out = model_inp == 32'hDEAD1234 ? 0 : s;\nendmodule\n"
#: The same in the second of two stages, with a reset and an enable.
PIPE = f"""{HEAD.format("input clk, rst, en, ")}reg [31:0] q;
always @(posedge clk) if (rst) begin q <= 0; model_out <= 0; end else if (en) begin
  q <= model_inp; model_out <= q == 32'hDEAD1234 ? 0 : q[15:0] + q[31:16]; end
endmodule
"""
PINS = ("--clock", "clk", "--reset", "rst", "--enable", "en")
#: ``<`` where ``<=`` is right, on 34 bits: they differ for one value of ``a``.
LESS = """module model(input [67:0] model_inp, output [34:0] model_out);
wire [33:0] a = model_inp[33:0], b = model_inp[67:34];
wire [34:0] s = a + b;
assign model_out = a < 34'd9876543210 ? s : a > 34'd9876543210 ? s : s + 1;
endmodule
"""


def _conditions(run: Run) -> tuple[int, int, int]:
    said = run.record["conditions"]
    return said["vectors"], said["reached"], said["sides"]


def test_rare_faults_are_found_with_100_vectors(tmp_path: Path) -> None:
    for name, program, text, pins in (
        ("rare", SUM, RARE, ()),
        ("pipe", SUM, PIPE, PINS),
        ("less", WIDE, LESS, ()),
    ):
        run = run_sim(program, tmp_path / name, "--conditions", "--vectors", 100, *pins, rtl=text)
        assert run.ending == ("RTL_MISMATCH", 1), name
        vectors, reached, sides = _conditions(run)
        assert reached == sides > 0 and run.record["vectors"] == 100 + vectors
        assert [(one["name"], one["vectors"]) for one in run.record["stimulus"]] == [
            ("generated", 100),
            ("conditions", vectors),
        ]
        assert run.record["first_mismatch"]["row"] >= 100
    run = run_sim(SUM, tmp_path / "off", "--vectors", 100, "--no-conditions", rtl=RARE)
    assert run.ending == ("PASS", 0) and run.record["conditions"] is None


def test_vectors_of_files_alone_get_no_others(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2\n")
    run = run_sim(SUM, tmp_path, "--conditions", "--vectors", 0, "--inputs", tmp_path / "x.csv", rtl=RARE)
    assert run.ending == ("PASS", 0) and run.record["vectors"] == 1


def test_vectors_keep_the_promises_of_the_program(tmp_path: Path) -> None:
    """Most vectors for these conditions would overflow the sum, which is the program's fault, not that of the RTL."""
    text = "module model(input [31:0] model_inp, output [3:0] model_out);\n"
    text += "wire [3:0] s = model_inp[15:0] + model_inp[31:16];\n"
    text += "assign model_out = model_inp == 32'hDEAD1234 ? 0 : model_inp == 32'h30004 ? s : s;\nendmodule\n"
    run = run_sim(NARROW, tmp_path, "--conditions", "--unchecked", "--vectors", 10, rtl=text)
    assert _conditions(run)[1:] == (4, 4)
    checked = run_sim(NARROW, tmp_path / "checked", "--conditions", "--vectors", 10, rtl=text)
    assert checked.record["conditions"]["vectors"] < run.record["conditions"]["vectors"]


def test_rtl_that_cannot_be_read_is_simulated_without(tmp_path: Path) -> None:
    text = RARE.replace("endmodule", "real r; initial r = 0.5;\nendmodule").replace("s;", "s + $rtoi(r);")
    run = run_sim(SUM, tmp_path, "--conditions", "--vectors", 100, rtl=text)
    assert run.ending == ("PASS", 0) and run.record["vectors"] == 100
    assert "r" in run.record["conditions"]["why"]


@pytest.mark.parametrize("found", [True, False])
def test_designs_that_share_a_build_get_them_too(found: bool, tmp_path: Path) -> None:
    requests = []
    for number in range(2):
        folder = tmp_path / str(number)
        path = save(SUM, folder)
        (folder / "rtl.v").write_text(RARE if number and found else RARE.replace("? 0", "? s"))
        design = DesignRequest(rtl=(folder / "rtl.v",), top="model")
        requests.append(SimulationRequest(program=path, design=design, simulator="icarus", vectors=100))
    first, second = simulate_jointly(requests)
    if found:  # one that does not pass must be run alone
        assert second is None
    else:
        assert first is not None and second is not None
        assert json.loads(first.record.to_json())["conditions"]["reached"] == 2
