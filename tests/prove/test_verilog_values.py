"""Small pieces of Verilog have the values of the standard for all inputs; bits without a value are undefined."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from math import trunc
from pathlib import Path

import numpy as np
import pytest
from prove.reading import elaborated, term_of
from support.said import raises

from dais_verif.base.errors import InputError, UnsupportedVerilog
from dais_verif.prover.netlist import Cone
from dais_verif.prover.slang import design, functions
from dais_verif.prover.terms import add, const, leaves, var
from dais_verif.prover.terms.evaluate import evaluate

#: The inputs of all modules, with their widths.
INPUTS = {"a": 6, "i": 3, "b": 2}
HEAD = "module dut (input [5:0] a, input [2:0] i, input [1:0] b, output [5:0] y);\n"
NONE = None

Value = Callable[[int, int, int], int | None]


def down(a: int, i: int, b: int) -> int | None:
    return a >> (i - 2) & 7 if 2 <= i <= 5 else NONE


def up(a: int, i: int, b: int) -> int | None:
    return a >> i & 7 if i <= 3 else NONE


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def set_bits(old: int, low: int, width: int, value: int) -> int:
    mask = (1 << width) - 1
    return old & ~(mask << low) | (value & mask) << low


def cased(items: str, default: str = "default: z = 63;", kind: str = "casez", subject: str = "i") -> str:
    return f"reg [5:0] z; assign y = z; always @* {kind} ({subject}) {items} {default} endcase"


def procedure(body: str, declarations: str = "") -> str:
    return f"reg [5:0] z; assign y = z; {declarations} always @* begin {body} end"


#: name: the body, and the function that gives ``y`` for some inputs, or None where ``y`` is undefined.
VALUES: dict[str, tuple[str, Value]] = {
    # indices on the right-hand side
    "bits from a place down": ("assign y = a[i -: 3];", down),
    "bits from a place up": ("assign y = a[i +: 3];", up),
    "bits from a place down, of a vector that begins at 1": (
        "wire [6:1] v = a; assign y = v[i -: 3];",
        lambda a, i, b: down(a, i - 1, b),
    ),
    "bits from a place up, of a vector that begins at 1": (
        "wire [6:1] v = a; assign y = v[i +: 3];",
        lambda a, i, b: up(a, i - 1, b) if i else NONE,
    ),
    "bits from a constant place": (
        "assign y = {a[4 -: 2], a[0 +: 2], a[5:4]};",
        lambda a, i, b: (a >> 3 & 3) << 4 | (a & 3) << 2 | a >> 4,
    ),
    "bits from a constant place, indices rising": (
        "wire [0:5] v = a; assign y = {v[1 +: 2], v[5 -: 2], v[0:1]};",
        lambda a, i, b: (a >> 3 & 3) << 4 | (a & 3) << 2 | a >> 4,
    ),
    "a bit at a place": ("assign y = a[i];", lambda a, i, b: a >> i & 1 if i < 6 else NONE),
    "a bit at a place, indices rising": (
        "wire [0:5] v = a; assign y = v[i];",
        lambda a, i, b: a >> (5 - i) & 1 if i < 6 else NONE,
    ),
    "a bit at a signed place": (
        "wire signed [2:0] s = i; wire [2:-3] v = a; assign y = v[s];",
        lambda a, i, b: a >> (signed(i, 3) + 3) & 1 if -3 <= signed(i, 3) <= 2 else NONE,
    ),
    "a bit of a constant": (
        "localparam [6:0] K = 7'b0110100; assign y = K[i];",
        lambda a, i, b: 0b0110100 >> i & 1 if i < 7 else NONE,
    ),
    "an element of an array": (
        "wire [2:0][1:0] v = a; assign y = v[b];",
        lambda a, i, b: a >> 2 * b & 3 if b < 3 else NONE,
    ),
    "an element of a constant array": (
        "localparam logic [3:0][2:0] K = 12'o6153; assign y = K[b];",
        lambda a, i, b: (3, 5, 1, 6)[b],
    ),
    "elements from a place": (
        "wire [2:0][1:0] v = a; assign y = v[b -: 2];",
        lambda a, i, b: a >> 2 * (b - 1) & 15 if 1 <= b <= 2 else NONE,
    ),
    "a bit of an element": ("wire [2:0][1:0] v = a; assign y = v[2][b[0]];", lambda a, i, b: a >> (4 + (b & 1)) & 1),
    "a part of a part": (
        "wire [2:0][1:0] v = a; assign y = {v[1][1], v[2:1]};",
        lambda a, i, b: (a >> 3 & 1) << 4 | a >> 2,
    ),
    "beyond the lower end": (
        "assign y = {a[0 -: 2] & 2'b10, a[-1 +: 3] & 3'b110};",
        lambda a, i, b: (a & 1) << 4 | (a & 3) << 1,
    ),
    "beyond the lower end, from a place": (
        "wire [6:1] v = a; assign y = {v[1 -: 2] & 2'b10, v[0 +: 3] & 3'b110};",
        lambda a, i, b: (a & 1) << 4 | (a & 3) << 1,
    ),
    "beyond the ends": (
        "assign y = {a[7:4] & 4'b0011, a[1:0]};",
        lambda a, i, b: (a >> 4) << 2 | a & 3,
    ),
    "a member": (
        "struct packed {logic [1:0] p; logic [2:0] q; logic r;} t; assign t = a;"
        " assign y = {t.q, t.p[1], t.r, t.p[0]};",
        lambda a, i, b: (a >> 1 & 7) << 3 | (a >> 5) << 2 | (a & 1) << 1 | a >> 4 & 1,
    ),
    # indices on the left-hand side
    "a bit that is assigned": (
        procedure("z = a; z[b] = i[0];"),
        lambda a, i, b: set_bits(a, b, 1, i),
    ),
    "a bit that is assigned, indices rising": (
        procedure("v = a; v[b] = i[0]; z = v;", "reg [0:5] v;"),
        lambda a, i, b: set_bits(a, 5 - b, 1, i),
    ),
    "a bit that is assigned at a signed place": (
        procedure("v = a; v[s] = i[0]; z = v;", "wire signed [1:0] s = b; reg [2:-3] v;"),
        lambda a, i, b: set_bits(a, signed(b, 2) + 3, 1, i),
    ),
    "an element that is assigned": (
        procedure("v = a; v[b] = i[1:0]; z = v;", "reg [3:0][1:0] v;"),
        lambda a, i, b: set_bits(a, 2 * b, 2, i) & 63,
    ),
    "bits that are assigned from a place up": (
        procedure("z = a; z[b +: 3] = i;"),
        lambda a, i, b: set_bits(a, b, 3, i),
    ),
    "bits that are assigned from a place down": (
        procedure("v = a; v[b -: 2] = i[1:0]; z = v;", "reg [4:-1] v;"),
        lambda a, i, b: set_bits(a, b, 2, i),
    ),
    "bits that are assigned at constant places": (
        procedure("z = a; z[4 -: 2] = b; z[0 +: 2] = i[2:1]; z[5] = i[0];"),
        lambda a, i, b: set_bits(set_bits(set_bits(a, 3, 2, b), 0, 2, i >> 1), 5, 1, i),
    ),
    "several that are assigned": (
        procedure("{z[1:0], v, z[5:2]} = {b, 1'b1, i, 1'b0}; z[5] = v;", "reg v;"),
        lambda a, i, b: set_bits(i << 3, 0, 2, b) & 0b11111 | 1 << 5,
    ),
    "a member that is assigned": (
        procedure("t = a; t.q = i; t.p[0] = b[1]; z = t;", "struct packed {logic [1:0] p; logic [2:0] q; logic r;} t;"),
        lambda a, i, b: set_bits(set_bits(a, 1, 3, i), 4, 1, b >> 1),
    ),
    # cases
    "digits that match anything": (
        cased("3'b1??: z = 1; 3'b01?: z = 2; 3'b0?1: z = 3;"),
        lambda a, i, b: 1 if i & 4 else 2 if i & 2 else 3 if i & 1 else 63,
    ),
    "a case without digits of that kind": (
        cased("3: z = 1; 5, 6: z = 2;", kind="case"),
        lambda a, i, b: {3: 1, 5: 2, 6: 2}.get(i, 63),
    ),
    "an item that is no constant": (
        cased("b: z = 1; 3'b1?1: z = 2;"),
        lambda a, i, b: 1 if i == b else 2 if i & 5 == 5 else 63,
    ),
    "a wider item": (cased("4'b0?10: z = 1; 4'b1???: z = 2;"), lambda a, i, b: 1 if i & 3 == 2 else 63),
    "a full case": (
        cased("0, 1: z = 1; 3'b01?: z = 2; 3'b1?0: z = 3; 3'b1?1: z = 4;", ""),
        lambda a, i, b: 1 if i < 2 else 2 if i < 4 else 3 + (i & 1),
    ),
    "a full case of a wider literal": (
        cased("0: z = 1; 1: z = 2; 2: z = 3; 3: z = 4;", "", "case", "b"),
        lambda a, i, b: b + 1,
    ),
    "values inside a set": (
        "assign y = {i inside {1, [3:4], 3'b11?}, i inside {[b:5]}, !(i inside {b, 7})};",
        lambda a, i, b: (i in (1, 3, 4, 6, 7)) << 2 | (b <= i <= 5) << 1 | (i not in (b, 7)),
    ),
    "signed values inside a range": (
        "wire signed [2:0] s = i; assign y = {s inside {[3'sd1:3'sd2]}, s inside {[3'sd0:b]}};",
        lambda a, i, b: (1 <= signed(i, 3) <= 2) << 1 | (i <= b),
    ),
    "wildcards": ("assign y = {i ==? 3'b1?0, i !=? 3'b?1?};", lambda a, i, b: (i & 5 == 4) << 1 | (not i & 2)),
    "bits one after another": (
        procedure("z = 0; foreach (v[k]) z[5 - k] = v[k];", "wire [5:0] v = a;"),
        lambda a, i, b: int(f"{a:06b}"[::-1], 2),
    ),
    "bits one after another, indices rising": (
        procedure("z = 0; foreach (v[k]) z[k] = v[k];", "wire [0:5] v = a;"),
        lambda a, i, b: int(f"{a:06b}"[::-1], 2),
    ),
    "a power of unsigned constants": ("assign y = a + 6'd3 ** 2'd2;", lambda a, i, b: a + 9),
    # variables with an initial value only
    "a variable that keeps its declaration's constant": (
        "reg [2:0] p = 1; always @* p = i; reg [5:0] k = 9; reg [5:0] l = 20; assign y = k + p + l;",
        lambda a, i, b: 29 + i,
    ),
    "a variable that an initial block fills": (
        "reg [5:0] k, l; initial k = 9; initial begin l = 3; end assign y = a + k * l;",
        lambda a, i, b: a + 27,
    ),
    # expressions
    "a signed value that is extended": ("wire signed [2:0] s = i; assign y = s;", lambda a, i, b: signed(i, 3)),
    "a signed value among unsigned ones": ("wire signed [2:0] s = i; assign y = s + b;", lambda a, i, b: i + b),
    "signed values that are extended": (
        "wire signed [2:0] s = i; wire signed [1:0] t = b; assign y = s + t;",
        lambda a, i, b: signed(i, 3) + signed(b, 2),
    ),
    "a cast of a sign and of a width": (
        "assign y = {3'(signed'(b)), 3'(b)};",
        lambda a, i, b: (signed(b, 2) & 7) << 3 | b,
    ),
    "a literal with X beside known digits": (
        procedure("z = b[0] ? 6'b01x01x : 6'd0; z[0] = 0; z[3] = 1;"),
        lambda a, i, b: 0b011010 if b & 1 else 0b001000,
    ),
    "shifts of signed values": (
        "wire signed [5:0] s = a; assign y = (b[0] ? s >>> i : s >> i);",
        lambda a, i, b: signed(a, 6) >> i if b & 1 else a >> i,
    ),
    "shifts of unsigned values": ("assign y = a >>> i;", lambda a, i, b: a >> i),
    "one sign is not enough": (
        "wire signed [2:0] s = i; wire signed [1:0] t = b; assign y = {s < t, s < b, s < $signed(b), i < b};",
        lambda a, i, b: (signed(i, 3) < signed(b, 2)) * 10 | (i < b) * 5,
    ),
    "quotients of signed values": (
        "wire signed [5:0] s = a; assign y = b[0] ? s / 6'sd5 : s % 6'sd5;",
        lambda a, i, b: trunc(signed(a, 6) / 5) if b & 1 else signed(a, 6) - 5 * trunc(signed(a, 6) / 5),
    ),
    "powers": ("assign y = 2 ** i + 6'd9;", lambda a, i, b: (1 << i) + 9),
    "reductions": (
        "assign y = {&i, |i, ^i, ~&a, ~|a, ~^a};",
        lambda a, i, b: (
            (i == 7) << 5
            | (i > 0) << 4
            | i.bit_count() % 2 << 3
            | (a != 63) << 2
            | (a == 0) << 1
            | 1 - a.bit_count() % 2
        ),
    ),
    "counts": (
        "assign y = {$countones(a), $onehot(i), $onehot0(i)};",
        lambda a, i, b: a.bit_count() << 2 | (i.bit_count() == 1) << 1 | (i.bit_count() <= 1),
    ),
    "digits that a number needs": ("assign y = $clog2(a);", lambda a, i, b: max(a - 1, 0).bit_length() if a else 0),
    "a literal with X that chooses nothing": ("assign y = {3'b1x0, i} & 6'b101111;", lambda a, i, b: 0b100000 | i),
    "gates": (
        "and (y[0], a[0], a[1]); or (y[1], a[0], a[1], i[0]); xnor (y[2], a[0], a[1], a[2]); nand (y[3], i[0], i[1]);"
        " nor (y[4], b[0], b[1]); not (y[5], a[5]);",
        lambda a, i, b: (
            (a & 3 == 3)
            | (a & 3 > 0 or i & 1 > 0) << 1
            | (1 - (a & 7).bit_count() % 2) << 2
            | (i & 3 != 3) << 3
            | (b == 0) << 4
            | (1 - (a >> 5)) << 5
        ),
    ),
    "a function with a loop": (
        "function [5:0] f(input [5:0] x, input [2:0] n); begin f = 1; for (int k = 0; k < 6; k++) begin"
        " if (k == n) break; if (!x[k]) continue; f = f + 2; end end endfunction assign y = f(a, i);",
        lambda a, i, b: 1 + 2 * (a & (1 << i) - 1).bit_count(),
    ),
    "a function that returns early": (
        "function automatic [5:0] f(input [5:0] x); begin for (int k = 5; k >= 0; k--) if (x[k]) return k; return 63;"
        " end endfunction assign y = f(a);",
        lambda a, i, b: a.bit_length() - 1 if a else 63,
    ),
    "a variable of two states begins at 0": (
        "function automatic [5:0] f(input [5:0] x); begin bit [5:0] k; k[2:0] = x; return k; end endfunction"
        " assign y = f(a);",
        lambda a, i, b: a & 7,
    ),
    "a task": (
        procedure(
            "add(a, i, z);", "task automatic add(input [5:0] p, input [2:0] q, output [5:0] r); r = p + q; endtask"
        ),
        lambda a, i, b: a + i,
    ),
    "a step of a variable": (procedure("z = a; z += b; z <<= 1; z--;"), lambda a, i, b: (a + b) * 2 - 1),
    "an array of signals": (
        "wire [1:0] w [0:2]; assign w[0] = a[1:0]; assign w[1] = a[3:2]; assign w[2] = a[5:4];"
        " assign y = {w[0], w[2], w[1]};",
        lambda a, i, b: (a & 3) << 4 | (a >> 4) << 2 | a >> 2 & 3,
    ),
    "a table that is filled": (
        "reg [5:0] t [0:7]; initial begin t[0] = 9; for (int k = 1; k < 7; k++) t[k] = 3 * k; end assign y = t[i];",
        lambda a, i, b: NONE if i == 7 else 3 * i if i else 9,
    ),
    "a table with signed places": (
        "reg [5:0] t [-2:1]; wire signed [1:0] s = b;"
        " initial begin t[-2] = 5; t[-1] = 6; t[0] = 7; t[1] = 8; end assign y = t[s];",
        lambda a, i, b: signed(b, 2) + 7,
    ),
}


def holds(body: str, meant: Value, folder: Path) -> tuple[object, ...] | None:
    """Return the first inputs on which the module differs from ``meant``, with the values; None if there are none."""
    term = term_of(elaborated(f"{HEAD}{body}", folder, "slang"), "y")
    rows = list(product(*(range(1 << width) for width in INPUTS.values())))
    columns = dict(zip(INPUTS, np.array(rows, dtype=np.uint64).T, strict=True))

    def found(filled: bool) -> list[int]:
        """Return the values with all undefined bits set to 0, or to 1 if ``filled``."""
        given = {t: columns[str(t.data)] for t in leaves(term) if t.op == "var"}
        for t in leaves(term):
            if t.op == "undefined":
                given[t] = np.full(len(rows), (1 << t.width) - 1 if filled else 0, dtype=np.uint64)
        return np.broadcast_to(evaluate([term], given)[0], len(rows)).tolist()

    for row, zeros, ones in zip(rows, found(False), found(True), strict=True):
        wanted = meant(*row)
        right = zeros != ones if wanted is None else zeros == ones == wanted % 64
        if not right:
            return (*row, wanted, zeros, ones)
    return None


@pytest.mark.parametrize("name", VALUES)
def test_all_inputs(name: str, tmp_path: Path) -> None:
    body, meant = VALUES[name]
    assert holds(f"{body}\nendmodule", meant, tmp_path) is None


INNER = """
module inner (input [2:0] p, output signed [2:0] o, output [2:0] u); assign o = p; assign u = p; endmodule
"""
#: Connections of the outputs of an instance of ``inner`` to wires of other widths.
CONNECTED: dict[str, tuple[str, Value]] = {
    "a signed output to a wider wire": ("inner n (.p(i), .o(y));", lambda a, i, b: signed(i, 3)),
    "an unsigned output to a wider wire": ("inner n (.p(i), .u(y));", lambda a, i, b: i),
    "high bits of a wider wire": (
        "wire [5:0] w; inner n (.p(i), .o(w)); assign y = {w[5:4], w[3:2], w[1:0]} ^ {4'd0, w[4:3]};",
        lambda a, i, b: signed(i, 3) ^ (i >> 2) * 3,
    ),
    "an output to parts of wires": (
        "wire [5:0] w; inner n (.p(i), .u({w[0], w[5:4]})); assign w[3:1] = a; assign y = w;",
        lambda a, i, b: (i & 3) << 4 | (a & 7) << 1 | i >> 2,
    ),
    "a narrower wire": ("wire [1:0] w; inner n (.p(i), .u(w)); assign y = w;", lambda a, i, b: i & 3),
    "a wider input": ("inner n (.p(a), .u(y));", lambda a, i, b: a & 7),
    "a narrower signed input": ("wire signed [1:0] s = b; inner n (.p(s), .u(y));", lambda a, i, b: signed(b, 2) & 7),
}


@pytest.mark.parametrize("name", CONNECTED)
def test_connections(name: str, tmp_path: Path) -> None:
    body, meant = CONNECTED[name]
    assert holds(f"{body}\nendmodule{INNER}", meant, tmp_path) is None


#: name: the body, and the reason why it is refused.
REFUSED = {
    "a case with an item that is no constant": (
        cased("b: z = 1; 3'b0??: z = 2; 3'b1??: if (a[0]) z = 3;", ""),
        "latch",
    ),
    "a case that leaves one value": (cased("0, 1, 2, 3, 4, 5, 6: z = 1;", "", "case"), "latch"),
    "a power of signed constants": ("assign y = a + 6'sd3 ** 2'sd1;", ""),
    "a signed item with X at its top": (cased("3'sb?01: z = 1;", "default: z = 2;", "casez", "a"), ""),
    "a task within a task that reads what its caller does not see": (
        procedure("outer(b);", "task inner(input p); z = a; endtask task outer(input q); inner(q); endtask"),
        "task 'inner' reads 'a'",
    ),
    "signed values inside a range that begins below 0": (
        "wire signed [2:0] s = i; assign y = s inside {[-3'sd2:3'sd1]};",
        "simulators differ in the sign of this range",
    ),
    "a signed value in a list with an entry that is not": (
        "wire signed [1:0] s = i; assign y = s inside {4'd15, 4'd14};",
        "differ in the sign of the operand of inside",
    ),
    "a signed value in a list with a range, and an entry that is not": (
        "wire signed [1:0] s = i; assign y = s inside {[-1:0], 9'd2};",
        "differ in the sign of the operand of inside",
    ),
    "a signed case inside with an item that is not": (
        "wire signed [1:0] s = i; logic z; always_comb case (s) inside 4'd15: z = 1; default: z = 0; endcase"
        " assign y = z;",
        "differ in the sign of the operand of inside",
    ),
    "the variable of a loop that a branch has": (
        "integer n; logic [5:0] z; always @* begin z = i; if (a[0]) for (n = 0; n < 4; n = n + 1) ; z = n; end"
        " assign y = z;",
        "latch",
    ),
    "items that are none of its values": (cased("4'b1???: z = 1; 3'b0??: z = 2;", ""), "latch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    body, why = REFUSED[name]
    with raises(InputError, match=why):
        term_of(elaborated(f"{HEAD}{body}\nendmodule", tmp_path, "slang"), "y")


@pytest.mark.parametrize("block", ["always_comb", "initial"])
def test_turns_of_loops_are_counted_in_each_block(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_MOST_TURNS", 10)

    def read(turns: int) -> None:
        loop = f"begin z = 0; for (int k = 0; k < {turns}; k++) z[k % 6] = 1; end"
        head = "module dut (input c, output [5:0] y); reg [5:0] z, v;"
        text = f"{head} {block} {loop} {block} {loop.replace('z', 'v')} assign y = z ^ v;\nendmodule"
        netlist = elaborated(text, tmp_path, "slang")
        for driver in (d for signal in netlist.signals.values() for d in signal.drivers):
            driver.make(lambda signal, low, width: var(width, "some value"))

    read(9)
    with pytest.raises(UnsupportedVerilog, match=r"calls run.*10 times"):
        read(11)


def test_an_item_without_wildcards_is_compared_as_a_whole(tmp_path: Path) -> None:
    bodies = (cased("3'd5: z = 1;", "default: z = 2;"), "assign y = (i == 3'd5) ? 6'd1 : 6'd2;")
    one, other = (term_of(elaborated(f"{HEAD}{body}\nendmodule", tmp_path, "slang"), "y") for body in bodies)
    assert one is other


def test_functions_within_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_NESTED", 3)
    names = [f"f{n}" for n in range(4)]
    inner = ["function [5:0] f0(input [5:0] x); f0 = x + 1; endfunction"]
    inner += [
        f"function [5:0] {f}(input [5:0] x); {f} = {g}(x) + 1; endfunction"
        for f, g in zip(names[1:], names, strict=False)
    ]
    body = f"{HEAD}{' '.join(inner)} assign y = "
    assert term_of(elaborated(f"{body}f2(a);\nendmodule", tmp_path, "slang"), "y") is add(var(6, "a"), const(6, 3))
    with pytest.raises(UnsupportedVerilog, match=r"calls.*end.*3 times"):
        term_of(elaborated(f"{body}f3(a);\nendmodule", tmp_path, "slang"), "y")


CLOCKED = "module dut (input c, input r, input [5:0] a, output [5:0] y);"


def test_every_bit_of_a_register_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    body = "reg [5:0] q; always_ff @(posedge c) for (int k = 0; k < a; k++) q <= k; assign y = q;"
    netlist = elaborated(f"{CLOCKED} {body} endmodule", tmp_path, "slang")
    for bit in range(6):
        with raises(UnsupportedVerilog, match=r"end.*signal"):
            Cone(lambda signal, low, width: None).read(netlist.signals["q"], bit, 1)


def test_which_edge_is_the_clock_is_not_asked_where_a_block_goes_on(tmp_path: Path) -> None:
    block = "if (r) q <= 0; else q <= a;"
    head = f"{CLOCKED} reg [5:0] q, p; assign y = q; always_ff @(posedge c or posedge r)"
    (driver,) = elaborated(f"{head} begin {block} end endmodule", tmp_path, "slang").signals["q"].drivers
    assert driver.clock is not None
    assert [(reset.name, value) for reset, value in driver.clock.resets] == [("r", 0)]
    with pytest.raises(InputError):
        term_of(elaborated(f"{head} begin {block} p <= a; end endmodule", tmp_path, "slang"), "y")


def test_turns_of_loops_are_counted_in_an_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_MOST_TURNS", 10)

    def read(turns: int) -> None:
        loop = f"for (int k = 0; k < {turns}; k++) f = f + x;"
        function = f"function [5:0] f(input [5:0] x); begin f = 0; {loop} end endfunction"
        text = f"{HEAD}{function} wire [5:0] z = f(~a); assign y = f(z);\nendmodule"
        term_of(elaborated(text, tmp_path, "slang"), "y")

    read(10)  # counted for each assignment separately
    with pytest.raises(UnsupportedVerilog, match=r"calls run.*10 times"):
        read(11)


def test_assignments_that_call_functions_may_follow_one_another(tmp_path: Path) -> None:
    """More assignments that call functions can follow one another than calls may be nested."""
    function = "function [5:0] f(input [5:0] x); f = {x[4:0], x[5]}; endfunction"
    chain = "".join(f"wire [5:0] z{n} = f(z{n - 1});\n" for n in range(1, 121))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # as proofs set it, with a stack that is large enough
    try:
        text = f"{HEAD}{function}\nwire [5:0] z0 = a;\n{chain}assign y = z120;\nendmodule"
        rotated = term_of(elaborated(text, tmp_path, "slang"), "y")
    finally:
        sys.setrecursionlimit(limit)
    assert rotated == term_of(elaborated(f"{HEAD}assign y = a;\nendmodule", tmp_path, "slang"), "y")
