"""The solver also decides a sample of the obligations of each proof as they were written: this reveals a wrong rule."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import z3
from prove.door import Run, mutant, run_prove
from prove.reading import needs_yosys
from support.programs import every_opcode
from support.said import as_recorded

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.prover.solve import sampling
from dais_verif.prover.terms import Term, arithmetic
from dais_verif.prover.terms.node import make
from dais_verif.spec.program import Program

EVERY = every_opcode()
RTL = emit_verilog(EVERY)
WRONG = mutant(EVERY, "op_26 =", "4'sd5", "4'sd4")


def sample_of(run: Run) -> dict[str, Any]:
    assert run.ending == ("PASS", 0), run.tree["message"]
    sample: dict[str, Any] = run.tree["sample"]
    assert sample["sampled"] == len(sample["claims"]) == sample["confirmed"] + len(sample["undecided"])
    assert sample["contradicted"] == []
    return sample


def test_every_proof_has_a_sample(tmp_path: Path) -> None:
    sample = sample_of(run_prove(EVERY, tmp_path))
    assert sample["sampled"] == sample["confirmed"] == 8 < sample["population"]
    assert sample["terms"] == "as written"
    assert sample_of(run_prove(EVERY, tmp_path)) == sample, "the seed says which"
    other = sample_of(run_prove(EVERY, tmp_path, "--seed", 1))
    assert other["claims"] != sample["claims"] and other["population"] == sample["population"]


def test_all_obligations_hold_as_they_are_written(tmp_path: Path) -> None:
    sample = sample_of(run_prove(EVERY, tmp_path, "--sample", 100, rtl=RTL))
    assert sample["confirmed"] == sample["population"] > 30


def test_no_sample_where_none_is_wanted(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, "--sample", 0)
    assert run.ending == ("PASS", 0) and run.tree["sample"] is None


def with_a_wrong_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the normal form add 4 instead of 5."""
    right = arithmetic.total

    def wrong(width: int, terms: Any, constant: int) -> Term:
        found = right(width, terms, constant)
        return make("add", width, found.args, 4) if found.op == "add" and found.low == 5 else found

    monkeypatch.setattr(arithmetic, "total", wrong)


def test_a_wrong_rule_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rule makes wrong RTL identical to the program, which passes without a sample; the sample finds it."""
    assert run_prove(EVERY, tmp_path / "right", "--sample", 0, rtl=WRONG).ending == ("RTL_MISMATCH", 1)
    with_a_wrong_rule(monkeypatch)
    believed = run_prove(EVERY, tmp_path / "believed", "--sample", 0, rtl=WRONG)
    assert believed.ending == ("PASS", 0) and believed.tree["ops"][26]["method"] == "identical"
    run = run_prove(EVERY, tmp_path, "--sample", 100, rtl=WRONG)
    assert run.ending == ("UNKNOWN", 6)
    as_recorded(run.tree["message"])
    assert run.tree["sample"]["contradicted"] == ["op 26"] and run.tree["proved_outputs"] == []
    (kept,) = (tmp_path / "out" / "disagreement").iterdir()
    solver = z3.Solver()
    solver.add(z3.parse_smt2_string(kept.read_text()))
    assert kept.name == "op_26.smt2" and str(solver.check()) == "sat"


def test_what_contradicts_a_proof_stays_where_no_folder_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.v").write_text(WRONG)
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "runs"))
    assert dais_verif.prove(EVERY).verdict is Verdict.PASS
    assert list((tmp_path / "runs").iterdir()) == []
    with_a_wrong_rule(monkeypatch)
    assert dais_verif.prove(EVERY, rtl=tmp_path / "wrong.v", sample=100).verdict is Verdict.UNKNOWN
    assert [path.name for path in (tmp_path / "runs").glob("*/disagreement/*")] == ["op_26.smt2"]


def test_a_contradicted_proof_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    with_a_wrong_rule(monkeypatch)
    for _ in range(2):
        run = run_prove(EVERY, tmp_path, "--sample", 100, rtl=WRONG, cache=True)
        assert run.ending == ("UNKNOWN", 6) and "prove" in run.tree["seconds"]


def test_what_the_solver_cannot_tell_in_time_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.verbs.proof import decide

    monkeypatch.setattr(decide, "_FOREIGN_SECONDS", 0.0)
    sample = sample_of(run_prove(EVERY, tmp_path, rtl=RTL))
    assert sample["confirmed"] == 0
    as_recorded(set(sample["undecided"].values()))


@pytest.mark.parametrize("foreign", [False, True], ids=["ours", "foreign"])
def test_pipelines(foreign: bool, tmp_path: Path) -> None:
    """Obligations of pipelines are sampled; those of third-party RTL state resets and enables as its blocks do."""
    text = emit_pipeline(EVERY, "model", PipelineOptions(stages=3, enable=True, valid=True, reset=True)).text
    options = () if foreign else ("--stages", 3)
    run = run_prove(EVERY, tmp_path, *options, rtl=text if foreign else None)
    sample = sample_of(run)
    assert sample["confirmed"] == sample["sampled"] == 8, sample
    assert sample["terms"] == ("as written" if foreign else sampling.BUT_FOR_BLOCKS)


@needs_yosys
def test_pipelines_that_yosys_reads(tmp_path: Path) -> None:
    text = emit_pipeline(EVERY, "model", PipelineOptions(stages=3, enable=True, valid=True, reset=True)).text
    sample = sample_of(run_prove(EVERY, tmp_path, "--front-end", "yosys", rtl=text))
    assert sample["confirmed"] == 8 and sample["terms"] == sampling.BUT_FOR_BLOCKS


def test_a_register_that_keeps_its_value_by_way_of_a_wire(tmp_path: Path) -> None:
    """A register that keeps its value through a wire is stated as the proof understood it.

    Without rules, it would depend on itself.
    """
    text = emit_verilog(EVERY).replace("module model", "module inner")
    ports = {name: text.partition(name)[0].rpartition("[")[2].partition("]")[0] for name in ("model_inp", "model_out")}
    text += f"""
