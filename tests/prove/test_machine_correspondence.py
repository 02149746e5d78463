"""Registers without a matching name are matched by their values, and a wrong guess never leads to a proof."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.places import FSM
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.proof import ProofRecord
from dais_verif.spec.machine import load_machine
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.prove import ProveRequest, prove


def proved(name: str, rtl: str, folder: Path, machine: bytes | None = None, **options: object) -> ProofRecord:
    """Return the record of a proof of ``rtl``, without a simulation that confirms a PASS."""
    (folder / "design.v").write_text(rtl)
    program = machine or FSM / name / "fsm.json.gz"
    design = DesignRequest(rtl=(folder / "design.v",), top="model")
    asked = {"cache": False, "confirm": False, "simulator": "icarus", **options}
    return prove(ProveRequest(program=program, design=design, **asked)).record  # type: ignore[arg-type]


def ours(name: str, *edits: tuple[str, str]) -> str:
    """Return our RTL of a machine after ``edits``: pairs of a regular expression and its replacement."""
    text = emit_machine(load_machine(FSM / name / "fsm.json.gz"))
    for old, new in edits:
        assert re.search(old, text), old
        text = re.sub(old, new, text)
    return text


def counter(body: str) -> str:
    """Return RTL with the ports of a machine that counts from 5 in steps of 3."""
    ports = "input clk, input rst, input en, output [5:0] y"
    return f"module model({ports});\n{body}\nendmodule\n"


def fifo(storage: str, state: str, clocked: str, read: str = "mem[rptr]") -> str:
    """Return RTL of a FIFO of eight words."""
    return f"""
module model(input clk, input rst, input push, input pop, input [8:0] din,
             output [8:0] dout, output [1:0] full_empty, output [3:0] lvl);
  {storage}
  {state}
  wire full = level == 8, empty = level == 0;
  wire w = push & ~full, r = pop & ~empty;
  wire [2:0] wnext = rst ? 3'd0 : w ? wptr + 3'd1 : wptr, rnext = rst ? 3'd0 : r ? rptr + 3'd1 : rptr;
  wire [3:0] lnext = rst ? 4'd0 : level + w - r;
  {clocked}
  assign dout = {read}, full_empty = {{empty, full}}, lvl = level;
