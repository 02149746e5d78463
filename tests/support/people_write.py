"""One adder in many styles of hand-written RTL."""

from __future__ import annotations

__all__ = ["A", "B", "DESIGNS"]


A, B = "IN[3:0]", "IN[7:4]"

CASES = " ".join(f"{n}: OUT = {A} + {n};" for n in range(16))

LOOP = f"OUT = {B}; for (int i = 0; i < 16; i++)"

#: Each design computes the sum; the pair is the text to replace, and its replacement, to make the result wrong.
DESIGNS = {
    "a function with variables": (
        f"function automatic [4:0] f(input [3:0] a, b); logic [4:0] t; t = a; t = t + b; f = t; endfunction"
        f" always_comb OUT = f({A}, {B});",
        ("t + b", "t - b"),
    ),
    "a full case": (f"always_comb case ({B}) {CASES} endcase", ("+ 15;", "+ 14;")),
    "a full casez": (
        f"always_comb casez ({B}) 4'b1???: OUT = {A} + {B}; 4'b0?1?, 4'b0?0?: OUT = {B} + {A}; endcase",
        (f"{B} + {A}", f"{B} - {A}"),
    ),
    "a default that is not reached": (
        f"always_comb case ({B}) {CASES} default: OUT = 'x; endcase",
        ("15: OUT", "14: OUT"),
    ),
    "an X first": (f"always_comb begin OUT = 5'bx; OUT = {A} + {B}; end", (f"OUT = {A} + {B};", "OUT[3:0] = IN;")),
    "a decoder": (
        f"logic [15:0] hot; always_comb begin hot = 0; hot[{B}] = 1'b1; OUT = {A};"
        " for (int i = 0; i < 16; i++) if (hot[i]) OUT = OUT + i; end",
        ("hot[IN[7:4]] = 1'b1", "hot[IN[6:4]] = 1'b1"),
    ),
    "parts at a variable place": (
        f"logic [31:0] t; always_comb begin t = 0; t[IN[5:4] * 8 +: 8] = {A} + {B}; OUT = t[IN[5:4] * 8 +: 5]; end",
        ("t[IN[5:4] * 8 +: 5]", "t[IN[4] * 8 +: 5]"),
    ),
    "a table of two dimensions": (
        "reg [4:0] t [16:1][-8:7]; integer i, j;"
        " initial for (i = 1; i < 17; i = i + 1) for (j = -8; j < 8; j = j + 1) t[i][j] = i - 1 + j + 8;"
        f" wire signed [4:0] j0 = {A} - 8; always @* OUT = t[{B} + 5'd1][j0];",
        ("i - 1 + j + 8", "i + j + 7 + (i == 16 && j == 7)"),
    ),
    "a table of three dimensions": (
        "reg [4:0] t [0:2][0:7][0:15]; integer i, j;"
        " initial for (i = 0; i < 16; i = i + 1) for (j = 0; j < 16; j = j + 1) t[1 + i / 8][i % 8][j] = i + j;"
        f" always @* OUT = t[IN[7] + 2'd1][IN[6:4]][{A}];",
        ("i % 8", "7 - i % 8"),
    ),
    "an element of an array": (
        f"logic [4:0] t [0:3]; always_comb begin foreach (t[i]) t[i] = {A}; t[IN[5:4]] = {A} + {B}; OUT = t[IN[5:4]];"
        " end",
        ("OUT = t[IN[5:4]]", "OUT = t[IN[4]]"),
    ),
    "gates": (
        "wire [4:0] c; assign c[0] = 0; for (genvar i = 0; i < 4; i++) begin : bits wire p, g, t; supply0 low;"
        " xor (p, IN[i], IN[i + 4]); xor (OUT[i], p, c[i], low); and (g, IN[i], IN[i + 4]); nand n(t, p, c[i]);"
        " wire u; not (u, t); or (c[i + 1], g, u); end buf (OUT[4], c[4]);",
        ("nand n", "nor n"),
    ),
    "nets that are pulled": (
        "tri1 [4:0] t; tri0 [4:0] u; tri0 [4:0] v = sum; assign t = v; tri1 w; assign OUT = t + u + w - 1;",
        ("tri1 w", "tri0 w"),
    ),
    "a variable in a branch": (
        f"always_comb begin OUT = {A}; if ({B} != 0) begin automatic logic [4:0] t = {B}; OUT = OUT + t; end end",
        ("OUT + t", "OUT - t"),
    ),
    "a task": (
        f"task automatic add(input [3:0] a, b, output [4:0] y); if (a == 0) begin y = b; return; end y = a + b;"
        f" endtask always_comb add({A}, {B}, OUT);",
        ("y = b", "y = a"),
    ),
    "a while": (
        f"logic [4:0] n; always_comb begin OUT = {A}; n = 0; while (n < 16 && n < {B}) begin OUT = OUT + 1; n++; end"
        " end",
        ("n < 16", "n < 14"),
    ),
    "do and repeat": (
        f"logic [4:0] n; always_comb begin OUT = 0; n = 0; do begin OUT = OUT + IN[n[1:0] +: 1] * (1 << n); n++;"
        f" end while (n < 4); repeat (1) OUT = OUT + {B}; end",
        ("while (n < 4)", "while (n < 3)"),
    ),
    "a break": (
        f"always_comb begin {LOOP} begin if (i == {A}) break; OUT = OUT + 1; end end",
        (f"i == {A}", f"i == {A} + 1"),
    ),
    "a continue": (
        f"always_comb begin {LOOP} begin if (i >= {A}) continue; OUT = OUT + 1; end end",
        ("continue", "break; OUT = OUT + 0; if (i == 3) continue"),
    ),
    "a loop that only a break ends": (
        f"function automatic [4:0] f(input [3:0] a, b); f = a; for (int i = 0;; i++) begin if (i == b) break; f++;"
        f" if (i == 15) break; end endfunction always_comb OUT = f({A}, {B});",
        ("i == b", "i == a"),
    ),
    "an early return": (
        f"function automatic [4:0] f(input [3:0] a, b); for (int i = 0; i < 16; i++) begin if (i > 20) break;"
        f" if (a == i) return b + i; end return 0; endfunction always_comb OUT = f({A}, {B});",
        ("i < 16", "i < 15"),
    ),
    "a block around a loop is left": (
        f"always_comb begin OUT = {B}; begin : all for (int i = 0; i < 16; i++) begin if (i == {A}) disable all;"
        f" OUT = OUT + 1; end end end",
        (f"i == {A}", f"i == {A} + 1"),
    ),
    "a turn of a loop is left": (
        f"always_comb begin {LOOP} begin : turn if (i >= {A}) disable turn; OUT = OUT + 1; end end",
        ("i >=", "i >"),
    ),
    "the outer one of two blocks is left": (
        f"always @* begin : outer OUT = {A}; begin : inner if ({B} == 0) disable outer; OUT = OUT + {B}; end"
        " OUT = OUT - 1; OUT = OUT + 1; end",
        ("disable outer; OUT", "disable inner; OUT = 7; OUT"),
    ),
    "a function's block is left": (
        "function automatic [4:0] f(input [3:0] a, b); begin : all f = a; if (b == 0) disable all; f = a + b; end"
        f" endfunction always_comb OUT = f({A}, {B});",
        ("b == 0", "b == 1"),
    ),
    "counted bits": (
        f"logic [15:0] some; logic [16:0] more; always_comb begin some = (1 << {A}) - 1; more = (1 << {B}) - 1;"
        " OUT = $countbits(some, '1) + 17 - $countbits(more, 1'b0) + $countbits(4'd0, 0, 1) - 4; end",
        ("(some, '1)", "(some, '1, '0)"),
    ),
    "assertions": (
        f"always_comb begin OUT = {A}; cover (IN); assert (OUT < 16) else $error(\"no\"); OUT = OUT + {B};"
        " assert #0 (OUT < 31); late: assert final (OUT < 31); end property p(x); int l; @(posedge IN[0]) (x, l = 3)"
        " |-> l; endproperty assert property (p(IN[1])) else begin $display(\"no\"); $fatal; end sequence s;"
        " IN[0] ##1 IN[1]; endsequence default clocking cb @(posedge IN[0]); endclocking cover sequence (s);"
        " cover property (IN[1]);"
        " assert final (1); always @(negedge IN[1]) if (IN[2]) assert (IN); final assert (1); initial assert (1);",
        ("OUT + IN", "OUT - IN"),
    ),
    "a loop in a branch": (
        f"integer i; always @(IN) begin OUT = {A}; if ({B} != 0) for (i = 0; i < 4; i = i + 1)"
        f" OUT = OUT + (IN[4 + i] << i); end",
        ("i < 4", "i < 3"),
    ),
    "inside": (
        f"always_comb if ({A} inside {{0, [1:6], 4'b1??1, 7, 8, 10, 12, 14}}) OUT = {A} + {B}; else OUT = 0;",
        ("[1:6]", "[1:5]"),
    ),
    "case inside": (
        f"always_comb case ({A}) inside [0:7]: OUT = {B} + IN[2:0]; 4'b1???: OUT = {B} + {A}; default: OUT = 'x;"
        " endcase",
        ("[0:7]", "[0:8]"),
    ),
    "a wildcard": (
        f"assign OUT = {A} ==? 4'b1?x? ? {B} + {A} : {A} !=? 4'b1??? ? {A} + {B} : 3;",
        ("1??? ?", "0??? ?"),
    ),
    "a step": (f"always_comb begin OUT = {A} + {B}; OUT++; OUT -= 1; end", ("OUT++", "OUT--")),
    "a counter of the module": (
        f"integer i; always_comb begin i = 0; for (; i < 16 && i < {B}; i = i + 1) ; end assign OUT = {A} + i;",
        ("i < 16", "i < 14"),
    ),
    "powers and counts": (
        f"logic [15:0] ones; always_comb begin ones = 2**{A} - 1; OUT = $countones(ones) + $clog2(2**{B}); end",
        ("$clog2(2**", "$onehot(2**"),
    ),
}  # fmt: skip
