"""Variables that keep values, extended case items and literals, and limits of loops have their simulated meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import FRONT_ENDS
from support.adder import ADDER
from support.adder_rtl import SUMS, clocked, combinational, values
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.prover.slang import design

SIGNED = "wire signed [7:0] s = IN; always @* casez (s)"


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("items", "applies"),
    [
        ("4'sb1???: OUT = 9;", lambda x: x >> 3 == 31),
        ("4'sb0???: OUT = 9;", lambda x: x >> 3 == 0),
        ("4'b1???: OUT = 9;", lambda x: x >> 3 == 1),
        ("-4'sd3, 4'b01?1: OUT = 9;", lambda x: x in (253, 5, 7)),
        ("12'b0000_1???_0000: OUT = 9;", lambda x: x & 0x8F == 0x80),
        ("12'sb1111_1???_0000: OUT = 9;", lambda x: x & 0x8F == 0x80),
    ],
)
def test_case_items_are_extended_with_their_own_signs(
    items: str, applies: object, front_end: str, tmp_path: Path
) -> None:
    if front_end == "yosys" and ("-4" in items):
        pytest.skip("Yosys extends them otherwise than both simulators do")
    found = values(combinational(f"{SIGNED} {items} default: OUT = sum; endcase"), tmp_path, front_end)
    assert found == [9 if applies(x) else SUMS[x] for x in range(256)]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always_ff @(posedge clk) begin static logic [4:0] acc = 0; acc = acc + sum; OUT <= acc; end", "'acc'"),
        ("always @(posedge clk) begin : b reg [4:0] t; if (IN[0]) t = sum; OUT <= t; end", "'t'"),
        ("always @(posedge clk) begin : b if (IN[0]) disable b; OUT <= sum; end", "'OUT'"),
        ("always @(posedge clk) begin OUT <= sum; @(posedge clk); OUT <= 0; end", "waits within"),
        ("reg [4:0] k = 0; task t; k = IN; endtask always @(posedge clk) t; always @* OUT = sum + k;", "with = at"),
        (
            "reg [4:0] k = 0; function void t; k = IN; endfunction always @(posedge clk) t(); always @* OUT = sum + k;",
            "with = at",
        ),
        ("reg [4:0] k = 0; always @(posedge clk) {>>{k}} = sum; always @* OUT = sum + k;", "with = at"),
        ("reg k = 0; always @(posedge clk) if (1 > 2) k <= 1; always @* OUT = sum + k;", "'k'"),
        (
            "always @(posedge clk) begin : b reg [4:0] t; OUT <= t; t = sum; end always @(posedge clk) b.t = 1;",
            "'t'",
        ),
    ],
    ids=[
        "static",
        "kept on a path",
        "left early",
        "waits",
        "a task",
        "a function",
        "a stream",
        "never",
        "another block's",
    ],
)
def test_what_keeps_state_in_a_clocked_block_is_refused(body: str, message: str, tmp_path: Path) -> None:
    text = clocked(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


def test_a_variable_that_is_read_before_it_is_assigned_is_a_register(tmp_path: Path) -> None:
    text = clocked("always @(posedge clk) begin : b reg [4:0] t; OUT <= t; t = sum; end")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text.replace("module dut", "module model"))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @* begin : b reg [4:0] t; if (IN[0]) t = sum; OUT = t; end", ""),
        ("integer i, j; always @* begin OUT = sum; for (i = 0; i < 20000; i = i + 1) for (j = 0; j < 20000; j = j + 1)"
         " OUT = OUT + 0; end", "times in total"),
        ("function automatic [4:0] f(input [7:0] n); return n < 2 ? n : f(n - 1) + f(n - 2); endfunction"
         " always @* OUT = f(6) + sum;", "times in total"),
        ("wire signed [7:0] s = IN; always @* casez (s) 4'sb?101: OUT = 9; default: OUT = sum; endcase",
         "simulators"),
        ("function [4:0] f(input [4:0] a); reg [4:0] t; begin if (a[0]) t = a; f = t; end endfunction"
         " always @* OUT = f(sum);", ""),
    ],
    ids=["a latch", "loops", "calls", "an open sign", "a function that keeps"],
)  # fmt: skip
def test_what_has_no_value_or_no_end_is_refused(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(design, "_MOST_TURNS", 20)
    with raises(InputError, match=message):
        values(combinational(body), tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        "function [4:0] f(input [4:0] a); reg [4:0] t; begin t = a; f = t; end endfunction always @* OUT = f(sum);",
        "function automatic [4:0] f(input [4:0] a); int t = 3; logic [4:0] u; u = a + t; return u - 3; endfunction"
        " always @* OUT = f(sum);",
        "always_comb begin automatic int n; OUT = sum + n; end",
        "reg [4:0] k; initial k = 3; always @* OUT = sum + k - 3;",
        "reg [4:0] k = 1; initial begin k = 2; k = 3; end always @* OUT = sum + k - 3;",
        "always @* begin assert (sum < 31) else $error; OUT = sum; end",
    ],
    ids=["a function's variable", "automatic", "an int begins as 0", "initial", "the last value", "an assertion"],
)
def test_what_has_a_value(body: str, tmp_path: Path) -> None:
    assert values(combinational(body), tmp_path) == SUMS


@pytest.mark.parametrize(("pull", "added"), [("pull0", 0), ("pull1", 31)])
def test_an_open_input_that_is_pulled(pull: str, added: int, tmp_path: Path) -> None:
    text = combinational("wire [4:0] o; plus p(.a(sum), .y(o)); always @* OUT = o;")
    plus = "module plus(input [4:0] a, b, output [4:0] y); assign y = a + b; endmodule\n"
    found = values(f"`unconnected_drive {pull}\n{plus}`nounconnected_drive\n{text}", tmp_path)
    assert found == [x + added & 31 for x in SUMS]
