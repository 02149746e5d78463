"""The record that ``sim -o`` keeps has the request, the decisions and the findings, also if the run was interrupted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.door import mutant, run_sim
from support.programs import every_opcode
from support.records import RECORD

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.spec.program import Program
from dais_verif.verbs.work_folder import work_folder

EVERY = every_opcode()


def test_of_a_pass_says_where_its_vectors_came_from_and_what_each_output_rests_on(tmp_path: Path) -> None:
    given = tmp_path / "x.csv"
    given.write_text("1,2,3\n-8,31.5,-16\n")
    run = run_sim(EVERY, tmp_path, "--inputs", given, "--vectors", 20)
    assert run.ending == ("PASS", 0)
    assert run.record["stimulus"] == [
        {"name": "file", "vectors": 2, "source": str(given), "sha256": hashlib.sha256(given.read_bytes()).hexdigest()},
        {"name": "generated", "vectors": 20, "source": None, "sha256": None},
    ]
    assert run.record["state"] == "complete" and run.record["times"]["seconds"] > 0
    widths = [kind.width for kind in EVERY.output_types]
    assert 0 in widths
    assert run.record["outputs"] == [
        {"output": output, "grade": "sampled", "vectors": 22}
        if width
        else {"output": output, "grade": "none", "vectors": 0}
        for output, width in enumerate(widths)
    ]


def test_of_exhausted_outputs_counts_the_pass(tmp_path: Path) -> None:
    run = run_sim(EVERY, tmp_path, "--vectors", 5, "--exhaustive", simulator="verilator")
    exhausted = {grade["output"] for grade in run.record["outputs"] if grade["grade"] == "exhausted"}
    assert exhausted == set(run.record["evidence"]["exhausted"]) != set()
    swept = run.record["stimulus"][-1]
    assert (swept["name"], swept["vectors"]) == ("exhaustive", run.record["exhaustive_vectors"])


def test_of_a_mismatch_tells_wrong_outputs_from_those_that_were_compared_equal(tmp_path: Path) -> None:
    run = run_sim(EVERY, tmp_path, rtl=mutant(EVERY, "op_4 =", "+", "-"))
    assert run.ending == ("RTL_MISMATCH", 1)
    behind = reached_from(EVERY, 4)
    graded = {grade["output"]: grade["grade"] for grade in run.record["outputs"]}
    wrong = {output for output, grade in graded.items() if grade == "wrong"}
    assert run.record["first_mismatch"]["output"] in wrong
    assert wrong <= {output for output, (op, _, _) in enumerate(EVERY.outputs) if op in behind}
    assert "sampled" in graded.values() and set(graded.values()) <= {"wrong", "sampled", "none"}


def reached_from(program: Program, op: int) -> set[int]:
    found = {op}
    for other in program.ops:
        if found & {*other.operands}:
            found.add(other.index)
    return found


def test_tells_what_was_decided(tmp_path: Path) -> None:
    chosen = {
        decision["what"]: (decision["chosen"], decision["why"])
        for decision in run_sim(EVERY, tmp_path, "--unchecked", "--vectors", 5).record["decisions"]
    }
    assert chosen == {"layout": ("v1", "detected"), "overflow": ("continued past", "--unchecked")}


@pytest.mark.parametrize(
    ("error", "verdict"), [(KeyboardInterrupt(), "INTERRUPTED"), (InputError("what, where"), "INVALID_INPUT")]
)
def test_of_a_run_that_was_broken_off_is_no_record_of_one_that_goes_on(
    error: BaseException, verdict: str, tmp_path: Path
) -> None:
    path = tmp_path / "out" / "result.json"
    with pytest.raises(type(error)), work_folder(tmp_path / "out") as folder:
        folder.begin(replace(RECORD, state="running", verdict=Verdict.NOT_RUN))
        running = json.loads(path.read_text())
        assert (running["state"], running["verdict"], running["exit_code"]) == ("running", "NOT_RUN", 6)
        raise error
    kept = json.loads(path.read_text())
    assert (kept["state"], kept["verdict"]) == ("complete", verdict)


def test_of_a_finished_run_is_not_touched_by_what_comes_after(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), work_folder(tmp_path / "out") as folder:
        folder.begin(replace(RECORD, state="running"))
        folder.keep(RECORD)
        raise KeyboardInterrupt
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == json.loads(RECORD.to_json())
