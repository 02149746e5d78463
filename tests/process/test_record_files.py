"""Records are read back from files; all that we write conforms to the published schemas, and all else is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.base.stopwatch import Stage
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.record.base import Record, RunRecord
from dais_verif.record.campaigns import Job, JobResult, RegressionRecord
from dais_verif.record.coverage import Coverage, CoverageGroup, OpenBin
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.proof import Claim, Counterexample, Method, ProofRecord, ProvedRtl, Replay, Status
from dais_verif.record.read import AnyRecord, parse_record, read_record
from dais_verif.record.schema import KINDS, make_schema, schema_path
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import (
    Blame,
    Decision,
    Evidence,
    Failed,
    InputValue,
    Mismatch,
    OutputEvidence,
    SimulationRecord,
    SimulatorResult,
    StimulusClass,
    Times,
    Value,
    Waiver,
)

HUGE = Value("0.5", 1 << 200, "01X")
PROGRAM = ProgramInfo("p [ä].bin", "00", None, "v1", False, 1, 1, 1)
COVERAGE = Coverage(9, 1, 50.0, [CoverageGroup("bit", 2, 1, 0)], [[2, 1, 0]], [], [OpenBin("bit", 1, None, 0, "x")], 1)
BLAME = Blame("op", "op 0 is wrong", 0, "input", "s8.0", HUGE, Value(None, None, "X"))
RECORD = SimulationRecord(
    verdict=Verdict.RTL_MISMATCH,
    message="3 of 9 vectors differ",
    program=PROGRAM,
    seed=1 << 70,
    vectors=9,
    reproduce="dais-verif sim 'my prog.bin'",
    rtl=RtlFacts(top="model", files=["/a b.v"], face={"any": [1, None]}),
    tools={"cocotb": "2.1"},
    simulators=[SimulatorResult("icarus", "11.0", 9, 72, 3), SimulatorResult("verilator", failure="out of memory")],
    first_mismatch=Mismatch("icarus", 17, 0, HUGE, HUGE, [InputValue(0, "-1", "1")], BLAME, views=["a.gtkw"]),
    evidence=Evidence([0], [1], {1: 1 << 24}),
    profile=[Stage("read", 0, 0.5, 0.25)],
    times=Times("2026-11-21T10:00:00Z", 1.5),
    stimulus=[StimulusClass("file", 9, "x.npy", "00")],
    outputs=[OutputEvidence(0, "sampled", 9)],
    decisions=[Decision("layout", "v1", "its header says so")],
    coverage=COVERAGE,
    waivers=[Waiver("coverage", "known", "2027-01-01")],
)
JOB = JobResult(
    Job("p/emitted/both/0", "p.bin", "emitted", "both", 0, ["--seed", "0"]),
    Verdict.TOOL_FAILURE,
    "the time limit has passed",
    1.0,
    [Verdict.TOOL_FAILURE, Verdict.PASS],
    flaky=True,
)
PROOF = ProofRecord(
    verdict=Verdict.RTL_MISMATCH,
    message="output 0 is wrong",
    program=PROGRAM,
    reproduce="dais-verif prove p.bin",
    rtl=ProvedRtl(),
    tools={},
    ops=[Claim(op=3, status=Status.REFUTED, method=Method.SMT, inputs=("-5",))],
    outputs=[],
    counterexample=Counterexample(("-5",), 0, replay=Replay(Verdict.RTL_MISMATCH, "so it is")),
)
RECORDS: dict[str, tuple[str, AnyRecord]] = {
    "record": ("result", RECORD),
    "proof": ("proof", PROOF),
    "failed": ("result", Failed(Verdict.INVALID_INPUT, "no such file")),
    "regression": (
        "regression",
        RegressionRecord(
            verdict=Verdict.NOT_RUN,
            message="0 jobs",
            planned=1,
            reproduce="dais-verif regress",
            jobs=[JOB],
            state="running",
        ),
    ),
    "signoff": (
        "signoff",
        SignOffRecord(
            verdict=Verdict.NOT_SIGNED_OFF,
            message="a stage did not run",
            program=PROGRAM,
            policy={"stages": ["sim"]},
            seed=0,
            reproduce="dais-verif signoff",
            rtl=RtlFacts(),
            tools={},
            stages=[StageResult("sim", Verdict.NOT_RUN, "no simulator", False, False)],
            coverage=COVERAGE,
        ),
    ),
}


def text_of(record: AnyRecord) -> str:
    """Return the record as its verb writes it; the JSON of prove is not a rendering of the dataclass."""
    return record.to_json()


def validate(kind: str, text: str) -> None:
    schema = json.loads(schema_path(kind).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("kind", KINDS)
def test_published_schemas_are_current(kind: str) -> None:
    assert schema_path(kind).read_text(encoding="utf-8") == make_schema(kind), "make schemas"


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_written_conforms_and_comes_back(name: str) -> None:
    kind, record = RECORDS[name]
    validate(kind, text_of(record))
    assert parse_record(text_of(record).encode(), "x") == record


@pytest.mark.parametrize(("name", "verdict"), [(name, verdict) for name in RECORDS for verdict in Verdict])
def test_every_verdict_comes_back(name: str, verdict: Verdict) -> None:
    record = replace(RECORDS[name][1], verdict=verdict)
    assert parse_record(text_of(record).encode(), "x").verdict is verdict


@pytest.mark.parametrize("name", RECORDS)
def test_fields_of_later_versions_are_passed_over(name: str) -> None:
    kind, record = RECORDS[name]
    tree: dict[str, Any] = json.loads(text_of(record))
    if name == "failed":
        return  # with more fields, it would be another kind of record
    tree["later"] = {"more": 1}
    validate(kind, json.dumps(tree))
    assert parse_record(json.dumps(tree).encode(), "x") == record


def changed(**fields: object) -> str:
    return json.dumps({**json.loads(text_of(RECORD)), **fields})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ("\xff", "JSON"),
        ("[1]", "None"),
        ("{}", "None"),
        ('{"schema": ["dais-verif/result/1"]}', "['dais-verif/result/1']"),
        ('{"schema": "dais-verif/result/2"}', "'dais-verif/result/2'"),
        ('{"schema": "dais-verif/regression/1"}', "missing required field `verdict`"),
        (changed(verdict="FINE"), "Invalid enum value 'FINE' - at `$.verdict`"),
        (changed(verdict="PASS"), "exit_code is 1,"),
        (changed(exit_code=None), "exit_code is None,"),
        (changed(vectors="9"), "Expected `int`, got `str` - at `$.vectors`"),
        (changed(program={"path": "p"}), "at `$.program`"),
    ],
    ids=range(14),
)
def test_what_is_no_record_is_refused_in_a_line(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(text.encode("latin-1"))
    with raises(InputError, re.escape(problem)) as caught:
        read_record(path)
    assert str(path) in str(caught.value)
    if problem != "JSON" and "exit_code is 1" not in problem:
        with pytest.raises(jsonschema.ValidationError):
            validate("result", text)


def test_a_folder_stands_for_its_record(tmp_path: Path) -> None:
    with raises(InputError):
        read_record(tmp_path)
    (tmp_path / "result.json").write_text(text_of(RECORD))
    assert read_record(tmp_path) == RECORD
    with raises(InputError):
        read_record(tmp_path / "absent")


def test_real_ones_conform_and_the_verb_prints_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Real records of errors, proofs, coverage and campaigns conform; tests of ``regress`` cover simulations."""
    example = Path(__file__).parents[2] / "examples" / "sort_two.bin"
    for words, kind in (
        (["coverage", str(example)], "coverage"),
        (["fuzz", "--count", "2", "-o", str(tmp_path / "crashers")], "fuzzing"),
        (
            ["mutate", str(example), "--count", "2", "--vectors", "10", "--sim", "icarus", "-o", str(tmp_path)],
            "mutation",
        ),
    ):
        assert main._run([*words, "--json"]) == 0, kind
        validate(kind, capsys.readouterr().out)
    assert main._run(["prove", str(example), "--json"]) == 0
    proof = capsys.readouterr().out
    assert isinstance(parse_record(proof.encode(), "x"), ProofRecord)
    validate("proof", proof)
    assert main._run(["sim", "none.bin", "--json"]) == 2
    refused = capsys.readouterr().out
    assert isinstance(parse_record(refused.encode(), "x"), Failed)
    validate("result", refused)
    for kind in KINDS:
        assert main._run(["schema", kind]) == 0
        assert capsys.readouterr().out == make_schema(kind)


