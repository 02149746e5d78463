"""JUnit and GitHub reports say what the record says, whatever its texts hold, and never show a false pass."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from support.said import as_recorded, raises
from support.tier import examples

from dais_verif.base.errors import InputError
from dais_verif.base.text import printable
from dais_verif.base.verdict import Verdict, worst
from dais_verif.record.campaigns import Job, JobResult, RegressionRecord
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.proof import ProofRecord, ProvedRtl
from dais_verif.record.read import AnyRecord
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import Failed, SimulationRecord, SimulatorResult
from dais_verif.report.test_cases import append_summary, cases_of, commands_of, junit_of, summary_of
from dais_verif.report.verdict_words import word_of

PROGRAM = ProgramInfo("p.bin", "00", None, "v1", False, 1, 1, 1)


def job(name: str, verdict: Verdict = Verdict.PASS, **more: object) -> JobResult:
    planned = Job(f"{name}/emitted/both/0", f"{name}.bin", "emitted", "both", 0, [])
    result = JobResult(planned, verdict, f"{name} says so", 1.5, [verdict], reproduce=f"dais-verif sim {name}.bin")
    return replace(result, **more)  # type: ignore[arg-type]


def regression(*jobs: JobResult, planned: int | None = None) -> RegressionRecord:
    verdict = worst(result.verdict for result in jobs)
    return RegressionRecord(
        verdict=verdict,
        message="so it ended",
        planned=len(jobs) if planned is None else planned,
        reproduce="dais-verif regress",
        jobs=[*jobs],
    )


MANY = regression(
    job("good"),
    job("bad", Verdict.RTL_MISMATCH, blame="vector 1, output 0, in icarus: op 6 is wrong"),
    job("late", Verdict.TOOL_FAILURE),
    job("shaky", flaky=True, attempts=[Verdict.RTL_MISMATCH, Verdict.PASS]),
    job("skipped", Verdict.NOT_RUN, attempts=[]),
)


def test_junit_of_a_regression() -> None:
    document = JUnitXml.fromstring(junit_of(MANY))
    (suite,) = list(document)
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (5, 1, 1, 1)
    root = ET.fromstring(junit_of(MANY))
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert [child.tag for child in cases["good, seed 0"]] == []
    failure = cases["bad, seed 0"].find("failure")
    assert failure is not None and failure.attrib == {"message": "RTL_MISMATCH: bad says so", "type": "RTL_MISMATCH"}
    assert failure.text is not None and failure.text.splitlines() == [
        "RTL_MISMATCH: bad says so",
        "vector 1, output 0, in icarus: op 6 is wrong",
        "reproduce: dais-verif sim bad.bin",
    ]
    assert cases["late, seed 0"].find("error") is not None
    assert [child.tag for child in cases["shaky, seed 0"]] == ["flakyFailure"]
    assert [child.tag for child in cases["skipped, seed 0"]] == ["skipped"]
    assert cases["bad, seed 0"].attrib["classname"] == "emitted.both"
    assert float(cases["bad, seed 0"].attrib["time"]) == 1.5


def test_github_of_a_regression() -> None:
    assert commands_of(MANY).splitlines() == [
        "::error file=bad.bin,title=RTL_MISMATCH%3A bad%2C seed 0::bad says so%0Avector 1, output 0, in icarus: op 6 "
        "is wrong%0Areproduce: dais-verif sim bad.bin",
        "::error file=late.bin,title=TOOL_FAILURE%3A late%2C seed 0::late says so%0Areproduce: dais-verif sim late.bin",
        "::warning file=shaky.bin,title=PASS%3A shaky%2C seed 0::shaky says so%0Areproduce: dais-verif sim shaky.bin",
    ]
    lines = summary_of(MANY).splitlines()
    assert lines[0] == "### :x: dais-verif regress: RTL_MISMATCH"
    assert len([line for line in lines if line.startswith("| ")]) == 4


RUN = SimulationRecord(
    verdict=Verdict.X_IN_OUTPUT,
    message="X",
    program=PROGRAM,
    seed=0,
    vectors=9,
    reproduce="dais-verif sim p.bin",
    rtl=RtlFacts(),
    tools={},
    simulators=[SimulatorResult("icarus")],
)
STAGE = StageResult("sim", Verdict.PASS, "all bits", True, True)
SIGNOFF = SignOffRecord(
    verdict=Verdict.PASS,
    message="signed",
    program=PROGRAM,
    policy={},
    seed=0,
    reproduce="dais-verif signoff",
    rtl=RtlFacts(),
    tools={},
    stages=[STAGE],
)


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize(
    "record",
    [
        RUN,
        Failed(Verdict.TOOL_FAILURE, "none"),
        ProofRecord(
            verdict=Verdict.PASS,
            message="proved",
            program=PROGRAM,
            reproduce="dais-verif prove p.bin",
            rtl=ProvedRtl(),
            tools={},
            ops=[],
            outputs=[],
        ),
        SIGNOFF,
        replace(SIGNOFF, stages=[]),
        replace(SIGNOFF, stages=[replace(STAGE, passed=False, waived=True)]),
        regression(),
        regression(job("a")),
        regression(job("a"), planned=2),
        regression(job("a", Verdict.NOT_RUN, attempts=[])),
    ],
    ids=["run", "failed", "proof", "signoff", "no stage", "waived", "no job", "job", "missing", "skipped"],
)
def test_none_of_them_shows_a_pass_that_is_none(record: AnyRecord, verdict: Verdict) -> None:
    """For every kind of record, no verdict but PASS is shown as passed."""
    record = replace(record, verdict=verdict)
    (suite,) = list(JUnitXml.fromstring(junit_of(record)))
    missing = isinstance(record, RegressionRecord) and record.planned > len(record.jobs)
    if verdict is not Verdict.PASS or missing:
        assert suite.failures + suite.errors >= 1
        assert commands_of(record).startswith("::error ")
    if verdict is not Verdict.PASS:
        assert summary_of(record).startswith("### :x:") and word_of(record, verdict) in summary_of(record)
    elif not missing and not isinstance(record, Failed) and any(case.passed for case in cases_of(record)):
        assert (suite.failures, suite.errors) == (0, 0) and commands_of(record) == ""


ODD = st.text(st.characters(codec="utf-8", categories=None) | st.sampled_from("<>&|`%:,\r\n\0\x1b*_[]"), max_size=20)


@settings(max_examples=examples(60), deadline=None)
@given(ODD, ODD, ODD)
def test_whatever_the_texts_hold_the_form_stands(name: str, message: str, blame: str) -> None:
    record = regression(job(name, Verdict.RTL_MISMATCH, message=message, blame=blame), job("good"))
    (suite,) = list(JUnitXml.fromstring(junit_of(record)))
    assert (suite.tests, suite.failures) == (2, 1)
    (command, end) = commands_of(record).split("\n")
    assert end == "" and "\r" not in command
    found = re.fullmatch(r"::error file=([^:,]*),title=([^:,]*)::(.*)", command, re.DOTALL)
    assert found is not None
    text = found[3].replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert text.startswith(f"{printable(message)}\n{printable(blame)}" if blame else printable(message))
    row = next(line for line in summary_of(record).split("\n") if line.startswith("| RTL"))
    assert row.count("|") == 4 and not set("<>`*[]") & set(row.replace("<br>", ""))


def test_ten_annotations_are_all_that_is_shown() -> None:
    record = regression(*(job(f"p{i}", Verdict.RTL_MISMATCH) for i in range(12)))
    lines = commands_of(record).splitlines()
    assert len(lines) == 10
    as_recorded(lines[-1])
    many = regression(*(job(f"p{i}", Verdict.RTL_MISMATCH, message="x" * 9000) for i in range(500)))
    assert len(summary_of(many)) < 1 << 20 and "and 400 more" in summary_of(many)


def test_the_summary_of_a_step_grows(tmp_path: Path) -> None:
    append_summary("lost", {})
    path = tmp_path / "summary.md"
    for text in ("a", "b"):
        append_summary(text, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text() == "ab"
    with raises(InputError):
        append_summary("a", {"GITHUB_STEP_SUMMARY": str(tmp_path)})
