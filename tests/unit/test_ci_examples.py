"""The files in examples/ci do what they promise, as far as that can be tried without GitHub."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from quality.door import planted, save
from quality.programs import every_opcode

from dais_verif.emit import emit_verilog

CI = Path(__file__).parents[2] / "examples" / "ci"
EVERY = every_opcode()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a program, its RTL and our hooks; `dais-verif` is on PATH."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "dais-verif"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dais_verif "$@"\n')
    command.chmod(0o755)
    folder = tmp_path / "repository"
    shutil.move(save(EVERY, folder), folder / "model.bin")
    (folder / "model.v").write_text(emit_verilog(EVERY, "model"))
    shutil.copy(CI / "pre-commit-config.yaml", folder / ".pre-commit-config.yaml")
    run(folder, "git", "init", "-q")
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    home = {"PATH": path, "PRE_COMMIT_HOME": str(folder.parent / "hooks"), "PYTHONPATH": str(CI.parents[1])}
    return subprocess.run(command, cwd=folder, env={**os.environ, **home}, capture_output=True, text=True, timeout=120)


def hooks(folder: Path) -> subprocess.CompletedProcess[str]:
    run(folder, "git", "add", "-A")
    return run(folder, sys.executable, "-m", "pre_commit", "run", "--all-files")


def test_the_hooks_let_a_good_program_pass(repository: Path) -> None:
    done = hooks(repository)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == 2 and "Skipped" not in done.stdout


def test_the_hooks_stop_a_broken_program(repository: Path) -> None:
    (repository / "model.bin").write_bytes(b"no program")
    done = hooks(repository)
    assert done.returncode == 1
    assert done.stdout.count("Failed") == 2 and "INVALID_INPUT" in done.stdout


def test_the_hooks_stop_wrong_rtl(repository: Path) -> None:
    (repository / "model.v").write_text(planted(EVERY, "op_4 =", "+", "-"))
    done = hooks(repository)
    assert done.returncode == 1
    assert done.stdout.count("Failed") == 1 and "RTL_MISMATCH" in done.stdout and "blame      op 4" in done.stdout