EXAMPLES = Path(__file__).parents[2] / "examples"


def verbs(folder: Path) -> dict[str, list[list[str]]]:
    """Return command lines by the kind of their record; each verb with --json that needs no simulator of others."""
    example, inputs = str(EXAMPLES / "sort_two.bin"), str(folder / "x.csv")
    (folder / "x.csv").write_text("1,2\n3,1\n")
    (folder / "p.dais").write_text("input x\na = u4.0 input x\noutput y = a\n")
    machine = str(next(EXAMPLES.rglob("*.mach")))
    return {
        "check": [["check", example], ["check", machine]],
        "run": [["run", example, "--inputs", inputs, "-o", str(folder / "y.csv")]],
        "conversion": [["convert", str(folder / "p.dais"), "-o", str(folder / "p.bin")]],
        "profile": [["run", "--profile", example, "--vectors", "10"]],
        "explain": [["explain", machine, "--cycle", "1"]],
        "diff": [["diff", example, example, "--vectors", "5"]],
        "emit": [["emit", example, "-o", str(folder / "e.v")], ["emit", machine, "-o", str(folder / "m.v")]],
        "sensitivity": [["sensitivity", example, "--vectors", "4"]],
        "coverage": [["coverage", example, "--vectors", "20"]],
        "fuzzing": [["fuzz", "--count", "2", "-o", str(folder / "crashers")]],
        "proof": [["prove", example]],
        "result": [["sim", example, "--sim", "icarus", "--vectors", "10"], ["sim", str(folder / "none.bin")]],
        "cache": [["cache"]],
        "kernel-list": [["kernel", "list"]],
        "kernel-show": [["kernel", "show", "conv2d"]],
        "verify-cert": [["signoff", "--verify", str(folder)]],
    }  # fmt: skip


