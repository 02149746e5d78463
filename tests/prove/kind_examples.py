"""RTL examples of each construct that the reader accepts: each computes a sum, and after a replacement it does not."""

from __future__ import annotations

from support.people_write import DESIGNS, A, B

__all__ = ["EXAMPLES", "ZEROS", "called_to_show"]

#: By construct: an expression that is 0 for every input, and the replacement (old, new) after which it is not.
ZEROS = {
    "Plus": ("+IN[0] - IN[0]", "+IN[0]", "-IN[1]"),
    "Minus": ("(-sum) + sum", "-sum", "~sum"),
    "BitwiseNot": ("(~sum) + sum + 1", "~sum", "-sum"),
    "BitwiseAnd": ("(&IN) - (IN == 255)", "&IN", "|IN"),
    "BitwiseOr": ("(|IN) - (IN != 0)", "|IN", "&IN"),
    "BitwiseXor": ("(^IN[1:0]) - (IN[1] != IN[0])", "^IN", "|IN"),
    "BitwiseNand": ("(~&IN) - (IN != 255)", "~&", "~|"),
    "BitwiseNor": ("(~|IN) - (IN == 0)", "~|", "~&"),
    "BitwiseXnor": ("(~^IN[1:0]) - (IN[1] == IN[0])", "~^", "^"),
    "LogicalNot": ("(!IN) - (IN == 0)", "!IN", "~IN[0]"),
    "Multiply": ("(IN * 3) - IN - IN - IN", "* 3", "* 5"),
    "Divide": ("(IN / 16) - IN[7:4]", "/ 16", "/ 8"),
    "Divide, signed": ("q - t", "q", "IN / 4"),
    "Mod": ("(IN % 16) - IN[3:0]", "% 16", "% 8"),
    "BinaryAnd": ("(IN & 8'h0f) - IN[3:0]", "&", "|"),
    "BinaryOr": ("(IN | 8'hf0) - IN[3:0] - 240", "|", "^"),
    "BinaryXor": ("(IN ^ 8'hff) - 255 + IN", "^", "|"),
    "BinaryXnor": ("(IN ~^ 8'h00) + IN + 1", "~^", "^"),
    "Equality": ("(IN == 3) - (IN < 4 && IN > 2)", "==", "!="),
    "Inequality": ("(IN != 3) - (IN < 3 || IN > 3)", "!=", "=="),
    "CaseEquality": ("(IN === 3) - (IN == 3)", "=== 3", "=== 2"),
    "CaseInequality": ("(IN !== 3) - (IN != 3)", "!== 3", "!== 2"),
    "GreaterThan": ("(IN > 7) - (IN / 8 != 0)", ">", ">="),
    "GreaterThanEqual": ("(IN >= 8) - (IN / 8 != 0)", ">=", ">"),
    "LessThan": ("(s < 0) - IN[7]", "s <", "IN <"),
    "LessThanEqual": ("(s <= -1) - IN[7]", "<=", "<"),
    "LogicalAnd": ("(IN[3:0] && IN[7:4]) - (IN[3:0] != 0 & IN[7:4] != 0)", "&&", "||"),
    "LogicalOr": ("(IN[3:0] || IN[7:4]) - (IN[3:0] != 0 | IN[7:4] != 0)", "||", "&&"),
    "LogicalImplication": ("(IN[0] -> IN[1]) - (!IN[0] | IN[1])", "->", "<->"),
    "LogicalEquivalence": ("(IN[0] <-> IN[1]) - (IN[0] == IN[1])", "<->", "->"),
    "LogicalShiftRight": ("(IN >> 4) - IN[7:4]", ">> 4", ">> 3"),
    "LogicalShiftLeft": ("(IN << 1) - IN - IN", "<< 1", "<< 2"),
    "ArithmeticShiftLeft": ("(IN <<< 1) - IN - IN", "<<<", ">>>"),
    "ArithmeticShiftRight": ("v[7] - IN[7]", "v[7]", "w[7]"),
    "IndexedDown": ("IN[7 -: 4] - IN[7:4]", "7 -:", "6 -:"),
    "Explicit": ("5'(IN) - IN[4:0]", "5'(IN)", "4'(IN)"),
    "BitstreamCast": ("byte_of'(pair) - IN", "byte_of'(pair) - IN", "byte_of'(riap) - IN"),
    "Replication": ("{4{IN[0]}} + IN[0] - {IN[0], 4'b0}", "4{", "3{"),
    "a value range": ("(IN inside {[3:5]}) - (IN > 2 && IN < 6)", "[3:5]", "[3:6]"),
    "$bits": ("$bits(IN) - 8", "IN", "other"),
    "$high": ("$high(IN) - 7", "IN", "other"),
    "$low": ("$low(IN)", "IN", "other"),
    "$left": ("$left(IN) - 7", "IN", "other"),
    "$right": ("$right(IN)", "IN", "other"),
    "$size": ("$size(IN) - 8", "IN", "other"),
    "$increment": ("$increment(IN) - 1", "IN", "other"),
    "$dimensions": ("$dimensions(IN) - 1", "IN", "other"),
    "$unpacked_dimensions": ("$unpacked_dimensions(IN)", "IN", "other"),
    "$onehot": ("$onehot(IN[1:0]) - (IN[1] ^ IN[0])", "onehot", "onehot0"),
    "$onehot0": ("$onehot0(IN[1:0]) - !(IN[1] & IN[0])", "onehot0", "onehot"),
    "$signed": ("f($signed(IN[3:0])) - IN[3]", "$signed", "$unsigned"),
    "$unsigned": ("f($unsigned(t))", "$unsigned", "$signed"),
}
_WITH = (
    "wire signed [7:0] s = IN, q = s / 4, t = (s + (IN[7] ? 8'sd3 : 8'sd0)) >>> 2, v = s >>> 1, w = IN >>> 1;"
    " logic [1:9] other [1:2]; typedef logic [7:0] byte_of; logic [3:0] pair [0:1], riap [0:1];"
    " assign pair[0] = IN[7:4], pair[1] = IN[3:0], riap[1] = IN[7:4], riap[0] = IN[3:0];"
    " function f(input [9:0] x); return x[9]; endfunction"
)
_SAYING = {
    "$printtimescale": "$printtimescale", "$timeformat": '$timeformat(-9, 0, "ns", 1)', "$fatal": '$fatal(1, "no")',
    "$assertcontrol": "$assertcontrol(3)", "$monitoron": "$monitoron", "$monitoroff": "$monitoroff",
    "$dumpfile": '$dumpfile("w.vcd")', "$dumpvars": "$dumpvars(0, dut)", "$dumplimit": "$dumplimit(9)",
    "$dumpon": "$dumpon", "$dumpoff": "$dumpoff", "$dumpall": "$dumpall", "$dumpflush": "$dumpflush",
    "$finish": "$finish", "$static_assert": "$static_assert(1, \"no\")",
}  # fmt: skip


