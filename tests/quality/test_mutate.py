"""Mutation: every fate occurs, verdicts follow from fates, and an unsound proof is found."""

from __future__ import annotations

import csv
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.adder import ADDER
from support.said import raises
from support.signing import MACHINE

import dais_verif
from dais_verif.base.errors import MutationError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.sites import all_mutants
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.campaigns import Fate, MutationRecord
from dais_verif.spec.program import Program, load
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation import mutate as flow
from dais_verif.verbs.mutation.proofs import Proved, Prover, Question, ToProve, prove_all
from dais_verif.verbs.mutation.requests import MutationRequest

#: An input plus 1, and an OR-reduce of its low 8 bits that is 0 for only one input of 256.
RARE = Program.build(
    [
        (-1, 0, -1, 0, (0, 8, 0)),
        (4, 0, -1, 1, (0, 9, 0)),
        (3, 1, -1, 0, (0, 8, 0)),
        (9, 2, -1, 1 << 0, (0, 1, 0)),
    ],
    [(3, 0, 0), (1, 0, 0)],
    inp_shift=[0],
)


def in_this_process(
    question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int, tell: Callable[[int], None]
) -> Iterator[Proved]:
    """Do the work of ``prove_all`` without processes, which take half a second each to start."""
    folder = folder / "proof"
    folder.mkdir(exist_ok=True)
    prover = Prover(question, folder)
    return iter([prover.answer(mutant) for mutant in mutants])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "prove_all", in_this_process)
    monkeypatch.setattr(
        flow,
        "prove_original",
        lambda question, folder, seconds: next(
            in_this_process(question, [ToProve(0, None, seconds)], folder, 1, print)
        ),
    )


def mutated(tmp_path: Path, program: Program = ADDER, **asked: object) -> MutationRecord:
    request = {"simulator": "icarus", "vectors": 50, "count": 12, "output": tmp_path / "out", **asked}
    return flow.mutate(MutationRequest(program=program, **request))  # type: ignore[arg-type]


FORGING = """\
module model (input wire [7:0] model_inp, output wire [4:0] model_out);
  wire [4:0] sum, copy;
  integer k;
  assign sum = model_inp[3:0] + model_inp[7:4];
  assign copy = model_inp[3:0] + model_inp[7:4];
  always @(sum or copy) begin
    if ((sum ^ copy) > 0) for (k = 1; k <= 12; k = k + 1) $display("dais_mutants wrong %0d 0", k);
  end
  assign model_out = sum;
endmodule
"""


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_no_design_can_say_that_its_mutants_are_killed(tmp_path: Path, simulator: str) -> None:
    """A design that compares itself with a copy, and reports all mutants as wrong once it sees one, is not believed."""
    (tmp_path / "model.v").write_text(FORGING)
    design = DesignRequest(rtl=(tmp_path / "model.v",), top="model")
    record = mutated(tmp_path, judges=("sim",), design=design, simulator=simulator)
    assert 0 < record.summary.killed_by_simulation < record.summary.mutants


@pytest.mark.usefixtures("quick")
def test_mutants_are_killed_or_shown_to_be_equivalent(tmp_path: Path) -> None:
    record = mutated(tmp_path)
    summary = record.summary
    assert record.verdict is Verdict.PASS
    assert summary.killed_by_simulation > 0
    assert summary.unsound == summary.survived == summary.unknown == 0
    assert summary.killed_by_simulation + summary.killed_by_proof + summary.equivalent == summary.mutants == 12
    assert summary.score == 100
    for row in record.mutants:
        assert (row.fate == "equivalent") == (row.proof == "PASS")
        assert (row.fate == Fate.SIMULATION) == (row.simulator == "icarus" and row.vector is not None)
    kept = (tmp_path / "out" / "mutation.json").read_bytes()
    assert MutationRecord.from_json(kept) == record
    assert json.loads(kept)["summary"]["mutants"] == 12


