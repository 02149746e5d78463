"""``dais-verif report``: records, programs, history, and the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.pages import PROGRAM, mismatch_run, passed_proof, passed_run, regression, signoff
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Times
from dais_verif.spec.program import Program, write_binary


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a program and the records of two runs of it."""
    monkeypatch.chdir(tmp_path)
    Path("net").mkdir()
    Path("net/prog.bin").write_bytes(write_binary(PROGRAM, "v1"))
    for name, record in (("run", passed_run()), ("bad", mismatch_run())):
        Path(name).mkdir()
        Path(name, "result.json").write_text(with_layout(record).to_json())
    return tmp_path


def with_layout(record: Any) -> Any:
    return replace(record, program=replace(record.program, layout="v1"))


def proof_file(path: Path, proof: ProofRecord) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(proof.to_json())


def run(*words: str) -> int:
    return main._run(["report", *words])


def page(name: str = "report.html") -> str:
    return Path(name).read_text("utf-8")


def test_a_folder_with_its_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run") == 0
    assert capsys.readouterr() == (f"PASS  {passed_run().message}\npage       report.html\n", "")
    assert run("run", "--json") == 0
    tree = json.loads(capsys.readouterr().out)
    wanted = {"page": "report.html", "verdict": "PASS", "exit_code": 0, "message": passed_run().message}
    assert tree == {"schema": "dais-verif/report/1", **wanted}
    assert "<h1>" in page() and 'id="program-data"' in page() and 'href="./run/result.json"' in page()


def test_the_exit_code_is_the_pages_own_unless_asked() -> None:
    assert run("bad") == 0
    assert run("bad", "--exit-code") == Verdict.RTL_MISMATCH.exit_code
    assert run("run", "bad", "--exit-code") == Verdict.RTL_MISMATCH.exit_code
    assert run("run", "--exit-code") == 0
    Path("run/result.json").write_text(replace(passed_run(), state="running", verdict=Verdict.NOT_RUN).to_json())
    assert run("run", "--exit-code") == Verdict.INTERRUPTED.exit_code


def test_a_proof_beside_a_run() -> None:
    proof_file(Path("proof/result.json"), passed_proof())
    assert run("run", "proof", "-o", "both.html") == 0
    assert f"{PROGRAM.n_out} proved" in page("both.html")


def test_coverage_as_its_verb_keeps_it() -> None:
    assert main._run(["coverage", "net/prog.bin", "--vectors", "20", "--timeout", "0", "-o", "cov"]) == 0
    assert run("cov", "--exit-code") == 0
    assert "no RTL was examined" in page()
    assert "Counted by a separate coverage run" in page()


def test_evidence_of_a_sign_off_is_on_its_page_unless_it_had_to_fail() -> None:
    made = signoff()
    stages = [made.stages[0], replace(made.stages[1], evidence=["poisoned/result.json"]), *made.stages[2:]]
    for name, record in (("sim", passed_run()), ("poisoned", mismatch_run())):
        Path("signed", name).mkdir(parents=True)
        Path("signed", name, "result.json").write_text(record.to_json())
    Path("signed/signoff.json").write_text(replace(made, stages=stages).to_json())
    assert run("signed", "--exit-code") == Verdict.NOT_SIGNED_OFF.exit_code
    assert "Stage sim</h3>" in page()
    assert "Stage poisoned" not in page() and "First mismatch" not in page()


def test_a_regression_has_links_to_its_results() -> None:
    Path("jobs/last").mkdir(parents=True)
    Path("jobs/last/result.json").write_text(mismatch_run().to_json())
    Path("regression.json").write_text(regression().to_json())
    assert run("regression.json") == 0
    assert 'href="./jobs/last/result.json"' in page()
    assert run("regression.json", "--program", "net/prog.bin") == 2
    assert run("regression.json", "run") == 2


