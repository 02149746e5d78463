"""Signals without names: which of several signals with the same values is matched to which op."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dais_verif.hardware.ports.interface import packed
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.equal_ops import first_twins
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Signal
from dais_verif.prover.signal_correspondence import _Matcher, match_signals
from dais_verif.prover.slang import elaborate
from dais_verif.spec.program import FixedType, Program

#: Ops 2 and 3 are the same sum; 6 and 7 are the ReLUs of 4 and 5, which are never positive; 8 adds them.
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
    found = match_signals(PROGRAM, boundary, netlist, {}, PROGRAM.ops, Assumptions(PROGRAM, boundary.inputs), seed=0)
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


# matches of signals and ops, by hand


def matcher(
    values: dict[Signal, list[int]], sources: dict[Signal, list[Signal | int]], cut: dict[int, Signal]
) -> _Matcher:
    known = {signal: np.array(column, dtype=np.uint64) for signal, column in values.items()}
    return _Matcher(SimpleNamespace(values=known, sources=sources), cut, list(range(PROGRAM.n_ops)), set())


def test_one_bit_tells_too_little_by_itself() -> None:
    """A single bit, or a value that never changes, is matched only if it is computed from the right signals."""
    a, b, bit, wide = Signal("a", 4, ""), Signal("b", 4, ""), Signal("bit", 1, ""), Signal("wide", 5, "")
    one = replace(PROGRAM.ops[2], type=FixedType(0, 1, 0))
    column = np.array([0, 1, 1, 0], dtype=np.uint64)
    values = {a: [1, 2, 3, 4], b: [5, 6, 7, 8], bit: [0, 1, 1, 0], wide: [3, 3, 3, 3]}
    assert matcher(values, {bit: [a, b]}, {0: a, 1: b}).choice(one, column) is bit
    assert matcher(values, {bit: [a]}, {0: a, 1: b}).choice(one, column) is None
    constant = np.array([3, 3, 3, 3], dtype=np.uint64)
    assert matcher(values, {wide: [a, b]}, {0: a, 1: b}).choice(PROGRAM.ops[2], constant) is wide
    assert matcher(values, {wide: [b]}, {0: a, 1: b}).choice(PROGRAM.ops[2], constant) is None


def test_the_only_signal_with_a_value_that_tells_is_taken() -> None:
    """The only signal with an op's values is matched to the op, even if it copies the signal of another op.

    Of several such signals, one that is not a copy is matched.
    """
    a, b, on, own = Signal("a", 4, ""), Signal("b", 5, ""), Signal("on", 5, ""), Signal("own", 5, "")
    column = np.array([5, 16, 7, 8], dtype=np.uint64)
    values = {a: [1, 2, 3, 4], b: [5, 16, 7, 8], on: [5, 16, 7, 8]}
    assert matcher(values, {on: [b]}, {0: a, 1: b}).choice(PROGRAM.ops[2], column) is on
    values[own] = [5, 16, 7, 8]
    assert matcher(values, {on: [b], own: [a]}, {0: a, 1: b}).choice(PROGRAM.ops[2], column) is own
    assert matcher(values, {on: [b], own: [a, b]}, {0: a, 1: b}).choice(PROGRAM.ops[2], column) is own
