"""Pipelines as people write them, each with its program: the RTL names nothing after an op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["PIPELINES", "Pipeline"]


class Pipeline(NamedTuple):
    """A module ``model`` with ports ``clk``, ``model_inp`` and ``model_out``, that computes ``program``."""

    name: str
    program: Program
    text: str
    latency: int


class _Ops:
    """A program of integers: every op has the smallest type that holds its values."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, tuple[float, float, float]]] = []
        self.bounds: list[tuple[int, int]] = []
        self.inputs = 0

    def _put(self, code: int, a: int, b: int, data: int, low: int, high: int) -> int:
        signed = int(low < 0)
        width = max((high if high >= 0 else ~high).bit_length(), (~low if low < 0 else 0).bit_length())
        self.rows.append((code, a, b, data, (signed, width, 0)))
        self.bounds.append((low, high))
        return len(self.rows) - 1

    def input(self, width: int, signed: bool = True) -> int:
        self.inputs += 1
        half = 1 << (width - signed)
        return self._put(Code.INPUT, self.inputs - 1, -1, 0, -half if signed else 0, half - 1)

    def add(self, a: int, b: int, shift: int = 0) -> int:
        (low, high), (down, up) = self.bounds[a], self.bounds[b]
        return self._put(Code.ADD, a, b, shift, low + (down << shift), high + (up << shift))

    def sub(self, a: int, b: int) -> int:
        (low, high), (down, up) = self.bounds[a], self.bounds[b]
        return self._put(Code.SUB, a, b, 0, low - up, high - down)

    def mul(self, a: int, b: int) -> int:
        ends = [x * y for x in self.bounds[a] for y in self.bounds[b]]
        return self._put(Code.MUL, a, b, 0, min(ends), max(ends))

    def mux(self, msb: int, a: int, b: int) -> int:
        low, high = (pick(self.bounds[a][n], self.bounds[b][n]) for n, pick in enumerate((min, max)))
        return self._put(Code.MUX, a, b, msb, low, high)

    def width(self, op: int) -> int:
        return int(sum(self.rows[op][4]))

    def built(self, *outputs: int) -> Program:
        return Program.build(self.rows, [(op, 0, 0) for op in outputs], inp_shift=[0] * self.inputs)


def _ports(inputs: int, width: int, outputs: int) -> str:
    return (
        f"module model (\n  input clk,\n  input [{inputs * width - 1}:0] model_inp,\n"
        f"  output [{outputs - 1}:0] model_out\n);\n"
    )


def _dot(n: int, w: int) -> Pipeline:
    """Multiply pairs, then add the products two by two, a register after each level."""
    ops = _Ops()
    pairs = [(ops.input(w), ops.input(w)) for _ in range(n)]
    text = _ports(2 * n, w, 0)
    text = ""
    level = []
    for number, (a, b) in enumerate(pairs):
        level.append((ops.mul(a, b), f"prod{number}"))
        x, y = 2 * number * w, (2 * number + 1) * w
        text += f"  wire signed [{w - 1}:0] x{number} = model_inp[{x + w - 1}:{x}];\n"
        text += f"  wire signed [{w - 1}:0] y{number} = model_inp[{y + w - 1}:{y}];\n"
        text += f"  reg signed [{2 * w - 1}:0] prod{number};\n"
        text += f"  always @(posedge clk) prod{number} <= x{number} * y{number};\n"
    latency = 1
    while len(level) > 1:
        latency += 1
        following = []
        body = ""
        for number in range(0, len(level), 2):
            name = f"sum{latency}_{number // 2}"
            if number + 1 == len(level):
                op, one = level[number]
                value = one
            else:
                (a, one), (b, other) = level[number : number + 2]
                op, value = ops.add(a, b), f"{one} + {other}"
            text += f"  reg signed [{ops.width(op) - 1}:0] {name};\n"
            body += f"    {name} <= {value};\n"
            following.append((op, name))
        text += f"  always @(posedge clk) begin\n{body}  end\n"
        level = following
    ((op, name),) = level
    text += f"  assign model_out = {name};\nendmodule\n"
    return Pipeline(f"dot{n}_{w}", ops.built(op), _ports(2 * n, w, ops.width(op)) + text, latency)


