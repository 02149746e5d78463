"""Programs as pytest tests: they run, in parallel, too, and failures show the printed text, also in JUnit XML."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from support.door import mutant, save
from support.plugin import run_pytest
from support.programs import every_opcode

EVERY = every_opcode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with two programs, and wrong RTL."""
    for name in ("good", "other"):
        shutil.move(save(EVERY, tmp_path), tmp_path / f"{name}.bin")
    (tmp_path / "bad.v").write_text(mutant(EVERY, "op_4 =", "+", "-"))
    return tmp_path


def test_in_parallel_with_a_junit_report(project: Path) -> None:
    done = run_pytest(
        project,
        "--dais", "good.bin", "other.bin", "--dais-vectors", 20, "--dais-sim", "icarus",
        "-n", 2, "--junit-xml", "report.xml", "--dais-out", "kept",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    cases = list(ET.parse(project / "report.xml").iter("testcase"))
    names = sorted((case.get("classname"), case.get("name")) for case in cases)
    assert names == [("good.bin", "sim"), ("other.bin", "sim")]
    properties = {one.get("name"): one.get("value") for one in cases[0].iter("property")}
    assert properties["dais_verdict"] == "PASS" and "vectors" in properties["dais_icarus"]
    assert (properties["dais_vectors"], properties["dais_seed"]) == ("20", "0") and "dais_attempt" not in properties
    kept = json.loads((project / "kept" / "good.bin_sim" / "result.json").read_text())
    assert properties["dais_hash"] == kept["program"]["hash"] == EVERY.hash


def test_a_failure_shows_the_mismatch_and_how_to_reproduce_it(project: Path) -> None:
    (project / "test_marked.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.dais_program('good.bin', sim='icarus', rtl='bad.v', vectors=50)\n"
        "def test_wrong(dais_result): pass\n\n"
        "@pytest.mark.dais_program('good.bin', 'other.bin', sim='icarus', vectors=50)\n"
        "def test_right(dais_result):\n"
        "    assert dais_result['simulators'][0]['vectors_compared'] >= 50\n"
    )
    done = run_pytest(project, "test_marked.py")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "blame      op 4" in done.stdout and "reproduce  " in done.stdout
    assert "RTL_MISMATCH" in done.stdout and "Traceback" not in done.stdout
    assert "FAILED test_marked.py::test_wrong[good] - Failed: RTL_MISMATCH: " in done.stdout


@pytest.mark.slow
def test_a_rerun_is_told_as_such(project: Path) -> None:
    """A test that passes when it is rerun, and one that fails again, are reported with the folders of both runs."""
    shutil.copy(project / "good.bin", project / "wrong.bin")
    (project / "flaky.bin").write_bytes(b"no program")
    (project / "conftest.py").write_text(
        "import pathlib, shutil\n\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.outcome == 'rerun' and 'flaky' in report.nodeid:\n"
        "        shutil.copy('good.bin', 'flaky.bin')\n"
    )
    (project / "test_marked.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.dais_program('wrong.bin', sim='icarus', rtl='bad.v', vectors=50, seed=3)\n"
        "def test_wrong(dais_result): pass\n"
    )
    done = run_pytest(
        project,
        "test_marked.py", "--dais", "flaky.bin", "--dais-vectors", 20, "--dais-sim", "icarus",
        "-p", "pytest_rerunfailures", "--reruns", 1, "--junit-xml", "report.xml", "--dais-out", "kept",
    )  # fmt: skip
    assert done.returncode == 1 and "1 failed, 1 passed, 2 rerun" in done.stdout, done.stdout
    assert "dais-verif: passed only in run 2: flaky.bin::sim" in done.stdout
    assert "run 2 of this test, on the same vectors as the runs before" in done.stdout
    kept = {path.name for path in (project / "kept").iterdir()}
    assert "flaky.bin_sim_run2" in kept
    assert any(re.fullmatch(r"test_marked.py_test_wrong_wrong_-[0-9a-f]{8}_run2", name) for name in kept)
    assert "During handling" not in done.stdout
    told = {}
    for case in ET.parse(project / "report.xml").iter("testcase"):
        told[case.get("name")] = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert told["sim"]["dais_attempt"] == "2" and told["sim"]["dais_verdict"] == "PASS"
    wrong = told["test_wrong[wrong]"]
    assert wrong["dais_verdict"] == "RTL_MISMATCH" and wrong["dais_seed"] == "3" and wrong["dais_hash"] == EVERY.hash


def test_what_is_no_program_fails_with_one_line(project: Path) -> None:
    (project / "odd.bin").write_bytes(b"no program")
    done = run_pytest(project, "--dais", "odd.bin", "--junit-xml", "report.xml")
    assert done.returncode == 1
    assert re.search(r"^FAILED odd\.bin::sim - INVALID_INPUT: .*odd\.bin", done.stdout, re.MULTILINE)
    failure = next(ET.parse(project / "report.xml").iter("failure"))
    assert failure.attrib["message"].startswith("INVALID_INPUT: ")
    assert re.search(r"^reproduce  .*dais-verif sim \S*odd\.bin ", done.stdout, re.MULTILINE)
    assert "INVALID_INPUT" in done.stdout and "Traceback" not in done.stdout


def test_no_vectors_are_no_pass(project: Path) -> None:
    done = run_pytest(project, "--dais", "good.bin", "--dais-vectors", 0, "--dais-sim", "icarus")
    assert done.returncode == 1
    assert "NOT_RUN" in done.stdout


def test_a_proof(project: Path) -> None:
    done = run_pytest(project, "--dais", "good.bin", "--dais-prove", "-k", "prove", "--dais-out", "kept")
    assert done.returncode == 0, done.stdout
    assert json.loads((project / "kept" / "good.bin_prove" / "result.json").read_text())["schema"].startswith(
        "dais-verif/proof/"
    )
