"""Signals whose names are the same text are distinguished, such as a path of instances and an escaped name."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import FRONT_ENDS, elaborated
from support.adder import ADDER

from dais_verif.prover.netlist import Signals

HEAD = """module model(input clk, input [7:0] model_inp, output [4:0] model_out);
  wire [4:0] sum = model_inp[3:0] + model_inp[7:4];
  U u(model_inp[4:0]);
"""
INNER = "module U(input [4:0] s); wire [4:0] q = s; wire [4:0] op_2 = 5'd1; endmodule"


def design(body: str) -> str:
    return f"{HEAD}  {body}\nendmodule\n{INNER}\n"


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_register_called_like_a_wire_of_an_instance(front_end: str, tmp_path: Path) -> None:
    text = design(r"reg [4:0] \u.q ; always @(posedge clk) \u.q <= sum; assign model_out = \u.q ;")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", "--front-end", front_end, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 1
    netlist = elaborated(text, tmp_path, front_end, "model")
    assert {"u.q", "u.q 2"} <= netlist.signals.keys()


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_an_op_called_like_a_wire_of_an_instance(front_end: str, tmp_path: Path) -> None:
    text = design(r"wire [4:0] \u.op_2 = sum; assign model_out = \u.op_2 ;").replace("input clk, ", "")
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_bits_called_like_bits_of_a_port(front_end: str, tmp_path: Path) -> None:
    bits = [rf"\model_inp[{n}] " for n in range(8)]
    wires = " ".join(f"wire {bit} = model_inp[{n}];" for n, bit in enumerate(bits))
    low, high = (", ".join(reversed(half)) for half in (bits[:4], bits[4:]))
    text = f"""module model(input [7:0] model_inp, output [4:0] model_out);
  {wires} wire \\model_inp[10] = 1'b1;
  assign model_out = {{{low}}} + {{{high}}};
endmodule
"""
    assert run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=text).ending == ("PASS", 0)


def test_two_variables_of_one_name_in_a_block(tmp_path: Path) -> None:
    text = design(
        "reg [4:0] a, b; always @(posedge clk) begin begin : one reg [4:0] t; a <= t; t = sum; end"
        " begin : two reg [4:0] t; b <= t; t = 3; end end assign model_out = a + b - 3;"
    )
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 2


def test_every_signal_has_a_name_of_its_own() -> None:
    signals = Signals()
    assert [signals.new(name, 1, "").name for name in ("a", "b", "a", "a")] == ["a", "b", "a 2", "a 3"]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("place", ["model", "U"])
def test_two_defparams_of_one_parameter(place: str, front_end: str, tmp_path: Path) -> None:
    """Two ``defparam``s of one parameter are refused.

    The last one counts: ``m`` is 8 where both operands are 15, which random simulation does not find.
    """
    text = f"""module K(output [3:0] k); parameter [3:0] P = 0; assign k = P; endmodule
module U(output [3:0] k); K i(k); {"defparam i.P = 0;" if place == "U" else ""} endmodule
module model(input [7:0] model_inp, output [4:0] model_out); wire [3:0] m; U u(m);
  {"defparam u.i.P = 0;" if place == "model" else ""} defparam u.i.P = 8;
  assign model_out = model_inp[3:0] + model_inp[7:4] ^ {{1'b0, m & {{4{{&model_inp}}}}}};
endmodule
"""
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=text)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert "defparam" in run.tree["message"]
    once = text.replace("defparam u.i.P = 8;", "").replace("i.P = 0", "i.P = 8")
    assert run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=once).ending == ("RTL_MISMATCH", 1)


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("literal", ["4294967296", "3000000000", "P"])
def test_a_literal_that_needs_more_than_32_bits(literal: str, front_end: str, tmp_path: Path) -> None:
    """A literal that needs more than 32 bits is refused.

    Simulators keep all of its bits, but pyslang does not; a fault at a single input is not found by simulation.
    """
    text = f"""module model(input [7:0] model_inp, output [4:0] model_out); parameter P = 6442450944;
  wire [35:0] z = {literal}; wire odd = {"z[35]" if literal == "3000000000" else "z[32]"};
  assign model_out = model_inp[3:0] + model_inp[7:4] ^ {{4'b0, &model_inp & odd}};
endmodule
"""
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=text)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    sized = text.replace("P;", "36'd4294967296;").replace("P = 6442450944", "P = 0").replace("z = 4", "z = 36'd4")
    if literal != "3000000000":
        assert run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=sized).ending == ("RTL_MISMATCH", 1)