@pytest.mark.usefixtures("quick")
def test_what_simulation_misses_survives_and_comes_with_a_vector_that_kills_it(tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("0\n")
    more = tmp_path / "more.csv"
    asked = {"program": RARE, "vectors": 0, "inputs": (few,), "count": 40, "unchecked": True}
    alone = mutated(tmp_path, judges=("sim",), add_vectors=more, floor=99.0, **asked)  # type: ignore[arg-type]
    assert alone.summary.survived > 0
    assert alone.verdict is Verdict.NOT_SIGNED_OFF
    assert "99 %" in alone.message
    survivors = {row.number for row in alone.mutants if row.fate == "survived"}
    assert all(row.inputs for row in alone.mutants if row.number in survivors)
    proved = mutated(tmp_path, **asked)  # type: ignore[arg-type]
    assert {row.number for row in proved.mutants if row.fate == Fate.PROOF} == survivors
    assert list(csv.reader(more.open()))
    with_more = mutated(tmp_path, judges=("sim",), **{**asked, "inputs": (few, more)})  # type: ignore[arg-type]
    assert {row.fate for row in with_more.mutants if row.number in survivors} == {Fate.SIMULATION}


def wrong_prover(
    question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int, tell: Callable[[int], None]
) -> Iterator[Proved]:
    return iter([Proved(mutant.number, Verdict.PASS, "all is well") for mutant in mutants])


@pytest.mark.usefixtures("quick")
def test_a_proof_that_a_simulator_contradicts_has_an_exit_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "prove_all", wrong_prover)
    record = mutated(tmp_path, count=3, floor=0.0)
    assert record.verdict is Verdict.UNSOUND
    assert record.verdict.exit_code == 8
    assert record.summary.unsound > 0
    monkeypatch.setattr("dais_verif.verbs.mutation.simulations.Bench.goes_wrong", lambda *_: False)
    again = mutated(tmp_path, count=3)
    assert again.summary.unsound == 0  # a separate build of the mutant contradicts the shared testbench
    assert again.summary.unknown == record.summary.unsound


def no_prover(
    question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int, tell: Callable[[int], None]
) -> Iterator[Proved]:
    return iter([Proved(mutant.number, Verdict.UNKNOWN, "no answer") for mutant in mutants])


@pytest.mark.usefixtures("quick")
def test_a_mutant_has_twice_the_time_of_the_design_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ToProve] = []

    def listening(question: Question, mutants: Sequence[ToProve], *others: object) -> Iterator[Proved]:
        asked.extend(mutants)
        return iter([Proved(mutant.number, Verdict.UNKNOWN, "no answer") for mutant in mutants])

    original = flow.prove_original
    monkeypatch.setattr(flow, "prove_all", listening)
    monkeypatch.setattr(flow, "prove_original", lambda *given: original(*given)._replace(seconds=30.0))
    (tmp_path / "zero.csv").write_text("0,0\n")
    mutated(tmp_path, vectors=0, inputs=(tmp_path / "zero.csv",), timeout=3.0)
    mutated(tmp_path, vectors=0, inputs=(tmp_path / "zero.csv",), timeout=90.0)
    assert {mutant.seconds for mutant in asked if not mutant.quick} == {60.0, 90.0}


@pytest.mark.usefixtures("quick")
def test_unknown_mutants_are_counted_and_have_a_ceiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "prove_all", no_prover)
    (tmp_path / "zero.csv").write_text("0,0\n")
    record = mutated(tmp_path, vectors=0, inputs=(tmp_path / "zero.csv",), most_unknown=5.0)
    assert record.summary.unknown > 0
    assert record.summary.score is not None
    assert record.summary.score < 100
    assert record.verdict is Verdict.NOT_SIGNED_OFF


@pytest.mark.usefixtures("quick")
def test_an_interrupt_leaves_a_record_of_what_was_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*asked: object) -> Iterator[Proved]:
        yield from list(in_this_process(*asked))[:2]  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(flow, "prove_all", interrupted)
    (tmp_path / "zero.csv").write_text("0,0\n")
    with pytest.raises(KeyboardInterrupt):
        mutated(tmp_path, vectors=0, inputs=(tmp_path / "zero.csv",))
    record = MutationRecord.from_json((tmp_path / "out" / "mutation.json").read_bytes())
    assert record.verdict is Verdict.INTERRUPTED
    assert 2 <= len(record.mutants) < 12
    assert sum(row.proof is not None for row in record.mutants) == 2
    assert not any(row.fate == "survived" for row in record.mutants)


@pytest.mark.slow
def test_nothing_goes_on_when_nobody_waits_for_proofs(tmp_path: Path) -> None:
    files = {"model.v": emit_verilog(ADDER)}
    question = Question(ADDER, files, "model", packed(ADDER), (), True, False, 0)
    mutants = [ToProve(n, mutant, 600.0) for n, mutant in enumerate(all_mutants(files) * 200)]
    before = {child.pid for child in multiprocessing.active_children()}
    answers = prove_all(question, mutants, tmp_path, 2, lambda done: None)
    assert next(answers).verdict is not None
    own = [child for child in multiprocessing.active_children() if child.pid not in before]
    assert own
    answers.close()  # type: ignore[attr-defined]
    for child in own:
        child.join()
        assert child.exitcode == -signal.SIGKILL


@pytest.mark.usefixtures("quick")
def test_a_design_that_is_wrong_has_no_mutants(tmp_path: Path) -> None:
    rtl = tmp_path / "bad.v"
    rtl.write_text(emit_verilog(ADDER).replace(" + ", " - "))
    record = flow.mutate(
        MutationRequest(
            program=ADDER,
            design=dais_verif.DesignRequest(rtl=(rtl,)),
            simulator="icarus",
            output=tmp_path / "out",
        )
    )
    assert record.verdict is Verdict.RTL_MISMATCH
    assert record.mutants == []


