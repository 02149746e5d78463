"""Signals of interfaces are read as the logic that drives them, in whichever module and through whichever modport."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import needs_yosys
from support.adder import ADDER
from support.adder_rtl import SUMS, values
from support.said import raises

from dais_verif.base.errors import InputError, UnsupportedVerilog

BUS = """interface bus;
  logic [3:0] a, b;
  logic [4:0] s;
  modport give(output a, b, input s);
  modport take(input a, b, output s);
endinterface
"""
FIRST = """module first(bus.give p, input [7:0] i, output [4:0] o);
  assign p.a = i[3:0];
  assign p.b = i[7:4];
  assign o = p.s;
endmodule
"""
SECOND = "module second(bus.take p);\n  assign p.s = p.a + p.b;\nendmodule\n"
TOP = """module dut(input [7:0] model_inp, output [4:0] model_out);
  bus u();
  first f(u, model_inp, model_out);
  second g(u);
endmodule
"""
TEXT = BUS + FIRST + SECOND + TOP
FUNCTION = TEXT.replace(
    "  modport take(input a, b,",
    "  function automatic [4:0] both(); return a + b; endfunction\n  modport take(import both, input a, b,",
)

#: Designs that compute the sum, and the replacement (old, new) after which they do not.
DESIGNS = {
    "modports": (TEXT, ("p.a + p.b", "p.a - p.b")),
    "none": (TEXT.replace("bus.give", "bus").replace("bus.take", "bus"), ("p.a + p.b", "p.a - p.b")),
    "modports of instances": (
        TEXT.replace("bus.give", "bus")
        .replace("bus.take", "bus")
        .replace("f(u,", "f(u.give,")
        .replace("g(u)", "g(.p(u.take))"),
        ("i[7:4]", "i[6:4]"),
    ),
    "steps in a block": (
        TEXT.replace("assign p.s = p.a + p.b;", "always_comb begin p.s = p.a; p.s = p.s + p.b; end"),
        ("p.s = p.a; ", "p.s = p.b; "),
    ),
    "a list of what is waited for": (
        TEXT.replace("assign p.s = p.a + p.b;", "always @(p.a or p.b) p.s = p.a + p.b;"),
        ("p.a + p.b", "p.b + p.b"),
    ),
    "a function": (
        FUNCTION.replace("assign p.s = p.a + p.b", "always_comb p.s = p.both()"),
        ("return a + b", "return a"),
    ),
    "logic of its own": (
        "interface bus #(parameter W = 2)(input [7:0] i);\n  wire [W-1:0] a, b;\n  assign {a, b} = i;\n "
        " logic [W:0] s;\n"
        "  assign s = a + b;\nendinterface\n"
        "module dut(input [7:0] model_inp, output [4:0] model_out); bus #(4) u(model_inp); assign"
        " model_out = u.s; endmodule\n",
        ("#(4)", "#(3)"),
    ),
    "an array of them": (
        TEXT.replace("bus u();", "bus u [2:0] ();").replace("f(u,", "f(u[1],").replace("g(u)", "g(u[1])"),
        ("p.a + p.b", "p.a"),
    ),
    "through a module": (
        TEXT.replace(
            "module second(bus.take p);",
            "module second(bus.take q);\n  third t(q);\nendmodule\nmodule third(bus.take p);",
        ),
        ("p.a + p.b", "p.a"),
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_it_is_read_as_what_it_computes(name: str, tmp_path: Path) -> None:
    text, (old, new) = DESIGNS[name]
    assert values(text, tmp_path) == SUMS
    assert old in text
    assert values(text.replace(old, new), tmp_path) != SUMS


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_a_simulator_agrees(name: str, tmp_path: Path) -> None:
    text, wrong = DESIGNS[name]
    text = text.replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, rtl=text, confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["confirmation"]["simulators"], run.tree["confirmation"]
    run = run_prove(ADDER, tmp_path, rtl=text.replace(*wrong))
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


@needs_yosys
@pytest.mark.parametrize("name", ["modports", "none"])
def test_yosys_does_not(name: str, tmp_path: Path) -> None:
    """Yosys 0.23 leaves ports that are neither inputs nor outputs, or drives inputs; such netlists are refused."""
    with pytest.raises(InputError):
        values(DESIGNS[name][0], tmp_path, "yosys")


def test_registers_and_a_clock_behind_an_interface(tmp_path: Path) -> None:
    text = TEXT.replace("interface bus;", "interface bus(input clk);").replace("u();", "u(clk);")
    text = text.replace("module dut(", "module model(input clk, ").replace("(input a, b,", "(input clk, a, b,")
    text = text.replace("assign p.s = p.a + p.b;", "always_ff @(posedge p.clk) p.s <= p.a + p.b;")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 1
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text.replace("p.a + p.b", "p.a - p.b"))
    assert run.exit_code == 1, run.tree["message"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("module dut(", "module dut(bus.give v, "), "unconnected interface port 'v'"),
        (TEXT.replace("second g(u);", "second g(u); second h(u);"), "driven"),
        (FUNCTION.replace("assign p.s = p.a + p.b", "always @* p.s = p.both()"), "run"),
        (TEXT.replace("input a, b, output", "input .a(b), b, output"), r"signal.*design"),
        (TEXT.replace("assign p.s", "always_latch if (p.a[0]) p.s"), "state"),
        (TEXT.replace("logic [4:0] s", "tri1 [4:0] s"), ""),
    ],
    ids=["of the top module", "two drivers", "a function that nobody calls", "another name", "a latch", "a pulled net"],
)
def test_what_has_no_one_meaning_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with raises(InputError, match=message):
        values(text, tmp_path)


def test_a_program_block_is_no_interface(tmp_path: Path) -> None:
    with raises(UnsupportedVerilog):
        values("program p; endprogram\n" + TEXT.replace("bus u();", "bus u(); p q();"), tmp_path)
