"""Other ports (one per element, wider, finer, tied, sized by intervals) are proved; unsuitable ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.said import as_recorded

from dais_verif.spec.program import Program

#: y0 = x0 + x1, y1 = -x0; inputs s4.1 and u3.0.
ROWS = [(-1, 0, -1, 0, (1, 2, 1)), (-1, 1, -1, 0, (0, 3, 0)), (0, 0, 1, 0, (1, 4, 1))]
PROGRAM = Program.build(ROWS, [(2, 0, 0), (0, 0, 1)], inp_shift=[0, 0])

APART = """
module model (input signed [3:0] x_0, input [2:0] x_1, output [5:0] y_0, output [4:0] y_1);
  assign y_0 = x_0 + $signed({1'b0, x_1, 1'b0});
  assign y_1 = -x_0;
endmodule
"""
#: Arrays, one of them in descending order, through an instance and a procedure.
ARRAYS = """
module inner (input signed [4:0] x [1:0], output reg signed [5:0] y [0:1]);
  always @* begin
    y[0] = x[0] + x[1];
    y[1] = -x[0];
  end
endmodule
module model (input signed [3:0] x0 [0:0], input [2:0] x1, output [5:0] y [1:0]);
  wire signed [4:0] given [0:1];
  wire signed [5:0] found [1:0];
  assign given[1] = x0[0];
  assign given[0] = {1'b0, x1, 1'b0};
  inner i (given, found);
  assign y[0] = found[1];
  assign y[1] = found[0];
endmodule
"""
ELEMENTS = """
[inputs]
ports = ["x0[0]", "x1"]
[outputs]
port = "y[{}]"
types = ["s6.1", "s6.1"]
"""

NAMES = """
[inputs]
port = "x_{}"
[outputs]
port = "y_{}"
"""

#: Inputs and outputs with more integer bits and more fractional bits than the program's types.
WIDE = """
module model (input signed [7:0] a, b, output signed [8:0] s, n, input mode, input spare);
  wire signed [3:0] x = a[5:2];
  wire [2:0] y = b[5:3];
  wire signed [5:0] sum = x + $signed({1'b0, y, 1'b0});
  wire signed [4:0] minus = -x;
  assign s = mode ? 9'd0 : {{2{sum[5]}}, sum, 1'b0};
  assign n = {{3{minus[4]}}, minus, 1'b0};
endmodule
"""
TYPES = """
[inputs]
ports = ["a", "b"]
types = "s8.3"
[outputs]
ports = ["s", "n"]
types = "s9.2"
[tie]
mode = 0
spare = 1
"""
#: Correct only with W = 4 and ADD = 1.
PARAMETERS = """
module model #(parameter W = 32, parameter ADD = 0) (input signed [W-1:0] x_0, input [2:0] x_1,
    output [W+1:0] y_0, output [W:0] y_1);
  assign y_0 = ADD ? x_0 + $signed({1'b0, x_1, 1'b0}) : 0;
  assign y_1 = -x_0;
