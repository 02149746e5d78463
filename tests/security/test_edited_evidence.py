"""A changed value anywhere in the evidence is found, even if all hashes are adapted."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edits import edits, findings, not_found
from support.signing import GIVEN, QUICK, project, sign, verify

PROVED = QUICK.replace('proof = "off"', 'proof = "required"') + GIVEN
#: Our own RTL with every stage that needs no board, and a proof without time.
EVERYTHING = (
    'simulators = ["icarus"]\nvectors = 300\ndistinct = 100\nexhaustive_bits = 8\nseeds = [0, 1]\n'
    'proof = "optional"\ncoverage = 50.0\nstages = ["netlist", "axis"]\n'
)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [PROVED, EVERYTHING], ids=["a proof", "everything"])
def test_all_edits(policy: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "project", policy)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    assert verify(folder).findings == []
    assert findings(folder / "out") == []
    every = edits(folder / "out")
    assert len(every) > 1500
    missed = not_found(folder / "out", every)
    assert missed == [], f"{len(missed)} of {len(every)}"
