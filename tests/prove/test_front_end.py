"""Both front ends read Verilog as Icarus does, and code that is not logic is refused."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from prove.reading import FRONT_ENDS, SLOW_FRONT_ENDS, elaborated, term_of, value_of, values_of
from support.random_expressions import INPUTS, expression, result
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, ToolError, UnknownTop
from dais_verif.base.toolchain import tools
from dais_verif.prover.terms import leaves


@pytest.mark.parametrize("front_end", SLOW_FRONT_ENDS)
def test_expressions_have_the_values_that_icarus_gives_them(front_end: str, tmp_path: Path) -> None:
    """Hundreds of random expressions of mixed signs and widths, self- and context-determined, agree with Icarus."""
    rng = random.Random(7)
    declarations = [f"wire {sign} [{w - 1}:0] y{n}" for n, (sign, w) in enumerate(result(rng) for _ in range(400))]
    assigns = [f"  assign y{n} = {expression(rng, 3)};" for n in range(len(declarations))]
    ports = [f"input {sign} [{w - 1}:0] {name}" for name, (sign, w) in INPUTS.items()]
    outputs = [f"output {d}" for d in declarations]
    text = "\n".join([f"module dut({', '.join([*ports, *outputs])});", *assigns, "endmodule"])
    rows = [{name: some(rng, w) for name, (_, w) in INPUTS.items()} for _ in range(12)]
    wanted = run_icarus(text, [d.split()[-1] for d in declarations], declarations, rows, tmp_path)
    netlist = elaborated(text, tmp_path, front_end)
    for n, assign in enumerate(assigns):
        found = values_of(term_of(netlist, f"y{n}"), rows)
        assert found == [values[n] for values in wanted], (assign, rows)


@pytest.mark.parametrize("front_end", SLOW_FRONT_ENDS)
def test_strings_and_a_block_of_one_assignment_as_cell_models_have_them(front_end: str, tmp_path: Path) -> None:
    cell = """module cell_ #(parameter MODE = "PLAIN") (input [7:0] a, output reg [7:0] y);
      generate if (MODE == "INVERTED") always @* y <= ~a; else always @* y <= a; endgenerate
    endmodule"""
    top = """module dut(input [7:0] a, output [7:0] y, z);
      cell_ #("INVERTED") one(a, y); cell_ two(.a(a), .y(z));
    endmodule"""
    netlist = elaborated(f"{cell}\n{top}", tmp_path, front_end)
    assert [value_of(term_of(netlist, name), {"a": 5}) for name in "yz"] == [250, 5]


def some(rng: random.Random, width: int) -> int:
    return rng.choice((0, (1 << width) - 1, 1 << (width - 1), rng.getrandbits(width), rng.getrandbits(width)))


def run_icarus(
    text: str, names: list[str], wires: list[str], rows: list[dict[str, int]], folder: Path
) -> list[list[int]]:
    try:
        icarus = tools.icarus()
    except ToolError as error:
        pytest.skip(str(error))
    (folder / "design.v").write_text(text)
    regs = [f"  reg {sign} [{w - 1}:0] {name};" for name, (sign, w) in INPUTS.items()]
    shows = [f'    $display("%h", {name});' for name in names]
    steps = []
    for row in rows:
        steps += [f"    {name} = {INPUTS[name][1]}'d{value};" for name, value in row.items()] + ["    #1;", *shows]
    connect = ", ".join(f".{name}({name})" for name in [*INPUTS, *names])
    lines = ["module bench;", *regs, *(f"  {w};" for w in wires), f"  dut i({connect});", "  initial begin", *steps]
    (folder / "bench.v").write_text("\n".join([*lines, "  end", "endmodule"]))
    out = folder / "bench.vvp"
    sources = [str(folder / "design.v"), str(folder / "bench.v")]
    subprocess.run([str(icarus.iverilog), "-g2005", "-o", str(out), *sources], check=True, timeout=120)
    done = subprocess.run([str(icarus.vvp), "-n", str(out)], check=True, timeout=120, capture_output=True, text=True)
    values = [int(word, 16) for word in done.stdout.split()]
    assert len(values) == len(rows) * len(names)
    return [values[n * len(names) : (n + 1) * len(names)] for n in range(len(rows))]


def procedure(body: str, declarations: str = "") -> str:
    return f"""module dut(input [3:0] a, input signed [3:0] b, input c, output [7:0] y);
{declarations}
{body}
endmodule"""


@pytest.mark.parametrize("front_end", SLOW_FRONT_ENDS)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("reg [7:0] r; always @* begin r = a; if (c) r = r + 1; end assign y = r;", lambda a, b, c: a + c),
        ("reg [7:0] r; always @(a or c) if (c) r = a; else r = ~a; assign y = r;", lambda a, b, c: a if c else ~a),
        (
            "reg [7:0] r; always @* case (a) 0: r = 5; 1, 2: r = 6; default: r = a; endcase assign y = r;",
            lambda a, b, c: {0: 5, 1: 6, 2: 6}.get(a, a),
        ),
        (
            "reg [7:0] r; always @* casez (a) 4'b1???: r = 1; 4'b?1??: r = 2; default: r = 3; endcase assign y = r;",
            lambda a, b, c: 1 if a & 8 else 2 if a & 4 else 3,
        ),
        (
            "integer i; reg [7:0] r; always @* begin r = 0; for (i = 0; i < 4; i = i + 1) r = r + a[i]; end"
            " assign y = r;",
            lambda a, b, c: bin(a).count("1"),
        ),
        (
            "integer i; reg [7:0] r; always @* for (i = 0; i < 4; i = i + 1) begin r[2*i] = a[3 - i]; r[2*i+1] = c; end"
            " assign y = r;",
            lambda a, b, c: sum((a >> (3 - i) & 1) << 2 * i | c << (2 * i + 1) for i in range(4)),
        ),
        (
            "function [7:0] f(input [3:0] x); f = x * x; endfunction assign y = f(a) - f(3);",
            lambda a, b, c: a * a - 9,
        ),
        (
            "function [7:0] f(input [3:0] x); begin f = x; if (x > 7) f = 8'd16 - x; end endfunction assign y = f(a);",
            lambda a, b, c: 16 - a if a > 7 else a,
        ),
        ("wire [3:0] p; wire [3:0] q; assign {p, q} = {b, a}; assign y = p * q;", lambda a, b, c: (b & 15) * a),
        ("assign y[3:0] = a; assign y[7:4] = b;", lambda a, b, c: a | (b & 15) << 4),
        ("assign y = a[b[1:0]];", lambda a, b, c: a >> (b & 3) & 1),
        ("wire [0:3] r; assign r = a; assign y = {r[0], r[1:3]} + r[3];", lambda a, b, c: a + (a & 1)),
        ("wire [5:2] r; assign r = a; assign y = r[3 +: 2] + r[5 -: 2];", lambda a, b, c: (a >> 1 & 3) + (a >> 2)),
        (
            "reg [7:0] m [3:0]; initial begin m[0] = 9; m[1] = 8; m[2] = 250; m[3] = 1; end assign y = m[a[1:0]];",
            lambda a, b, c: (9, 8, 250, 1)[a & 3],
        ),
        (
            "reg signed [7:0] m [-2:1]; integer k; initial for (k = -2; k < 2; k = k + 1) m[k] = k * 3;"
            " wire signed [1:0] i = b; assign y = m[i];",
            lambda a, b, c: 3 * (((b & 3) ^ 2) - 2),
        ),
        (
            "genvar g; wire [7:0] s [0:0]; wire [3:0] t; generate for (g = 0; g < 4; g = g + 1) begin : bits"
            " wire n; assign n = a[g] ^ c; assign t[g] = n; end endgenerate assign y = t;".replace(
                "wire [7:0] s [0:0]; ", ""
            ),
            lambda a, b, c: a ^ (15 if c else 0),
        ),
        (
            "reg [7:0] m [0:3]; initial begin m[0] = 9; m[1] = 8; m[2] = 7; m[3] = 6; end"
            " reg [7:0] r; always @* begin r = 1; if (c) r = m[a[1:0]]; end assign y = r;",
            lambda a, b, c: 9 - (a & 3) if c else 1,
        ),
        (
            "integer i; reg [7:0] r, q; always @* begin r = 0; for (i = 0; i < 4; i = i + 1) r = r + a[i]; end"
            " always @* begin q = 0; for (i = 0; i < 4; i = i + 1) q = q + b[i]; end assign y = r * q;",
            lambda a, b, c: bin(a).count("1") * bin(b & 15).count("1"),
        ),
        (
            "reg [7:0] r; always @* casez ({c, a}) 5'b1????: r = a; 5'b0000?: r = 17; 5'b?1???: r = 2;"
            " default: r = 3; endcase assign y = r;",
            lambda a, b, c: a if c else 17 if a < 2 else 2 if a & 8 else 3,
        ),
        (
            "wire [4:0] k; assign k[0] = c; genvar g; generate for (g = 0; g < 4; g = g + 1) begin : carry"
            " assign k[g + 1] = a[g] & b[g] | k[g] & (a[g] | b[g]); end endgenerate assign y = k[4];",
            lambda a, b, c: a + (b & 15) + c >> 4,
        ),
        ("wire [3:0] p = a, q = p; wire [7:0] z = 8'd40; assign y = {q, p} ^ z;", lambda a, b, c: (a << 4 | a) ^ 40),
        ("sub #(.W(4)) s (.x(a), .z(y[3:0])); assign y[7:4] = 0;", lambda a, b, c: -a & 15),
        ("sub #(6) s (b, y);", lambda a, b, c: -b & 63),
        (
            "wire [3:0] s; assign s = {s[2:0] & a[3:1], a[0]}; assign y = s;",
            lambda a, b, c: (0, 1, 0, 3, 0, 1, 0, 7)[a & 7] | 8 * (a == 15),
        ),
        (
            "wire [7:0] s; assign s = c ? {a, b} : {2{a}}; assign y = s[6:2];",
            lambda a, b, c: (a << 4 | (b & 15 if c else a)) >> 2 & 31,
        ),
        (
            "wire signed [7:0] s; assign s = $signed(a[2:0]); assign y = s[5:1];",
            lambda a, b, c: ((a & 7 ^ 4) - 4) >> 1 & 31,
        ),
        ("localparam [3:0] K = 3; assign y = a * K + $clog2(9);", lambda a, b, c: a * 3 + 4),
    ],
)  # fmt: skip
def test_what_blocks_functions_memories_and_instances_compute(
    text: str, value: object, front_end: str, tmp_path: Path
) -> None:
    sub = "module sub #(parameter W = 8)(input [W-1:0] x, output [W-1:0] z); assign z = -x; endmodule"
    if front_end == "yosys" and "[-2:1]" in text:
        pytest.skip("Yosys does not know the sign of an index, and the proof refuses what is below 0")
    netlist = elaborated(f"{procedure(text)}\n{sub}", tmp_path, front_end)
    rows = [(a, b, c) for a in range(16) for b in range(-8, 8) for c in (0, 1)]
    found = values_of(term_of(netlist, "y"), [{"a": a, "b": b & 15, "c": c} for a, b, c in rows])
    assert dict(zip(rows, found, strict=True)) == {row: value(*row) & 255 for row in rows}  # type: ignore[operator]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_memory_file(front_end: str, tmp_path: Path) -> None:
    (tmp_path / "t.mem").write_text("// table\n1f 2_0\n@3 XX 5\n")
    text = 'reg [7:0] m [0:4]; initial $readmemh("t.mem", m); wire [1:0] i = a; assign y = c ? m[4] : m[i & 1];'
    term = term_of(elaborated(procedure(text), tmp_path, front_end, **{"t.mem": tmp_path / "t.mem"}), "y")
    assert [value_of(term, {"a": a, "c": c}) for a in (0, 1, 2) for c in (0, 1)] == [0x1F, 5, 0x20, 5, 0x1F, 5]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_word_beyond_the_memory_is_undefined(front_end: str, tmp_path: Path) -> None:
    text = "reg [7:0] m [0:2]; initial begin m[0] = 1; m[1] = 2; m[2] = 3; end assign y = m[a];"
    term = term_of(elaborated(procedure(text), tmp_path, front_end), "y")
    assert [t.op for t in leaves(term)].count("undefined") == 1


@pytest.mark.parametrize(
    ("text", "undefined", "mask", "value"),
    [
        ("wire [7:0] w; assign w[6:0] = a; assign y = w;", "bit 7 of signal 'w',", 0x7F, lambda a: a),
        ("wire w; assign y = w & c;", "bit 0 of signal 'w',", 0xFE, lambda a: 0),
        ("assign y[0] = c; assign y[7:2] = a;", "bit 1 of signal 'y',", 0xFD, lambda a: 1 | a << 2),
        ("assign y = a[4];", "bits beyond a signal at", 0xFE, lambda a: 0),
        ("assign y = a[5:2];", "bits beyond a signal at", 0xF3, lambda a: a >> 2),
        ("wire [4:1] w = a; assign y = w[2:-1];", "bits beyond a signal at", 0xFC, lambda a: (a & 3) << 2),
    ],
)
def test_open_bits_are_undefined(text: str, undefined: str, mask: int, value: object, tmp_path: Path) -> None:
    term = term_of(elaborated(procedure(text), tmp_path, "slang"), "y")
    (found,) = (str(t.data) for t in leaves(term) if t.op == "undefined")
    assert found.startswith(undefined)
    for a in range(16):
        row = {"a": a, "c": 1}
        assert value_of(term, row) & mask == value(a), row  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assign y = a; assign y[2] = c;", "bit 2 of signal 'y'"),
        ("reg [7:0] r; always @* r = a; always @* r = b; assign y = r;", "bit 0 of signal 'r'"),
        ("wire [7:0] v, w; assign v = w + 1; assign w = v + a; assign y = v;", "signal 'v'"),
        ("wire [3:0] s; assign s = {s[0], s[3:2], s[3]}; assign y = s;", "signal 's'"),
        ("reg [7:0] r; always @* r = r + a; assign y = r;", "signal 'r' is read or kept before the block assigns it"),
        ("reg [7:0] r; always @* if (c) r = a; assign y = r;", "signal 'r' is read or kept before"),
        ("reg [7:0] r; always @* case (a) 0: r = 1; 1: r = 2; endcase assign y = r;", "signal 'r' is read or kept"),
        ("reg [7:0] r, q; always @* begin q = r; r = a; end assign y = q;", "signal 'r' is read or kept before"),
        ("reg [7:0] r; always @(a) r = a + b; assign y = r;", "reads 'b'"),
        ("reg [7:0] r; always @(posedge c) r = a; assign y = r;", "is assigned with = at a clock edge"),
        ("reg [7:0] r; always @* begin r <= a; r <= ~r; end assign y = r;", ""),
        ("assign y = a === 8'bx;", "signal 'y'"),
        ("assign y = c ? a : 8'hz;", "signal 'y'"),
        ("bufif1 (y[0], a[0], c);", "'bufif1'"),
        ("lost s (a, y);", "unknown module 'lost'"),
        ("assign y = nothing;", "use of undeclared identifier"),
        ("real r; assign y = a;", "a real number has no bits"),
        ("assign #3 y = a;", "a delay has no meaning"),
        ('reg [7:0] m [0:1]; initial $readmemh("no.mem", m); assign y = m[c];', "memory file 'no.mem'"),
        ("assign y = a +; wire z;", "expected expression"),
    ],
)  # fmt: skip
def test_what_is_no_combinational_logic_is_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    with raises(InputError, match=r"\w") as error:
        term_of(elaborated(procedure(text), tmp_path, "slang"), "y")
    assert message in str(error.value), error.value
    as_recorded(error.value)
    assert "\n" not in str(error.value)
    assert "dut.v:" in str(error.value)


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_another_top_module(front_end: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownTop, match="'other'"):
        elaborated(procedure("assign y = a;"), tmp_path, front_end, "other")
