"""The files in examples/ci work as documented, as far as this can be tested without GitHub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.door import mutant, save
from support.programs import every_opcode

from dais_verif.hardware.emitter import emit_verilog

CI = Path(__file__).parents[2] / "examples" / "ci"
EVERY = every_opcode()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a program, its RTL and our hooks; `dais-verif` is on PATH."""
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


@pytest.mark.slow
def test_the_hooks_let_a_good_program_pass(repository: Path) -> None:
    done = hooks(repository)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == 2 and "Skipped" not in done.stdout


@pytest.mark.slow
def test_the_hooks_stop_a_broken_program(repository: Path) -> None:
    (repository / "model.bin").write_bytes(b"no program")
    done = hooks(repository)
    assert done.returncode == 1
    assert done.stdout.count("Failed") == 2 and "INVALID_INPUT" in done.stdout


def test_the_hooks_stop_wrong_rtl(repository: Path) -> None:
    (repository / "model.v").write_text(mutant(EVERY, "op_4 =", "+", "-"))
    done = hooks(repository)
    assert done.returncode == 1
    assert done.stdout.count("Failed") == 1 and "RTL_MISMATCH" in done.stdout and "blame      op 4" in done.stdout


WORKFLOW = yaml.safe_load((CI / "github-workflow.yml").read_text(encoding="utf-8"))


def test_the_workflow_is_one() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*check, str(CI / "github-workflow.yml")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_whatever_fails_in_the_workflow_stops_it() -> None:
    """No step ignores a failure, and artifacts are uploaded after failures too."""
    for job in WORKFLOW["jobs"].values():
        steps = job["steps"]
        assert not any("continue-on-error" in step or "||" in step.get("run", "") for step in steps)
        uploads = [step for step in steps if "upload-artifact" in step.get("uses", "")]
        assert uploads and all(step["if"] == "always()" for step in uploads)


def test_what_the_workflow_installs_is_what_it_checked_out() -> None:
    """The workflow installs from a checkout, because dais-verif is not in a package index."""
    for name, job in WORKFLOW["jobs"].items():
        extras = {"regress": "sim,report", "signoff": "signoff"}[name]
        places = [
            step["with"]["path"] for step in job["steps"] if "dais-verif" in step.get("with", {}).get("repository", "")
        ]
        lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
        assert [line for line in lines if line.startswith("pip install")] == [
            f"pip install './{place}[{extras}]'" for place in places
        ]
        assert len(places) == 1
    text = (CI / "github-workflow.yml").read_text(encoding="utf-8")
    assert "replace OWNER/dais-verif" in text
    assert "`OWNER/dais-verif`" in (CI.parents[1] / "docs" / "python.md").read_text(encoding="utf-8")


def commands(job: str, shard: int = 1) -> list[str]:
    """Return the dais-verif commands that the workflow runs, in order."""
    lines = [line for step in WORKFLOW["jobs"][job]["steps"] for line in step.get("run", "").splitlines()]
    assert not any("${{" in line.replace("${{ matrix.shard }}", "") for line in lines)
    return [line.replace("${{ matrix.shard }}", str(shard)) for line in lines if line.startswith("dais-verif")]


@pytest.mark.slow
def test_the_shards_of_the_workflow_run_every_program(repository: Path) -> None:
    programs = repository / "programs"
    for name in ("deployed", "second", "third"):
        shutil.move(save(EVERY, programs), programs / f"{name}.bin")
    ran = []
    for shard in WORKFLOW["jobs"]["regress"]["strategy"]["matrix"]["shard"]:
        for command in commands("regress", shard):
            done = run(repository, "sh", "-c", command)
            assert done.returncode == 0, done.stdout + done.stderr
        record = json.loads((repository / "regression" / "regression.json").read_text())
        ran += [job["job"]["program"] for job in record["jobs"]]
        assert (repository / "junit.xml").is_file()
        shutil.rmtree(repository / "regression")
    assert sorted(map(os.path.basename, ran)) == ["deployed.bin", "second.bin", "third.bin"]


@pytest.mark.slow
def test_the_sign_off_of_the_workflow(repository: Path) -> None:
    (repository / "programs").mkdir()
    shutil.move(repository / "model.bin", repository / "programs" / "deployed.bin")
    for command in commands("signoff"):
        done = run(repository, "sh", "-c", command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (repository / "signoff.html").is_file()
