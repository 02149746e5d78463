"""``prove`` and ``sim`` warn of RTL that synthesis may interpret differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.signing import DESIGN

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import write_binary


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prog.bin").write_bytes(write_binary(DESIGN, "v1"))
    (tmp_path / "hidden.vh").write_text("`ifdef YOSYS\n`define LATER\n`endif\n")
    head = '`include "hidden.vh"\n// synopsys translate_off\n// synopsys translate_on\n'
    (tmp_path / "design.v").write_text(head + emit_verilog(DESIGN))
    return tmp_path


@pytest.mark.parametrize(
    "verb",
    [
        ("prove", "--no-confirm", "--no-cache"),
        pytest.param(("sim", "--sim", "icarus", "--vectors", "10"), marks=pytest.mark.slow),
    ],
)
def test_warnings(verb: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main._run([verb[0], "prog.bin", "--rtl", "design.v", *verb[1:], "--json"])
    out, err = capfd.readouterr()
    assert code == 0, out + err
    lines = json.loads(out)["warnings"]
    assert [line.split(":")[0] for line in lines] == [
        "design.v hides 1 stretch from synthesis (translate_off)",
        "hidden.vh asks for YOSYS",
    ]
    assert all(f"warning: {line}" in err for line in lines)
