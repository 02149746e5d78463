"""Which folders may import which."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from support.sources import PACKAGE, files, nodes, text, tree

#: The folders that a folder may import, and why no others. Modules beside the folders (``errors``, ``files``,
#: ``verdict``, ...) are the base: any folder may import them.
MAY_IMPORT: dict[str, tuple[set[str], str]] = {
    "program": (set(), "it is what all others stand on"),
    "kernels": (
        {"program", "machine"},
        "it says which elements blocks compute, and writes machines around them; it asks nobody what blocks compute",
    ),
    "networks": (
        {"program", "kernels", "machine", "approx"},
        "it becomes programs and machines, written with kernels, under knobs; who judges is elsewhere",
    ),
    "machine": ({"program"}, "it is made of programs, and what all others stand on as they do on those"),
    "golden": ({"program", "machine", "kernels"}, "what judges the RTL must not share its bugs"),
    "emitter": ({"program", "machine"}, "what is judged must not know the judge"),
    "dut": ({"program"}, "both judges look at a design through it"),
    "prover": (
        {"program", "machine", "dut", "record"},
        "a third opinion must be its own; what it says is kept as it says it",
    ),
    "stimulus": ({"program", "machine"}, "vectors come from the program or machine alone"),
    "record": ({"program", "machine"}, "it is the ground floor: what is kept of a run, for all who write or read it"),
    "approx": (set(), "configurations, knobs and exact convolutions are data: programs are made of them elsewhere"),
    "toolchain": (set(), "it knows tools and files, not what they are used for"),
    "synthesis": ({"toolchain"}, "it knows RTL alone"),
    "bitstream": ({"toolchain"}, "what reads a bitstream back must know nothing of how it was made, or of what"),
    "report": ({"program", "machine", "record"}, "a record holds facts and finds none"),
    "coverage": (
        {"program", "machine", "golden", "stimulus", "prover", "record"},
        "it speaks of programs, machines and vectors, whatever hardware they run on",
    ),
    "simulation": (
        {"program", "machine", "golden", "dut", "emitter", "stimulus", "record", "report", "toolchain"},
        "it is called by flows, and knows neither their other stages nor the prover",
    ),
    "confirmation": (
        {"program", "coverage", "golden", "stimulus", "record", "simulation", "toolchain"},
        "what doubts the prover must not share its code",
    ),
    "hil": (
        {"program", "machine", "golden", "dut", "emitter", "stimulus", "record", "simulation", "toolchain"},
        "a board stands in the place of a simulator",
    ),
    "fuzzing": (
        {
            "program",
            "machine",
            "kernels",
            "golden",
            "dut",
            "emitter",
            "prover",
            "stimulus",
            "coverage",
            "simulation",
            "synthesis",
            "hil",
            "toolchain",
        },
        "it holds all that must agree against each other, and knows no use case",
    ),
    "mutation": (
        {"dut", "toolchain"},
        "what changes RTL, and the bench that tells it from answers, must not know how answers are found",
    ),
    "subject": (
        {"program", "machine", "kernels", "networks"},
        "it says what came in, and knows no verb",
    ),
    "flows": (
        {
            "subject",
            "program",
            "mutation",
            "fuzzing",
            "kernels",
            "machine",
            "approx",
            "networks",
            "golden",
            "dut",
            "emitter",
            "prover",
            "stimulus",
            "record",
            "toolchain",
            "synthesis",
            "bitstream",
            "coverage",
            "simulation",
            "confirmation",
            "hil",
            "regression",
            "signoff",
        },
        "the command line is one of its clients, and nothing here prints; regressions and sign-offs are use cases, "
        "too, that run the verbs as processes and know no flow",
    ),
    "regression": (
        {"record", "toolchain"},
        "a job is a process of its own: it knows commands and records, and shows nothing",
    ),
    "cli": (
        {"subject", "program", "record", "flows", "report"},
        "it reads options, asks a flow, and prints the record",
    ),
    "api": (
        {"subject", "flows", "record", "golden"},
        "it makes a request of its arguments and asks a flow; of the golden model it names the engines",
    ),
    "cocotb": (
        {"program", "golden", "dut", "stimulus", "record", "report", "simulation", "flows", "toolchain"},
        "it is for benches of users, as the API is for scripts, and puts the same parts together inside a simulator",
    ),
    "signoff": (
        {
            "program",
            "machine",
            "bitstream",
            "coverage",
            "golden",
            "dut",
            "stimulus",
            "record",
            "simulation",
            "toolchain",
        },
        "it runs the verbs as users do, judges what they leave, and shows nothing",
    ),
}

FOLDERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

#: Folders that only flows may import: other folders know their results as records.
LAST = ("signoff",)

#: An exception: this module shows titles of targets and kinds of cells, which are tables in ``synthesis``.
ALLOWED = {("report/synthesis_text.py", "synthesis")}


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the folders (or modules) of the package that the file imports, including imports within functions."""
    found: set[str] = set()
    for node in nodes(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(name.split(".")[1] for name in found if name.startswith("dais_verif."))


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_import_rule(folder: str) -> None:
    allowed, reason = MAY_IMPORT[folder]
    for path in files(PACKAGE / folder):
        name = path.relative_to(PACKAGE).as_posix()
        others = imports_of(path) & FOLDERS - {folder} - allowed
        wrong = {other for other in others if (name, other) not in ALLOWED}
        assert not wrong, f"{name} imports {', '.join(sorted(wrong))}: {reason}"


@pytest.mark.parametrize(("name", "folder"), sorted(ALLOWED))
def test_an_exception_is_needed(name: str, folder: str) -> None:
    assert folder in imports_of(PACKAGE / name)


def test_only_the_main_module_imports_the_command_line() -> None:
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert name.split("/")[0] in ("cli", "__main__.py") or "cli" not in imports_of(path), name


def test_records_cannot_be_changed() -> None:
    """A record is hashed, signed and shown: what is shown must be what was signed."""
    found = [node for path in files(PACKAGE / "record") for node in nodes(tree(path)) if isinstance(node, ast.ClassDef)]
    marks = [(node.name, ast.unparse(mark)) for node in found for mark in node.decorator_list]
    records = [(name, mark) for name, mark in marks if mark.startswith("dataclass")]
    assert len(records) > 80
    assert [name for name, mark in records if "frozen=True" not in mark] == []


@pytest.mark.parametrize("folder", ["cli", "flows"])
def test_no_tree_without_a_type_is_handed_on(folder: str) -> None:
    for path in files(PACKAGE / folder):
        for node in nodes(tree(path)):
            if isinstance(node, ast.FunctionDef):
                said = [argument.annotation for argument in (*node.args.args, *node.args.kwonlyargs)]
                words = " ".join(ast.unparse(one) for one in (*said, node.returns) if one is not None)
                assert "dict[str, Any]" not in words, f"{path.relative_to(PACKAGE)}: {node.name}"


def test_flows_know_no_terminal() -> None:
    for path in files(PACKAGE / "flows"):
        words = {name for line in text(path).split("\n") if "import" in line for name in line.split()}
        assert not words & {"click", "rich"} and "sys.exit" not in text(path), path.name


@pytest.mark.parametrize("folder", LAST)
def test_nobody_but_flows_knows(folder: str) -> None:
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert name.split("/")[0] in (folder, "flows") or folder not in imports_of(path), name


def test_each_folder_has_a_rule() -> None:
    assert set(MAY_IMPORT) == FOLDERS


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import dais_verif.emitter.ops", {"emitter"}),
        ("from dais_verif.emitter import emit_verilog", {"emitter"}),
        ("from dais_verif import emitter", {"emitter"}),
        ("def f():\n    from dais_verif.golden.batch import RULES\n", {"golden"}),
        ("import numpy\nfrom pathlib import Path\n", set()),
    ],
)
def test_an_import_is_seen_however_it_is_written(source: str, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(source)
    assert imports_of(tmp_path / "module.py") == found


def test_a_simulator_is_started_before_what_it_does_not_need_is_loaded() -> None:
    """Slow modules are not loaded before a simulator starts; they would add some percent to a run of a built design."""
    late = ("cocotb", "pytest", "rich", "filelock", "dais_verif.golden", "dais_verif.simulation.verify")
    code = (
        "import sys, dais_verif.cli.sim\nfrom dais_verif.toolchain import tools\ntools.cocotb_entry()\n"
        f"print(*(name for name in {late} if name in sys.modules))"
    )
    path = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
