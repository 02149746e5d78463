"""Pipelines to mutate: from our emitter, from da4ml and written by hand, with all combinations of pins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from prove.soundness.tasks import TASKS
from support.places import CORPUS
from support.programs import every_opcode

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.spec.program import Program, load

__all__ = ["PIPELINES", "Pipeline", "pipeline", "with_suffix"]

TOP = "model"


@dataclass(frozen=True)
class Pipeline:
    """A pipeline.

    ``files``: texts by name; the top module is ``model``. ``clocking``: its pins and its latency.
    """

    name: str
    program: Program
    files: Mapping[str, str]
    clocking: Clocking


def _ours(program: Program, stages: int, pins: str) -> Callable[[str], Pipeline]:
    """Return a function that makes our pipeline; ``pins``: the letters r, e and v for reset, enable and valid."""

    def make(name: str) -> Pipeline:
        options = PipelineOptions(stages=stages, reset="r" in pins, enable="e" in pins, valid="v" in pins)
        valid = ("in_valid", "out_valid") if "v" in pins else (None, None)
        clocking = Clocking("clk", stages, "rst" if "r" in pins else None, False, "en" if "e" in pins else None, *valid)
        return Pipeline(name, program, {"model.v": emit_pipeline(program, TOP, options).text}, clocking)

    return make


def _da4ml(source: str, cutoff: float, layers: int = 1) -> Callable[[str], Pipeline]:
    def make(name: str) -> Pipeline:
        from da4ml.codegen import VerilogModel
        from da4ml.types import CombLogic

        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            logic = CombLogic.load(CORPUS / source / "da4ml.json")
            VerilogModel(logic, TOP, folder, latency_cutoff=cutoff, register_layers=layers, print_latency=False).write()
            stages = json.loads((folder / "metadata.json").read_text())["latency"]
            own = [path for path in sorted((folder / "src").glob("*.v")) if not path.stem.endswith("_wrapper")]
            texts = {path.name: path.read_text() for path in own}
            every = "\n".join(texts.values())
            for path in sorted((folder / "src" / "static").glob("*.v")):
                if re.search(rf"\b{path.stem} #", every):
                    texts[path.name] = path.read_text()
        plain = {n: re.sub(r"^ *\(\* .* \*\)\n", "", text, flags=re.MULTILINE) for n, text in texts.items()}
        program = load(CORPUS / source / "da4ml.json")
        return Pipeline(name, program, plain, Clocking("clk", stages * layers + 1))

    return make


def _by_hand(task: str, clocking: Clocking, text: str) -> Callable[[str], Pipeline]:
    return lambda name: Pipeline(name, TASKS[task].program, {"model.v": text}, clocking)


_PINS = Clocking("clk", 3, "rst", False, "en", "in_valid", "out_valid")

_SHIFTED = """\
module model (
  input clk, input rst, input en, input in_valid, output out_valid,
  input [4:0] model_inp, output [17:0] model_out
);
  reg [2:0] valid;
  reg [4:0] a1, a2, a3;
  reg [5:0] t1;
  reg [11:0] u2;
  reg signed [12:0] d3;
  always @(posedge clk)
    if (rst) begin
      valid <= 3'b0;
    end else if (en) begin
      valid <= {valid[1:0], in_valid};
    end
  always @(posedge clk) if (en) begin
    a1 <= model_inp;
    t1 <= model_inp + 6'd3;
    a2 <= a1;
    u2 <= t1 * t1;
    a3 <= a2;
    d3 <= u2 - a2;
  end
  assign out_valid = valid[2];
  assign model_out = {a3, d3};
