"""Tests share code by ``tests/support``: no test module imports another, and helpers are not beside test folders."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MODULES = [path for path in sorted(TESTS.rglob("*.py")) if "__pycache__" not in path.parts]


def imported(path: Path) -> set[str]:
    """Return the full names of all modules and names that the file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def among_tests(names: set[str]) -> set[str]:
    """Return the names that are, or belong to, a test module."""
    stems = {path.stem for path in MODULES if path.stem.startswith("test_")}
    return {name for name in names if set(name.split(".")) & stems}


def test_no_module_imports_a_test_module() -> None:
    assert not {str(path.relative_to(TESTS)): names for path in MODULES if (names := among_tests(imported(path)))}


def test_helpers_lie_in_folders() -> None:
    assert [path.name for path in TESTS.glob("*.py")] == ["conftest.py"]


@pytest.mark.parametrize(
    "line", ["from unit.test_support import TESTS", "from unit import test_support", "import unit.test_support"]
)
def test_an_import_of_a_test_module_is_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(f"def f() -> None:\n    {line}\n")
    assert among_tests(imported(tmp_path / "test_other.py"))
