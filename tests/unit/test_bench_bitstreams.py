"""The bitstream campaign: its table, what makes it fail, and that existing rows are not computed again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.said import as_recorded

from bench import bitstreams

BUILT = {"build": {"seconds": 1.0, "exit_code": 0}, "cells": 12, "rams": 0, "pins": 3, "MHz": 99.5}
GOOD = {"program": "a", "form": "bare", "device": "d", **BUILT, "verdict": "PASS"}
STEPS = {step: {"verdict": "PASS", "seconds": 2.0, "message": ""} for step in ("sim", "prove")}
WRONG = {**GOOD, "form": "pipeline", "sim": {**STEPS["sim"], "verdict": "RTL_MISMATCH"}, "verdict": "RTL_MISMATCH"}
LARGE = {"program": "b", "form": "bare", "device": "d", "build": BUILT["build"], "verdict": "NOT BUILT", "why": "large"}


def test_a_row_says_what_was_found() -> None:
    lines = bitstreams.table([{**GOOD, **STEPS}, WRONG, LARGE]).splitlines()
    assert lines[2] == "| a | bare | 12 | 0 | 3 | 99.5 | 1 | PASS, 2 s | PASS, 2 s |  | PASS |"
    as_recorded(lines[3])
    assert lines[3].startswith("| a | pipeline |")
    assert lines[4].endswith("| not built: large |")


@pytest.mark.parametrize(
    ("rows", "code"),
    [([GOOD, LARGE], 0), ([GOOD, WRONG], 1), ([{**GOOD, "verdict": None}], 1)],
    ids=["good", "wrong", "none"],
)
def test_it_fails_if_what_was_built_did_not_pass(rows: list[dict[str, object]], code: int, tmp_path: Path) -> None:
    kept = tmp_path / "rows.jsonl"
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert bitstreams.main(["-o", str(kept), "--only", "no program is called so"]) == code


def test_rows_that_are_there_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def row_of(program: Path, form: str, device: str, timeout: float, vectors: int) -> dict[str, object]:
        made.append((bitstreams.program_name(program), form))
        return {**GOOD, "program": bitstreams.program_name(program), "form": form, "device": device}

    monkeypatch.setattr(bitstreams, "row_of", row_of)
    words = ["-o", str(tmp_path / "rows.jsonl"), "--only", "quantised_mac"]
    assert bitstreams.main(words) == 0
    assert made == [("quantised_mac", form) for form in bitstreams.FORMS]
    assert bitstreams.main(words) == 0 and len(made) == 3
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 3
