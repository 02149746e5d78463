"""Find the test files whose imports reach what changed since a commit."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click

import dais_verif
from dais_verif.doors.cli.main import cli

_CONTEXT = click.Context(cli)
_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
#: The place of what a function of the API asks for.
_PLACE = re.compile(r'"([a-z_.]+):[A-Za-z_]+"')
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)
_IMPORT = re.compile(r"^\s*import\s+([\w., ]+)", re.MULTILINE)


def reached(root: Path, tests: list[Path], base: str) -> list[Path]:
    """Return those of ``tests`` that reach a file that differs from commit ``base``.

    A module reaches what it imports, anywhere in its text, and files whose name or folder its text has. The package and
    its command line load most of their parts on first use: a module reaches those whose names it has. All tests reach
    ``tests/conftest.py`` and what the build needs.
    """
    changed = _changed(root, base)
    everything = {"pyproject.toml", "setup.py", "Makefile", "tools/setup.sh", "tests/conftest.py"}
    if any(name in everything or name.startswith("tools/") for name in changed):
        return tests
    modules, text, imports = _graph(root)
    names = {path: name for name, path in modules.items()}
    hit = {names[root / name] for name in changed if root / name in names}
    gone = {name for name in changed if name.endswith(".py") and not (root / name).exists()}
    data = [Path(name) for name in changed if not name.endswith(".py")]
    for name in modules:
        if any(one.name in text[name] or re.search(rf"[\"'/]{one.parent.name}[\"'/]", text[name]) for one in data):
            hit.add(name)
    # A module that is gone was imported by those that now lack it: they fail if they run.
    hit |= {name for name in modules if any(Path(one).stem in text[name] for one in gone)}
    while True:
        more = {name for name, targets in imports.items() if name not in hit and targets & hit}
        if not more:
            break
        hit |= more
    return [test for test in tests if names[test] in hit]


def _graph(root: Path) -> tuple[dict[str, Path], dict[str, str], dict[str, set[str]]]:
    """Return the path, the text and the imports of each module."""
    modules = _modules(root)
    text = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    return modules, text, {name: set(_imports(name, text[name], modules)) for name in modules}


def _changed(root: Path, base: str) -> list[str]:
    found = []
    for words in (["diff", "--name-only", "--no-renames", base], ["ls-files", "-o", "--exclude-standard"]):
        found += subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    return found


def _modules(root: Path) -> dict[str, Path]:
    """Return all modules by the names by which they are imported."""
    found = {}
    for place, top in (
        (root, "dais_verif"),
        (root, "bench"),
        (root / "tests", ""),
        (root, "tools"),
        (root, "examples"),
    ):
        for path in (place / top).rglob("*.py"):
            parts = path.relative_to(place).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(name: str, text: str, modules: dict[str, Path]) -> Iterator[str]:
    text = _TYPES.sub("", text)
    wanted = [one.strip() for line in _IMPORT.findall(text) for one in line.split(",")]
    for module, names in _FROM.findall(text):
        wanted += [module, *(f"{module}.{one.split(' as ')[0].strip()}" for one in names.strip("()").split(","))]
    if name.split(".")[0] != "dais_verif":
        used = set(re.findall(r"\bdais_verif\.(\w+)", text)) | {one.rpartition(".")[2] for one in wanted}
        wanted += [f"dais_verif.{dais_verif._LATER[one]}" for one in used & dais_verif._LATER.keys()]
        verbs = set(re.findall(r"[\"'](?:-m dais_verif |dais-verif )?([a-z-]+)[ \"']", text))
        wanted += [
            f"dais_verif.doors.cli.{verb.replace('-', '_')}" for verb in verbs & set(cli.list_commands(_CONTEXT))
        ]
    wanted += [f"dais_verif.verbs.{one}" for one in _PLACE.findall(text)] if name.startswith("dais_verif.doors") else []
    for one in wanted:
        # Importing a module also imports its packages, whose ``__init__`` may import more.
        parts = one.split(" ")[0].split(".")
        for end in range(1, len(parts) + 1):
            if ".".join(parts[:end]) in modules:
                yield ".".join(parts[:end])
