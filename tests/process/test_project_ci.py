"""The project's own workflow and container do what they claim, and call commands that exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
CONTAINER = ROOT / ".devcontainer"
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def lines_of(job: dict[str, Any]) -> list[str]:
    """Return the commands of a job."""
    return [line for step in job["steps"] for line in step.get("run", "").splitlines()]


def problems_of(line: str) -> list[str]:
    """Return the reasons why ``line`` cannot be run in a clone."""
    words = line.split()
    if words[0] == "make":
        known = re.search(r"^KNOWN := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
        assert known is not None
        targets = [word for word in words[1:] if re.fullmatch(r"[a-z-]+", word)]
        given = re.findall(r"(?<!\S)([A-Z]+)=", line)
        found = [f"no target {target}" for target in targets if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)]
        found += [f"no variable {name}" for name in given if name not in known[1].split()]
        found += [f"no {name}" for name in re.findall(r"PROGRAM=(\S+)", line) if not (ROOT / name).is_file()]
        return found or ([] if targets else ["no target"])
    if words[:3] == [".venv/bin/python", "-m", "pytest"]:
        return [f"no {word}" for word in words if word.startswith("tests/") and not (ROOT / word).exists()]
    return [] if words[0] == "apt-get" else [f"no command of README or Makefile: {words[0]}"]


@pytest.mark.slow
def test_the_workflow_is_one() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", JOBS)
def test_its_commands_exist(name: str) -> None:
    lines = lines_of(JOBS[name])
    assert lines and [problem for line in lines for problem in problems_of(line)] == []


def test_it_runs_what_the_readme_says() -> None:
    lines = [line for job in JOBS.values() for line in lines_of(job)]
    said = re.findall(r"^    (make \w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert said == ["make sim", "make test"]
    assert all(any(line.startswith(command) for line in lines) for command in said)


def test_no_failure_is_passed_over() -> None:
    for job in JOBS.values():
        assert "continue-on-error" not in job
        for step in job["steps"]:
            assert "continue-on-error" not in step and "if" not in step and "||" not in step.get("run", "")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("make tset", "no target tset"),
        ("make sim PROGARM=x", "no variable PROGARM"),
        ("make sim PROGRAM=examples/gone.bin", "no examples/gone.bin"),
        (".venv/bin/python -m pytest tests/gone.py", "no tests/gone.py"),
        ("tox", "no command of README or Makefile: tox"),
    ],
)
def test_a_command_that_does_not_exist_is_seen(line: str, problem: str) -> None:
    assert problems_of(line) == [problem]


def test_the_container_has_what_set_up_would_install() -> None:
    text = (CONTAINER / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall("^FROM (.*)$", text, re.MULTILINE) == ["debian:12"]
    assert JOBS["test"]["container"] == "${{ matrix.image }}"
    assert JOBS["test"]["strategy"]["matrix"]["image"] == ["debian:12", "debian:13"]
    (names,) = re.findall(r"--no-install-recommends \\\n((?:        .*\\\n)+)", text)
    setup = (ROOT / "tools" / "setup.sh").read_text(encoding="utf-8")
    said = re.findall(r"(?:\|\||^ +) *debian ([a-z][\w+ -]*)$", setup, re.MULTILINE)
    wanted = {name for line in said for name in line.split()}
    assert {"python3-venv", "g++", "iverilog", "ghdl", "nextpnr-ice40"} <= wanted
    assert wanted <= set(names.replace("\\", "").split())


def test_the_development_container_is_set_up_by_the_makefile() -> None:
    given = json.loads((CONTAINER / "devcontainer.json").read_text(encoding="utf-8"))
    assert (CONTAINER / given["build"]["dockerfile"]).is_file()
    assert problems_of(given["postCreateCommand"]) == []
