"""RTL that uses its own file name causes a warning, because a copy under another name is checked."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.verbs.design_rtl import told_apart
from dais_verif.verbs.progress import SILENT


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("localparam F = `__FILE__;", True),
        ("`define J(a, b) a``b\nlocalparam F = `J(`__FI, LE__);", True),
        ("localparam L = `__LINE__;", False),
    ],
)
def test_a_file_that_asks_for_its_own_name(text: str, warned: bool, tmp_path: Path) -> None:
    (tmp_path / "m.v").write_text(f"module model;\n{text}\nendmodule\n")
    dut: Any = SimpleNamespace(rtl=(tmp_path / "m.v",))
    lines = told_apart(RtlDesign((tmp_path / "m.v",), "model"), dut, SILENT)
    assert any("`__FILE__" in line for line in lines) == warned
