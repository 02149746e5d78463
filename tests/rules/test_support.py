"""Tests share code by ``tests/support``: no test module imports another, and helpers are not beside test folders."""

from __future__ import annotations

import re

import pytest
from support.sources import TESTS, files, text

#: A line that imports a test module, or something from one.
IMPORT = re.compile(r"^ *(?:from .*\btest_\w+ import|(?:from .* )?import .*\btest_\w+\b)", re.MULTILINE)


def among_tests(lines: str) -> list[str]:
    """Return the lines that import a test module."""
    stems = {path.stem for path in files(TESTS) if path.stem.startswith("test_")}
    return [line for line in IMPORT.findall(lines) if set(re.findall(r"\w+", line)) & stems]


def test_no_module_imports_a_test_module() -> None:
    assert not {str(path.relative_to(TESTS)): found for path in files(TESTS) if (found := among_tests(text(path)))}


def test_helpers_lie_in_folders() -> None:
    assert [path.name for path in TESTS.glob("*.py")] == ["conftest.py"]


@pytest.mark.parametrize(
    "line", ["from rules.test_support import TESTS", "from rules import test_support", "import rules.test_support"]
)
def test_an_import_of_a_test_module_is_seen(line: str) -> None:
    assert among_tests(f"def f() -> None:\n    {line}\n")