endmodule
"""

_ASYNCHRONOUS = """\
module model (
  input clk, input rst_n, input in_valid, output out_valid,
  input [7:0] model_inp, output [8:0] model_out
);
  reg v1, v2, v3;
  reg signed [3:0] x1, y1;
  reg signed [7:0] p2;
  reg signed [8:0] q3;
  wire signed [7:0] product = x1 * y1;
  wire signed [8:0] more = p2 + 9'sd5;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      v1 <= 1'b0;
      v2 <= 1'b0;
      v3 <= 1'b0;
    end else begin
      v1 <= in_valid;
      v2 <= v1;
      v3 <= v2;
    end
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      x1 <= 4'd0;
      y1 <= 4'd0;
      p2 <= 8'd0;
      q3 <= 9'd0;
    end else begin
      if (in_valid) begin
        x1 <= model_inp[3:0];
        y1 <= model_inp[7:4];
      end
      if (v1) begin
        p2 <= product;
      end
      if (v2) begin
        q3 <= more;
      end
    end
  assign out_valid = v3;
  assign model_out = q3;
endmodule
"""

_INSTANCES = """\
module stage_register #(parameter W = 8) (
  input clk, input rst, input en, input [W-1:0] d, output reg [W-1:0] q
);
  always @(posedge clk)
    if (rst) begin
      q <= 0;
    end else if (en) begin
      q <= d;
    end
endmodule
module model (
  input clk, input rst, input en, input in_valid, output out_valid,
  input [9:0] model_inp, output [10:0] model_out
);
  wire signed [4:0] x1, y1;
  wire signed [5:0] d2, d3;
  wire [4:0] r3;
  wire v1, v2, v3;
  wire signed [5:0] difference = x1 - y1;
  wire [4:0] positive = (d2 < 0) ? 5'd0 : d2[4:0];
  stage_register #(5) r_x1 (clk, rst, en, model_inp[4:0], x1);
  stage_register #(5) r_y1 (clk, rst, en, model_inp[9:5], y1);
  stage_register #(6) r_d2 (clk, rst, en, difference, d2);
  stage_register #(6) r_d3 (clk, rst, en, d2, d3);
  stage_register #(5) r_r3 (clk, rst, en, positive, r3);
  stage_register #(1) r_v1 (clk, rst, en, in_valid, v1);
  stage_register #(1) r_v2 (clk, rst, en, v1, v2);
  stage_register #(1) r_v3 (clk, rst, en, v2, v3);
  assign out_valid = v3;
  assign model_out = {r3, d3};
endmodule
"""

_NEXT = """\
module model (
  input clk, input rst, input en, input in_valid, output out_valid,
  input [7:0] model_inp, output [3:0] model_out
);
  logic signed [3:0] x1, y1, x2, y2, m3;
  logic signed [4:0] d2;
  logic v1, v2, v3;
  logic signed [3:0] x1_next, y1_next, m3_next;
  logic signed [4:0] d2_next;
  always_comb begin
    x1_next = x1;
    y1_next = y1;
    d2_next = d2;
    m3_next = m3;
    if (en) begin
      x1_next = model_inp[3:0];
      y1_next = model_inp[7:4];
      d2_next = x1 - y1;
      m3_next = d2[4] ? y2 : x2;
    end
  end
  always_ff @(posedge clk) begin
    x1 <= x1_next;
    y1 <= y1_next;
    d2 <= d2_next;
    m3 <= m3_next;
  end
  always_ff @(posedge clk) if (en) begin
    x2 <= x1;
    y2 <= y1;
  end
  always_ff @(posedge clk)
    if (rst) begin
      v1 <= 1'b0;
      v2 <= 1'b0;
      v3 <= 1'b0;
    end else if (en) begin
      v1 <= in_valid;
      v2 <= v1;
      v3 <= v2;
    end
  assign out_valid = v3;
  assign model_out = m3;
endmodule
"""

_ARRAY = """\
module model (
  input clk, input en, input in_valid, output out_valid,
  input [7:0] model_inp, output [4:0] model_out
);
  reg [4:0] line [0:3];
  reg v1, v2, v3, v4;
  reg [3:0] a, b;
  wire [4:0] s = a + b;
  integer i;
  always @(posedge clk) if (en) begin
    a <= model_inp[3:0];
    b <= model_inp[7:4];
    line[0] <= s;
    for (i=1; i<3; i=i+1) line[i] <= line[i-1];
  end
  always @(posedge clk) if (en) begin
    v1 <= in_valid;
    v2 <= v1;
    v3 <= v2;
    v4 <= v3;
  end
  assign out_valid = v4;
  assign model_out = line[2];
