"""RTL that ``prove`` must not pass, and what each front end says of it.

The program is a sum of two s4.0, in the ports ``model_inp`` and ``model_out``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["CASES", "GOOD_RTL", "BadRtl", "Said"]


class Said(NamedTuple):
    """A verdict, names and places of its message, and the code of the error."""

    verdict: str
    words: tuple[str, ...]
    code: str | None = None


class BadRtl(NamedTuple):
    """RTL and the results of both front ends; ``yosys`` is None if Yosys alone accepts the RTL."""

    rtl: bytes
    slang: Said
    yosys: Said | None
    files: Mapping[str, bytes] = MappingProxyType({})


def refused(code: str, *words: str) -> Said:
    return Said("INVALID_INPUT", words, code)


def unsupported(*words: str) -> Said:
    return refused("unsupported-verilog", *words)


def state(*words: str) -> Said:
    return refused("rtl-with-state", *words)


def by_yosys(*words: str) -> Said:
    return refused("netlists", *words)


def undefined(*words: str) -> Said:
    return Said("X_IN_OUTPUT", words)


def module(body: str = "", out: str = "assign model_out = a + b;", ports: str = "") -> str:
    return f"""module model ({ports}input [7:0] model_inp, output [4:0] model_out);
  wire signed [3:0] a = model_inp[3:0], b = model_inp[7:4];
  {body}
  {out}
