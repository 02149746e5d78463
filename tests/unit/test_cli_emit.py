"""``dais-verif emit`` of pipelines: only the Verilog goes to stdout; the report goes to stderr, or is JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import DelayModel, PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.spec.program import write_binary

EVERY = every_opcode()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "every.bin").write_bytes(write_binary(EVERY, "v1"))
    (tmp_path / "slow.toml").write_text('unit = "ns"\nlut = 2\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """Run ``emit`` and return stdout and stderr."""
    assert main._run(["emit", "every.bin", *arguments]) == 0
    return capsys.readouterr()


def test_without_stages_nothing_changes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys) == (emit_verilog(EVERY), "")


def test_text_on_stdout_and_report_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "--stages", "3", "--top", "core", "--enable", "--valid", "--reset")
    made = emit_pipeline(EVERY, "core", PipelineOptions(stages=3, enable=True, valid=True, reset=True))
    assert out == made.text
    first, second, third = err.splitlines()
    as_recorded(first)
    assert second == f"registers  {made.registers}, {made.register_bits} bits"
    assert third == f"depth      {', '.join(f'{d:g}' for d in made.depths)} LUT levels (estimated, by stage)"


def test_many_stages_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run(capsys, "--stages", "40")
    as_recorded(err.splitlines()[2])


def test_json(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out, err = run(capsys, "--max-depth", "6", "--delay-model", "slow.toml", "-o", "model.v", "--json")
    made = emit_pipeline(EVERY, "model", PipelineOptions(max_depth=6, delays=DelayModel("ns", lut=2)))
    assert (folder / "model.v").read_text() == made.text
    assert err == ""
    assert json.loads(out)["pipeline"] == {
        "stages": made.stages,
        "latency": made.stages,
        "initiation_interval": 1,
        "registers": made.registers,
        "register_bits": made.register_bits,
        "depths": list(made.depths),
        "unit": "ns",
    }
    assert max(made.depths) <= 6


def test_json_of_a_combinational_module_has_no_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "--json")
    assert json.loads(out)["pipeline"] is None