def test_every_verb_prints_what_its_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, commands in verbs(tmp_path).items():
        for words in commands:
            main._run([*words, "--json"])
            text = capsys.readouterr().out
            error = set(json.loads(text)) <= Failed.FIELDS
            assert not error or words[0] in ("sim", "signoff"), text
            validate("result" if error else kind, text)
            known = (
                "-".join(words[:2])
                if words[0] == "kernel"
                else kind
                if words[1:2] in (["--profile"], ["--verify"])
                else words[0]
            )
            assert main._run(["schema", known]) == 0
            assert json.loads(capsys.readouterr().out) == json.loads(schema_path(kind).read_text(encoding="utf-8"))


def test_no_two_records_share_a_schema() -> None:
    names = [record.SCHEMA for record in KINDS.values()]
    assert len(set(names)) == len(names)
    every = {found.SCHEMA for found in subclasses(Record) if found.__name__.lstrip("_") == found.__name__}
    assert every - {RunRecord.SCHEMA} <= set(names)


def subclasses(of: type[Record]) -> list[type[Record]]:
    return [each for one in of.__subclasses__() for each in (one, *subclasses(one))]


def test_a_record_is_shown_in_one_line() -> None:
    """The ``repr`` of a dataclass would be pages long."""
    assert [one for one in subclasses(RunRecord) if one.__repr__ is not RunRecord.__repr__] == []