def test_earlier_runs_are_of_the_same_program_only() -> None:
    small = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])
    for day, record in enumerate((passed_run(), passed_run(), mismatch_run(), passed_run(small)), 10):
        Path("old", str(day)).mkdir(parents=True)
        dated = replace(record, times=Times(f"2026-11-{day}T00:00:00Z", day / 10))
        Path("old", str(day), "result.json").write_text(dated.to_json())
    Path("old/broken").mkdir()
    Path("old/broken/result.json").write_text("{")
    proof_file(Path("old/result.json"), passed_proof())
    assert run("run", "--history", "old") == 0
    for day in (10, 11, 12):
        assert f"2026-11-{day} 00:00:00 UTC" in page()
    assert "2026-11-13" not in page()
    assert "Seconds of each simulation" in page() and "run 3: 1.2 s, RTL_MISMATCH, 1000 vectors" in page()
    assert run("run") == 0 and "None found" in page()
    assert run("run", "--history", "run") == 0 and "None found" in page(), "a run is not earlier than itself"
    assert run("run", "--history", "absent") == 2


def test_bugs_that_a_sign_off_plants_are_no_failures_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Mismatches that a sign-off provokes are not shown as failures of the program.

    The history shows only evidence that a stage names and that did not have to fail, also for an unfinished sign-off.
    """
    made = replace(signoff(), verdict=Verdict.PASS, message="all stages passed")
    stages = [replace(made.stages[0], evidence=["evidence/sim/run/result.json"]), made.stages[1]]
    stages[1] = replace(stages[1], evidence=["evidence/poisoned/run/result.json"])
    for name, record in (("sim", passed_run()), ("poisoned", mismatch_run()), ("unnamed", mismatch_run())):
        Path("old/signed/evidence", name, "run").mkdir(parents=True)
        Path("old/signed/evidence", name, "run/result.json").write_text(record.to_json())
    Path("old/signed/signoff.json").write_text(replace(made, stages=stages).to_json())
    Path("old/mine").mkdir()
    Path("old/mine/result.json").write_text(mismatch_run().to_json())
    assert run("run", "--history", "old") == 0
    trend = page().partition('id="trend"')[2].partition("</section>")[0]
    assert trend.count("RTL_MISMATCH</span>") == 1 and "old/mine" in trend
    assert trend.count("SIGNED OFF</span>") == 1 and "from a sign-off" in trend
    Path("old/signed/signoff.json").write_text("{")
    assert run("run", "--history", "old") == 0
    assert page().partition('id="trend"')[2].count("RTL_MISMATCH</span>") == 1
    Path("old/signed/signoff.json").write_text(replace(made, stages=stages).to_json())
    capsys.readouterr()
    assert run("old/signed", "--history", "old/signed") == 0 and "None found" in page()
    assert capsys.readouterr().out.startswith("SIGNED OFF  all stages passed\n")


def test_another_program_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    small = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])
    Path("small.bin").write_bytes(write_binary(small, "v1"))
    assert run("run", "--program", "small.bin") == 2
    as_recorded(capsys.readouterr().err)
    assert not Path("report.html").exists()
    Path("net/prog.bin").write_bytes(Path("small.bin").read_bytes())
    assert run("run") == 0
    as_recorded(capsys.readouterr().err)
    assert 'id="program-data"' not in page()
    Path("net/prog.bin").unlink()
    assert run("run") == 0
    as_recorded(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "Missing argument"),
        (["absent"], "No such file"),
        (["net"], "'net'"),
        (["net/prog.bin"], "JSON"),
        (["check.json"], "check.json"),
        (["error.json"], "program (INVALID_INPUT:"),
        (["run", "-o", "run"], "it is a folder"),
        (["run", "-o", "absent/page.html"], "'absent/page.html'"),
    ],
    ids=range(8),
)
def test_what_cannot_be_rendered_is_one_line(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = {"schema": "dais-verif/result/1", "verdict": "INVALID_INPUT", "exit_code": 2, "message": "no such file"}
    Path("error.json").write_text(json.dumps(failed))
    Path("check.json").write_text(json.dumps({**failed, "program": {}, "overflow": {}}))
    assert run(*words) == 2
    err = capsys.readouterr().err
    assert problem in err and err.count("\n") == 1
    as_recorded(err)


@pytest.mark.parametrize("value", [None, -1, "x", [[]]])
def test_no_field_of_any_kind_is_a_crash(value: Any) -> None:
    """Whatever value a field holds, the result is a page or a one-line error."""
    proof_file(Path("p/result.json"), passed_proof())
    for path in (Path("bad/result.json"), Path("p/result.json")):
        tree = json.loads(path.read_text())
        for name in tree:
            path.with_name("changed.json").write_text(json.dumps({**tree, name: value}))
            assert run(str(path.with_name("changed.json"))) in (0, 2), name
