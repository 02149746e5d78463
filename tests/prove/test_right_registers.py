"""Correct designs that were once refused are proved, and wrong variants of them are not.

They have constants behind an enable, resets through a wire, and members of structures at variable places.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import FRONT_ENDS
from support.adder import ADDER
from support.said import as_recorded

CLOCKED = "module model(input clk, input rst, input en, input [7:0] IN, output reg [4:0] OUT);"
SUM = "IN[3:0] + IN[7:4]"
DELAYED = (
    "reg [7:0] a; always @(posedge clk) if (en) a <= IN; always @(posedge clk) if (en) OUT <= a[3:0] + a[7:4] + k - 3;"
)
NEXT = f"always @(posedge clk) if (en) OUT <= {SUM} + k - 3;"
PINS = ("--clock", "clk", "--reset", "rst", "--enable", "en")


def ended(text: str, folder: Path, *options: str) -> tuple[tuple[str, int], str]:
    named = text.replace("IN", "model_inp").replace("OUT", "model_out")
    run = run_prove(ADDER, folder, *options, rtl=named)
    return run.ending, str(run.tree["message"])


@pytest.mark.few(5)
@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("k", "rest", "verdict"),
    [
        ("if (en) k <= 3;", DELAYED, "PASS"),
        ("if (rst) k <= 0; else if (en) k <= 3;", DELAYED, "PASS"),
        ("if (rst) k <= 0; else if (en) k <= 2;", DELAYED, "RTL_MISMATCH"),
        ("if (rst) k <= 0; else if (en) k <= 3;", NEXT, "RTL_MISMATCH"),  # the first vector after a reset reads 0
        ("if (rst) k <= 3; else if (!en) k <= 3;", DELAYED, "INVALID_INPUT"),
    ],
    ids=["without reset", "with reset", "another constant", "too late", "another level"],
)
def test_a_constant_behind_the_enable(k: str, rest: str, verdict: str, front_end: str, tmp_path: Path) -> None:
    text = f"{CLOCKED} reg [4:0] k; always @(posedge clk) {k} {rest} endmodule"
    (found, _), message = ended(text, tmp_path, *PINS, "--front-end", front_end)
    assert found == verdict, message


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("block", "option", "verdict"),
    [
        ("or posedge r) if (r) OUT <= 0; else", "rst_n:low", "PASS"),
        ("or posedge r) if (!r) OUT <= 0; else", "rst_n:low", "INVALID_INPUT"),  # it is always in reset
        ("or posedge r) if (r) OUT <= 0; else", "rst_n", "INVALID_INPUT"),
        ("or posedge r) if (r) OUT <= IN[4:0]; else", "rst_n:low", "INVALID_INPUT"),  # a load
    ],
    ids=["right", "another level", "another option", "a load"],
)
def test_an_asynchronous_reset_by_an_inverted_wire(
    block: str, option: str, verdict: str, front_end: str, tmp_path: Path
) -> None:
    ports = "input clk, input rst_n, input [7:0] IN, output reg [4:0] OUT"
    text = f"module model({ports}); wire r = ~rst_n; always @(posedge clk {block} OUT <= {SUM}; endmodule"
    options = ("--clock", "clk", "--reset", option, "--front-end", front_end)
    (found, _), message = ended(text, tmp_path, *options)
    assert found == verdict, message


STRUCTURE = "{ logic [3:0] a; logic [6:0] b; }"


UNPACKED, PACKED = f"struct {STRUCTURE} t [0:3];", f"struct packed {STRUCTURE} [3:0] t;"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("declared", "wrong", "verdict"),
    [
        (UNPACKED, "", "PASS"),
        (PACKED, "", "PASS"),
        (UNPACKED, "t[IN[5:4]].a = 1;", "RTL_MISMATCH"),
        # Verilator confirms each of these, which is slow, since its model must be compiled.
        pytest.param(UNPACKED, "t[1].b = 0;", "RTL_MISMATCH", marks=pytest.mark.slow),
        pytest.param(PACKED, "t[1].b = 0;", "RTL_MISMATCH", marks=pytest.mark.slow),
        pytest.param(PACKED, "t[IN[5:4]].a = 1;", "RTL_MISMATCH", marks=pytest.mark.slow),
    ],
)
def test_a_member_at_a_variable_place(declared: str, wrong: str, verdict: str, tmp_path: Path) -> None:
    first = "for (int i = 0; i < 4; i++) begin t[i].a = 0; t[i].b = 0; end"
    stored = f"t[IN[1:0]].a = IN[3:0]; t[IN[1:0]].b = IN[7:4]; {wrong}"
    ports = "input [7:0] IN, output reg [4:0] OUT"
    text = f"module model({ports}); {declared} always_comb begin {first} {stored}"
    text += " OUT = t[IN[1:0]].a + t[IN[1:0]].b; end endmodule"
    assert ended(text, tmp_path)[0][0] == verdict


#: Words of eight bits, unpacked or packed; bit 0 is the least or the most significant bit.
WORDS = {"unpacked": "logic [7:0] t [0:3];", "packed": "logic [3:0][7:0] t;", "upwards": "logic [0:7] t [3:0];"}
LOWER = {"unpacked": "[3:0]", "packed": "[3 -: 4]", "upwards": "[4:7]"}
UPPER = {"unpacked": "[4 +: 4]", "packed": "[7:4]", "upwards": "[0 +: 4]"}


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        ("", "PASS"),
        pytest.param("t[IN[1:0]][0] = 1;", "RTL_MISMATCH", marks=pytest.mark.slow),  # Verilator confirms it
        ("t[IN[1:0]][8] = 1;", "INVALID_INPUT"),
    ],
    ids=["right", "a bit more", "beyond the word"],
)
@pytest.mark.parametrize("declared", WORDS)
def test_some_bits_of_a_word_at_a_variable_place(declared: str, wrong: str, verdict: str, tmp_path: Path) -> None:
    """Some bits of a word at a variable index can be written, as in memories with byte enables."""
    first, word = "for (int i = 0; i < 4; i++) t[i] = 0;", "t[IN[1:0]]"
    stored = f"{word}{LOWER[declared]} = IN[3:0]; {word}{UPPER[declared]} = IN[7:4]; {wrong}"
    ports = "input [7:0] IN, output reg [4:0] OUT"
    text = f"module model({ports}); {WORDS[declared]} logic [7:0] w; always_comb begin {first} {stored}"
    text += f" w = {word}; OUT = w[3:0] + w[7:4]; end endmodule"
    found, message = ended(text, tmp_path)
    assert found[0] == verdict, message


@pytest.mark.parametrize(
    ("other", "verdict", "message"),
    [
        ("OUT <= a[3:0] + a[7:4] + i;", "INVALID_INPUT", "'i'"),
        ("begin for (i = 0; i < 5; i = i + 1) b[i] <= a[i]; OUT <= a[3:0] + a[7:4]; end", "PASS", ""),
    ],
    ids=["read elsewhere", "another loop's, too"],
)
def test_a_loop_counter_of_the_module(other: str, verdict: str, message: str, tmp_path: Path) -> None:
    loop = "always @(posedge clk) for (i = 0; i < 8; i = i + 1) a[i] <= IN[i];"
    text = f"{CLOCKED} integer i; reg [7:0] a; reg [4:0] b; {loop} always @(posedge clk) {other} endmodule"
    text = text.replace("input rst, input en, ", "")
    (found, _), said = ended(text, tmp_path, "--clock", "clk")
    assert found == verdict and message in said
    as_recorded(said)


FALLING = """module inner(input clk, input en, input [7:0] IN, output reg [4:0] OUT);
reg [7:0] a;
always @(negedge clk) if (en) begin a <= IN; OUT <= a[3:0] + a[7:4]; end
endmodule
module model(input clk, input en, input [7:0] IN, output [4:0] OUT); inner i(.clk(~clk), .*); endmodule
"""


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", "PASS"),
        ("a[7:4]; end", "a[7:4] + 1; end", "RTL_MISMATCH"),
        (".clk(~clk)", ".clk(clk)", "INVALID_INPUT"),  # a vector comes at every rising edge
        ("negedge", "posedge", "INVALID_INPUT"),
        ("OUT <= a[3:0] + a[7:4]; end", "end always @(posedge clk) if (en) OUT <= a[3:0] + a[7:4];", "INVALID_INPUT"),
    ],
    ids=["right", "another sum", "not inverted", "rising edges of the inverse", "both edges"],
)
def test_falling_edges_of_an_inverted_clock(old: str, new: str, verdict: str, front_end: str, tmp_path: Path) -> None:
    text = FALLING.replace(old, new) if old else FALLING
    (found, _), message = ended(text, tmp_path, "--clock", "clk", "--enable", "en", "--front-end", front_end)
    assert found == verdict, message
    if new in (".clk(clk)", "posedge"):
        assert ".clk(~clk)" in message
