"""Unpacked structures, assignment patterns and streams are read as what they compute; faulty copies are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.adder import ADDER
from support.adder_rtl import SUMS, clocked, combinational, values
from support.said import raises

from dais_verif.base.errors import InputError

PARTS = "wire [3:0] A = IN[3:0], B = IN[7:4]; "
PAIR = "typedef struct { logic [3:0] a; logic [6:0] b; } pair; "
DEEP = "typedef struct { logic [3:0] a; logic [6:0] b; logic signed [2:0] c [0:1]; } deep; "

#: Designs that compute the sum, and the replacement (old, new) after which they do not.
DESIGNS = {
    "members": (PAIR + "pair s; assign s.a = A; assign s.b = B; assign OUT = s.a + s.b;", ("s.b = B", "s.b = IN[6:4]")),
    "in a block": (
        PAIR + "pair s; always_comb begin s.a = A; s.b = B; OUT = s.a + s.b; end",
        ("s.a + s.b", "s.b + s.b"),
    ),
    "by place": (
        DEEP + "deep s; always_comb begin s = '{A, B, '{1, 2}}; OUT = s.a + s.b + 2 * s.c[0] - s.c[1]; end",
        ("'{1, 2}", "'{2, 1}"),
    ),
    "by name": (
        DEEP + "deep s; always_comb begin s = '{c: '{1, 2}, b: B, a: A}; OUT = s.a + s.b + s.c[1] - 2; end",
        ("c[1]", "c[0]"),
    ),
    "the others alike": (
        PAIR + "pair s; always_comb begin s = '{a: A, default: 3}; OUT = s.a + B + s.b - 3; end",
        ("default: 3", "default: 2"),
    ),
    "all zeros": (
        DEEP + "deep s; always_comb begin s = '{b: B, default: 0}; OUT = A + s.b - s.a + s.c[1]; end",
        ("b: B, default", "a: B, default"),
    ),
    "as a whole": (
        DEEP + "deep s, t; assign s = '{A, B, '{1, 2}}; always_comb begin t = s; t.c[0] = s.c[1]; OUT = t.a +"
        " t.b + t.c[0] - t.c[1]; end",
        ("t.c[0] = s.c[1]", "t.c[0] = s.c[0]"),
    ),
    "an array of them": (
        PAIR + "pair s [0:1]; always_comb begin s[0] = '{A, 9}; s[1] = s[0]; s[1].b = B; OUT = s[0].a + s[1].b; end",
        ("s[1].b; end", "s[0].b; end"),
    ),
    "one of an array": (
        PAIR + "pair s [0:1]; always_comb begin s[1] = '{A, B}; s[0] = '{B, A}; OUT = s[IN[2]].a + s[IN[2]].b; end",
        ("s[IN[2]].b", "s[IN[1]].b"),
    ),
    "of a function": (
        PAIR + "function automatic pair f(input [7:0] x); f.a = x; f.b = x >> 4; endfunction function automatic"
        " [4:0] g(input pair s); return s.a + s.b; endfunction always_comb OUT = g(f(IN));",
        ("x >> 4", "x >> 3"),
    ),
    "chosen": (
        PAIR + "pair s, t, u; always_comb begin s = '{A, B}; t = '{B, A}; u = s == t || IN[0] ? s : t; OUT = u.a"
        " + u.b; end",
        ("t = '{B", "t = '{IN[6:4]"),
    ),
    "constants": (
        "typedef struct { logic [6:0] b; logic signed [2:0] c [0:1]; } tiny; localparam tiny K [0:1] ="
        " '{'{9, '{1, 2}}, '{5, '{2, 3}}}; tiny k = '{4, '{1, 2}}; always_comb OUT = A + B + K[0].c[1]"
        " + K[1].c[0] + K[1].b - k.b - 5;",
        ("{9, '{1, 2}}", "{9, '{2, 1}}"),
    ),
    "nested": (
        "typedef struct { struct packed { logic x; logic [2:0] y; } p; struct { logic q; logic [2:0] r; }"
        " u; } nest; nest n; always_comb begin n.p = A; n.u = '{IN[7], IN[6:4]}; OUT = 8 * n.p.x + n.p.y"
        " + {n.u.q, n.u.r}; end",
        ("'{IN[7], IN[6:4]}", "'{IN[4], IN[7:5]}"),
    ),
    "a packed union": (
        "union packed { logic [7:0] w; struct packed { logic [3:0] h, l; } p; } u; always_comb begin u.w"
        " = IN; OUT = u.p.h + u.p.l; end",
        ("u.p.h + u.p.l", "u.p.h - u.p.l"),
    ),
    "a pattern many times": (
        "logic [3:0] t [0:3]; always_comb begin t = '{2{A, B}}; OUT = t[2] + t[1]; end",
        ("t[2] + t[1]", "t[2] + t[0]"),
    ),
    "bits in opposite order": (
        "wire [7:0] r = {<<{IN}}; assign OUT = {r[4], r[5], r[6], r[7]} + {r[0], r[1], r[2], r[3]};",
        ("{<<{IN}}", "{>>{IN}}"),
    ),
    "slices": ("wire [7:0] r = {<<4{A, B}}; assign OUT = r[7:4] + r[3:0] + r[3:0] - A;", ("{<<4{", "{>>4{")),
    "a last slice": ("wire [7:0] r = {<<3{IN}}; assign OUT = {r[2], r[7:5]} + {r[1:0], r[4:3]};", ("{<<3{", "{<<5{")),
    "bytes": (
        "wire [15:0] r = {<<byte{4'd0, A, 4'd0, B}}; assign OUT = r[15:8] - r[7:0] + 2 * A;",
        ("<<byte", ">>byte"),
    ),
    "wider": ("wire [11:0] r = {<<4{IN}}; assign OUT = r[11:8] + r[7:4] + r[3:0];", ("{<<4{IN}}", "IN + 9")),
    "a stream of a stream": (
        "wire [7:0] r = {<<4{{<<{IN}}}}; assign OUT = {r[0], r[1], r[2], r[3]} + {r[4], r[5], r[6], r[7]};",
        ("{<<4{", "{<<2{"),
    ),
    "of an array": (
        "wire [3:0] t [0:1]; assign t[0] = A, t[1] = B; wire [7:0] r = {>>{t}}; assign OUT = r[3:0] - r[7:4] + 2 * A;",
        ("[0:1]", "[1:0]"),
    ),
    "to parts": (
        "wire [3:0] a, b; assign {>>{a, b}} = IN; assign OUT = a + b;",
        ("{>>{a, b}}", "{>>{b[3:1], a, b[0]}}"),
    ),
    "to slices": (
        "wire [3:0] a, b; assign {<<2{a, b}} = IN; assign OUT = {a[1:0], a[3:2]} + {b[1:0], b[3:2]};",
        ("{<<2{", "{<<4{"),
    ),
    "to bits": (
        "logic [3:0] a, b; always_comb begin {<<{a, b}} = IN; OUT = {a[0], a[1], a[2], a[3]} + {b[0],"
        " b[1], b[2], b[3]}; end",
        ("{<<{a", "{>>{a"),
    ),
}


def of(body: str) -> str:
    return combinational(PARTS + body)


@pytest.mark.parametrize("name", DESIGNS)
def test_it_is_read_as_what_it_computes(name: str, tmp_path: Path) -> None:
    body, (old, new) = DESIGNS[name]
    assert values(of(body), tmp_path) == SUMS
    assert old in body
    assert values(of(body.replace(old, new)), tmp_path) != SUMS


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_a_simulator_agrees(name: str, tmp_path: Path) -> None:
    body, (old, new) = DESIGNS[name]
    text = of(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, rtl=text, confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["confirmation"]["simulators"], run.tree["confirmation"]
    run = run_prove(ADDER, tmp_path, rtl=text.replace(old, new))
    assert run.statuses("output")[0] == "REFUTED" and run.exit_code != 0, run.tree["message"]


def test_registers_in_a_structure(tmp_path: Path) -> None:
    body = PAIR + "pair s; always_ff @(posedge clk) begin s.a <= A; s.b <= B; end assign OUT = s.a + s.b;"
    text = clocked(PARTS + body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["timing"]["latency"] == 1
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text.replace("s.b <= B", "s.b <= IN[6:4]"))
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


def test_a_structure_between_modules(tmp_path: Path) -> None:
    """Structures can be passed between modules; each member may be a cut point."""
    sub = PAIR + "\nmodule sub(input pair i, output pair o); assign o.a = i.b; assign o.b = i.a; endmodule\n"
    body = "pair s, t; assign s = '{A, B}; sub u(s, t); assign OUT = t.a + t.b;"
    assert values(sub + of(body), tmp_path) == SUMS
    assert values(sub.replace("o.a = i.b", "o.a = i.a") + of(body), tmp_path) != SUMS


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("union { logic [7:0] w; logic [3:0] l; } u; always_comb begin u.w = IN; OUT = u.l; end", ""),
        ("struct { logic [3:0] a = 3; logic b; } s; assign OUT = sum + s.a;", "values"),
        ("struct { logic [3:0] a; real b; } s; assign OUT = sum + s.a;", "values"),
        (PAIR + "pair s; always_comb begin if (IN[0]) s.a = 3; s.b = 3; OUT = s.b; end", ""),
        (DEEP + "deep s; always_comb begin s = '{a: 1, default: 3}; OUT = s.c[1]; end", ""),
        ("logic [1:0][2:0][3:0] t; assign t = '{default: 3}; assign OUT = t[1][1];", ""),
        ("logic [3:0] t [0:1][0:2]; assign t = '{default: '{default: 3}}; assign OUT = t[1][1];", ""),
        ("logic [3:0] a; always_comb begin {<<3{a}} = IN[3:0]; OUT = a; end", ""),
        ("wire [2:0] a; assign {>>{a}} = IN; assign OUT = a;", "right-hand"),
        ("wire [12:0] r = IN[0] ? {<<{IN}} : IN; assign OUT = r;", "stream"),
        ("function automatic [9:0] f(input [9:0] a); return a; endfunction always_comb OUT = f({<<3{IN}});",
         "stream"),
        ("logic [3:0] t [0:3]; always_comb begin t = {>>{IN}}; OUT = t[0]; end", "stream"),
        ("localparam [15:0] r = {<<3{12'h234}}; assign OUT = r ^ IN;", "stream"),
    ],
    ids=[
        "a union", "a first value", "a real", "a member that is kept", "a default of an array", "of a packed one",
        "of a pattern", "a last slice on the left", "too many bits", "a wider choice", "a wider argument",
        "a wider array", "a wider constant",
    ],
)  # fmt: skip
def test_what_is_not_decided_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with raises(InputError, match=message):
        values(of(body), tmp_path)


@pytest.mark.parametrize(("index", "verdict"), [("i", "PASS"), ("0", "RTL_MISMATCH")])
def test_foreach_over_unpacked_structures(index: str, verdict: str, tmp_path: Path) -> None:
    text = f"""module model(input [7:0] model_inp, output [4:0] model_out);
    typedef struct {{ logic [3:0] v; }} element; element x [2]; logic [4:0] s;
    assign x[0].v = model_inp[3:0]; assign x[1].v = model_inp[7:4];
    always_comb begin s = 0; foreach (x[i]) s = s + x[{index}].v; end
    assign model_out = s; endmodule"""
    run = run_prove(ADDER, tmp_path, "--front-end", "slang", rtl=text)
    assert run.tree["verdict"] == verdict, run.tree["message"]