def called_to_show(name: str) -> str:
    """Return a statement that calls the system task ``name``, which the reader leaves out."""
    return _SAYING.get(name, name if name.startswith("$assert") else f'{name}("%d", IN)') + ";"


#: Whole module bodies.
_BODIES = {
    "concatenations": (
        "logic c; logic [3:0] l; always_comb {c, l} = sum; assign OUT = {c, l[3:2], l[1:0]};",
        ("l[3:2]", "l[2:1]"),
    ),
    "a pattern on the left": (
        "typedef struct packed {logic [2:0] h; logic [1:0] l;} pair; pair p; logic [2:0] a; logic [1:0] b;"
        " assign p = sum; always_comb pair'{a, b} = p; assign OUT = {a, b};",
        ("{a, b} = p", "{a, b} = p >> 1"),
    ),
    "patterns": (
        "typedef struct packed {logic [2:0] h; logic [1:0] l;} pair; pair p, q; logic [4:0] r [0:1];"
        " assign p = '{h: sum[4:2], l: sum[1:0]}; always_comb begin q.h = p.h; q.l = p.l; r = '{2{q}}; OUT = r[IN[0]];"
        " end",
        ("q.l = p.l", "q.l = p.h"),
    ),
    "listed": (
        f"logic [4:0] r [0:1]; assign r = '{{{A}, {B}}}; assign OUT = r[0] + r[1];",
        ("r[0] +", "r[1] +"),
    ),
    "a union and an enum": (
        "typedef union packed {logic [4:0] x, y;} two; two u; typedef enum logic [4:0] {NONE, ONE, ALL = 31}"
        " some; some k; assign u.x = sum; assign k = IN[0] ? ONE : NONE; assign OUT = u.y + k - IN[0];",
        ("? ONE", "? ALL"),
    ),
    "names in a block": (
        "if (1) begin : inner logic [4:0] t; end assign inner.t = sum; assign OUT = inner.t;",
        ("inner.t = sum", "inner.t = IN"),
    ),
    "instances": (
        "wire [1:0] p; supply1 one; tri [4:0] t = sum; uwire [4:0] u = t; half h[1:0](.a({IN[0], one}), .y(p), .b());"
        " assign OUT = u + p[0] - p[1] - !IN[0] + 31 - 31;\nendmodule\n`unconnected_drive pull1\nmodule half(input a,"
        " b, output y); assign y = a & b;",
        ("a & b", "a ^ b"),
    ),
    "an input that is pulled down": (
        "wire p; half h(.a(IN[0]), .y(p), .b()); assign OUT = sum + p;\nendmodule\n`unconnected_drive pull0\nmodule"
        " half(input a, b, output y); assign y = a & b;",
        ("a & b", "a | b"),
    ),
    "nets that are pulled": ("tri0 [4:0] t; tri1 [4:0] u; assign OUT = sum + t + u + 1;", ("u + 1", "u")),
    "more gates": (
        "wire n, x; nor (n, IN[0], IN[1]); xnor (x, IN[0], IN[1]); assign OUT = sum + n - (IN[1:0] == 0) + x"
        " - (IN[0] == IN[1]);",
        ("nor (n", "or (n"),
    ),
    "a sensitivity list": ("always @(IN or sum) OUT = sum + IN - IN;", ("+ IN - IN", "+ IN")),
    "casex": (f"always @* casex (IN) 8'b0000????: OUT = {A}; default: OUT = sum; endcase", ("0000?", "000??")),
    "checks": (
        f"always_comb begin unique case (IN[0]) 0: OUT = {A}; 1: OUT = {A}; endcase unique0 if (IN[1]) OUT = OUT + 1;"
        f" priority if (IN[1]) OUT = OUT - 1; else OUT = OUT + 0; OUT = OUT + {B}; end",
        ("OUT - 1", "OUT + 1"),
    ),
    "an argument in and out": (
        f"task automatic add(inout logic [4:0] x, input [3:0] y); x = x + y; endtask always_comb begin OUT = {A};"
        f" add(OUT, {B}); end",
        ("x + y", "x - y"),
    ),
    "an unpacked structure": (
        f"typedef struct {{logic [3:0] a; logic [3:0] b;}} pair; pair p; assign p.a = {A}; assign p.b = {B};"
        " assign OUT = p.a + p.b;",
        ("p.a + p.b", "p.a + p.a"),
    ),
    "streams": (
        "logic [3:0] a, b; always_comb {>>{a, b}} = IN; logic [7:0] r, q; assign r = {<<{a, b}}; assign q = {<<{r}};"
        " assign OUT = q[3:0] + q[7:4];",
        ("q = {<<{r}}", "q = {>>{r}}"),
    ),
    "an interface": (
        "pair p(); assign p.a = IN[3:0], p.b = IN[7:4]; adder x(.p(p.reads), .y(OUT));\nendmodule\ninterface pair;"
        " logic [3:0] a, b; modport reads(input a, b); endinterface\nmodule adder(pair.reads p, output [4:0] y);"
        " assign y = p.a + p.b;",
        ("p.a + p.b", "p.a - p.b"),
    ),
    "declarations": (
        "parameter P = 1; localparam Q = 2; localparam type T = logic [4:0]; T t; genvar g; wire z; inner #(.N(3)) i();"
        " defparam i.N = 1; function [4:0] f(input [4:0] x); f = x; endfunction task tt; endtask ;"
        " (* some = 1 *) wire y; typedef class K; class K; int n; endclass class G #(int N = 1); int n; endclass"
        " enum logic {ONE, TWO} e; let l(x) = x; import of_ours::*; import of_ours::M; property p; IN[0]; endproperty"
        " $info(\"here\"); covergroup c @(posedge IN[0]); coverpoint IN[1]; endgroup"
        " specify specparam s = 3; (model_inp *> model_out) = 3; $setup(model_inp, posedge model_inp, 1);"
        " pulsestyle_onevent model_out; endspecify assign t = f(sum); assign OUT = t + i.N - M;\nendmodule\n"
        "package of_ours; localparam M = 1; endpackage\nmodule inner; parameter N = 2;",
        ("i.N = 1", "i.N = 4"),
    ),
}  # fmt: skip

#: A body, and the replacement (old, new) that makes it wrong.
EXAMPLES: dict[str, tuple[str, tuple[str, str]]] = {
    **DESIGNS,
    **_BODIES,
    **{
        name: (f"{_WITH} assign OUT = sum + ({zero});", (f"({zero})", f"({zero.replace(old, new, 1)})"))
        for name, (zero, old, new) in ZEROS.items()
    },
}