def _complex(w: int) -> Pipeline:
    """Multiply complex numbers: four products, then a difference and a sum."""
    ops = _Ops()
    ar, ai, br, bi = (ops.input(w) for _ in range(4))
    real = ops.sub(ops.mul(ar, br), ops.mul(ai, bi))
    imaginary = ops.add(ops.mul(ar, bi), ops.mul(ai, br))
    r, i = ops.width(real), ops.width(imaginary)
    text = f"""\
  localparam W = {w};
  reg signed [W-1:0] ar, ai, br, bi;
  reg signed [2*W-1:0] rr, ii, ri, ir;
  reg signed [{r - 1}:0] re;
  reg signed [{i - 1}:0] im;
  always @(posedge clk) begin
    ar <= model_inp[W-1:0];
    ai <= model_inp[2*W-1:W];
    br <= model_inp[3*W-1:2*W];
    bi <= model_inp[4*W-1:3*W];
    rr <= ar * br;
    ii <= ai * bi;
    ri <= ar * bi;
    ir <= ai * br;
    re <= rr - ii;
    im <= ri + ir;
  end
  assign model_out = {{im, re}};
endmodule
"""
    return Pipeline(f"complex{w}", ops.built(real, imaginary), _ports(4, w, r + i) + text, 3)


def _horner(degree: int, w: int) -> Pipeline:
    """Evaluate a polynomial whose coefficients are inputs: a module for each step, which carries x along."""
    ops = _Ops()
    x, top = ops.input(w), ops.input(w)
    rest = [ops.input(w) for _ in range(degree)]
    y, text, last = top, "", f"model_inp[{2 * w - 1}:{w}]"
    x_name, width = f"model_inp[{w - 1}:0]", w
    for number, c in enumerate(rest):
        y = ops.add(ops.mul(y, x), c)
        place = (number + 2) * w
        coefficient = f"c{number}_0"
        text += f"  wire signed [{w - 1}:0] c{number}_0 = model_inp[{place + w - 1}:{place}];\n"
        for age in range(number):
            text += f"  reg signed [{w - 1}:0] c{number}_{age + 1};\n"
            text += f"  always @(posedge clk) c{number}_{age + 1} <= c{number}_{age};\n"
            coefficient = f"c{number}_{age + 1}"
        wide = ops.width(y)
        text += f"  wire signed [{wide - 1}:0] y{number};\n  wire signed [{w - 1}:0] x{number};\n"
        text += f"  horner_step #(.WX({w}), .WI({width}), .WO({wide})) step{number} (\n    .clk(clk), .x_in({x_name}), "
        text += f".y_in({last}), .c({coefficient}), .x_out(x{number}), .y_out(y{number}));\n"
        last, x_name, width = f"y{number}", f"x{number}", wide
    text += f"  assign model_out = {last};\nendmodule\n"
    step = """
module horner_step #(parameter WX = 4, WI = 4, WO = 9) (
  input clk,
  input signed [WX-1:0] x_in,
  input signed [WI-1:0] y_in,
  input signed [WX-1:0] c,
  output reg signed [WX-1:0] x_out,
  output reg signed [WO-1:0] y_out
);
  wire signed [WI+WX-1:0] scaled = y_in * x_in;
  always @(posedge clk) begin
    x_out <= x_in;
    y_out <= scaled + c;
  end
endmodule
"""
    return Pipeline(f"horner{degree}_{w}", ops.built(y), _ports(degree + 2, w, ops.width(y)) + text + step, degree)


def _haar(n: int, w: int) -> Pipeline:
    """Transform with a butterfly a level: sums go on, differences are delayed."""
    ops = _Ops()
    level = [(ops.input(w), f"s0_{k}") for k in range(n)]
    text = "".join(f"  wire signed [{w - 1}:0] s0_{k} = model_inp[{k * w + w - 1}:{k * w}];\n" for k in range(n))
    ready: list[tuple[int, str]] = []
    age = 0
    while len(level) > 1:
        age += 1
        body, following, kept = "", [], []
        for op, name in ready:
            text += f"  reg signed [{ops.width(op) - 1}:0] {name}_d;\n"
            body += f"    {name}_d <= {name};\n"
            kept.append((op, f"{name}_d"))
        for k in range(0, len(level), 2):
            (a, one), (b, other) = level[k : k + 2]
            plus, minus = ops.add(a, b), ops.sub(a, b)
            text += f"  reg signed [{ops.width(plus) - 1}:0] s{age}_{k // 2}, d{age}_{k // 2};\n"
            body += f"    s{age}_{k // 2} <= {one} + {other};\n    d{age}_{k // 2} <= {one} - {other};\n"
            following.append((plus, f"s{age}_{k // 2}"))
            kept.append((minus, f"d{age}_{k // 2}"))
        text += f"  always @(posedge clk) begin\n{body}  end\n"
        level, ready = following, kept
    outputs = [*level, *ready]
    text += f"  assign model_out = {{{', '.join(name for _, name in reversed(outputs))}}};\nendmodule\n"
    wide = sum(ops.width(op) for op, _ in outputs)
    return Pipeline(f"haar{n}_{w}", ops.built(*(op for op, _ in outputs)), _ports(n, w, wide) + text, age)


