"""Registers in the styles of real pipelines are proved by both front ends; state, and other designs, are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import needs_yosys
from support.register_program import PROGRAM
from support.said import as_recorded

BOTH = pytest.param("both", marks=[needs_yosys, pytest.mark.slow])
SUM, SQUARE = "a <= x + 4'sd3;", "b <= a * a;"
DATA = f"begin {SUM} {SQUARE} end"
ZERO = "begin a <= 0; b <= 0; end"


def rtl(body: str) -> str:
    return f"""module model (input clk, input rst, input en, input [7:0] model_inp, output [17:0] model_out);
  wire signed [7:0] x = model_inp;
  reg signed [8:0] a;
  reg signed [17:0] b;
  {body}
  assign model_out = b;
endmodule
"""


#: name: body, enable, and the pins that the proof holds constant, with their values.
FORMS: dict[str, tuple[str, str | None, dict[str, int]]] = {
    "plain": (f"always @(posedge clk) {DATA}", None, {}),
    "always_ff": (f"always_ff @(posedge clk) {DATA}", None, {}),
    "synchronous reset": (f"always @(posedge clk) if (rst) {ZERO} else {DATA}", None, {"rst": 0}),
    "reset before enable": (f"always @(posedge clk) if (rst) {ZERO} else if (en) {DATA}", "en", {"rst": 0}),
    "enable before reset": (f"always @(posedge clk) if (en) begin if (rst) {ZERO} else {DATA} end", "en", {"rst": 0}),
    "asynchronous reset": (f"always @(posedge clk or posedge rst) if (rst) {ZERO} else {DATA}", None, {"rst": 0}),
    "asynchronous, active at 0, with enable": (
        f"always @(posedge clk or negedge rst) if (!rst) begin a <= 0; b <= 5; end else if (en) {DATA}",
        "en",
        {"rst": 1},
    ),
    "reset of the valid bit only": (
        f"reg v; always @(posedge clk or posedge rst) if (rst) v <= 0; else begin v <= en; {SUM} {SQUARE} end",
        None,
        {"rst": 0},
    ),
    "parts in two blocks": (
        "wire [8:0] s = x + 4'sd3; wire [17:0] p = a * a;"
        " always @(posedge clk) begin a[3:0] <= s[3:0]; b[17:9] <= p[17:9]; end"
        " always @(posedge clk) begin a[8:4] <= s[8:4]; b[8:0] <= p[8:0]; end",
        None,
        {},
    ),
    "concatenation": ("always @(posedge clk) {a, b} <= {9'(x + 4'sd3), 18'(a * a)};", None, {}),
    "the last assignment": (
        f"always @(posedge clk) begin a <= 0; {SUM} {SQUARE} if (rst) b <= 0; end",
        None,
        {"rst": 0},
    ),
    "two resets": (
        f"always @(posedge clk) if (rst) a <= 0; else {SUM} always @(posedge clk) if (!en) b <= 0; else {SQUARE}",
        None,
        {"rst": 0, "en": 1},
    ),
    "a loop over bits": (
        "integer i; wire signed [8:0] s = x + 4'sd3;"
        f" always @(posedge clk) begin for (i = 0; i < 9; i = i + 1) a[i] <= s[i]; {SQUARE} end",
        None,
        {},
    ),
    "one shift register": (
        "reg [35:0] sr; wire [17:0] p = (x + 4'sd3) * (x + 4'sd3); always @(posedge clk) sr <= {sr[17:0], p};"
        " always @* begin b = sr[35:18]; a = 0; end",
        None,
        {},
    ),
    "case": (f"always @(posedge clk) case (rst) 1'b1: {ZERO} default: {DATA} endcase", None, {"rst": 0}),
    "conditional expressions": (
        "always @(posedge clk) begin a <= rst ? 9'sd0 : en ? x + 4'sd3 : a; b <= rst ? 18'sd0 : en ? a*a : b; end",
        "en",
        {"rst": 0},
    ),
    "an enable with a name": (f"wire go = en & ~rst; always @(posedge clk) if (go) {DATA}", "en", {"rst": 0}),
    "a reset far from the register": (
        "wire signed [8:0] next = rst ? 9'sd0 : x + 4'sd3;"
        f" always @(posedge clk) a <= next; always @(posedge clk) {SQUARE}",
        None,
        {"rst": 0},
    ),
    "a choice by data": (
        f"always @(posedge clk) begin if (x[7]) {SUM} else a <= 4'sd3 + x; {SQUARE} end",
        None,
        {},
    ),
    "hold while a pin is 1": (f"always @(posedge clk) if (!rst) {DATA}", None, {"rst": 0}),
}


@pytest.mark.parametrize("front_end", ["slang", BOTH])
@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_registers(name: str, front_end: str, tmp_path: Path) -> None:
    body, enable, held = FORMS[name]
    run = run_prove(PROGRAM, tmp_path, "--front-end", front_end, rtl=rtl(body))
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"] == {"latency": 2, "clock": "clk", "enable": enable}
    assert run.tree["held"] == held
    assert all(f"{pin} held at {value}" in run.tree["message"] for pin, value in held.items())


#: The designs whose faulty variants run in the fast suite, one of each kind; each fault is also simulated.
BUGGY = (
    "plain",
    "synchronous reset",
    "asynchronous, active at 0, with enable",
    "parts in two blocks",
    "a loop over bits",
    "a choice by data",
)


@pytest.mark.few(4)
@pytest.mark.parametrize("front_end", ["slang", BOTH])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in BUGGY)) for name in FORMS if "3;" in FORMS[name][0]],
)
def test_the_same_with_a_bug(name: str, front_end: str, tmp_path: Path) -> None:
    body, _, _ = FORMS[name]
    run = run_prove(PROGRAM, tmp_path, "--front-end", front_end, rtl=rtl(body.replace("'sd3", "'sd2")))
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


@pytest.mark.parametrize("front_end", ["slang", BOTH])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"always @(posedge clk) begin a <= a + x; {SQUARE} end", "'a'"),
        (f"always @(posedge clk) begin if (x[7]) {SUM} {SQUARE} end", "'a'"),
        (f"reg go; always @(posedge clk) begin go <= en; if (go) {SUM} {SQUARE} end", "'a'"),
        (f"always @(posedge clk) begin if (en & rst) {SUM} {SQUARE} end", "'a'"),
        (
            f"always @(posedge clk) if (rst) a <= 0; else {SUM} always @(posedge clk) if (!rst) b <= 0; else {SQUARE}",
            "'a'",
        ),
        (f"always @(negedge clk) {DATA}", ".clk(~clk)"),
        (
            f"always @(posedge clk or posedge rst) if (rst) a <= x; else {SUM} always @(posedge clk) {SQUARE}",
            "'rst'",
        ),
        (f"always @(posedge clk) begin if (en) {SUM} if (rst) {SQUARE} end", "clock enables: "),
        (
            "reg [8:0] m [0:1]; always @(posedge clk) begin m[en] <= x + 4'sd3; b <= $signed(m[rst]); a <= 0; end",
            "'m'",
        ),
        (f"always @(posedge clk) {SUM} always @(posedge rst) {SQUARE}", "clocks: clk, rst"),
        (f"wire g = clk & en; always @(posedge g) {DATA}", "'g', a clock"),
        (
            f"reg half; always @(posedge clk) half <= en; always @(posedge half) {DATA}",
            "'half', a clock",
        ),
        (f"always @(posedge clk) if (x[0]) b <= 0; else {SQUARE} always @* a = b;", "'b'"),
        (f"reg r; always @(posedge clk) r <= rst; always @(posedge clk) if (r) {ZERO} else {DATA}", "input 'rst'"),
    ],
)
def test_what_is_no_pipeline(body: str, message: str, front_end: str, tmp_path: Path) -> None:
    run = run_prove(PROGRAM, tmp_path, "--front-end", front_end, rtl=rtl(body))
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    # Yosys keeps a memory apart, so slang's register has no counterpart, and the cross-check refuses it first.
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])
    assert "\n" not in run.tree["message"]


def test_pins_that_are_named(tmp_path: Path) -> None:
    text = rtl(f"always @(posedge clk) if (!rst) {ZERO} else if (en) {DATA}")
    pins = ("--clock", "clk", "--enable", "en", "--reset")
    right = run_prove(PROGRAM, tmp_path, *pins, "rst:low", rtl=text)
    assert right.ending == ("PASS", 0), right.tree["message"]
    assert right.tree["held"] == {}, "it was said, not found"
    wrong = run_prove(PROGRAM, tmp_path / "wrong", *pins, "rst", rtl=text)
    assert wrong.exit_code != 0, "by that name it resets all the time"
    other = run_prove(PROGRAM, tmp_path / "other", *pins, "rst:low", rtl=text.replace("if (en)", ""))
    assert other.ending == ("RTL_MISMATCH", 1) and "clock enable" in other.tree["message"]