endmodule
"""


WORDS = "reg [8:0] mem [0:7]; integer n; initial for (n = 0; n < 8; n = n + 1) mem[n] = 0;"
STATE = "reg [2:0] wptr = 0, rptr = 0; reg [3:0] level = 0;"
WRITE = "always @(posedge clk) if (w) mem[wptr] <= din;"
NEXT = "always @(posedge clk) begin wptr <= wnext; rptr <= rnext; level <= lnext; end"

#: Correct RTL whose registers have other names than those of the machine, or hold other values.
RIGHT = {
    "other names": (
        "f04_fifo",
        ours("f04_fifo", (r"\bwptr\b", "p"), (r"\brptr\b", "q"), (r"\blevel\b", "n"), (r"\bmem\b", "words")),
    ),
    "names that lie": (
        "f06_alt_src",
        ours("f06_alt_src", (r"\ba\b(?!s)", "swapped"), (r"\bb\b", "a"), (r"\bswapped\b", "b")),
    ),
    "one vector": (
        "f04_fifo",
        fifo(
            WORDS,
            "reg [9:0] s = 0; wire [2:0] rptr = s[2:0], wptr = s[9:7]; wire [3:0] level = s[6:3];",
            f"{WRITE} always @(posedge clk) s <= {{wnext, lnext, rnext}};",
        ),
    ),
    "words apart": (
        "f04_fifo",
        fifo(
            " ".join(
                f"reg [8:0] mem_{n} = 0; always @(posedge clk) if (w && wptr == {n}) mem_{n} <= din;" for n in range(8)
            ),
            f"{STATE} wire [71:0] all = {{{', '.join(f'mem_{n}' for n in reversed(range(8)))}}};",
            NEXT,
            "all[9 * rptr +: 9]",
        ),
    ),
    "elements apart": (
        "f03_fir7",
        ours(
            "f03_fir7",
            (
                r"reg  \[69:0\] taps;",
                "reg [9:0] " + ", ".join(f"taps_{n}" for n in range(7)) + "; wire [69:0] taps = {"
                "taps_6, taps_5, taps_4, taps_3, taps_2, taps_1, taps_0};",
            ),
            (r"initial taps <= 70'h0;", " ".join(f"initial taps_{n} = 0;" for n in range(7))),
            (r"    taps <= nxt;", "{taps_6, taps_5, taps_4, taps_3, taps_2, taps_1, taps_0} <= nxt;"),
        ),
    ),
    "a flip-flop a bit": (
        "f01_counter",
        counter(
            " ".join(f"reg f{n} = {5 >> n & 1};" for n in range(6))
            + "wire [5:0] c = {f5, f4, f3, f2, f1, f0}; wire [5:0] next = rst ? 6'd5 : en ? c + 6'd3 : c;"
            "assign y = c; always @(posedge clk) {f5, f4, f3, f2, f1, f0} <= next;"
        ),
    ),
    "complements": (
        "f01_counter",
        counter(
            "reg [5:0] q = ~6'd5; assign y = ~q;"
            "always @(posedge clk) if (rst) q <= ~6'd5; else if (en) q <= ~(y + 6'd3);"
        ),
    ),
    "two copies": (
        "f01_counter",
        counter(
            "reg [5:0] c1 = 5, c2 = 5; assign y = {c1[5:3], c2[2:0]};"
            "always @(posedge clk) if (rst) begin c1 <= 5; c2 <= 5; end"
            " else if (en) begin c1 <= c2 + 6'd3; c2 <= c1 + 6'd3; end"
        ),
    ),
    "constants": (
        "f01_counter",
        counter(
            "reg [3:0] k = 4'd3; reg on = 1; reg [5:0] count = 5; assign y = on ? count : 6'd0;"
            "always @(posedge clk) begin k <= {k[3:2], k[0], k[1]}; on <= on | rst;"
            "if (rst) count <= 5; else if (en) count <= count + k; end"
        ),
    ),
    "a copy that nothing needs, a cycle late": (
        "f01_counter",
        counter(
            "reg [5:0] c = 5, late = 0; assign y = late == 6'd63 ? c : c;"
            "always @(posedge clk) begin late <= c; if (rst) c <= 5; else if (en) c <= c + 6'd3; end"
        ),
    ),
}


#: The designs whose proofs take longest.
SLOW = (
    "words apart",
    "a copy that is wrong when nothing is enabled",
    "a copy of another value at power-up",
    "a cycle late",
)


def marked(names: Iterable[str]) -> list[Any]:
    """Return the names as test parameters; those in ``SLOW`` are marked as slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in names]


@pytest.mark.few(1)
@pytest.mark.parametrize("rtl", marked(RIGHT))
def test_registers_are_matched_by_what_they_hold(rtl: str, tmp_path: Path) -> None:
    name, text = RIGHT[rtl]
    record = proved(name, text, tmp_path)
    assert record.verdict is Verdict.PASS, record.message


def test_complements_and_constants_are_recorded_as_such(tmp_path: Path) -> None:
    record = proved("f01_counter", RIGHT["complements"][1], tmp_path)
    assert record.machine is not None
    assert record.machine.registers == {"q": "not count[0]"}
    record = proved("f01_counter", RIGHT["constants"][1], tmp_path)
    assert record.machine is not None
    assert record.machine.registers == {"count": "count[0]", "k[1:0]": "ones", "k[3:2]": "zeros", "on": "ones"}


