"""Processes that dais-verif starts take no defaults: their command lines are complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.doors.cli import main
from dais_verif.signoff.verbs import call

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "sort_two.bin")


def test_a_file_of_defaults_changes_no_stage_of_a_sign_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dais-verif.toml").write_text("[check]\nnonsense = 1\n")
    assert main._run(["check", EXAMPLE]) == 2
    assert call("check", [EXAMPLE], tmp_path / "stage", keeps=False).exit_code == 0


def test_a_file_of_defaults_changes_no_job_of_a_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dais-verif.toml").write_text("[regress]\nvectors = 20\nsim = ['icarus']\n[sim]\nnonsense = 1\n")
    words = ["regress", EXAMPLE, "--retries", "0", "--jobs", "1"]
    assert main._run(words) == 0
    assert "[1/1]" in capfd.readouterr().err
    assert main._run([*words, "-q"]) == 0 and capfd.readouterr().err == ""
    assert words[1:5] == ["--vectors", "20", "--sim", "icarus"]
