"""``dais_verif.prove`` does what the verb does, but returns a record and prints nothing."""

from __future__ import annotations

import _thread
import asyncio
import json
import multiprocessing
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.said import as_recorded, raises

import dais_verif
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.record.proof import Basis, Claim, Method, ProofRecord, Status
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs import prove as flow
from dais_verif.verbs.proof import replay
from dais_verif.verbs.proof.deep_stack import Abandoned, run_deep, stop_if_abandoned

X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])
#: Fields that depend on the machine or on the clock.
VARYING = ("seconds", "tools", "worst", "reproduce", "cached")


@pytest.fixture
def bug(tmp_path: Path) -> Path:
    text = emit_verilog(SUM, "model")
    assert text.count("op_0 + op_1") == 1, "choose another bug, the emitter has changed"
    (tmp_path / "model.v").write_text(text.replace("op_0 + op_1", "op_0 - op_1"))
    return tmp_path / "model.v"


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "pipeline.v").write_text(emit_pipeline(SUM, "model", PipelineOptions(stages=2)).text)
    return tmp_path / "pipeline.v"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a program.bin").write_bytes(write_binary(SUM, "v1"))
    return tmp_path / "a program.bin"


def without_varying(record: dict[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in VARYING and not k.endswith("_seconds")}
        return [plain(item) for item in value] if isinstance(value, list) else value

    tree: dict[str, Any] = plain(record)
    return tree


def verdict_of(rtl: Path | None) -> str:
    return dais_verif.prove(SUM, rtl=None if rtl is None else [rtl], cache=False, confirm=False).verdict.value


def test_a_proof_that_passes(pipeline: Path, capfd: pytest.CaptureFixture[str]) -> None:
    proof = dais_verif.prove(SUM, rtl=pipeline, clock="clk", cache=False, confirm=False)
    assert proof.passed, proof.message
    proof.raise_for_verdict()
    assert proof.timing is not None and (proof.timing.latency, proof.timing.clock) == (2, "clk")
    assert proof.rtl.top == "model" and proof.rtl.files == [str(pipeline)] and not proof.rtl.emitted
    assert repr(proof).startswith("<ProofRecord PASS: ") and repr(proof).count("\n") == 0
    assert ProofRecord.from_json(proof.to_json()) == proof
    assert json.loads(proof.to_json()) == proof.to_dict()
    assert capfd.readouterr() == ("", "")


def test_a_wrong_design_is_a_verdict_with_the_op_to_blame(bug: Path) -> None:
    proof = dais_verif.prove(SUM, rtl=bug, simulators=["icarus"], cache=False)
    assert proof.verdict is dais_verif.Verdict.RTL_MISMATCH and not proof.passed
    found = proof.counterexample
    assert found is not None and (found.op, found.output) == (2, 0) and len(found.vector) == 2
    assert found.replay is not None and found.replay.first_mismatch is not None
    assert [claim.status for claim in proof.outputs] == [Status.REFUTED]
    assert ProofRecord.from_json(proof.to_json()) == proof
    with pytest.raises(dais_verif.VerdictError, match="RTL_MISMATCH"):
        proof.raise_for_verdict()


def test_a_notebook_shows_it(bug: Path) -> None:
    shown = dais_verif.prove(SUM, rtl=bug, simulators="icarus", cache=False)._repr_html_()
    assert shown is not None and "RTL_MISMATCH" in shown and "output 0" in shown
    assert "PASS" in (dais_verif.prove(SUM, cache=False)._repr_html_() or "")


def test_what_cannot_be_used_raises(tmp_path: Path, bug: Path) -> None:
    with raises(dais_verif.InputError):
        dais_verif.prove(SUM, rtl=tmp_path / "nowhere.v")
    for wrong in ({"front_end": "verific"}, {"sample": 101}, {"timeout": 0}, {"seed": -1}, {"timeout": float("nan")}):
        with raises(dais_verif.RequestError):
            dais_verif.prove(SUM, **wrong)  # type: ignore[arg-type]
    with raises(dais_verif.RequestError):
        dais_verif.prove(SUM, rtl=bug, latency=3)
    with raises(dais_verif.RequestError):
        dais_verif.prove(SUM, rtl=bug, simulators="ghdl")


@pytest.mark.parametrize("name", ["ours", "bug", pytest.param("pipeline", marks=pytest.mark.slow)])
def test_the_command_gives_the_same_record(
    name: str, path: Path, bug: Path, pipeline: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {"ours": {}, "bug": {"rtl": bug}, "pipeline": {"rtl": pipeline, "clock": "clk"}}[name]
    proof = dais_verif.prove(
        path, layout="v1", cache=False, sample=50, seed=3, simulators="icarus", output=tmp_path / "out", **asked
    )
    _, *words = shlex.split(proof.reproduce)
    assert main._run([*words, "--json"]) == proof.verdict.exit_code
    printed = json.loads(capsys.readouterr().out)
    assert without_varying(printed) == without_varying(proof.to_dict())
    assert (tmp_path / "out" / "result.json").is_file()


def test_progress_is_told() -> None:
    told: list[str] = []

    class Listener(dais_verif.Progress):
        @contextmanager
        def working(self, what: str) -> Any:
            told.append(what)
            yield told.append

    dais_verif.prove(SUM, cache=False, progress=Listener())
    assert told[0] == "proving" and any(text.startswith("proving: 0 of ") for text in told)


def test_in_threads_and_where_an_event_loop_runs(bug: Path) -> None:
    """Calls from several threads work: threads take turns, because a process has only one table of terms."""

    async def inside() -> str:
        return verdict_of(bug)

    limit = sys.getrecursionlimit()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(verdict_of, [None, bug, None, bug])) == ["PASS", "RTL_MISMATCH"] * 2
    assert asyncio.run(inside()) == "RTL_MISMATCH"
    assert sys.getrecursionlimit() == limit


def test_a_proof_that_is_interrupted_ends_soon() -> None:
    """An interrupted proof ends soon; otherwise the next proof would wait until it has finished."""
    ended = threading.Event()

    def work() -> None:
        _thread.interrupt_main()
        try:
            for _ in range(600):
                time.sleep(0.1)
                stop_if_abandoned()
        except Abandoned:
            ended.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        run_deep(work)
    assert ended.wait(30)
    assert run_deep(lambda: 5) == 5 and verdict_of(None) == "PASS"


@pytest.mark.slow
def test_in_a_pool_of_processes(bug: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(verdict_of, [None, bug])) == ["PASS", "RTL_MISMATCH"]


@pytest.mark.slow
def test_under_o_nothing_is_lost(bug: Path, path: Path) -> None:
    """The proof also finds the fault under ``python -O``, because no check rests on ``assert``."""
    code = f"import dais_verif as d; print(d.prove({str(path)!r}, rtl={str(bug)!r}, cache=False).verdict.value)"
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], capture_output=True, text=True, timeout=120, check=True, cwd=path.parent
    )
    assert done.stdout == "RTL_MISMATCH\n"


