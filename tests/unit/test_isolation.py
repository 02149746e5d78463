"""Which Verilog texts may share a build with others: plain modules that affect nothing outside themselves."""

from __future__ import annotations

import re

import pyslang
import pytest

from dais_verif.simulation.joint_builds import OTHER_WORDS, PLAIN_WORDS, idle_readers, modules_of, renamed

PLAIN = (
    """\
`timescale 1ns / 1ps  // as tools write it
`default_nettype none
module sub #(parameter W = 3) (input wire [W-1:0] a, output wire [W-1:0] b);
  assign b = $signed(a) + 'sh1;
endmodule
(* comment *) """.replace("(* comment *) ", "/* module hidden; */ // endmodule\n")
    + """\
module top (input [2:0] x, output [2:0] y);
  reg [2:0] kept;
  initial kept = 3'b0x1;
  always @(*) kept = {3{x[0]}};
  sub #(.W(3)) u (.a(x), .b(y));
endmodule
"""
)


def test_the_modules_of_a_plain_text_are_found_and_renamed() -> None:
    assert modules_of(PLAIN) == {"sub", "top"}
    text = renamed(PLAIN, {"sub": "sub_1", "top": "top_1"})
    assert modules_of(text) == {"sub_1", "top_1"}
    assert text.replace("sub_1", "sub").replace("top_1", "top") == PLAIN
    assert "  sub_1 #(.W(3)) u (" in text


@pytest.mark.parametrize(
    "text",
    [
        "`define X 1\n",
        '`include "a.v"\n',
        "`ifdef X\n`endif\n",
        "`default_nettype tri0\n",
        "`timescale 1ns/1ps `define X\n",
        "parameter P = 1;\n",
        "typedef logic t;\n",
        "package p; endpackage\n",
        "function f; endfunction\n",
        "import p::*;\n",
        "(* keep *)\n",
        "endmodule\n",
        "/* open",
        '"open\n',
        "\\escaped \n",
        "module",
        "module m;",
        "// synthesis translate_off\n",
        "// Icarus ends the comment here\rinitial $finish;\n",
        "// fo\0rce\n",
        "/* verilator public */",
        "/* verilator_public */",
        "// Verilator lint_off WIDTH",
        "// verilator lint_off PROCASSWIRE",
        "// verilator lint_off WIDTH, ASSIGNIN",
        "// verilator lint_save",
        "// verilator lint_off WIDTH verilator lint_off PROCASSWIRE",
        "`resetall // verilator lint_off PROCASSWIRE",
        "`resetall // cadence translate_off",
        "// ambit synthesis",
        "// some tools end the line here\finitial $finish;\n",
    ],
)
def test_what_stands_beside_modules_may_reach_others(text: str) -> None:
    assert modules_of(PLAIN + text) is None
    assert modules_of(text + PLAIN.replace("/* module hidden; */", "")) is None


@pytest.mark.parametrize(
    "line",
    [
        "initial $finish;",
        "initial $display(1);",
        "initial kept = $random;",
        "assign y = top.x;",
        "assign y = other . x;",
        "defparam u.W = 4;",
        "initial force y = 1;",
        "initial #3 kept = 1;",
        "initial #(3) kept = 1;",
        "initial begin #(3) kept = 1; end",
        "assign #(3) z = x;",
        "wire #(3) z = x;",
        "and #(3) g(z, x, x);",
        "initial kept <= #(3) 1;",
        "sub u2 (.*);",
        "`define X\n",
        "`timescale 1ns/1ps\n",
        "module inner; endmodule",
        "assert (x);",
        "bind sub top t();",
        "import p::*;",
        "event e;",
        "initial wait (x);",
        "wire \\a ;",
        "always @(x) begin : label #(5) kept = 1; end",
        "always @(x) begin : label #(0.5) ; kept = 1; end",
        "always @(x) begin : sub #(5) kept = 1; end",
        "always @(x) begin begin : a kept = 1; end : a #(5) kept = 1; end",
        "always @(x) begin case (x) 0: kept = 1; endcase #(5) kept = 0; end",
        "always @(x) case (x) 0: kept = 1; default #(5) kept = 0; endcase",
        "always @(x) case (x) kept: #(5) kept = 0; endcase",
        "always @(x) begin while (x) #(5); end",
        "always @(x) begin : a kept = 1; ##(5); end",
        "typedef logic [2:0] sub; wire sub #(5) z = x;",
        "pulldown (x[0]);",
        "tri0 z;",
        "initial kept = std::randomize(kept);",
        "initial void'(randomize(kept));",
        "mailbox m;",
    ],
)
def test_what_a_module_says_may_reach_others(line: str) -> None:
    assert modules_of(PLAIN.replace("  reg [2:0] kept;", f"  reg [2:0] kept; {line}")) is None


@pytest.mark.parametrize(
    "line",
    [
        "sub #(.W(3)) u2 (x, z);",
        "generate if (1) sub #(3) u2 (x, z); endgenerate",
        "generate if (1) begin : a sub #(3) u2 (x, z); end : a sub #(3) u3 (x, z); endgenerate",
        "genvar k; for (k = 0; k < 3; k = k + 1) begin : bits assign y[k] = x[k]; end",
        "/* verilator lint_off WIDTH */ // verilator lint_off UNUSEDSIGNAL, WIDTHTRUNC",
        "// verilator lint_on WIDTHEXPAND\n// as written by tools",
    ],
)
def test_what_is_plain_may_share_a_build(line: str) -> None:
    assert modules_of(PLAIN.replace("  reg [2:0] kept;", f"  reg [2:0] kept; {line}\n")) == {"sub", "top"}


def test_the_name_of_a_module_is_no_keyword() -> None:
    assert modules_of("module automatic m(input x); endmodule\n") is None
    assert modules_of("module static m(input x); endmodule\n") is None


def test_every_keyword_is_plain_or_not() -> None:
    """Every keyword is in one of the two lists; one in neither list would be taken for a name."""
    kinds = [name.removesuffix("Keyword") for name in dir(pyslang.parsing.TokenKind) if name.endswith("Keyword")]
    words = {kind.replace("_", "").lower() for kind in kinds if not re.match("(Unit|Root)System", kind)}
    assert not PLAIN_WORDS & OTHER_WORDS
    assert len(words) > 240
    assert words - {"1step", "onestep"} <= {word.replace("_", "") for word in PLAIN_WORDS | OTHER_WORDS}


def test_who_reads_files_shares_a_build_only_if_nobody_uses_it() -> None:
    reader = 'module rom (output reg [2:0] q);\n  reg [2:0] m [0:1]; initial $readmemh("a", m);\nendmodule\n'
    assert modules_of(reader) == {"rom"}
    assert idle_readers([PLAIN, reader], "top") and idle_readers([PLAIN], "top")
    assert not idle_readers([PLAIN, reader], "rom")
    assert not idle_readers([PLAIN.replace("sub #(.W(3)) u", "rom u"), reader], "top")
    assert not idle_readers([PLAIN.replace("initial kept = 3'b0x1", 'initial $readmemb("a", kept)')], "top")


def test_no_module_is_no_design() -> None:
    assert modules_of("// nothing\n") is None