def _largest(n: int, w: int) -> Pipeline:
    """Find the largest of some numbers by a chain of comparisons: the running maximum passes a register a step."""
    ops = _Ops()
    inputs = [ops.input(w) for _ in range(n)]
    best = inputs[0]
    text = f"  wire signed [{w - 1}:0] best0 = model_inp[{w - 1}:0];\n"
    for k in range(1, n):
        best = ops.mux(ops.sub(best, inputs[k]), inputs[k], best)
        name = f"in{k}_0"
        text += f"  wire signed [{w - 1}:0] in{k}_0 = model_inp[{k * w + w - 1}:{k * w}];\n"
        for age in range(1, k):
            text += f"  reg signed [{w - 1}:0] in{k}_{age};\n  always @(posedge clk) in{k}_{age} <= in{k}_{age - 1};\n"
            name = f"in{k}_{age}"
        text += f"  reg signed [{w - 1}:0] best{k};\n  always @(posedge clk)\n"
        text += f"    if (best{k - 1} < {name}) best{k} <= {name};\n    else best{k} <= best{k - 1};\n"
    text += f"  assign model_out = best{n - 1};\nendmodule\n"
    return Pipeline(f"largest{n}_{w}", ops.built(best), _ports(n, w, w) + text, n - 1)


def _grey(w: int) -> Pipeline:
    """Mix colours with shifts: grey = r + 2 g + b, and the two differences of colours."""
    ops = _Ops()
    r, g, b = (ops.input(w, signed=False) for _ in range(3))
    grey = ops.add(ops.add(r, g, 1), b)
    cb, cr = ops.sub(b, g), ops.sub(r, g)
    wide = ops.width(grey)
    text = f"""\
  wire [{w - 1}:0] r = model_inp[{w - 1}:0];
  wire [{w - 1}:0] g = model_inp[{2 * w - 1}:{w}];
  wire [{w - 1}:0] b = model_inp[{3 * w - 1}:{2 * w}];
  reg [{wide - 1}:0] part, grey;
  reg [{w - 1}:0] b_q;
  reg signed [{w}:0] cb, cr, cb_q, cr_q;
  always @(posedge clk) begin
    part <= r + (g << 1);
    b_q <= b;
    grey <= part + b_q;
  end
  always @(posedge clk) begin
    cb <= $signed({{1'b0, b}}) - $signed({{1'b0, g}});
    cr <= $signed({{1'b0, r}}) - $signed({{1'b0, g}});
    cb_q <= cb;
    cr_q <= cr;
  end
  assign model_out = {{cr_q, cb_q, grey}};
endmodule
"""
    return Pipeline(f"grey{w}", ops.built(grey, cb, cr), _ports(3, w, wide + 2 * w + 2) + text, 2)


def _all() -> Iterator[Pipeline]:
    yield from (
        _dot(n, w) for n, w in ((2, 4), (2, 8), (3, 5), (4, 4), (4, 6), (5, 5), (6, 4), (8, 3), (8, 6), (16, 4))
    )
    yield from (_complex(w) for w in range(3, 9))
    yield from (_horner(d, w) for d, w in ((1, 4), (1, 8), (2, 4), (2, 5), (3, 3), (3, 4), (4, 3)))
    yield from (_haar(n, w) for n, w in ((2, 4), (2, 8), (4, 4), (4, 7), (8, 3), (8, 5)))
    yield from (_largest(n, w) for n, w in ((2, 4), (2, 9), (3, 5), (4, 4), (5, 6), (6, 5), (8, 4)))
    yield from (_grey(w) for w in (3, 4, 6, 8))


PIPELINES = tuple(_all())
