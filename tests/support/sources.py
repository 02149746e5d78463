"""The sources of the package and of the tests: each file is read and parsed once in a process, for all rules."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import dais_verif

PACKAGE = Path(dais_verif.__file__).parent
TESTS = Path(__file__).parents[1]


@cache
def files(folder: Path = PACKAGE) -> tuple[Path, ...]:
    """Return the Python files in ``folder`` and below, in order."""
    return tuple(sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts))


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path), str(path))


@cache
def nodes(module: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree. To walk through those of the whole package takes a second."""
    return tuple(ast.walk(module))


def module_name(path: Path, root: Path = PACKAGE.parent) -> str:
    """Return the name by which ``path`` is imported if ``root`` is in Python's path."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
