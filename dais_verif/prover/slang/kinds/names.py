"""pyslang's enums, and the system calls that it knows."""

from __future__ import annotations

import re
from typing import Any

import pyslang

__all__ = ["ast", "known_calls"]

#: Typed as ``Any``, since pyslang's type stubs are incomplete.
ast: Any = pyslang.ast

#: Names such as ``$value$plusargs`` and ``$async$and$array``, in which pyslang replaces each ``$`` by an underscore.
_SEVERAL = re.compile(r"s_(a?sync_|value_|test_)")


def known_calls() -> list[str]:
    """Return the names of all system tasks, system functions and methods that pyslang knows, as RTL writes them."""
    return [_written(name) for name in pyslang.parsing.KnownSystemName.__members__ if name != "Unknown"]


def _written(name: str) -> str:
    if _SEVERAL.match(name):
        return name[1:].replace("_", "$")
    return f"${name[2:]}" if name.startswith("s_") else name.rstrip("_")