endmodule
"""

_PLAIN = """\
module model (input clk, input [4:0] model_inp, output [17:0] model_out);
  reg [4:0] a1, a2, a3, a4;
  reg [5:0] t2;
  reg [11:0] u3;
  reg signed [12:0] d4;
  always @(posedge clk) begin
    a1 <= model_inp;
    a2 <= a1;
    t2 <= a1 + 6'd3;
    a3 <= a2;
    u3 <= t2 * t2;
    a4 <= a3;
    d4 <= u3 - a3;
  end
  assign model_out = {a4, d4};
endmodule
"""

_SQUARE, _PRODUCT, _LARGER = "a square less what it is made of", "product plus five", "the larger one"
_POSITIVE = "difference, and the positive part of it"

#: The function that makes each pipeline, by its name.
PIPELINES: dict[str, Callable[[str], Pipeline]] = {
    "ours, every opcode, all pins": _ours(every_opcode(), 3, "rev"),
    "ours, every opcode, no pins": _ours(every_opcode(), 2, ""),
    **{
        f"ours, {task}, {stages} stages, {pins or 'no'} pins": _ours(TASKS[task].program, stages, pins)
        for task, stages, pins in (
            (_SQUARE, 3, "rev"), (_SQUARE, 4, "ev"), (_SQUARE, 2, "rv"), (_SQUARE, 3, "e"), (_SQUARE, 5, ""),
            (_PRODUCT, 2, "rev"), (_PRODUCT, 3, "v"), (_PRODUCT, 4, "rv"), (_PRODUCT, 2, "e"),
            (_POSITIVE, 2, "rv"), (_POSITIVE, 3, "rev"), (_POSITIVE, 4, "e"), (_POSITIVE, 2, "ev"),
            (_LARGER, 2, "v"), (_LARGER, 4, "rev"), (_LARGER, 3, "rv"), ("sum", 3, "rev"), ("sum", 4, "ev"),
        )
    },
    "da4ml's, sums": _da4ml("p01_addsub_tiny", 1),
    "da4ml's, a sort": _da4ml("p04_sort8", 4),
    "da4ml's, bit operations, two layers": _da4ml("p10_bitops", 2, 2),
    "by hand, valid bits in a vector": _by_hand(_SQUARE, _PINS, _SHIFTED),
    "by hand, asynchronous reset, gated": _by_hand(
        _PRODUCT, Clocking("clk", 3, "rst_n", True, None, "in_valid", "out_valid"), _ASYNCHRONOUS),
    "by hand, instances": _by_hand(_POSITIVE, _PINS, _INSTANCES),
    "by hand, next states": _by_hand(_LARGER, _PINS, _NEXT),
    "by hand, an array": _by_hand("sum", Clocking("clk", 4, None, False, "en", "in_valid", "out_valid"), _ARRAY),
    "by hand, no pins": _by_hand(_SQUARE, Clocking("clk", 4), _PLAIN),
}  # fmt: skip


def pipeline(name: str) -> Pipeline:
    """Return the pipeline called ``name``; raise ``ImportError`` if da4ml is missing."""
    return PIPELINES[name](name)


def with_suffix(files: Mapping[str, str], suffix: str) -> dict[str, str]:
    """Return the same design with ``suffix`` on all modules and files, so that many designs fit into one simulation."""
    modules = re.findall(r"^module (\w+)", "\n".join(files.values()), re.MULTILINE)
    every = "|".join(modules)
    places = re.compile(rf"^module (?:{every})\b|\b(?:{every})(?= (?:#\(|\w+ \())", re.MULTILINE)
    return {
        f"{name.removesuffix('.v')}{suffix}.sv": places.sub(lambda m: f"{m[0]}{suffix}", text)
        for name, text in files.items()
    }
