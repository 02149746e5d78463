"""Valid bits, resets and enables are proved, in our own and other pipelines; a trace shows each seeded fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.said import as_recorded

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.spec.program import Program

#: y = x + 3, in three ops.
PROGRAM = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), *((4, n, -1, 1, (0, 5 + n, 0)) for n in range(3))], [(3, 0, 0)], inp_shift=[0]
)

CLOCK, RESET, ENABLE = ("--clock", "clk"), ("--reset", "rst"), ("--enable", "en")
VALID = ("--valid-in", "in_valid", "--valid-out", "out_valid")
ALL = (*CLOCK, *RESET, *ENABLE, *VALID)


def ours(stages: int = 3, *, reset: bool = True, enable: bool = True) -> str:
    options = PipelineOptions(stages=stages, valid=True, reset=reset, enable=enable)
    return emit_pipeline(PROGRAM, "model", options).text


def proved(rtl: str, folder: Path, *pins: str) -> Run:
    return run_prove(PROGRAM, folder, *pins, rtl=rtl)


def test_our_own_pipelines(tmp_path: Path) -> None:
    run = run_prove(PROGRAM, tmp_path, "--stages", 3)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["handshake"] == {"status": "PROVED", "how": "3 bits of state"}
    assert run.tree["message"].endswith("out_valid follows in_valid")


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("enable", [False, True])
def test_with_and_without_reset_and_enable(reset: bool, enable: bool, tmp_path: Path) -> None:
    pins = (*CLOCK, *RESET * reset, *ENABLE * enable, *VALID)
    run = proved(ours(4, reset=reset, enable=enable), tmp_path, *pins)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["handshake"] == {"status": "PROVED", "how": "4 bits of state"}


def handmade(valid: str, declarations: str = "", out: str = "v[2]") -> str:
    """Return data registers with an enable, and another implementation of the valid bits."""
    return f"""
module model (input clk, rst, en, in_valid, output out_valid, input [3:0] model_inp, output [6:0] model_out);
  reg [6:0] a, b, c;
  reg [2:0] v;
{declarations}
  always @(posedge clk) if (en) begin
    a <= model_inp + 1;
    b <= a + 1;
    c <= b + 1;
  end
{valid}
  assign out_valid = {out};
  assign model_out = c;
