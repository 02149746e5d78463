"""The stage ``mutation`` of a sign-off: it passes and fails as it must, and every edit of its evidence is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.edits import edits, findings, not_found
from support.said import as_recorded
from support.signing import MACHINE, QUICK, machine_project, project, sign, verify

from dais_verif.spec.program import Program

pytestmark = pytest.mark.slow

ASKED = 'stages = ["mutation"]\n'
#: A policy with so few vectors that some mutants survive.
POOR = "[mutation]\nmutants = 40\nvectors = 1\n"

#: A program whose output is its input.
WIRE = Program.build([(-1, 0, -1, 0, (0, 8, 0))], [(0, 0, 0)], inp_shift=[0])


def test_a_floor_that_is_met_is_certified_with_the_score(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", QUICK.replace('"off"', '"required"') + ASKED + "[mutation]\nmutants = 12\n")
    ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("PASS", 0), ending.tree["message"]
    assert verify(folder).verdict == "PASS"
    certificate = json.loads((folder / "out" / "certificate.json").read_bytes())
    assert certificate["mutation"]["mutants"] == 12
    assert certificate["mutation"]["score"] >= 95
    assert certificate["policy"]["mutation"]["floor"] == 95.0
    assert findings(folder / "out") == []
    every = [edit for edit in edits(folder / "out") if "/mutation/" in edit.what]
    assert len(every) > 100
    assert not_found(folder / "out", every) == []


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("floor = 100.0\n", "at least 100 % is required"),
        ("floor = 0.0\nmost_unknown = 0.0\n", ""),
    ],
    ids=["floor", "no floor"],
)
def test_a_poor_score_is_not_signed_off_where_more_is_asked_for(more: str, says: str, tmp_path: Path) -> None:
    ending = sign(project(tmp_path / "project", QUICK + ASKED + POOR + more))
    stage = next(stage for stage in ending.tree["stages"] if stage["name"] == "mutation")
    assert stage["passed"] is (not says), stage
    assert ending.verdict == ("NOT_SIGNED_OFF" if says else "PASS")
    assert says in stage["message"]


def test_without_any_mutant_nothing_is_shown(tmp_path: Path) -> None:
    text = "module model (input wire [7:0] model_inp, output wire [7:0] model_out);\n  assign model_out = model_inp;\n"
    given = QUICK + ASKED + '[rtl]\nfiles = ["design.v"]\n'
    ending = sign(project(tmp_path / "project", given, text + "endmodule\n", WIRE))
    stage = next(stage for stage in ending.tree["stages"] if stage["name"] == "mutation")
    assert (stage["verdict"], stage["passed"]) == ("NOT_RUN", False)
    assert "RTL" in stage["message"]
    assert ending.verdict == "NOT_SIGNED_OFF"


def test_a_machine_has_no_such_stage(tmp_path: Path) -> None:
    folder = machine_project(tmp_path / "project", QUICK.replace("exhaustive_bits = 0\n", "") + ASKED, MACHINE)
    ending = sign(folder, program=folder / "prog.mach")
    assert ending.verdict == "INVALID_INPUT"
    as_recorded(ending.tree["message"])
