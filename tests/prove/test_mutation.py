"""The campaign on the prover's own code distinguishes mutants that survive, that a test kills, and that hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prove.mutation.mutants import MODULES

import dais_verif

TESTS = Path(__file__).parents[1]

#: One function for each entry of ``FOUND`` below.
SOURCE = """import signal


def tested(a):
    return a + 1


def executed(a):
    return a - 1


def idle(a):
    return a * 2


def waits(done: bool | None) -> bool | None:
    while not done:
        signal.pause()
    return done
"""
TEST = """from thing.boundary import executed, tested, waits

def test_all():
    assert (tested(2), tested(5)) == (3, 6)
    executed(7)
    assert waits(True)
"""
FOUND = {"tested": "killed", "executed": "survived", "idle": "survived", "waits": "timeout"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("cosmic_ray", "coverage"):
        if os.environ.get("CI"):
            __import__(name)
        pytest.importorskip(name)
    root = tmp_path / "repository"
    for name, text in {"thing/boundary.py": SOURCE, "thing/other.py": SOURCE, "tests/test_thing.py": TEST}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def campaign(root: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    out = root.parent / "out.json"
    command = [sys.executable, "-m", "prove.mutation.campaign", "-o", str(out), "--root", str(root)]
    command += ["--sources", "thing", "--mutants", "100", "--patience", "5", "--no-preload", *options]
    environment = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert out.exists(), run.stderr
    return run.returncode, json.loads(out.read_text()), run.stdout


def test_a_survivor_is_reported_until_it_is_explained_or_a_test_notices_it(repository: Path) -> None:
    code, tree, said = campaign(repository, "--no-rest", "--budget", "0")  # too short to run any test
    assert {record["status"] for record in tree["mutants"].values()} == {"survived"}
    code, tree, said = campaign(repository)
    assert {record["function"]: record["status"] for record in tree["mutants"].values()} == FOUND
    assert all(record["status"] == FOUND[record["function"]] for record in tree["mutants"].values())
    assert {record["module"] for record in tree["mutants"].values()} == {"boundary.py"}
    survived = [key for key, record in tree["mutants"].items() if record["status"] == "survived"]
    assert [line for line in said.splitlines() if line.startswith("survived: ")] == [f"survived: {k}" for k in survived]
    assert code == 1
    # A test is added for one function, and the mutants of another one are explained as equal.
    test = repository / "tests" / "test_more.py"
    test.write_text(
        "from thing.boundary import executed\n\ndef test_it():\n    assert (executed(7), executed(1)) == (6, 0)\n"
    )
    idle = [key for key, record in tree["mutants"].items() if record["function"] == "idle"]
    explained = repository.parent / "equal.toml"
    explained.write_text(f"[[equal]]\nbecause = 'nobody calls it'\nmutants = {json.dumps(idle)}\n")
    code, tree, said = campaign(repository, "--explained", str(explained))
    statuses = {record["function"]: record["status"] for record in tree["mutants"].values()}
    assert statuses == {**FOUND, "executed": "killed"}
    assert "survived: " not in said
    assert tree["table"][-1].endswith(f"| {len(idle)} | 0 |")
    assert code == 0


def test_all_that_is_to_be_mutated_is_there() -> None:
    """Each module in the list exists; a renamed module would be left out without a message."""
    folder = Path(dais_verif.__file__).parent / "prover"
    assert [name for name in MODULES if not (folder / name).exists()] == []