@pytest.mark.usefixtures("quick")
def test_expectations_that_are_not_met_end_with_another_verdict(tmp_path: Path) -> None:
    manifest = tmp_path / "expected.toml"
    manifest.write_text('[[expect]]\nkind = "operator"\nby = "simulation"\n')
    assert mutated(tmp_path, expected=manifest).verdict is Verdict.PASS
    manifest.write_text('[[expect]]\nkind = "operator"\nby = "proof"\n')
    record = mutated(tmp_path, expected=manifest)
    assert record.verdict is Verdict.NOT_SIGNED_OFF
    assert record.unexpected


@pytest.mark.usefixtures("quick")
def test_mutants_of_a_machine_are_simulated_from_power_up_and_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.mach").write_text(MACHINE)
    asked = {"program": tmp_path / "m.mach", "output": tmp_path / "out", "simulator": "icarus", "count": 8}
    record = flow.mutate(MutationRequest(**asked, vectors=20))  # type: ignore[arg-type]
    assert record.verdict is Verdict.PASS
    assert record.summary.killed_by_simulation > 0
    assert record.summary.unsound == record.summary.survived == 0
    assert record.vectors == 20
    enables = [row for row in record.mutants if row.kind in ("enable", "reset")]
    assert enables
    blind = flow.mutate(MutationRequest(**asked, vectors=1))  # type: ignore[arg-type]
    assert blind.summary.killed_by_proof > 0
    with monkeypatch.context() as patched:
        patched.setattr("dais_verif.verbs.mutation.simulations.Bench.goes_wrong", lambda *_: False)
        unconfirmed = flow.mutate(MutationRequest(**asked, vectors=1))  # type: ignore[arg-type]
        assert unconfirmed.summary.killed_by_proof == 0
        assert unconfirmed.summary.unknown >= blind.summary.killed_by_proof
    monkeypatch.setattr(flow, "prove_all", wrong_prover)
    unsound = flow.mutate(MutationRequest(**asked, vectors=20))  # type: ignore[arg-type]
    assert unsound.verdict is Verdict.UNSOUND


def test_what_only_programs_have_is_refused_of_a_machine(tmp_path: Path) -> None:
    (tmp_path / "m.mach").write_text(MACHINE)
    for asked in ({"judges": ("directed",)}, {"add_vectors": tmp_path / "more.csv"}):
        with raises(RequestError, match="machine"):
            flow.mutate(MutationRequest(program=tmp_path / "m.mach", output=tmp_path / "out", **asked))  # type: ignore[arg-type]


@pytest.mark.usefixtures("quick")
def test_ports_that_are_arrays_are_proved_and_not_simulated(tmp_path: Path) -> None:
    program = Program.build(
        [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), (0, 0, 1, 0, (1, 4, 0))], [(2, 0, 0)], inp_shift=[0, 0]
    )
    rtl, ports = tmp_path / "a.sv", tmp_path / "ports.toml"
    rtl.write_text(
        "module model(input logic signed [3:0] x [0:1], output logic signed [4:0] y [0:0]);\n"
        "  assign y[0] = x[0] + x[1];\nendmodule\n"
    )
    ports.write_text('[inputs]\nport = "x[{}]"\n[outputs]\nport = "y[{}]"\n')
    design = dais_verif.DesignRequest(rtl=(rtl,), ports=ports)
    with raises(MutationError, match="element of"):
        mutated(tmp_path, program, design=design)
    record = mutated(tmp_path, program, design=design, judges=("prove",), count=3)
    assert record.verdict is Verdict.PASS
    assert record.summary.killed_by_proof > 0


@pytest.mark.parametrize(
    ("asked", "rule"),
    [({"judges": ("luck",)}, ""), ({"simulator": "ghdl"}, ""), ({"count": 0}, "1")],
    ids=["judge", "simulator", "count"],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, asked: dict[str, object], rule: str) -> None:
    with raises(RequestError, match=rule):
        mutated(tmp_path, **asked)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [None, 3], ids=["combinational", "pipeline"])
def test_simulators_agree_on_what_they_kill_and_nothing_is_unsound(tmp_path: Path, stages: int | None) -> None:
    corpus = Path(__file__).parents[1] / "corpus" / "p01_addsub_tiny" / "prog.v1.bin"
    records = [
        dais_verif.mutate(load(corpus), tmp_path / name, stages=stages, count=100, vectors=300, simulators=name, jobs=2)
        for name in ("icarus", "verilator")
    ]
    fates = [[row.fate for row in record.mutants] for record in records]
    assert fates[0] == fates[1]
    for record in records:
        assert record.verdict is Verdict.PASS
        assert record.summary.unsound == record.summary.survived == record.summary.invalid == 0
        assert record.summary.killed_by_simulation > record.summary.mutants // 2