module model(input clk, input en, input [{ports["model_inp"]}] model_inp, output [{ports["model_out"]}] model_out);
  reg [{ports["model_out"]}] q; wire [{ports["model_out"]}] n, y;
  inner u(.model_inp(model_inp), .model_out(y));
  assign n = en ? y : q;
  always @(posedge clk) q <= n;
  assign model_out = q;
endmodule
"""
    sample = sample_of(run_prove(EVERY, tmp_path, "--sample", 100, rtl=text))
    assert sample["confirmed"] == sample["population"] and sample["terms"] == sampling.BUT_FOR_BLOCKS


def test_a_register_that_shifts_within_itself(tmp_path: Path) -> None:
    """Bits that a register shifts within itself are data, not a value that it keeps."""
    text = emit_verilog(EVERY).replace("module model", "module inner")
    span = text.partition("model_out")[0].rpartition("[")[2].partition("]")[0]
    given = text.partition("model_inp")[0].rpartition("[")[2].partition("]")[0]
    width = int(span.partition(":")[0]) + 1
    text += f"""
module model(input clk, input en, input [{given}] model_inp, output [{span}] model_out);
  reg [{3 * width - 1}:0] q; wire [{span}] y;
  inner u(.model_inp(model_inp), .model_out(y));
  always @(posedge clk) if (en) q <= {{q[{2 * width - 1}:0], y}};
  assign model_out = q[{3 * width - 1}:{2 * width}];
endmodule
"""
    sample = sample_of(run_prove(EVERY, tmp_path, "--sample", 100, rtl=text))
    assert sample["confirmed"] == sample["population"]


def test_what_is_undefined_is_so_without_rules(tmp_path: Path) -> None:
    """Without rules, too, a word beyond a memory is undefined; it does no harm if the result ignores it."""
    program = Program.build([(-1, 0, -1, 0, (0, 2, 0))], [(0, 0, 0)], inp_shift=[0])
    text = """module model(input [1:0] model_inp, output [1:0] model_out);
  reg [3:0] t [0:2];
  initial begin t[0] = 1; t[1] = 2; t[2] = 3; end
  wire [3:0] a = t[model_inp], b = t[(model_inp + 2'd1) - 2'd1];
  assign model_out = model_inp + ({});
endmodule
"""
    sample = sample_of(run_prove(program, tmp_path / "right", "--sample", 100, rtl=text.format("a & 4'd0")))
    assert sample["confirmed"] == sample["population"]
    run = run_prove(program, tmp_path / "wrong", "--sample", 100, rtl=text.format("a - b"))
    assert Verdict(run.tree["verdict"]) is Verdict.X_IN_OUTPUT
