"""RTL around a body that adds two inputs, and the values that a front end reads from it."""

from __future__ import annotations

from pathlib import Path

from prove.reading import elaborated, term_of, values_of

__all__ = ["SUM", "SUMS", "clocked", "combinational", "values"]

#: The sum that the program computes, as a Verilog expression.
SUM = "model_inp[3:0] + model_inp[7:4]"


def combinational(body: str) -> str:
    return f"""module dut (input [7:0] model_inp, output [4:0] model_out);
  wire [7:0] IN = model_inp;
  wire [4:0] sum = IN[3:0] + IN[7:4];
  reg [4:0] OUT;
  assign model_out = OUT;
  {body}
endmodule
"""


def clocked(body: str) -> str:
    return combinational(body).replace("(input", "(input clk, input", 1)


def values(text: str, folder: Path, front_end: str = "slang") -> list[int]:
    term = term_of(elaborated(text, folder, front_end), "model_out")
    return values_of(term, [{"model_inp": x} for x in range(256)])


SUMS = [(x & 15) + (x >> 4) for x in range(256)]
