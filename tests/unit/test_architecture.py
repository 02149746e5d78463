"""Who may know whom, and how large a file may grow."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dais_verif

PACKAGE = Path(dais_verif.__file__).parent

#: What a folder must not import, with the reason.
FORBIDDEN = {
    "program": (
        ("dut", "golden", "emit", "prove", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "it is what all others stand on",
    ),
    "golden": (
        ("dut", "emit", "prove", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "what judges the RTL must not share its bugs",
    ),
    "emit": (
        ("dut", "golden", "prove", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "what is judged must not know the judge",
    ),
    "dut": (
        ("golden", "emit", "prove", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "both judges look at a design through it",
    ),
    "prove": (
        ("golden", "emit", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "a third opinion must be its own",
    ),
    "stimulus": (
        ("dut", "golden", "emit", "prove", "sim", "hil", "synth", "report", "regress", "coverage", "cli"),
        "vectors come from the program alone",
    ),
    "report": (
        ("dut", "golden", "emit", "prove", "sim", "hil", "synth", "stimulus", "regress", "coverage", "cli"),
        "a record holds facts and finds none",
    ),
    "record": (
        ("dut", "golden", "emit", "prove", "sim", "hil", "synth", "stimulus", "report", "regress", "coverage", "cli"),
        "it is the ground floor: what is kept of a run, for all who write or read it",
    ),
    "coverage": (
        ("emit", "dut", "sim", "hil", "synth", "regress", "cli"),
        "it speaks of programs and vectors, whatever hardware they run on",
    ),
    "sim": (("regress", "cli", "hil", "synth", "coverage"), "it is called from there"),
    "confirm": (
        ("prove", "emit", "synth", "coverage", "hil", "regress", "cli"),
        "what doubts the prover must not share its code",
    ),
    "synth": (
        ("program", "dut", "golden", "emit", "prove", "hil", "stimulus", "report", "coverage", "regress", "cli"),
        "it knows RTL alone",
    ),
    "hil": (("regress", "cli", "synth", "coverage"), "it is called from there"),
    "regress": (
        ("program", "dut", "golden", "emit", "prove", "hil", "synth", "stimulus", "coverage", "cli"),
        "a job is a process of its own: it knows commands and records",
    ),
    "flows": (("cli", "regress", "signoff"), "the command line is one of its clients, and knows it"),
    "signoff": (("cli", "emit", "prove", "hil", "synth"), "it runs the verbs as users do, and judges what they leave"),
}

#: Folders that the command line alone may import.
LAST = ("signoff",)

#: The one door from the program to the golden model: ``program.run(x)``, a shorthand for users.
ALLOWED = {("program/model.py", "golden")}


def imports_of(path: Path) -> set[str]:
    """The folders (or modules) of the package that the file imports, also within functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.split(".")[1] for name in found if name.startswith("dais_verif.")}


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_import_rule(folder: str) -> None:
    forbidden, reason = FORBIDDEN[folder]
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        wrong = {other for other in imports_of(path) & set(forbidden) if (name, other) not in ALLOWED}
        assert not wrong, f"{name} imports {', '.join(sorted(wrong))}: {reason}"


def test_flows_know_no_terminal() -> None:
    for path in sorted((PACKAGE / "flows").rglob("*.py")):
        words = {name for line in path.read_text("utf-8").split("\n") if "import" in line for name in line.split()}
        assert not words & {"click", "rich"} and "sys.exit" not in path.read_text("utf-8"), path.name


@pytest.mark.parametrize("folder", LAST)
def test_nobody_but_the_command_line_knows(folder: str) -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        assert name.split("/")[0] in (folder, "cli") or folder not in imports_of(path), name


def test_the_rule_speaks_of_folders_that_exist() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders - {"cli"} <= set(FORBIDDEN), "a new folder needs a rule"
    assert set(FORBIDDEN) - folders <= {"prove"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import dais_verif.emit.ops", {"emit"}),
        ("from dais_verif.emit import emit_verilog", {"emit"}),
        ("from dais_verif import emit", {"emit"}),
        ("def f():\n    from dais_verif.golden.batch import RULES\n", {"golden"}),
        ("import numpy\nfrom pathlib import Path\n", set()),
    ],
)
def test_an_import_is_seen_however_it_is_written(source: str, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(source)
    assert imports_of(tmp_path / "module.py") == found


def test_a_simulator_is_started_before_what_it_does_not_need_is_loaded() -> None:
    """Each of these takes some percent of a run whose design was built before."""
    late = ("cocotb", "pytest", "rich", "filelock", "dais_verif.golden", "dais_verif.sim.verify")
    code = (
        "import sys, dais_verif.cli.sim\nfrom dais_verif.sim import tools\ntools.cocotb_entry()\n"
        f"print(*(name for name in {late} if name in sys.modules))"
    )
    path = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_file_outgrows_a_few_screens() -> None:
    longest = max(PACKAGE.rglob("*.py"), key=lambda path: len(path.read_text(encoding="utf-8").splitlines()))
    assert len(longest.read_text(encoding="utf-8").splitlines()) <= 400, longest
