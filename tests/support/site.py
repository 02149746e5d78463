"""The hook of the documentation's site, which makes the reference pages, as a module."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["site"]


@cache
def site() -> ModuleType:
    """Return ``tools/site.py``, which is not in a package."""
    path = Path(__file__).parents[2] / "tools" / "site.py"
    spec = importlib.util.spec_from_file_location("documentation_site", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