def test_rtl_that_changes_meanwhile_has_no_verdict(
    bug: Path, path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """RTL that changes before the replay gets no verdict, as the replay would run another design than was proved."""
    replayed = replay.replay_counterexample

    def late(*arguments: Any) -> Any:
        bug.write_text(bug.read_text() + "// late\n")
        return replayed(*arguments)

    monkeypatch.setattr(flow, "replay_counterexample", late)
    with raises(dais_verif.InputError):
        dais_verif.prove(path, rtl=bug, simulators="icarus", cache=False, output=tmp_path / "out")
    assert not (tmp_path / "out" / "result.json").exists()


def test_a_proof_of_rtl_that_changes_meanwhile_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If RTL changes during its proof, nothing is cached; the new content's proof would count as the old one's."""
    from dais_verif.verbs.proof import decide

    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    right = tmp_path / "model.v"
    right.write_text(emit_verilog(SUM, "model"))
    prove = decide._prove

    def late(*arguments: Any) -> Any:
        right.write_text(right.read_text() + "// late\n")
        return prove(*arguments)

    monkeypatch.setattr(decide, "_prove", late)
    with raises(dais_verif.InputError):
        dais_verif.prove(SUM, rtl=right, confirm=False)
    assert not (tmp_path / "cache" / "proofs" / "proofs.sqlite").exists()


ALL_BASES = [basis for bits in range(1 << len(Basis)) if (basis := Basis(bits)) or not bits]


def test_what_a_claim_rests_on_comes_back_from_its_words() -> None:
    assert len({basis.words for basis in ALL_BASES}) == len(ALL_BASES) == 1 << len(Basis)
    assert all(Basis.of(basis.words) == basis for basis in ALL_BASES)
    for wrong in ("faith", "ranges, faith", "promises, ranges", "range"):
        with raises(ValueError):
            Basis.of(wrong)


def test_a_claim_says_no_more_than_it_has_to() -> None:
    claim = Claim.of(("op", 7), Status.PROVED, Method.SMT, signal="v7", basis=Basis.RANGES | Basis.TWO_LEVELS)
    assert (claim.kind, claim.number, claim.name) == ("op", 7, "op 7")
    assert claim.basis == Basis.RANGES | Basis.TWO_LEVELS
    as_recorded(claim.means)
    assert Claim.of(("output", 0), Status.UNKNOWN, Method.SMT).name == "output 0"
