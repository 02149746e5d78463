"""Fuzzing pairs around our Verilog: netlists that Yosys maps from it, and wrappers with their buses."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.fuzzer import Stretch, judge_stretch
from dais_verif.campaigns.fuzzing.generate.cases import made_case
from dais_verif.campaigns.fuzzing.generate.random_programs import random_rows
from dais_verif.campaigns.fuzzing.pairs import hardware as netlists
from dais_verif.campaigns.fuzzing.pairs import hardware as wrappers
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.proof import Counterexample
from dais_verif.simulation.judge import AxisOutcome, judge_streams
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.axis_job import AxisAnswer, AxisJob, Heard, Scenario, VectorBeats
from dais_verif.spec.program.numbers import Batch

WRONG = Disagreement("netlist", "RTL_MISMATCH", "1 of 8 vectors differ")


def with_sums() -> Case:
    """Return a small case with sums that affect its output."""
    program = dais_verif.load(Path(dais_verif.__file__).parents[1] / "examples" / "quantised_mac.bin")
    return Case.of(program, Batch.of(random_rows(random.Random(1), program), program.n_in))


def told(
    monkeypatch: pytest.MonkeyPatch, case: Case, verdict: Verdict, simulated: Disagreement | None, cells: int = 3
) -> list[Case]:
    """Fake proofs that give ``verdict`` and simulations that give ``simulated``; return the list of simulated cases."""
    asked: list[Case] = []

    def judged_in(one: Case, *_: object) -> Disagreement | None:
        asked.append(one)
        return simulated if one is case else None

    design = RtlDesign((), "model", dut=packed(case.program))
    width = len(packed(case.program).ports.inputs)
    proof = SimpleNamespace(
        verdict=verdict,
        message="so it is",
        counterexample=Counterexample(("0",) * width, 0) if verdict is Verdict.RTL_MISMATCH else None,
        elements=packed(case.program).ports.inputs,
    )
    monkeypatch.setattr(netlists, "require_comparable", lambda *_: None)
    monkeypatch.setattr(netlists, "_netlist", lambda *_: (design, cells))
    monkeypatch.setattr(netlists, "proof_of", lambda *_, **__: proof)
    monkeypatch.setattr(netlists, "judged_in", judged_in)
    return asked


@pytest.mark.parametrize(
    ("verdict", "simulated", "kind"),
    [
        (Verdict.PASS, None, None),
        (Verdict.PASS, WRONG, "generic: "),
        (Verdict.UNKNOWN, WRONG, "generic: RTL_MISMATCH"),
        (Verdict.RTL_MISMATCH, WRONG, "generic: RTL_MISMATCH"),
        (Verdict.RTL_MISMATCH, None, "generic: "),
    ],
)
def test_proof_and_simulation_of_a_netlist_tell_one_story(
    verdict: Verdict, simulated: Disagreement | None, kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = with_sums()
    asked = told(monkeypatch, case, verdict, simulated)
    found = netlists.mapped(case)
    if found is None or kind is None:
        assert found is kind
    else:
        assert found.kind.startswith(kind)
        as_recorded(found.kind)
    replayed = verdict is Verdict.RTL_MISMATCH and simulated is None
    assert len(asked) == (2 if kind is None or replayed else 1)  # both targets, or the counterexample
    assert not replayed or [len(row) for row in asked[1].rows] == [case.program.n_in]


@pytest.mark.parametrize(("verdict", "cells"), [(Verdict.UNKNOWN, 3), (Verdict.PASS, 10_000)])
def test_a_netlist_without_a_proof_is_counted(verdict: Verdict, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, with_sums(), verdict, None, cells)
    with pytest.raises(NotJudged):
        netlists.mapped(with_sums())
    judged = judge_stretch(Stretch(3, 0, 12, ("netlist",)))
    assert judged.undecided["netlist"] > 0 == judged.pairs["netlist"] and not judged.findings


def test_a_stream_that_compared_nothing_is_not_run() -> None:
    """A stream whose few vectors were all dropped by resets is NOT_RUN."""
    job = AxisJob(VectorBeats("", "", 4, 0), None, 3, 3, 1, scenarios=(Scenario("resets", resets=5),))
    heard = Heard(scenario="resets", sent=4, compared=0, dropped=4, clocks=9)
    found = judge_streams({"icarus": AxisOutcome(AxisAnswer([heard]), "12", 0.0, 0.0)}, job, "")
    as_recorded(found)


def minus(emit: Callable[..., str]) -> Callable[..., str]:
    """Return ``emit`` with a fault: it emits differences in place of sums."""
    return lambda *asked: re.sub(r"(op_\d+) \+ ", r"\1 - ", emit(*asked))


@pytest.mark.slow
@pytest.mark.skipif(not tools.has_icarus(), reason="needs Icarus")
@pytest.mark.parametrize(("name", "module"), [("netlist", netlists), ("wrappers", wrappers)])
def test_a_bug_behind_yosys_and_buses_is_found(
    name: str, module: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Correct Verilog agrees; differences in place of sums are found, reduced, kept, and judged again."""
    assert PAIRS[name].judge(with_sums()) is None
    with monkeypatch.context() as changed:
        changed.setattr(module, "emit_verilog", minus(module.emit_verilog))  # type: ignore[attr-defined]
        changed.setattr("dais_verif.verbs.fuzzing.fuzz._TOOL_SECONDS", 40.0)
        record = dais_verif.fuzz(count=40, seed=3, pairs=[name], jobs=1, output=tmp_path)
        assert record.verdict is Verdict.DISAGREEMENT
        assert {one.kind.partition(": ")[2] for one in record.found} == {"RTL_MISMATCH"}
        ops = [(one.ops, made_case(3, one.number or 0).case.program.n_ops) for one in record.found]
        assert all(small <= large for small, large in ops) and any(small < large for small, large in ops)
        assert dais_verif.fuzz(replay=tmp_path).verdict is Verdict.DISAGREEMENT
    assert dais_verif.fuzz(replay=tmp_path).verdict in (Verdict.PASS, Verdict.UNKNOWN)


@pytest.mark.slow
@pytest.mark.skipif(not tools.has_icarus(), reason="needs Icarus")
@pytest.mark.parametrize("kind", ["axis", "uart", "spi", "fifo"])
def test_a_bug_of_a_wrapper_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A faulty wrapper that inverts the output of the core is found."""
    write, emulate = wrappers.wrap, "dais_verif.simulation.boards.emulator.wrap"

    def wrong(asked: str, *given: object, **options: object) -> object:
        made = write(asked, *given, **options)  # type: ignore[arg-type]
        if asked != kind:
            return made
        name = "model_axis.v"
        text = made.files[name].replace(".core_out(core_out)", ".core_out(~core_out)")
        assert text != made.files[name]
        return made._replace(files={**made.files, name: text})

    monkeypatch.setattr(wrappers, "wrap", wrong)
    monkeypatch.setattr(emulate, wrong)
    found = wrappers.wrapped(with_sums())
    assert found is not None and found.kind == f"{kind}: RTL_MISMATCH"