endmodule
"""


def proved(rtl: str, ports: str, folder: Path, *options: object) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.toml").write_text(ports)
    return run_prove(PROGRAM, folder, "--ports", folder / "ports.toml", *options, rtl=rtl)


@pytest.mark.parametrize(
    ("rtl", "ports"), [(APART, NAMES), (WIDE, TYPES), (ARRAYS, ELEMENTS)], ids=["apart", "wide", "arrays"]
)
def test_other_ports_are_proved(rtl: str, ports: str, tmp_path: Path) -> None:
    run = proved(rtl, ports, tmp_path)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.statuses("output") == {0: "PROVED", 1: "PROVED"}
    assert not run.tree["within_declared_intervals"]


@pytest.mark.parametrize(
    ("rtl", "ports", "old", "new", "output"),
    [
        pytest.param(APART, NAMES, "x_1, 1'b0}", "x_1, 1'b1}", 0, id="bit"),
        pytest.param(ARRAYS, ELEMENTS, "y[0] = found[1]", "y[0] = found[0]", 0, id="elements", marks=pytest.mark.slow),
        pytest.param(APART, NAMES, "-x_0", "~x_0", 1, id="negation", marks=pytest.mark.slow),
        pytest.param(WIDE, TYPES, "a[5:2]", "a[6:3]", 0, id="input-slice", marks=pytest.mark.slow),
        pytest.param(WIDE, TYPES, "{{3{minus[4]}}, minus", "{3'd0, minus", 1, id="no-sign", marks=pytest.mark.slow),
        pytest.param(WIDE, TYPES, "minus, 1'b0}", "minus, minus[0]}", 1, id="fraction", marks=pytest.mark.slow),
        pytest.param(WIDE, TYPES, "mode ?", "!mode ?", 0, id="tie", marks=pytest.mark.slow),
        pytest.param(WIDE, TYPES, "mode ?", "&a[7:6] ?", 0, id="bits-that-mean-nothing"),
    ],
)
def test_a_bug_is_refuted_and_simulated(rtl: str, ports: str, old: str, new: str, output: int, tmp_path: Path) -> None:
    assert old in rtl
    run = proved(rtl.replace(old, new), ports, tmp_path)
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    assert run.tree["counterexample"]["output"] == output
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"
    assert "--ports" in run.tree["simulate"]


def test_a_module_is_given_parameters(tmp_path: Path) -> None:
    given = "--param", "W=4", "--param"
    right = proved(PARAMETERS, NAMES, tmp_path / "right", *given, "ADD=1")
    assert right.ending == ("PASS", 0), (right.tree["message"], right.stderr)
    wrong = proved(PARAMETERS, NAMES, tmp_path / "wrong", *given, "ADD=0")
    assert wrong.ending == ("RTL_MISMATCH", 1), wrong.tree["message"]
    assert wrong.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"
    unknown = proved(PARAMETERS, NAMES, tmp_path / "unknown", *given, "SUB=1")
    assert all(part in unknown.tree["message"] for part in ("SUB", "W, ADD"))


@pytest.mark.parametrize(
    ("rtl", "ports", "message"),
    [
        (APART.replace("[5:0] y_0", "[4:0] y_0"), NAMES, "port y_0 has 5 bits, must have 6"),
        (WIDE, TYPES.replace("spare = 1", "lost = 1"), "(out, 9 bits)"),
        (WIDE, TYPES.replace("s8.3", "s6.1"), "port a has 8 bits, must have 6"),
        (WIDE.replace("mode ? 9'd0", "spare ? 9'd0"), TYPES.replace("spare = 1", ""), "'spare'"),
        (WIDE, TYPES + '[clock]\nport = "clk"\n', "(out, 9 bits)"),
    ],
)
def test_what_does_not_fit_is_refused(rtl: str, ports: str, message: str, tmp_path: Path) -> None:
    run = proved(rtl, ports, tmp_path)
    assert run.ending == ("INVALID_INPUT", 2), run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


# intervals that the source declares

DECLARED = json.dumps([[1, 1], [0], [0], [0], [1], [[0, -1, -1, 0, [-7, 7, 1], 0.0, 0.0]], -1, -1])


@pytest.fixture
def symmetric(tmp_path: Path) -> Program:
    """Return y = -x with x in -7..7: four bits hold y, although its type has five."""
    from dais_verif.spec.program import load

    (tmp_path / "program.json").write_text(DECLARED)
    return load(tmp_path / "program.json")


NARROW = "module model (input [3:0] model_inp, output [3:0] model_out); assign model_out = -model_inp; endmodule"


def prove_json(rtl: str, folder: Path, *options: object) -> Run:
    return run_prove(folder / "program.json", folder, *options, rtl=rtl)


@pytest.mark.usefixtures("symmetric")
class TestDeclaredIntervals:
    def test_a_port_that_holds_them(self, tmp_path: Path) -> None:
        run = prove_json(NARROW, tmp_path)
        assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
        assert run.tree["within_declared_intervals"]
        assert run.tree["rtl"]["widths"] == "the program's types and da4ml's intervals"
        assert "1 output equals" in run.tree["message"]
        as_recorded(run.tree["message"])

    def test_is_too_narrow_for_others(self, tmp_path: Path) -> None:
        run = prove_json(NARROW, tmp_path, "--out-of-range")
        assert run.ending == ("PROGRAM_INVALID", 2), (run.tree["message"], run.stderr)
        assert run.tree["counterexample"]["inputs"] == ["8"]
        assert "design, s4.0" in run.tree["message"]
        as_recorded(run.tree["message"])

    def test_what_is_wrong_within(self, tmp_path: Path) -> None:
        run = prove_json(NARROW.replace("-model_inp", "~model_inp"), tmp_path)
        assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)

    def test_what_is_wrong_beyond_only(self, tmp_path: Path) -> None:
        rtl = NARROW.replace("-model_inp;", "model_inp == 8 ? 0 : -model_inp;")
        run = prove_json(rtl, tmp_path)
        assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
        assert run.tree["within_declared_intervals"]

    def test_they_are_not_needed_where_all_is_right(self, tmp_path: Path) -> None:
        rtl = NARROW.replace("[3:0] model_out", "[4:0] model_out").replace("-model_inp", "-$signed(model_inp)")
        run = prove_json(rtl, tmp_path)
        assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
        assert not run.tree["within_declared_intervals"]
