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

#: The rooms that a room may import besides ``base``, and why no others. A room is a folder, or a folder within one.
MAY_IMPORT: dict[str, tuple[set[str], str]] = {
    "base": (set(), "it is what all others stand on"),
    "base.toolchain": (set(), "it knows tools and files, not what they are used for"),
    "spec.program": (set(), "it says what must be computed, and knows nobody who computes it"),
    "spec.machine": ({"spec.program"}, "it is made of programs"),
    "compile.kernels": (
        {"spec.program", "spec.machine"},
        "it says which elements blocks compute, and writes machines around them; it asks nobody what blocks compute",
    ),
    "compile.networks": (
        {"spec.program", "spec.machine", "compile.kernels", "compile.approximation", "compile.network_folder"},
        "it becomes programs and machines, written with kernels, under knobs; who judges is elsewhere",
    ),
    "compile.network_folder": (set(), "it names the files of a folder, whoever writes or reads it"),
    "compile.approximation": (set(), "configurations and knobs are data: programs are made of them elsewhere"),
    "golden": (
        {"spec.program", "spec.machine", "compile.kernels", "subject"},
        "what judges the RTL must not share its bugs",
    ),
    "hardware.emitter": ({"spec.program", "spec.machine"}, "what is judged must not know the judge"),
    "hardware.ports": ({"spec.program"}, "both judges look at a design through it"),
    "hardware.synthesis": ({"base.toolchain"}, "it knows RTL alone"),
    "hardware.bitstream": (
        {"base.toolchain"},
        "what reads a bitstream back must know nothing of how it was made, or of what",
    ),
    "prover": (
        {"spec.program", "spec.machine", "hardware.ports", "record", "base.toolchain"},
        "a third opinion must be its own; what it says is kept as it says it",
    ),
    "stimulus": ({"spec.program", "spec.machine"}, "vectors come from the program or machine alone"),
    "record": ({"spec.program", "spec.machine"}, "it is what is kept of a run, for all who write or read it"),
    "report": ({"spec.program", "spec.machine", "record", "subject"}, "a record holds facts and finds none"),
    "coverage": (
        {"spec.program", "spec.machine", "golden", "stimulus", "prover", "record"},
        "it speaks of programs, machines and vectors, whatever hardware they run on",
    ),
    "simulation": (
        {
            "spec.program",
            "spec.machine",
            "golden",
            "hardware.ports",
            "hardware.emitter",
            "stimulus",
            "record",
            "report",
            "base.toolchain",
        },
        "it is called by verbs, and knows neither their other stages nor the prover",
    ),
    "simulation.confirmation": (
        {"spec.program", "coverage", "golden", "stimulus", "record", "simulation", "base.toolchain"},
        "what doubts the prover must not share its code",
    ),
    "simulation.boards": (
        {
            "spec.program",
            "spec.machine",
            "golden",
            "hardware.ports",
            "hardware.emitter",
            "stimulus",
            "record",
            "simulation",
            "base.toolchain",
        },
        "a board stands in the place of a simulator",
    ),
    "campaigns.fuzzing": (
        {
            "spec.program",
            "spec.machine",
            "compile.kernels",
            "golden",
            "hardware.ports",
            "hardware.emitter",
            "hardware.synthesis",
            "prover",
            "stimulus",
            "coverage",
            "simulation",
            "simulation.boards",
            "base.toolchain",
        },
        "it holds all that must agree against each other, and knows no use case",
    ),
    "campaigns.mutation": (
        {"hardware.ports", "base.toolchain"},
        "what changes RTL, and the bench that tells it from answers, must not know how answers are found",
    ),
    "campaigns.regression": (
        {"record", "base.toolchain", "subject"},
        "a job is a process of its own: it knows commands and records, and shows nothing",
    ),
    "subject": (
        {
            "spec.program",
            "spec.machine",
            "compile.kernels",
            "compile.networks",
            "compile.network_folder",
            "hardware.ports",
            "base.toolchain",
        },
        "it says what came in, and knows no verb",
    ),
    "verbs": (
        {
            "subject",
            "spec.program",
            "spec.machine",
            "compile.kernels",
            "compile.networks",
            "compile.network_folder",
            "compile.approximation",
            "campaigns.fuzzing",
            "campaigns.mutation",
            "campaigns.regression",
            "golden",
            "hardware.ports",
            "hardware.emitter",
            "hardware.synthesis",
            "hardware.bitstream",
            "prover",
            "stimulus",
            "record",
            "coverage",
            "simulation",
            "simulation.boards",
            "simulation.confirmation",
            "signoff",
            "base.toolchain",
        },
        "the command line is one of its clients, and nothing here prints",
    ),
    "doors": (set(), "a page made of the codes of errors needs no verb"),
    "doors.cli": (
        {"subject", "spec.program", "record", "verbs", "report"},
        "it reads options, asks a verb, and prints the record",
    ),
    "doors.api": (
        {"subject", "verbs", "record", "golden", "report"},
        "it makes a request of its arguments and asks a verb; of the golden model it names the engines",
    ),
    "cocotb": (
        {
            "spec.program",
            "golden",
            "hardware.ports",
            "stimulus",
            "record",
            "report",
            "simulation",
            "verbs",
            "base.toolchain",
        },
        "it is for benches of users, as the API is for scripts, and puts the same parts together inside a simulator",
    ),
    "signoff": (
        {
            "subject",
            "spec.program",
            "spec.machine",
            "compile.networks",
            "compile.network_folder",
            "hardware.bitstream",
            "hardware.ports",
            "coverage",
            "golden",
            "stimulus",
            "record",
            "simulation",
            "base.toolchain",
        },
        "it runs the verbs as users do, judges what they leave, and shows nothing",
    ),
}

