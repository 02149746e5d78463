"""Control registers must be constant before the first vector reaches what they control."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import FRONT_ENDS, needs_yosys
from support.adder import ADDER
from support.adder_rtl import clocked

BOTH = ["slang", pytest.param("yosys", marks=needs_yosys)]
READY = "reg ok; always @(posedge clk) if (rst) ok <= 0; else ok <= 1; "
STAGE = "reg [4:0] a; always @(posedge clk) a <= sum; "


PINS = {"rst": "--reset", "en": "--enable"}


def design(body: str) -> tuple[str, list[str]]:
    """Return the text, and the options that name its pins."""
    pins = [pin for pin in PINS if re.search(rf"\b{pin}\b", body)]
    text = clocked(body).replace("module dut (", "module model (" + "".join(f"input {pin}, " for pin in pins), 1)
    return text, ["--clock", "clk", *(word for pin in pins for word in (PINS[pin], pin))]


#: Registers whose value after a reset, or at power-up, differs from the one that they load later.
EARLY = {
    "a flag": READY + "always @(posedge clk) OUT <= ok ? sum : 3;",
    "a flag without a reset": "reg ok; always @(posedge clk) ok <= 1; always @(posedge clk) OUT <= ok ? sum : 3;",
    "a flag that opens a register": READY + "always @(posedge clk) if (ok) OUT <= sum;",
    "two edges for one": READY
    + "reg on; always @(posedge clk) on <= ok; "
    + STAGE
    + "always @(posedge clk) OUT <= on ? a : 0;",
    "a reset that is passed on": "reg r; always @(posedge clk) r <= rst; always @(posedge clk) if (r) OUT <= 0; else"
    " if (rst) OUT <= 0; else OUT <= sum;",
    "a constant at the output": "reg k; always @(posedge clk) k <= 0; always @* OUT = sum + k;",
    "asynchronous": "reg ok; always @(posedge clk or posedge rst) if (rst) ok <= 0; else ok <= 1;"
    " always @(posedge clk or posedge rst) if (rst) OUT <= 0; else OUT <= ok ? sum : 0;",
    "at other edges": "reg ok; always @(posedge clk) if (en) ok <= 1; "
    + STAGE
    + "always @(posedge clk) OUT <= a & {5{ok}};",
}

#: The constant has at most as many registers before it as the data.
IN_TIME = {
    "a flag": (READY + STAGE + "always @(posedge clk) OUT <= ok ? a : 3;", 2),
    "a constant beside the data": (
        "reg [4:0] a, k; always @(posedge clk) begin a <= sum; k <= 5; end always @(posedge clk) OUT <= a + k - 5;",
        2,
    ),
    "bits of the same register": (
        "reg [8:0] a; always @(posedge clk) a <= {4'd2, sum}; always @(posedge clk) OUT <= a[4:0] + a[8:5] - 2;",
        2,
    ),
    "a constant that moves earlier than the data": (
        "reg [4:0] a, k; always @(posedge clk) begin if (en) a <= sum; k <= 5; end"
        " always @(posedge clk) if (en) OUT <= a + k - 5;",
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("front_end", BOTH)
@pytest.mark.parametrize("name", EARLY)
def test_what_comes_too_late_for_the_first_vectors(
    name: str, front_end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dais_verif.verbs.prove.simulate_out_of_step", lambda *said: None)  # or it would be simulated
    text, options = design(EARLY[name])
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, *options, rtl=text)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert ("clock enables: " if name == "at other edges" else " edge") in run.tree["message"]


@pytest.mark.parametrize("front_end", BOTH)
@pytest.mark.parametrize("name", IN_TIME)
def test_what_comes_in_time(name: str, front_end: str, tmp_path: Path) -> None:
    body, latency = IN_TIME[name]
    text, options = design(body)
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, *options, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == latency


@pytest.mark.slow
@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_simulator_shows_it(front_end: str, tmp_path: Path) -> None:
    for body, wanted in ((EARLY["a flag"], ("RTL_MISMATCH", 1)), (IN_TIME["a flag"][0], ("PASS", 0))):
        text, options = design(body)
        run = run_prove(ADDER, tmp_path, *options, "--front-end", front_end, rtl=text, confirm=True)
        assert run.ending == wanted, run.tree["message"]
