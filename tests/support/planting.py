"""Seed bugs in the package's Python in this process: a text of a function's source is replaced until it is undone."""

from __future__ import annotations

import ast
import inspect
import sys
import types
from typing import Any

import pytest

__all__ = ["plant"]


def plant(monkeypatch: pytest.MonkeyPatch, module: types.ModuleType, old: str, new: str) -> None:
    """Replace ``old``, which occurs once in the source of ``module``, by ``new`` in its function or method.

    Tables of the module, and modules that have imported the function, get the changed function, too.
    """
    source = inspect.getsource(module)
    assert source.count(old) == 1, f"{old!r} is {source.count(old)} times in {module.__name__}: choose another bug"
    line = source[: source.index(old)].count("\n") + 1
    changed = source.replace(old, new)
    (top,) = (node for node in ast.parse(changed).body if node.lineno <= line <= (node.end_lineno or 0))
    assert isinstance(top, ast.FunctionDef | ast.ClassDef), "only functions and methods can be planted"
    before = module.__dict__[top.name]
    monkeypatch.setitem(module.__dict__, top.name, before)
    code = compile(ast.Module([top], []), str(module.__file__), "exec", flags=_FUTURE)
    exec(code, module.__dict__)
    after = module.__dict__[top.name]
    if isinstance(top, ast.ClassDef):
        _plant_methods(monkeypatch, before, after)
        monkeypatch.setitem(module.__dict__, top.name, before)
        return
    for table in [value for value in module.__dict__.values() if isinstance(value, dict)]:
        for key in [key for key, value in table.items() if value is before and key != top.name]:
            monkeypatch.setitem(table, key, after)
    for name, other in list(sys.modules.items()):
        if name.startswith("dais_verif.") and other.__dict__.get(top.name) is before:
            monkeypatch.setattr(other, top.name, after)


def _plant_methods(monkeypatch: pytest.MonkeyPatch, before: Any, after: Any) -> None:
    for name, value in vars(after).items():
        if isinstance(value, types.FunctionType):
            monkeypatch.setattr(before, name, value)


_FUTURE = __import__("__future__").annotations.compiler_flag
