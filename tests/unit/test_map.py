"""The map of the project names every module, with the first line of its docstring."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
map_of = runpy.run_path(str(ROOT / "tools" / "map.py"))["page"]


def test_the_map_is_that_of_the_docstrings() -> None:
    assert (ROOT / "docs" / "map.md").read_text(encoding="utf-8") == map_of(), "make map writes it again"


def test_each_package_and_module_says_what_it_is(tmp_path: Path) -> None:
    """Every module has a docstring; one without would be an empty entry of the page."""
    lines = map_of().split("\n")
    assert not [line for line in lines if line.startswith("- ") and line.endswith(": ")]
    (tmp_path / "inner").mkdir()
    (tmp_path / "__init__.py").write_text('"""Outer."""\n')
    (tmp_path / "inner" / "__init__.py").write_text('"""Inner\nthings.\n\nMore."""\n')
    (tmp_path / "inner" / "silent.py").write_text("")
    text = map_of(tmp_path)
    assert "## inner\n\nInner things.\n\n- `silent`: \n" in text
