"""Mutants that never settle or end the simulation, generate items of odd forms, and scores just below a floor."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from support.adder import ADDER
from support.said import as_recorded

from dais_verif.base.errors import RtlFileError
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import Fate, MutationRecord, MutationSummary, score_of
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation import mutate as flow
from dais_verif.verbs.mutation import simulations
from dais_verif.verbs.mutation.mutate import Judged, fate_of
from dais_verif.verbs.mutation.proofs import Proved
from dais_verif.verbs.mutation.requests import MutationRequest

_MODULE = """
module model #(parameter P = 1) (input wire [7:0] model_inp, output wire [4:0] model_out);
  wire [3:0] a = model_inp[3:0];
  wire [3:0] b = model_inp[7:4];
  wire [4:0] y;
{}
endmodule
"""
#: Some mutants of the slices are rings of inverters.
RING = _MODULE.format("""\
  wire [2:0] t;
  assign t[0] = model_inp[0] ^ model_inp[4];
  assign t[1] = ~t[0];
  assign t[2] = ~t[1];
  assign y = a + b;
  assign model_out = {y[4:1], t[2]};""")
#: An ``if`` without ``begin`` generates one item, beside which no declaration can be put.
GENERATED = _MODULE.format("""\
  generate if (P) assign y = a + b; else assign y = a - b; endgenerate
  assign model_out = y;""")
#: An item added beside the one item of an ``if`` would not belong to the branch, and would drive ``y``, too.
APART = _MODULE.format("""\
  generate if (P) assign y = a + b; endgenerate
  generate if (!P) assign y = a - b; endgenerate
  assign model_out = y;""")
#: A design that ends the simulation if a mutant's sum of zeros is not 0.
ENDING = _MODULE.format("""\
  assign y = a + b;
  assign model_out = y;
  wire [4:0] same = model_inp[3:0] + model_inp[7:4];
  always @(same or y) if (same == 0 && y != 0) $finish;""")


def mutants_of(text: str, folder: Path, simulator: str, **asked: object) -> MutationRecord:
    rtl = folder / "model.v"
    rtl.write_text(text)
    request = {"vectors": 300, "count": 60, "output": folder / "out", "judges": ("sim",), "jobs": 2, **asked}
    design = DesignRequest(rtl=(rtl,))
    return flow.mutate(MutationRequest(program=ADDER, design=design, simulator=simulator, **request))  # type: ignore[arg-type]


@pytest.fixture
def no_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "prove_original", lambda *_: Proved(0, Verdict.UNKNOWN, "nobody is asked"))


@pytest.mark.usefixtures("no_proofs")
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_a_mutant_that_never_settles_leaves_the_others_as_they_are(
    simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulations, "_SILENCE", 2.0)
    record = mutants_of(RING, tmp_path, simulator)
    rings = [row for row in record.mutants if row.fate == "invalid"]
    assert rings
    assert all("t[" in row.old or row.kind == "slice" for row in rings)
    assert all("2 s" in row.text or "converge" in row.text for row in rings)
    assert record.summary.killed_by_simulation == len(record.mutants) - len(rings) - record.summary.survived
    assert record.summary.killed_by_simulation > 10


@pytest.mark.usefixtures("no_proofs")
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_a_mutant_that_ends_the_simulation_is_not_taken_for_one_that_passes(simulator: str, tmp_path: Path) -> None:
    record = mutants_of(ENDING, tmp_path, simulator)
    (told,) = {row.text.partition(" (")[0] for row in record.mutants if row.fate == Fate.INVALID}
    as_recorded(told)
    assert record.summary.killed_by_simulation > 5


@pytest.mark.usefixtures("no_proofs")
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", [GENERATED, APART], ids=["if else", "two ifs"])
def test_mutants_in_generated_items_are_simulated(text: str, simulator: str, tmp_path: Path) -> None:
    record = mutants_of(text, tmp_path, simulator, floor=0.0)
    assert record.verdict is Verdict.PASS
    operators = {(row.old, row.new): row.fate for row in record.mutants if row.kind == "operator"}
    assert operators["+", "-"] == Fate.SIMULATION
    assert record.summary.invalid == 0


def test_what_no_tool_reads_is_invalid_and_what_one_runs_is_not() -> None:
    judged = Judged()
    judged.add([1, 2], {}, {1: "syntax error", 2: "syntax error"})
    judged.add([1, 2], {}, {1: "syntax error"})
    assert [fate_of(number, judged, ("sim",)) for number in (1, 2)] == ["invalid", "survived"]
    refused = Proved(2, None, "refused")
    judged.proved[2] = refused
    assert fate_of(2, judged, ("sim", "prove")) == "unknown"


def test_a_floor_is_not_reached_by_rounding() -> None:
    summary = MutationSummary(30_000, 29_999, 0, 0, 0, 1, 0, 0, score_of(29_999, 30_000))
    assert summary.score == 99.99
    assert not summary.reaches(100.0)
    assert summary.reaches(99.996)
    assert score_of(30_000, 30_000) == 100
    nothing = MutationSummary(1, 0, 0, 1, 0, 0, 0, 0, score_of(0, 0))
    assert nothing.score is None
    assert not nothing.reaches(0.0)


def test_included_files_are_read_from_beside_any_source(tmp_path: Path) -> None:
    """Mutants are copies in another folder; what sources include, in their folders or below, lies beside the copies."""
    for name, text in {
        "a/model.v": '`include "sum.vh"\n' + _MODULE.format("  assign y = `SUM;\n  assign model_out = y;"),
        "b/sum.vh": '`include "parts/more.vh"\n`define SUM (a + b)\n',
        "b/parts/more.vh": "\n",
        "b/other.v": "module other; endmodule\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    rtl = (tmp_path / "a" / "model.v", tmp_path / "b" / "other.v")
    request = MutationRequest(
        program=ADDER,
        design=DesignRequest(rtl=rtl, top="model"),
        simulator="icarus",
        vectors=100,
        count=4,
        output=tmp_path / "out",
        floor=0,
        jobs=1,
    )
    passed = flow.mutate(request)
    assert passed.verdict is Verdict.PASS
    included = {name: tmp_path / "b" / name for name in ("sum.vh", "parts/more.vh")}
    assert passed.rtl.data == {name: sha256(path.read_bytes()).hexdigest() for name, path in included.items()}
    (tmp_path / "b" / "sum.vh").write_text("`define SUM (a - b)\n")
    assert flow.mutate(request).verdict is Verdict.RTL_MISMATCH
    rtl[0].write_text(rtl[0].read_text().replace('"sum.vh"', '"../b/sum.vh"'))
    with pytest.raises(RtlFileError) as refused:
        flow.mutate(request)
    assert "../b/sum.vh" in str(refused.value)
