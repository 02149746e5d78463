"""Each form of event control, delay and strength is accepted or refused, according to what simulators do with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import needs_yosys
from support.adder import ADDER
from support.adder_rtl import SUMS, clocked, combinational, values
from support.said import as_recorded

from dais_verif.base.errors import InputError

FUNCTION = "function [4:0] f(input [3:0] a); f = a + IN[7:4]; endfunction "
PARTS = "wire [3:0] a = IN[3:0], b = IN[7:4]; "

#: In brackets: the simulator (I: Icarus 11, V: Verilator 5) that computes a wrong sum.
REFUSED = {
    "a part in the list (I, V)": ("always @(IN[0]) OUT = IN[3:0] + IN[7:4];", "@*"),
    "parts that are all of it": ("always @(IN[3:0] or IN[7:4]) OUT = IN[3:0] + IN[7:4];", "@*"),
    "an expression in the list (I, V)": ("always @(IN ^ 1) OUT = sum;", "@*"),
    "a signal that the list lacks (I, V)": (PARTS + "always @(a) OUT = a + b;", "'b'"),
    "a function behind assign (I)": (
        FUNCTION + "always_comb OUT = t; wire [4:0] t = f(IN[3:0]);",
        "'IN'",
    ),
    "a function in a block (I)": (FUNCTION + "always @* OUT = f(IN[3:0]);", "'IN'"),
    "a function behind a list (I)": (
        FUNCTION + "wire [3:0] a = IN; always @(a) OUT = f(a);",
        "'IN'",
    ),
    "a function in a function (I)": (
        FUNCTION + "function [4:0] g(input [3:0] a); g = f(a); endfunction always @* OUT = g(IN[3:0]);",
        "'IN'",
    ),
    "nothing to wait for (I)": ("reg [4:0] k; always @* k = 5'd0; always_comb OUT = sum + k;", "always_comb"),
    "a parameter to wait for (I)": (
        "localparam K = 0; reg [4:0] k; always @* k = K; always_comb OUT = sum + k;",
        "always_comb",
    ),
    "a value from the beginning (I)": (
        "reg [4:0] z = 0; reg [4:0] k; always @* k = z; always_comb OUT = sum + k;",
        "always_comb",
    ),
    "a type without X (I)": ("bit [4:0] s; assign s = sum; always @* OUT = s;", "always_comb"),
    "its own variable only (I)": (
        "reg [4:0] k, n; always @* begin n = 0; k = n; end always_comb OUT = k;",
        "always_comb",
    ),
    "no waiting at all": ("always OUT = sum;", "always_comb"),
    "iff": ("always @(IN iff IN[0]) OUT = sum;", "@*"),
    "an edge and a level": ("always @(posedge IN[0] or sum) OUT = sum;", ""),
    "a delay of a net (I)": ("wire [4:0] #1000000 q = sum; always_comb OUT = q;", "a delay has no meaning"),
    "a delay of a declared net (I)": (
        "wire [4:0] #5 q; assign q = sum; always_comb OUT = q;",
        "a delay has no meaning",
    ),
    "a delay of an assignment": ("wire [4:0] q; assign #5 q = sum; always_comb OUT = q;", "a delay has no meaning"),
    "a strength (I)": ("wire [4:0] q; assign (highz0, strong1) q = sum; always_comb OUT = q;", ""),
    "a strength of a net (I)": ("wire (strong1, highz0) [4:0] q = sum; always_comb OUT = q;", ""),
}

ACCEPTED = {
    "a part in a concatenation": "always @({IN[3:0], sum}) OUT = sum;",
    "a part beside the whole": "always @(IN or IN[0] or sum) OUT = IN[3:0] + IN[7:4];",
    "@*": "always @* OUT = sum;",
    "a list": PARTS + "always @(a or b) OUT = a + b;",
    "a list with commas": PARTS + "always @(a, b) OUT = a + b;",
    "a concatenation in the list": PARTS + "always @({a, b}) OUT = a + b;",
    "more than is read": PARTS + "always @(a or b or IN) OUT = a + b;",
    "always_comb and a function": FUNCTION + "always_comb OUT = f(IN[3:0]);",
    "a list and a function": FUNCTION + "wire [3:0] c = IN; always @(c or IN) OUT = f(c);",
    "always_comb of constants": "reg [4:0] k; always_comb k = 3; always_comb OUT = sum + k - 3;",
    "a net with one value": "wire [4:0] z = 0; reg [4:0] k; always @* k = z; always_comb OUT = sum + k;",
    "one of two has a value at first": "reg [4:0] z = 0; always @* OUT = sum + z;",
    "a type without X in always_comb": "bit [4:0] s; assign s = sum; always_comb OUT = s;",
    "a table behind a function": "reg [4:0] m [0:1]; initial begin m[0] = 0; m[1] = 0; end"
    " function [4:0] g(input [4:0] a); g = a + m[a[0]]; endfunction always @* OUT = g(sum);",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_miss_a_change_is_refused(name: str, tmp_path: Path) -> None:
    body, message = REFUSED[name]
    with pytest.raises(InputError) as error:
        values(combinational(body), tmp_path)
    assert message in str(error.value) and "dut.v:" in str(error.value)
    as_recorded(error.value)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_misses_none_is_accepted(name: str, tmp_path: Path) -> None:
    assert values(combinational(ACCEPTED[name]), tmp_path) == SUMS


@needs_yosys
@pytest.mark.parametrize(
    "name",
    ["a part in the list (I, V)", "a function in a block (I)", "nothing to wait for (I)", "a delay of a net (I)"],
)
def test_nor_does_yosys_alone_prove_it(name: str, tmp_path: Path) -> None:
    body, message = REFUSED[name]
    text = combinational(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--front-end", "yosys", rtl=text)
    assert run.ending == ("INVALID_INPUT", 2) and message in run.tree["message"]
    as_recorded(run.tree["message"])


@needs_yosys
def test_nor_a_late_clock(tmp_path: Path) -> None:
    text = clocked(f"{STAGE} reg late; always @* late <= clk; always @(posedge late) OUT <= a;")
    text = text.replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", "--front-end", "yosys", rtl=text)
    assert run.ending == ("INVALID_INPUT", 2) and "assigned with <=" in run.tree["message"]


EARLY = "reg [4:0] t; always @(posedge clk) begin t = sum; end "


@needs_yosys
@pytest.mark.parametrize(
    ("body", "races"),
    [
        (EARLY + "always @(posedge clk) OUT <= t;", True),
        (EARLY + "wire [4:0] u = t; always @(posedge clk) OUT <= u;", True),
        ("reg [4:0] m [0:1]; always @(posedge clk) begin m[0] = sum; end always @(posedge clk) OUT <= m[0];", True),
        ("reg [4:0] t; always @(posedge clk) begin t = sum; OUT <= t; end", False),
        (EARLY + "always @* OUT = t;", False),
    ],
    ids=["another block", "through a wire", "an element", "the same block", "the output"],
)
def test_a_register_that_is_assigned_before_others_look_is_a_race(body: str, races: bool, tmp_path: Path) -> None:
    """A register that is assigned with ``=`` and read by another block is a race: the standard defines no order.

    Yosys reads one order.
    """
    text = clocked(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", "--front-end", "yosys", rtl=text)
    assert run.ending == (("INVALID_INPUT", 2) if races else ("PASS", 0)), run.tree["message"]
    assert not races or "assigned with = at a clock edge" in run.tree["message"]


STAGE = "reg [4:0] a; always @(posedge clk) a <= sum;"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @(posedge clk or negedge clk) OUT <= sum;", ""),
        ("always @(negedge clk or posedge clk) OUT <= sum;", ""),
        ("always @(edge clk) OUT <= sum;", ""),
        ("always @(posedge clk iff IN[0]) OUT <= sum;", ""),
        (f"{STAGE} reg late; always @* late <= clk; always @(posedge late) OUT <= a;", "assigned with <="),
        (f"{STAGE} reg x; always @* x <= clk; wire y = x; always @(posedge y) OUT <= a;", "assigned with <="),
        (
            "wire c = clk; always @(posedge clk or posedge c) if (c) OUT <= 0; else OUT <= sum;",
            "'clk'",
        ),
        ("always @(posedge clk) OUT <= #(sum) sum;", ""),
    ],
)
def test_clocks_that_are_refused(body: str, message: str, tmp_path: Path) -> None:
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=clocked(body).replace("module dut", "module model"))
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


@pytest.mark.parametrize("alias", ["wire c = clk;", "reg c; always @* c = clk;", "wire b = clk; wire c = b;"])
def test_a_clock_by_another_name(alias: str, tmp_path: Path) -> None:
    text = clocked(f"{STAGE} {alias} always @(posedge c) OUT <= a;").replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 2