endmodule
"""


SHIFTED = "always @(posedge clk) if (rst) v <= 0; else if (en) v <= {v[1:0], in_valid};"

#: Implementations of the valid bits: one shifted vector, kept inverted, the XOR of two chains, and others.
FORMS = {
    "a vector that is shifted": (SHIFTED, "", "v[2]", "3 bits of state"),
    "asynchronous reset": (SHIFTED.replace("clk)", "clk or posedge rst)"), "", "v[2]", "3 bits of state"),
    "kept inverted": (
        "always @(posedge clk) if (rst) v <= 7; else if (en) v <= {v[1:0], ~in_valid};", "", "~v[2]",
        "3 bits of state"),
    "a reset that waits for the enable": (
        "always @(posedge clk) if (en) v <= rst ? 3'd0 : {v[1:0], in_valid};", "", "v[2]",
        "en is 1"),
    "exclusive or of two lines": (
        "always @(posedge clk) if (rst) begin p <= 0; q <= 0; t <= 0; end else if (en) begin t <= ~t;"
        " p <= {p[1:0], in_valid ^ t}; q <= {q[1:0], t}; end",
        "reg [2:0] p, q; reg t;", "p[2] ^ q[2]", "k-induction over 3 edges"),
    "more registers than are needed": (
        SHIFTED + " always @(posedge clk) if (rst) n <= 0; else n <= n + 1;",
        "reg [3:0] n;", "v[2] & (n >= 0)", "3 bits of state"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_other_forms(name: str, tmp_path: Path) -> None:
    valid, declarations, out, how = FORMS[name]
    run = proved(handmade(valid, declarations, out), tmp_path, *ALL)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["handshake"]["status"] == "PROVED" and how in run.tree["handshake"]["how"]
    as_recorded(run.tree["handshake"]["how"])


def test_a_reset_that_is_active_low(tmp_path: Path) -> None:
    rtl = handmade(SHIFTED.replace("if (rst)", "if (!rst)"))
    run = proved(rtl, tmp_path / "low", *CLOCK, "--reset", "rst:low", *ENABLE, *VALID)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    run = proved(rtl, tmp_path / "high", *ALL)
    assert run.exit_code != 0


#: In our own pipeline of three stages: a pattern, its replacement, and the edges of the shortest trace that shows it.
BUGS = {
    "missing reset": (r"      valid_s3 <= 1'b0;\n", "", 4),
    "no reset at all": (r"    if \(rst\) begin", "    if (0) begin", 3),
    "a stage too few": (r"out_valid = valid_s4", "out_valid = valid_s3", 3),
    "a stage too many": (
        r"out_valid = valid_s4",
        "out_valid = late; reg late; always @(posedge clk) late <= valid_s4",
        4,
    ),
    "the enable ignored": (r"valid_s3 <= valid_s2;\n(.*?)    end", r"\1    end\n    valid_s3 <= valid_s2;", 4),
    "inverted": (r"valid_s2 <= in_valid", "valid_s2 <= ~in_valid", 4),
    "stuck": (r"valid_s3 <= valid_s2", "valid_s3 <= 1'b1", 3),
    "it depends on data": (r"valid_s2 <= in_valid", "valid_s2 <= in_valid & ~model_inp[0]", 4),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_fault_is_shown_by_a_trace(name: str, tmp_path: Path) -> None:
    old, new, edges = BUGS[name]
    text = ours()
    assert re.search(old, text, re.DOTALL), "choose another place, the emitter has changed"
    run = proved(re.sub(old, new, text, count=1, flags=re.DOTALL), tmp_path, *ALL)
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    handshake = run.tree["handshake"]
    assert handshake["status"] == "REFUTED" and len(handshake["trace"]) - 1 == edges, handshake
    assert set(handshake["trace"][0]) >= {"rst", "en", "in_valid"}
    assert handshake["found"] != str(handshake["due"])
    assert all(part in run.tree["message"] for part in ("out_valid", f"{handshake['due']}", f"{edges} clock"))


def test_what_is_not_decided_is_unknown(tmp_path: Path) -> None:
    """Valid outputs that stop after more edges than the proof considers are reported as UNKNOWN."""
    valid = SHIFTED + " always @(posedge clk) if (rst) n <= 0; else if (~&n) n <= n + 1;"
    run = proved(handmade(valid, "reg [7:0] n;", "v[2] & ~&n"), tmp_path, *ALL)
    assert run.ending == ("UNKNOWN", 6), (run.tree["message"], run.stderr)
    assert run.tree["handshake"]["status"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "if (en) begin\n    a <= model_inp + 1;",
            "begin\n    a <= model_inp + 1;",
            "is none, not en as given",
            marks=pytest.mark.slow,
        ),
        ("    b <= a + 1;\n", "    if (en) b <= a + 1;\n", ""),
        ("c <= b + 1;\n  end", "end\n  always @(posedge clk) c <= b + 1;", "clock enables: "),
        pytest.param(
            "c <= b + 1;", "c <= b + model_inp;", "mixes vectors of different clock edges", marks=pytest.mark.slow
        ),
    ],
    ids=["no-register-has-it", "all-have-it-twice", "one-register-lacks-it", "ages"],
)
def test_registers_that_do_not_move_together_are_shown_to_a_simulator(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    rtl = handmade(SHIFTED)
    assert old in rtl
    run = proved(rtl.replace(old, new), tmp_path, *ALL)
    if message:
        assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
        assert message in run.tree["message"] and "icarus: " in run.tree["message"]
        as_recorded(run.tree["message"])
    else:
        assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
