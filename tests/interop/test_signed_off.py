"""da4ml's RTL with tables is signed off, combinational and pipelined, and an edit of a table is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from interop.rtl import write
from support.signing import sign, verify

POLICY = """simulators = ["verilator"]  # Icarus 11 does not take da4ml's tables
vectors = 1000
[rtl]
files = ["rtl/src/model.v", {stages}"rtl/src/static/*.v"]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("da4ml")
@pytest.mark.parametrize("cutoff", [-1.0, 2.0], ids=["combinational", "pipelined"])
def test_its_rtl_with_tables(cutoff: float, corpus: Path, tmp_path: Path) -> None:
    from da4ml.types import CombLogic

    logic = CombLogic.load(corpus / "p05_softmax_lut" / "da4ml.json")
    rtl = write(logic, tmp_path / "rtl", cutoff=cutoff)
    (tmp_path / "prog.bin").write_bytes(rtl.program.read_bytes())
    stages = '"rtl/src/model_stage*.v", ' if cutoff > 0 else ""
    clock = 'clock = "clk"\n' if cutoff > 0 else ""
    (tmp_path / "policy.toml").write_text(POLICY.format(stages=stages) + clock)
    ending = sign(tmp_path)
    assert ending.exit_code == 0, ending.tree["message"]
    assert {one["grade"] for one in ending.tree["outputs"]} == {"proved"}
    assert verify(tmp_path).findings == []
    files = json.loads((tmp_path / "out" / "certificate.json").read_bytes())["files"]
    tables = [file["path"] for file in files if file["role"] == "data"]
    assert len(tables) == 2
    Path(tables[0]).write_text(Path(tables[0]).read_text().replace("0", "1", 1))
    assert any(Path(tables[0]).name in finding for finding in verify(tmp_path).findings)
