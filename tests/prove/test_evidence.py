"""``make evidence`` decides every statement of a proof with other solvers, and reports those that they contradict."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.door import save
from support.programs import every_opcode

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import evidence  # type: ignore[import-not-found, unused-ignore]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the evidence of a program with every opcode."""
    folder = tmp_path_factory.mktemp("evidence")
    save(every_opcode(), folder)
    assert run(folder) == 0
    return folder


def run(folder: Path) -> int:
    (program,) = folder.glob("*.bin")
    code: int = evidence.main([str(program), "-o", str(folder / "out"), "--jobs", "1"])
    return code


def told(folder: Path) -> dict[str, Any]:
    (program,) = json.loads((folder / "out" / "summary.json").read_text())["programs"]
    found: dict[str, Any] = program
    return found


def test_every_solver_confirms_every_statement(folder: Path) -> None:
    one = told(folder)
    assert (one["verdict"], one["terms"], one["not_stated"]) == ("PASS", "as written", 0)
    assert one["statements"] > 30
    assert one["answers"] == {f"{solver} unsat": one["statements"] for solver in ("bitwuzla", "cvc5", "z3")}


def test_what_was_answered_is_not_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told(folder)
    answers = next((folder / "out").glob("*/answers.jsonl"))
    lines = answers.read_text().splitlines()
    answers.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20])  # cut off in the middle of a line
    counted: list[int] = []
    pool = evidence.ProcessPoolExecutor.map
    monkeypatch.setattr(
        evidence.ProcessPoolExecutor,
        "map",
        lambda self, work, new, *rest, **more: counted.append(len(new)) or pool(self, work, new, *rest, **more),
    )
    monkeypatch.setattr(evidence.subprocess, "run", lambda *args, **more: pytest.fail("proved again"))
    assert run(folder) == 0
    assert counted == [1]
    assert told(folder)["answers"] == before["answers"]


def test_a_statement_that_does_not_hold_is_found(folder: Path) -> None:
    file = next((folder / "out").glob("*/obligations/op_26.smt2"))
    text = file.read_text()
    try:
        file.write_text(text.replace("(assert (distinct", "(assert (="))
        assert file.read_text() != text
        assert run(folder) == 1
        assert told(folder)["wrong"] == [f"{solver} says sat: op_26.smt2" for solver in ("bitwuzla", "z3", "cvc5")]
    finally:
        file.write_text(text)


def test_what_is_not_decided_is_no_evidence() -> None:
    good = {"verdict": "PASS", "statements": 1, "not_stated": 0, "terms": "as written", "wrong": [], "undecided": []}
    assert evidence.code_of([good]) == 0
    assert evidence.code_of([]) == 1, "nothing was proved"
    assert evidence.code_of([good, {**good, "verdict": "UNKNOWN"}]) == 1
    assert evidence.code_of([good, {**good, "statements": 0}]) == 1
    for doubt in ({"undecided": ["z3: op_1.smt2"]}, {"not_stated": 1}, {"terms": "in normal form, since: ..."}):
        assert evidence.code_of([good, {**good, **doubt}]) == 6