endmodule
"""


def block(body: str, out: str = "assign model_out = r;") -> str:
    return module(f"reg [4:0] r, q; {body}", out)


def clocked(body: str) -> str:
    return module(f"reg [4:0] r, q; {body}", "assign model_out = r;", "input clk, input rst, ")


def table(name: str) -> str:
    return module(f'reg [4:0] t [0:3]; initial $readmemh("{name}", t);', "assign model_out = t[a[1:0]];")


GOOD_RTL = module()
SUB = "module sub(input [4:0] i, output [4:0] o); assign o = i; endmodule\n"

TWICE = unsupported("rtl.v:", "bit 0 ")
TWICE_IN_YOSYS = refused("proofs", "rtl.v:", "bit ")
LATCH = state("rtl.v:3", "signal 'r'")
LATCH_IN_YOSYS = refused("proofs", "rtl.v:3", "signal 'r'")
LOOP = state("rtl.v:3", " <- v)")
NO_VALUE = unsupported("X or Z")
EDGES = state("rtl.v:3", "clock")
FALLING = refused("registers", "rtl.v:3", ".clk(~clk)")
NO_TOP = refused("top-module", "'model'", "--top")
STATE = state("rtl.v:3", "'r'")
SYNTAX = by_yosys("rtl.v:", "Yosys: syntax error", "RTL")
#: RTL that Yosys accepts, with its own interpretation.
READ = None

#: By name: the RTL, the result with slang, and the result with Yosys.
_TEXTS: dict[str, tuple[str, Said, Said | None]] = {
    # drivers
    "two drivers": (module(out="assign model_out = a + b; assign model_out = a;"), TWICE, TWICE_IN_YOSYS),
    "two drivers of one bit": (
        module(out="assign model_out = a + b; assign model_out[2] = a[0];"),
        unsupported("bit 2", "signal 'model_out'"),
        refused("proofs", "bit 2", "signal 'model_out'"),
    ),
    "two always blocks": (block("always @* r = a + b; always @* r = a;"), TWICE, TWICE_IN_YOSYS),
    "an assign and an always block": (block("always @* r = a + b; assign r = a;"), TWICE, TWICE_IN_YOSYS),
    "an always block and a register": (
        module("reg [4:0] r; always @* r = a; always @(posedge clk) r <= b;", "assign model_out = r;", "input clk, "),
        TWICE,
        TWICE_IN_YOSYS,
    ),
    "two instances drive one wire": (
        module("wire [4:0] w; sub x (.i(5'd1), .o(w)); sub y (.i(5'd1), .o(w));", "assign model_out = w;") + SUB,
        TWICE,
        TWICE_IN_YOSYS,
    ),
    "an input is driven": (
        module("assign model_inp = 0;"),
        unsupported("input 'model_inp' is driven"),
        refused("proofs", "driven"),
    ),
    "an input of an instance is driven within": (
        module("sub x (a, model_out);", "") + "module sub(input [3:0] i, output [4:0] o); assign i = 0; endmodule\n",
        unsupported("signal 'x.i'"),
        refused("proofs", "signal 'x.i'"),
    ),
    "wired and": (module("wand [4:0] w; assign w = a;", "assign model_out = w + b;"), unsupported("'w'", "WAnd"), READ),
    "a supply": (module("supply0 g;", "assign model_out = a + b + g;"), Said("RTL_MISMATCH", ()), READ),
    "an open output bit": (
        module(out="assign model_out[3:0] = a + b;"),
        undefined("bit 4", "signal 'model_out'"),
        undefined("bit 4", "signal 'model_out'"),
    ),
    "an open wire": (
        module("wire [4:0] w;", "assign model_out = w;"),
        undefined("bit 4", "signal 'w'"),
        undefined("bit 4", "signal 'w'"),
    ),
    "an open input of an instance": (
        module("sub x (.i(), .o(model_out));", "") + SUB,
        undefined("signal 'x.i'"),
        undefined("signal 'x.i'"),
    ),
    # latches, loops
    "if without else": (block("always @* if (a[0]) r = a + b;"), LATCH, LATCH_IN_YOSYS),
    "case without default": (block("always @* case (a[1:0]) 0: r = a; 1: r = b; endcase"), LATCH, LATCH_IN_YOSYS),
    "one bit kept": (block("always @* begin r[3:0] = a; if (b[0]) r[4] = 1; end"), LATCH, LATCH_IN_YOSYS),
    "always_latch": (
        block("always_latch if (a[0]) r = a + b;"),
        state("rtl.v:3", "AlwaysLatch", "state"),
        unsupported("rtl.v:3", "ProceduralBlock"),
    ),
    "a loop of assigns": (
        module("wire [4:0] v, w; assign v = w + a; assign w = v ^ b;", "assign model_out = v;"),
        LOOP,
        LOOP,
    ),
    "a loop of one bit": (
        module("wire [4:0] v; assign v[4:1] = a; assign v[0] = v[0] ^ b[0];", "assign model_out = v;"),
        LOOP,
        LOOP,
    ),
    "a loop through instances": (
        module("wire [4:0] v, w; sub x (v, w); sub y (w, v);", "assign model_out = v;") + SUB,
        state("(v <- y.o <- y.i <- w <- x.o <- x.i <- v)"),
        state("(v <- y.o <- y.i <- w <- x.o <- x.i <- v)"),
    ),
    "a variable that reads itself": (
        block("always @* r = r + a;"),
        state("rtl.v:3", "signal 'r' is read or kept"),
        state("signal 'r'"),
    ),
    # simulation and hardware differ
    "an incomplete sensitivity list": (
        block("always @(a) r = a + b;"),
        state("rtl.v:3", "reads 'b'"),
        READ,
    ),
    "a sensitivity list with a condition": (block("always @(a iff b[0]) r = a + b;"), state("rtl.v:3"), SYNTAX),
    "nonblocking assignments without a clock": (
        block("always @* begin r <= a + b; if (a[0]) r <= a + b; end"),
        state("rtl.v:3"),
        READ,
    ),
    "a delay of an assign": (module(out="assign #3 model_out = a + b;"), state("rtl.v:4", "delay"), READ),
    "a delay in a block": (block("always @* begin #1 r = a + b; end"), unsupported("rtl.v:3", "waits within"), READ),
    "wait": (
        block("always begin wait (a[0]); r = b; end"),
        state("rtl.v:3"),
        unsupported("rtl.v:3", "Wait"),
    ),
    "fork": (block("always @* fork r = a; q = b; join"), unsupported("rtl.v:3", "fork"), SYNTAX),
    "a literal X": (
        module(out="assign model_out = a[0] ? a + b : 5'bx;"),
        undefined("X or Z at rtl.v:4"),
        undefined("X ", "line 4"),
    ),
    "a literal Z": (module(out="assign model_out = a[0] ? a + b : 5'bz;"), NO_VALUE, NO_VALUE),
    "X in a block": (
        block("always @* begin r = 5'b0000x; if (a[0]) r = a + b; end"),
        undefined(),
        undefined("X ", "line 3"),
    ),
    "X in casex": (
        block("always @* casex (a) 4'bx1xx: r = a + b; default: r = a + b; endcase"),
        unsupported("rtl.v:3"),
        READ,
    ),
    "a tristate gate": (
        module(out="bufif1 (model_out[0], a[0], b[0]);"),
        unsupported("rtl.v:4", "'bufif1'"),
        unsupported("'model_out' is given X or Z"),
    ),
    "a system function": (
        module(out="assign model_out = $random;"),
        unsupported("rtl.v:4", "$random is not supported"),
        unsupported("rtl.v:4", "$random"),
    ),
    "only an initial value": (
        block("initial r = 5;"),
        Said("RTL_MISMATCH", ()),
        Said("RTL_MISMATCH", ()),
    ),
    "force": (
        block("initial force r = 5;"),
        unsupported("rtl.v:3", "override other drivers"),
        unsupported("rtl.v:3", "ProceduralAssign"),
    ),
    "division by what may be 0": (
        module(out="assign model_out = a / b;"),
        undefined("a division by 0"),
        undefined("a division by 0"),
    ),
    # clocks
    "a falling edge": (clocked("always @(negedge clk) r <= a + b;"), FALLING, FALLING),
    "both edges": (
        clocked("always @(posedge clk or negedge clk) r <= a + b;"),
        EDGES,
        by_yosys("Yosys: Multiple edge sensitive events"),
    ),
    "two clocks": (
        clocked("always @(posedge clk) q <= a + b; always @(posedge rst) r <= q;"),
        refused("latency", "clocks: clk, rst"),
        refused("latency", "clocks: clk, rst"),
    ),
    "a gated clock": (
        clocked("wire g = clk & a[0]; always @(posedge g) r <= a + b;"),
        refused("registers", "rtl.v:3", "'g', a clock"),
        refused("registers", "rtl.v:3", "'g', a clock"),
    ),
    "data as a clock": (
        clocked("always @(posedge a[0]) r <= a + b;"),
        EDGES,
        EDGES,
    ),
    "a counter": (clocked("always @(posedge clk) r <= r + 1;"), STATE, STATE),
    "an accumulator with a reset": (
        clocked("always @(posedge clk) if (rst) r <= 0; else r <= r + a;"),
        STATE,
        STATE,
    ),
    "an asynchronous load": (
        clocked("always @(posedge clk or posedge rst) if (rst) r <= a; else r <= a + b;"),
        refused("registers", "'r'", "'rst'"),
        refused("registers", "'r'", "'rst'"),
    ),
    "a blocking register": (
        clocked("always @(posedge clk) r = a + b;"),
        unsupported("rtl.v:3", "register 'r' is assigned with =", "write <="),
        READ,
    ),
    "a memory that is written": (
        module(
            "reg [4:0] t [0:3]; always @(posedge clk) t[a[1:0]] <= b;", "assign model_out = t[b[1:0]];", "input clk, "
        ),
        state("rtl.v:3", "'t'"),
        state("rtl.v:3", "memory 't'"),
    ),
    # modules and ports
    "an unknown module": (
        module("lost x (a, b);"),
        unsupported("rtl.v:3", "unknown module 'lost'"),
        unsupported("rtl.v:3", "UninstantiatedDef"),
    ),
    "an unknown port": (
        module("sub x (.nope(a), .o(model_out));", "") + SUB,
        unsupported("rtl.v:3", "port 'nope' does not exist"),
        by_yosys("Yosys: Module `sub'", "'nope'"),
    ),
    "too many ports": (
        module("sub x (a, model_out, b);", "") + SUB,
        unsupported("rtl.v:3", "too many port connections"),
        by_yosys("has only 2 ports"),
    ),
    "an unknown parameter": (
        module("sub #(.W(3)) x (a, model_out);", "") + SUB,
        unsupported("rtl.v:3", "parameter 'W' does not exist"),
        by_yosys("`W`"),
    ),
    "another width of a port": (
        module("sub x (model_inp, model_out);", "") + SUB,
        Said("RTL_MISMATCH", ("output 0",)),
        Said("RTL_MISMATCH", ("output 0",)),
    ),
    "an inout port": (
        module().replace("output", "inout"),
        unsupported("rtl.v:1", "port 'model_out'"),
        refused("proofs", "port 'model_out'"),
    ),
    "other modules": (
        module().replace("module model", "module other") + module().replace("module model", "module another"),
        NO_TOP,
        NO_TOP,
    ),
    "a module twice": (
        module() + module(out="assign model_out = a - b;"),
        unsupported("rtl.v:6", "duplicate definition of 'model'"),
        by_yosys("rtl.v:6", "Re-definition of module"),
    ),
    "a package of that name": ("package model; endpackage\n", NO_TOP, NO_TOP),
    "a module within itself": (
        module("sub x (a, model_out);", "") + "module sub(input [4:0] i, output [4:0] o); sub y (i, o); endmodule\n",
        unsupported("rtl.v:6", "infinitely recursive instantiation of 'y'"),
        unsupported("rtl.v:6", "UninstantiatedDef"),
    ),
    "a program": (
        "program bus; logic x; endprogram\n" + module("bus i();"),
        unsupported("rtl.v:4", "'i': a program is not a module"),
        SYNTAX,
    ),
    # expressions and types
    "an undeclared signal": (
        module(out="assign model_out = a + nothing;"),
        unsupported("rtl.v:4", "undeclared identifier 'nothing'"),
        Said("TOOL_FAILURE", ("signal 'nothing'", "not replayed")),
    ),
    "a select beyond the signal": (
        module(out="assign model_out = model_inp[9:5];"),
        undefined("bits beyond a signal at rtl.v:4"),
        undefined("X "),
    ),
    "a reversed select": (
        module(out="assign model_out = model_inp[0:4];"),
        unsupported("rtl.v:4", "is reversed"),
        undefined(),
    ),
    "a real number": (
        module("real x;"),
        unsupported("rtl.v:3", "'x': a real number has no bits"),
        unsupported("rtl.v:3", "FloatingType"),
    ),
    "an event": (
        module("event e;"),
        unsupported("rtl.v:3", "'e': an event has no value"),
        unsupported("rtl.v:3", "EventType"),
    ),
    "a task": (block("task t; r = a + b; endtask always @* t;"), state("rtl.v:3"), READ),
    "a while loop": (
        block("always @* begin r = 0; while (r < a) r = r + 1; end"),
        unsupported("rtl.v:3"),
        by_yosys("Yosys: While loops"),
    ),
    "a function that calls itself without end": (
        module("function [4:0] f(input [4:0] x); f = f(x); endfunction", "assign model_out = f(a);"),
        state("rtl.v:3", "'f'"),
        Said("TOOL_FAILURE", ("yosys",)),
    ),
    "a generate loop that depends on a signal": (
        module("genvar g; generate for (g = 0; g < a; g = g + 1) begin : q wire w; end endgenerate"),
        unsupported("rtl.v:3", "not allowed in a constant expression"),
        by_yosys("rtl.v:3", "not constant"),
    ),
    "a vector of 2,000,000,001 bits": (
        module("wire [2000000000:0] w;"),
        unsupported("rtl.v:3", "too large"),
        unsupported("rtl.v:3", "ErrorType"),
    ),
    # files
    "a syntax error": (
        module().replace("assign", "asign"),
        unsupported("rtl.v:4", "'asign'"),
        unsupported("rtl.v:4", "ErrorType"),
    ),
    "no endmodule": (module().replace("endmodule", ""), unsupported("rtl.v:4", "expected 'endmodule'"), SYNTAX),
    "an include that is missing": (
        '`include "lost.vh"\n' + module(),
        unsupported("rtl.v:1", "'lost.vh'"),
        by_yosys("Can't open include file `lost.vh'"),
    ),
    "an unknown macro": (
        module(out="assign model_out = `SUM;"),
        unsupported("rtl.v:4", "`SUM"),
        by_yosys("rtl.v:4", "`SUM"),
    ),
    "an empty file": ("", NO_TOP, NO_TOP),
    "VHDL in a .v": (
        "entity model is end entity;\n",
        unsupported("rtl.v:1", "'entity'"),
        unsupported("rtl.v:1", "ErrorType"),
    ),
    "a memory file that is missing": (
        table("lost.mem"),
        unsupported("rtl.v:3", "memory file 'lost.mem'", "--data"),
        unsupported("rtl.v:3", "'lost.mem'", "--data"),
    ),
}

_MEMORIES: dict[str, tuple[bytes, Said, Said | None]] = {
    "junk in a memory file": (b"1\nhello\n", unsupported("t.mem", "'hello'", "16"), READ),
    "a memory file that is too long": (
        b"1 2 3 4 5\n",
        unsupported("rtl.v:3", "t.mem"),
        READ,
    ),
    "a memory file of other bytes": (bytes(range(256)), unsupported("t.mem", "16"), READ),
    "a memory file that is too short": (b"1 2\n", Said("RTL_MISMATCH", ()), Said("RTL_MISMATCH", ())),
    "an empty memory file": (b"", undefined("a word of t"), undefined("a word of t")),
    "X in a memory file": (b"x x x x\n", undefined("a word of t"), undefined("a word of t")),
}

_BYTES: dict[str, tuple[bytes, Said, Said | None]] = {
    "a binary file": (bytes(range(256)) * 4, unsupported("rtl.v:1", "NUL"), NO_TOP),
    "a name that is no ASCII": (
        module("wire caf\xe9 = 1;").encode("latin1"),
        unsupported("rtl.v:3", "UTF-8"),
        SYNTAX,
    ),
    "UTF-16": (module().encode("utf-16"), unsupported("rtl.v:1", "UTF-16"), NO_TOP),
    "a NUL": (module().encode() + b"\0", unsupported("rtl.v:6", "NUL"), READ),
}

CASES: dict[str, BadRtl] = {
    **{name: BadRtl(text.encode(), *said) for name, (text, *said) in _TEXTS.items()},
    **{name: BadRtl(table("t.mem").encode(), *said, {"t.mem": words}) for name, (words, *said) in _MEMORIES.items()},
    **{name: BadRtl(text, *said) for name, (text, *said) in _BYTES.items()},
}