#: RTL that is wrong in some cycle.
WRONG = {
    "a copy that is wrong when nothing is enabled": counter(
        "reg [5:0] c1 = 5, c2 = 5; assign y = {c1[5:3], c2[2:0]}; always @(posedge clk)"
        "if (rst) begin c1 <= 5; c2 <= 5; end else if (en) begin c1 <= c1 + 6'd3; c2 <= c2 + 6'd3; end"
        " else if (c1 == 6'd50) c2 <= c2 + 6'd1;"
    ),
    "a copy of another value at power-up": counter(
        "reg [5:0] c1 = 5, c2 = 4; assign y = {c1[5:3], c2[2:0]}; always @(posedge clk)"
        "if (rst) begin c1 <= 5; c2 <= 5; end else if (en) begin c1 <= c1 + 6'd3; c2 <= c2 + 6'd3; end"
    ),
    "a cycle late": counter(
        "reg [5:0] c = 5, late = 5; assign y = late;"
        "always @(posedge clk) begin late <= c; if (rst) c <= 5; else if (en) c <= c + 6'd3; end"
    ),
    "a constant that a reset changes": counter(
        "reg [1:0] k = 2'd3; reg [5:0] c = 5; assign y = c; always @(posedge clk)"
        "if (rst) begin c <= 5; if (en && c == 6'd8) k <= 2'd2; end else if (en) c <= c + k;"
    ),
    "a copy that nothing initialises": counter(
        "reg [5:0] c1 = 5, c2; assign y = {c1[5:3], c2[2:0]}; always @(posedge clk)"
        "if (rst) begin c1 <= 5; c2 <= 5; end else if (en) begin c1 <= c1 + 6'd3; c2 <= c2 + 6'd3; end"
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("rtl", marked(WRONG))
def test_what_is_wrong_is_refuted(rtl: str, tmp_path: Path) -> None:
    record = proved("f01_counter", WRONG[rtl], tmp_path)
    assert record.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), record.message


#: RTL that becomes wrong so late that the prover finds no sequence that shows it.
LATE = {
    "a constant that changes after a thousand cycles": counter(
        "reg [9:0] t = 0; reg on = 1; reg [5:0] c = 5; assign y = on ? c : 6'd0; always @(posedge clk) begin"
        " t <= t + 1; if (&t) on <= 0; if (rst) c <= 5; else if (en) c <= c + 6'd3; end"
    ),
    "a copy that stops after a thousand cycles": counter(
        "reg [9:0] t = 0; reg [5:0] c1 = 5, c2 = 5; assign y = {c1[5:3], c2[2:0]}; always @(posedge clk) begin"
        " t <= t + 1; if (rst) begin c1 <= 5; c2 <= 5; end"
        " else if (en) begin c1 <= c1 + 6'd3; if (!(&t)) c2 <= c2 + 6'd3; end end"
    ),
    "a counter in place of a constant": counter(
        "reg [39:0] t = 0; reg [5:0] c = 5; assign y = c; always @(posedge clk) begin"
        " t <= t + 1; if (rst) c <= 5; else if (en) c <= c + (t[39] ? 6'd4 : 6'd3); end"
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("rtl", LATE)
def test_what_is_wrong_late_is_not_proved(rtl: str, tmp_path: Path) -> None:
    record = proved("f01_counter", LATE[rtl], tmp_path, timeout=1.0)
    assert record.verdict is Verdict.UNKNOWN, record.message
    assert record.outputs


@pytest.mark.slow
def test_another_encoding_is_proved_or_unknown(tmp_path: Path) -> None:
    """A one-hot pointer, whose bits no register of the machine holds, is proved or UNKNOWN, and refuted if wrong."""
    state = "reg [2:0] wptr = 0; reg [7:0] hot = 1; reg [3:0] level = 0;"
    wires = "wire h2 = |hot[7:4], h1 = |{hot[7:6], hot[3:2]}, h0 = hot[7] | hot[5] | hot[3] | hot[1];"
    wires += "wire [2:0] rptr = {h2, h1, h0};"
    turned = "always @(posedge clk) if (rst) hot <= 1; else if (r) hot <= {hot[6:0], hot[7]};"
    rest = "always @(posedge clk) begin wptr <= wnext; level <= lnext; end"
    right = fifo(WORDS, f"{state} {wires}", f"{WRITE} {turned} {rest}")
    record = proved("f04_fifo", right, tmp_path, timeout=1.0)
    assert record.verdict in (Verdict.PASS, Verdict.UNKNOWN), record.message
    wrong = right.replace("{hot[6:0], hot[7]}", "{hot[6:0], hot[6]}")
    record = proved("f04_fifo", wrong, tmp_path, timeout=1.0)
    assert record.verdict is Verdict.RTL_MISMATCH, record.message


OPEN = b"""machine
input x: u4.0
input en: u1.0
output y: u4.0
register r: u4.0
r <- x when en
y <- r
"""

#: Two copies of a register without an initial value: they may differ until they are written.
TWICE = """module model(input clk, input [3:0] x, input en, output [3:0] y);
  reg [3:0] p INIT_P, q INIT_Q;
  assign y = {p[3:2], q[1:0]};
  always @(posedge clk) if (en) begin p <= x; q <= y == p ? x : ~x; end
endmodule
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("p", "q", "passes"),
    [("= 0", "= 0", True), ("= 0", "= 1", False), ("", "", False), ("= 3", "= 3", True)],
    ids=["alike", "different", "open", "alike-3"],
)
def test_copies_of_what_nothing_initialises_must_begin_alike(p: str, q: str, passes: bool, tmp_path: Path) -> None:
    """Copies of a register without an initial value are not proved unless both start with the same value.

    Otherwise, although their values are known once they are written, the RTL depends on whether they differ.
    """
    text = TWICE.replace("INIT_P", p).replace("INIT_Q", q)
    record = proved("", text, tmp_path, machine=OPEN)
    assert (record.verdict is Verdict.PASS) is passes, record.message


def test_a_register_that_an_output_shows_too_early_is_still_one_register(tmp_path: Path) -> None:
    """Bits that match one register by name and another one by port are not taken for both, and the RTL is refuted."""
    text = "machine\ninput x: u2.0\nregister first: u2.0 = 0\noutput register shown: u2.0 = 0\n"
    text += "first <- x\nshown <- first\n"
    rtl = "module model(input clk, input [1:0] x, output [1:0] shown); reg [1:0] first = 0;"
    rtl += " always @(posedge clk) first <= x; assign shown = first; endmodule\n"
    assert proved("", rtl, tmp_path, text.encode()).verdict is Verdict.RTL_MISMATCH


@pytest.mark.parametrize(("kind", "said"), [("u2.0", "cycle 0"), ("u3.0", "")])
def test_where_promises_are_never_kept_the_message_says_so(kind: str, said: str, tmp_path: Path) -> None:
    """If a machine never keeps its promises, the message says so, since no sequence can show a fault then.

    Here, a register beside the block that breaks them is wrong.
    """
    text = f"""machine
input x: u2.0
output y: {kind}
output register z: u2.0 = 0
block b {{
input a
four = u3.0 4
v = u2.0 input a
sum = {kind} four + v
output o = sum
}}
b.in <- x
y <- b.out
z <- x
"""
    width = int(kind[1])
    rtl = f"module model(input clk, input [1:0] x, output [{width - 1}:0] y, output reg [1:0] z);"
    rtl += " assign y = 3'd4 + x; initial z = 0; always @(posedge clk) z <= x ^ 1; endmodule\n"
    record = proved("", rtl, tmp_path, text.encode())
    assert record.verdict is (Verdict.UNKNOWN if said else Verdict.RTL_MISMATCH), record.message
    assert said in record.message
    as_recorded(record.message)
