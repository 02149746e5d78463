"""RTL that always ends its simulation (``$fatal``, ``$finish``) is refused; otherwise an ended run confirms nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.adder import ADDER
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.prover.results import Proof
from dais_verif.record.simulation import ENDED_BY_RTL, SimulatorResult
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.replay import judge_replay

ENDS = [
    'initial if (W != 5) $fatal(1, "width");',
    "always_comb if (W != 5) $finish;",
    "initial begin if (W > 1) $finish; end",
]


def _proved(folder: Path, check: str, width: int, **options: bool) -> Run:
    ports = "input [7:0] model_inp, output [4:0] model_out"
    text = f"module model({ports}); localparam W = {width};\n{check}\n"
    return run_prove(
        ADDER, folder, rtl=f"{text}assign model_out = model_inp[3:0] + model_inp[7:4]; endmodule", **options
    )


@pytest.mark.parametrize("check", ENDS)
def test_what_ends_every_simulation_is_refused(check: str, tmp_path: Path) -> None:
    run = _proved(tmp_path, check, 4)
    assert run.ending[0] == "INVALID_INPUT", run.tree
    assert "design.v:2: $" in run.stderr, run.stderr
    as_recorded(run.stderr)


@pytest.mark.parametrize("check", ENDS[:2])
def test_a_check_of_a_parameter_that_holds_is_left_out(check: str, tmp_path: Path) -> None:
    assert _proved(tmp_path, check, 5).ending == ("PASS", 0)


def test_a_simulation_that_the_rtl_ended_confirms_nothing(tmp_path: Path) -> None:
    run = _proved(tmp_path, 'always_comb if (model_inp == 255) $fatal(1, "all ones");', 5, confirm=True)
    assert run.ending == ("UNKNOWN", 6), run.tree
    assert "RTL" in run.tree["message"]
    as_recorded(run.tree["message"])
    as_recorded(run.tree["confirmation"]["unconfirmed"]["icarus"])


def test_a_simulation_that_a_bound_check_ended_confirms_nothing(tmp_path: Path) -> None:
    """VHDL whose range check stops every simulation at one input; a proof does not see the check."""
    (tmp_path / "bound.vhd").write_text(
        "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
        "entity model is port(model_inp: in std_logic_vector(3 downto 0);\n"
        "model_out: out std_logic_vector(3 downto 0)); end;\n"
        "architecture rtl of model is signal n: integer range 0 to 14; begin\n"
        "  n <= to_integer(unsigned(model_inp));\n  model_out <= std_logic_vector(to_unsigned(n, 4));\nend;\n"
    )
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    run = run_prove(program, tmp_path, "--rtl", tmp_path / "bound.vhd", confirm=True)
    assert run.ending == ("UNKNOWN", 6), run.tree
    assert "bound check failure at bound.vhd:5" in run.tree["message"]


def test_a_counterexample_that_a_bound_check_stops_is_no_failure_of_a_tool() -> None:
    refuted = Proof(Verdict.RTL_MISMATCH, "output 0 is wrong", [], [], [], 0, False, False)
    result = SimulatorResult("ghdl", "2.0", failure="bound check failure at m.vhd:6", stopped=True)
    stopped = judge_replay(refuted, Finding(Verdict.TOOL_FAILURE, result.failure or "", [result]))
    assert stopped.verdict is Verdict.UNKNOWN and "m.vhd:6" in stopped.message


#: Calls that depend on a value, with their description in the message: in a block, beside an assignment, in a task.
DEPENDING = {
    "always @* if (model_out == 31) $finish;": "$finish at design.v:2",
    "reg [4:0] copy; always @* begin copy = model_out; if (copy == 31) $finish; end": "$finish at design.v:2",
    "task look(input [4:0] x); if (x == 31) $fatal(1); endtask\nalways @* look(model_out);": "$fatal at design.v:2",
}


@pytest.mark.parametrize("check", DEPENDING)
def test_what_may_end_a_simulation_is_named(check: str, tmp_path: Path) -> None:
    run = _proved(tmp_path, check, 5)
    assert run.ending == ("PASS", 0), run.tree
    name, _, place = DEPENDING[check].partition(" at ")
    (left_out,) = run.tree["left_out"]
    as_recorded(left_out)
    assert name in left_out and place in left_out
    assert f"not proved: {left_out}" in run.tree["message"]


def test_rtl_that_ends_the_simulation_where_it_is_wrong_is_wrong() -> None:
    refuted = Proof(Verdict.RTL_MISMATCH, "output 0 is wrong", [], [], [], 0, False, False)
    ended = Finding(Verdict.TOOL_FAILURE, f"the icarus simulation was aborted: {ENDED_BY_RTL} by $fatal at a.v:3", [])
    judged = judge_replay(refuted, ended)
    assert judged.verdict is Verdict.RTL_MISMATCH
    as_recorded(judged.message)
    missing = judge_replay(refuted, replace(ended, message="no simulator"))
    assert (missing.verdict, missing.message) == (Verdict.TOOL_FAILURE, "output 0 is wrong; not replayed: no simulator")