#: Folders that only hold rooms.
HOUSES = {"spec", "hardware", "compile", "campaigns", "doors"}
FOLDERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

#: Folders that only verbs may import: other folders know their results as records.
LAST = ("signoff",)

#: An exception: this module shows titles of targets and kinds of cells, which are tables in ``hardware.synthesis``.
ALLOWED = {("report/hardware_text.py", "hardware.synthesis")}


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
    return frozenset(room_of(name.removeprefix("dais_verif.")) for name in found if name.startswith("dais_verif."))


def room_of(name: str) -> str:
    """Return the room of a module of the package."""
    rooms = (room for room in MAY_IMPORT if name == room or name.startswith(f"{room}."))
    return max(rooms, key=len, default=name.split(".")[0])


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_import_rule(folder: str) -> None:
    allowed, reason = MAY_IMPORT[folder]
    place = PACKAGE / folder.replace(".", "/")
    inside = files(place) or (place.with_suffix(".py"),)
    for path in inside:
        name = path.relative_to(PACKAGE).as_posix()
        if room_of(name.removesuffix(".py").replace("/", ".")) != folder:
            continue
        others = imports_of(path) & MAY_IMPORT.keys() - {folder, "base"} - allowed
        wrong = {other for other in others if (name, other) not in ALLOWED}
        assert not wrong, f"{name} imports {', '.join(sorted(wrong))}: {reason}"


@pytest.mark.parametrize(("name", "folder"), sorted(ALLOWED))
def test_an_exception_is_needed(name: str, folder: str) -> None:
    assert folder in imports_of(PACKAGE / name)


def test_only_the_main_module_imports_the_command_line() -> None:
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert name.startswith(("doors/cli", "__main__.py")) or "doors.cli" not in imports_of(path), name


def test_records_cannot_be_changed() -> None:
    """A record is hashed, signed and shown: what is shown must be what was signed."""
    found = [node for path in files(PACKAGE / "record") for node in nodes(tree(path)) if isinstance(node, ast.ClassDef)]
    marks = [(node.name, ast.unparse(mark)) for node in found for mark in node.decorator_list]
    records = [(name, mark) for name, mark in marks if mark.startswith("dataclass")]
    assert len(records) > 80
    assert [name for name, mark in records if "frozen=True" not in mark] == []


@pytest.mark.parametrize("folder", ["doors/cli", "verbs"])
def test_no_tree_without_a_type_is_handed_on(folder: str) -> None:
    for path in files(PACKAGE / folder):
        for node in nodes(tree(path)):
            if isinstance(node, ast.FunctionDef):
                said = [argument.annotation for argument in (*node.args.args, *node.args.kwonlyargs)]
                words = " ".join(ast.unparse(one) for one in (*said, node.returns) if one is not None)
                assert "dict[str, Any]" not in words, f"{path.relative_to(PACKAGE)}: {node.name}"


def test_verbs_know_no_terminal() -> None:
    for path in files(PACKAGE / "verbs"):
        words = {name for line in text(path).split("\n") if "import" in line for name in line.split()}
        assert not words & {"click", "rich"} and "sys.exit" not in text(path), path.name


@pytest.mark.parametrize("folder", LAST)
def test_nobody_but_verbs_knows(folder: str) -> None:
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert name.split("/")[0] in (folder, "verbs") or folder not in imports_of(path), name


def test_a_module_beside_the_rooms_of_a_house_has_a_rule() -> None:
    beside = {f"{house}.{path.stem}" for house in HOUSES for path in (PACKAGE / house).glob("*.py")}
    without = {name for name in beside if not name.endswith("__init__") and room_of(name) not in MAY_IMPORT}
    assert without == set()


def test_each_folder_has_a_rule() -> None:
    assert {room.split(".")[0] for room in MAY_IMPORT} == FOLDERS
    inside = {f"{house}.{path.parent.name}" for house in HOUSES for path in (PACKAGE / house).glob("*/__init__.py")}
    assert inside <= MAY_IMPORT.keys()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import dais_verif.hardware.emitter.ops", {"hardware.emitter"}),
        ("from dais_verif.hardware.emitter import emit_verilog", {"hardware.emitter"}),
        ("from dais_verif.hardware import emitter", {"hardware.emitter"}),
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
        "import sys, dais_verif.doors.cli.sim\nfrom dais_verif.base.toolchain import tools\ntools.cocotb_entry()\n"
        f"print(*(name for name in {late} if name in sys.modules))"
    )
    path = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
