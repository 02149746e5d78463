"""Signals without names: which one is taken for which op where several have the same values."""

from __future__ import annotations

from pathlib import Path

from dais_verif.dut.face import packed
from dais_verif.program import Program
from dais_verif.prove.boundary import Boundary
from dais_verif.prove.declared import Declared
from dais_verif.prove.matching import matched_signals
from dais_verif.prove.slang import elaborate
from dais_verif.prove.twins import first_twins

#: 2 and 3 are the same sum; 4 and 5 are the positive parts of what never is positive; 6 adds these two.
ROWS = [
    (-1, 0, -1, 0, (0, 4, 0)),
    (-1, 1, -1, 0, (0, 4, 0)),
    (0, 0, 1, 0, (0, 5, 0)),
    (0, 1, 0, 0, (0, 5, 0)),
    (4, 2, -1, -64, (1, 7, 0)),
    (4, 0, -1, -64, (1, 7, 0)),
    (2, 4, -1, 0, (0, 6, 0)),
    (2, 5, -1, 0, (0, 6, 0)),
    (0, 6, 7, 0, (0, 7, 0)),
]
PROGRAM = Program.build(ROWS, [(8, 0, 0), (3, 0, 0), (2, 0, 0)], inp_shift=[0, 0])

RTL = """
module model (input [7:0] model_inp, output [16:0] model_out);
  wire [5:0] z0, z1;
  wire [3:0] a = model_inp[3:0];
  wire [3:0] b = model_inp[7:4];
  wire [4:0] first = a + b;
  wire [4:0] second = b + a;
  wire [4:0] carried_on = first;
  wire signed [7:0] x = $signed({1'b0, carried_on}) - 8'sd64;
  wire signed [7:0] y = $signed({1'b0, a}) - 8'sd64;
  assign z1 = y[7] ? 6'd0 : y[5:0];
  assign z0 = x[7] ? 6'd0 : x[5:0];
  wire [6:0] sum = z0 + z1;
  assign model_out = {first, second, sum};
endmodule
"""


def test_alike_signals_are_told_apart_by_what_they_are_made_of(tmp_path: Path) -> None:
    (tmp_path / "model.v").write_text(RTL)
    netlist = elaborate([tmp_path / "model.v"], "model")
    boundary = Boundary.of(PROGRAM, netlist, packed(PROGRAM))
    found = matched_signals(PROGRAM, boundary, netlist, {}, Declared(PROGRAM, boundary.inputs), seed=0)
    names = {index: signal.name for index, signal in found.items()}
    assert names == {0: "a", 1: "b", 2: "first", 3: "second", 4: "x", 5: "y", 6: "z0", 7: "z1", 8: "sum"}


def test_twins() -> None:
    assert first_twins(PROGRAM) == [0, 1, 2, 2, 4, 5, 6, 7, 8]
    rows = [
        *ROWS[:2],
        (1, 0, 1, 0, (1, 5, 0)),
        (1, 1, 0, 0, (1, 5, 0)),
        (0, 0, 1, 1, (0, 6, 0)),
        (0, 1, 0, 1, (0, 6, 0)),
    ]
    assert first_twins(Program.build(rows, [(5, 0, 0)], inp_shift=[0, 0])) == [0, 1, 2, 3, 4, 5]
