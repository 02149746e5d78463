"""An integrated clock gate, a latch that is open while the clock is 0 and an AND, is read as a clock enable."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.door import run_sim
from support.gated_registers import LINE, PINS, STALLED, WITH_ENABLE, tied
from support.register_program import PROGRAM

HEAD = """module cell_icg (input clk, input en, input te, output gclk);
  reg q;
  always @(clk or en or te) if (!clk) q <= en | te;
  assign gclk = clk & q;
endmodule
module model (input clk, input rst, input en, input in_valid, output out_valid,
              input [7:0] model_inp, output [17:0] model_out);
  wire signed [7:0] x = model_inp;
  wire signed [8:0] sum = x + 4'sd3;
  reg signed [8:0] a, c;
  reg signed [17:0] b;
  reg v1, v2;
  assign model_out = b;
"""
BOTH = "always @(posedge g) begin a <= sum; b <= a * a; end "
ENABLED = STALLED + BOTH
#: Two stages, each gated by its own valid bit.
STAGES = "always @(posedge g1) a <= sum; always @(posedge g2) b <= a * a; "

#: name: body, options, and a replacement (old, new) that makes it wrong.
RIGHT: dict[str, tuple[str, tuple[str, ...], tuple[str, str]]] = {
    "an enable": (
        ENABLED + "reg q; always_latch if (!clk) q = en; wire g = clk & q;",
        WITH_ENABLE,
        ("a * a", "a * c"),
    ),
    "a list": (
        ENABLED + "reg q; always @(clk, en) if (~clk) q <= en; wire g; and (g, clk, q);",
        WITH_ENABLE,
        ("b <= a * a", "b <= sum * a"),
    ),
    "any change": (
        ENABLED + "reg q, g; always @* if (clk == 0) q = en; always @* g = q && clk;",
        WITH_ENABLE,
        ("sum;", "x;"),
    ),
    "a cell": (
        ENABLED + "wire g; cell_icg u(.clk(clk), .en(en), .te(1'b0), .gclk(g));",
        WITH_ENABLE,
        (".te(1'b0)", ".te(1'b1)"),
    ),
    "valid bits": (
        LINE + STAGES + "wire g1, g2; cell_icg u1(clk, in_valid, 1'b0, g1), u2(clk, v1, 1'b0, g2);",
        PINS,
        ("u2(clk, v1,", "u2(clk, v2,"),
    ),
    "a valid bit and an enable": (
        STALLED + STAGES + "wire g1, g2; cell_icg u1(clk, in_valid & en, 1'b0, g1), u2(clk, v1 & en, 1'b0, g2);",
        WITH_ENABLE,
        ("v1 & en", "v1 | en"),
    ),
    "one gate behind another": (
        STALLED + STAGES + "wire g, g1, g2; cell_icg u(clk, en, 1'b0, g),"
        " u1(g, in_valid, 1'b0, g1), u2(g, v1, 1'b0, g2);",
        WITH_ENABLE,
        ("u2(g, v1,", "u2(clk, v1,"),
    ),
    "an asynchronous reset": (
        STALLED + "always @(posedge g or posedge rst) if (rst) begin a <= 0; b <= 0; end else begin a <= sum; b <="
" a * a; end"
        " reg q; always_latch if (!clk) q = en; wire g = clk & q;",
        WITH_ENABLE,
        ("b <= a * a", "b <= a + a"),
    ),
}  # fmt: skip


def proved(body: str, folder: Path, *options: str) -> Run:
    return run_prove(PROGRAM, folder, *options, *tied(options, folder), rtl=f"{HEAD}  {body}\nendmodule\n")


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RIGHT)
def test_it_is_an_enable(name: str, tmp_path: Path) -> None:
    body, options, (old, new) = RIGHT[name]
    run = proved(body, tmp_path, *options)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"] == {"latency": 2, "clock": "clk", "enable": "en" if options is WITH_ENABLE else None}
    assert old in body
    run = proved(body.replace(old, new), tmp_path / "wrong", *options)
    assert run.exit_code != 0, run.tree["message"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_simulator_agrees(name: str, tmp_path: Path) -> None:
    body, options, _ = RIGHT[name]
    more = (*options, *tied(options, tmp_path), "--vectors", 400)
    run = run_sim(PROGRAM, tmp_path, *more, rtl=f"{HEAD}  {body}\nendmodule\n")
    assert run.ending == ("PASS", 0), run.record["message"]


@pytest.mark.parametrize(
    "gate",
    [
        "wire g = clk & en;",
        "reg q; always_latch if (clk) q = en; wire g = clk & q;",
        "reg q; always_latch if (!clk) q = en; wire g = clk | q;",
        "reg q; always_latch if (!clk) q = en; wire g = !clk & q;",
        "reg q; always_latch if (!clk) q = en; wire g = clk & (q | en);",
        "reg q; always_latch if (!clk) q = en; wire late = clk; wire g = late & q;",
        "reg q; always_latch if (!rst) q = en; wire g = clk & q;",
        "reg q, g; always_latch if (!clk) q = en; always @* g <= clk & q;",
        "reg q; always @(clk) if (!clk) q = en; wire g = clk & q;",
        "reg q; always @(negedge clk) q <= en; wire g = clk & q;",
        "reg q; always @* if (!clk) q = 1'b1; wire g = clk & q;",
        "reg q; always_latch if (!clk) q = en; else q = 0; wire g = clk & q;",
    ],
    ids=[
        "not the latch", "open at 1", "an OR", "the opposite clock", "past the latch", "a clock by another name",
        "opened by another", "a late clock", "an enable that is not seen", "a register", "never run", "no latch at all",
    ],
)  # fmt: skip
def test_what_may_have_other_edges_is_refused(gate: str, tmp_path: Path) -> None:
    run = proved(ENABLED + gate, tmp_path, *WITH_ENABLE)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]


def test_a_latch_that_is_data_is_refused(tmp_path: Path) -> None:
    body = ENABLED.replace("b <= a * a", "b <= a * a + q") + "reg q; always_latch if (!clk) q = en; wire g = clk & q;"
    run = proved(body, tmp_path, *WITH_ENABLE)
    assert run.ending == ("INVALID_INPUT", 2) and "latch" in run.tree["message"], run.tree["message"]
