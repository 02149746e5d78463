"""The folder of a run: no file of the user's is overwritten in it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from support.records import RECORD

import dais_verif
from dais_verif.base.errors import InputError, ToolError
from dais_verif.base.verdict import Verdict
from dais_verif.verbs import synthesize
from dais_verif.verbs.work_folder import WRITTEN, locked, work_folder

MAC = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


@pytest.mark.parametrize("enter", [work_folder, locked])
def test_a_file_that_no_run_wrote_is_kept(enter: type, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with enter(tmp_path):
        pass
    with enter(tmp_path):  # again
        (tmp_path / "result.json").write_text("a run's")
    (tmp_path / ".lock").unlink()
    for name in WRITTEN:
        for other in WRITTEN:
            (tmp_path / other).unlink(missing_ok=True)
        (tmp_path / name).write_text("mine")
        with pytest.raises(InputError, match=name), enter(tmp_path):
            pass
        assert (tmp_path / name).read_text() == "mine" and not (tmp_path / ".lock").exists()


def test_a_temporary_folder_stays_if_a_run_did_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for verdict in (Verdict.PASS, Verdict.RTL_MISMATCH, Verdict.TOOL_FAILURE):
        for simulators in (RECORD.simulators, []):
            with work_folder(None) as folder:
                folder.keep(replace(RECORD, verdict=verdict, simulators=simulators))
            assert folder.path.exists() is (verdict is not Verdict.PASS and bool(simulators)), (verdict, simulators)


def test_the_folder_of_a_tool_that_failed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(sources: object, module: str, target: str, folder: Path, *rest: object, **options: object) -> None:
        (folder / "yosys.log").write_text("a crash")
        raise ToolError("yosys crashed")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(synthesize, "run_yosys", fails)
    monkeypatch.setattr(synthesize.tools, "yosys", lambda: None)
    with pytest.raises(ToolError):
        synthesize.synthesize(synthesize.SynthesisRequest(program=MAC, target="generic"))
    assert [path.name for path in tmp_path.glob("*/*.log")] == ["yosys.log"]


@pytest.mark.slow
def test_all_files_that_runs_write_are_known(tmp_path: Path) -> None:
    wrong = dais_verif.emit(MAC).verilog.replace("5'sd10", "5'sd9")
    (tmp_path / "wrong.v").write_text(wrong)
    dais_verif.simulate(MAC, simulators=["icarus"], vectors=20, output=tmp_path / "sim")
    dais_verif.prove(MAC, rtl=tmp_path / "wrong.v", output=tmp_path / "prove")
    dais_verif.synthesize(MAC, "generic", output=tmp_path / "synth")
    dais_verif.run_on_board(MAC, target="sim://uart", vectors=2, output=tmp_path / "hil")
    for verb in ("sim", "prove", "synth", "hil"):
        files = {path.name for path in (tmp_path / verb).iterdir() if path.is_file()} - {".lock"}
        assert files and files <= set(WRITTEN), verb
