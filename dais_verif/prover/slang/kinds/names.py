"""pyslang's enums, and the system calls that it knows by name."""

from __future__ import annotations

import re
from typing import Any

import pyslang

__all__ = ["ast", "known_calls"]

#: Its type stubs say less than its objects offer.
ast: Any = pyslang.ast

#: ``$value$plusargs`` and ``$async$and$array``, of which pyslang's names have an underscore in the place of each ``$``.
_SEVERAL = re.compile(r"s_(a?sync_|value_|test_)")


def known_calls() -> list[str]:
    """Return the names of all system tasks, system functions and methods that pyslang knows, as RTL writes them."""
    return [_written(name) for name in pyslang.parsing.KnownSystemName.__members__ if name != "Unknown"]


def _written(name: str) -> str:
    if _SEVERAL.match(name):
        return name[1:].replace("_", "$")
    return f"${name[2:]}" if name.startswith("s_") else name.rstrip("_")
