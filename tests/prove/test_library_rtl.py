"""Constructs in RTL of public libraries: vectors assigned in parts by several blocks, assertions, pulled nets."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.adder import ADDER
from support.adder_rtl import SUMS, combinational, values
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, UnsupportedVerilog

#: A ripple adder whose carries are one vector; each bit is computed by its own block from the bit below.
CARRIES = (
    "logic [4:0] c; assign c[0] = 0; for (genvar i = 0; i < 4; i++) begin : bits always_comb begin"
    " OUT[i] = IN[i] ^ IN[i + 4] ^ c[i]; if (IN[i] == IN[i + 4]) c[i + 1] = IN[i]; else c[i + 1] = c[i]; end"
    " end assign OUT[4] = c[4];"
)
#: Rows in one vector, each computed by a block from the row before; the output reads the last row.
ROWS = (
    "logic [14:0] t; assign t[4:0] = sum; for (genvar i = 0; i < 2; i++) begin : rows always_comb begin"
    " t[5 * i + 5 +: 5] = ~t[5 * i +: 5]; end end assign OUT = t[14:10];"
)
#: Nets that have a value where nothing drives them; one is an input that an instance leaves unconnected.
PULLED = (
    "tri1 one; tri0 [4:0] none; inner i (.x(IN[0])); wire [4:0] y; assign y = sum & {5{one}} | none;"
    " assign OUT = i.z ? y : 0;"
)
INNER = " module inner (input x, input tri1 y, output z); assign z = y; endmodule"
ASSERTED = (
    "wire clk = IN[0]; A: assert property (@(posedge clk) disable iff (IN[1]) sum >= IN[3:0] |-> sum >= IN[7:4]) else"
    ' $error("%d", sum); cover property (@(posedge clk) ##1 sum == 3); localparam N = 4;'
    ' initial assert ($countones({N[2], N[0]}) == 1) else $error("N = %d", N);'
    ' always_comb assert ($onehot0(IN[1:0] & 2\'d2)) else $error("no"); assign OUT = sum;'
)


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        pytest.param(CARRIES, ("else c[i + 1] = c[i]", "else c[i + 1] = IN[i]"), marks=pytest.mark.slow),
        pytest.param(ROWS, ("t[14:10]", "t[9:5]"), marks=pytest.mark.slow),
        (ASSERTED, ("= sum;", "= 0;")),
    ],
    ids=["carries", "rows", "assertions"],
)
def test_it_is_proved_and_its_wrong_twin_is_not(body: str, wrong: tuple[str, str], tmp_path: Path) -> None:
    assert values(combinational(body), tmp_path) == SUMS
    text = combinational(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    run = run_prove(ADDER, tmp_path, rtl=text[::-1].replace(wrong[0][::-1], wrong[1][::-1], 1)[::-1])
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


@pytest.mark.parametrize(
    "body",
    [pytest.param(CARRIES, marks=pytest.mark.slow), pytest.param(ROWS, marks=pytest.mark.slow), ASSERTED],
    ids=["carries", "rows", "assertions"],
)
def test_a_simulator_confirms_it(body: str, tmp_path: Path) -> None:
    text = combinational(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--sim", "verilator", rtl=text, confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["confirmation"]["simulators"], run.tree["confirmation"]


def test_pulled_nets_have_their_value(tmp_path: Path) -> None:
    assert values(combinational(PULLED) + INNER, tmp_path) == SUMS
    assert values(combinational(PULLED) + INNER.replace("tri1", "tri0"), tmp_path) != SUMS
    directive = "`unconnected_drive pull0\n" + INNER + "\n`nounconnected_drive\n"
    with raises(UnsupportedVerilog):  # Verilator follows the net
        values(directive + combinational(PULLED), tmp_path)


def test_a_reset_that_is_tied_is_none(tmp_path: Path) -> None:
    text = (
        "module model (input clk, input [7:0] model_inp, output reg [4:0] model_out); wire high; assign high = 1'b1;"
        " always @(posedge clk or negedge high) if (!high) model_out <= 0; else"
        " model_out <= model_inp[3:0] + model_inp[7:4]; endmodule"
    )
    run = run_prove(ADDER, tmp_path, "--clock", "clk", "--sim", "icarus", rtl=text, confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text.replace("1'b1", "1'b0"))
    assert run.exit_code != 0
    as_recorded(run.tree["message"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("logic [4:0] t; assign t[0] = 0; always_comb if (IN[0]) t[4:1] = IN; assign OUT = t;", ""),
        ("logic [4:0] t; assign t[0] = 0; always_comb t[4:1] = t[3:0] + 1; assign OUT = t;", ""),
        (ROWS.replace("~t[5 * i +: 5]", "~t[4:0]; for (int j = 0; j < 5; j++) t[5 + j] = t[j]"), ""),
        (ROWS.replace("~t[5 * i +: 5]", "~(t >> 5 * i)"), ""),
        (
            "function [4:0] f(input x); f = t >> 5 + x; endfunction " + ROWS.replace("~t[5 * i +: 5]", "~f(0)"),
            "",
        ),
        (
            "logic [1:0] t; for (genvar i = 0; i < 2; i++) always_comb t[i] = t[1 - i] | IN[0]; assign OUT = t;",
            "",
        ),
        ("wire clk = IN[0]; assume property (@(posedge clk) IN[1]); assign OUT = sum;", ""),
        (
            "wire clk = IN[0]; logic [4:0] t; assert property (@(posedge clk) IN[1]) t = sum; else t = 0;"
            " assign OUT = t;",
            "",
        ),
    ],
    ids=[
        "kept_bits",
        "own_bits",
        "asleep_by_index",
        "asleep_by_name",
        "asleep_by_function",
        "loop",
        "assumption",
        "assertion_that_assigns",
    ],
)
def test_what_is_no_logic_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with raises(InputError, match=message):
        values(combinational(body), tmp_path)
