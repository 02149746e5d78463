"""Code in a clocked block that the proof cannot model is refused if an output depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.adder import ADDER
from support.adder_rtl import clocked, combinational
from support.said import as_recorded

from dais_verif.verbs.proof import deep_stack

#: A register that holds the sum; a second block, which is appended, sometimes assigns it something else.
HELD = "always @(posedge clk) OUT <= sum; always @(posedge clk) "
#: The task keeps the value of its last call, and two blocks call it.
SHARED = """task swap(input [4:0] x, output [4:0] y); reg [4:0] t; begin y = t; t = x; end endtask reg [4:0] other;
always @(posedge clk) begin : A reg [4:0] y; swap(sum, y); OUT <= y; end
always @(posedge clk) begin : B reg [4:0] y; swap(5'd0, y); other <= y; end"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @(posedge clk) begin : b reg [4:0] t; t = sum; t = IN ** t; OUT <= t; end", ""),
        ("always @(posedge clk) begin : b reg [4:0] t; t = sum; if (IN[0]) t = $random; OUT <= t; end", "$random"),
        ("reg [4:0] k; always @(posedge clk) begin k = sum; k = $random; OUT <= k; end", "$random"),
        (SHARED, "keeps the value of its last call"),
        (
            "task t(input [4:0] x); OUT <= x; endtask reg q; always @(posedge clk) begin t(sum); q <= t.x; end",
            "'x'",
        ),
        (HELD + "if (IN[0]) OUT <= $random;", "$random"),
        (HELD + "if (IN[0]) force OUT = 1;", "override other drivers"),
        (HELD + "begin wait (IN[0]); OUT <= 1; end", "waits"),
        ("always_comb OUT = sum; always @(posedge clk) if (IN[0]) OUT <= $random;", "$random"),
    ],
    ids=[
        "a variable", "on a path", "a register", "a task's variable", "a task's argument", "a second driver", "a force",
        "a wait", "beside logic",
    ],
)  # fmt: skip
def test_it_is_refused(body: str, message: str, tmp_path: Path) -> None:
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=clocked(body).replace("module dut", "module model"))
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


def test_it_is_passed_over_where_nothing_does(tmp_path: Path) -> None:
    body = """reg [4:0] q, k; always @(posedge clk) begin : b reg [4:0] t; t = $random; q <= t; t = sum; OUT <= t; end
always @(posedge clk) k <= sum; always @(posedge clk) k <= $random;"""
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=clocked(body).replace("module dut", "module model"))
    assert run.ending == ("PASS", 0), run.tree["message"]


def test_what_nests_too_deeply_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logic that nests too deeply is refused with a message in one line, not with a traceback."""
    monkeypatch.setattr(deep_stack, "_DEPTH", 400)
    body = "integer n; always_comb begin n = 0; for (int i = 0; i < 3000; i++) if (IN[i % 8]) n = n + i; OUT = n; end"
    run = run_prove(ADDER, tmp_path, rtl=combinational(body).replace("module dut", "module model"))
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    as_recorded(run.tree["message"])
