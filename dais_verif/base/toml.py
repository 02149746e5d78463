"""Parse TOML of users within limits."""

from __future__ import annotations

import tomllib
from typing import Any

__all__ = ["parse_toml"]

#: The most bits of an integer: more than any key needs, and few enough for Python to print.
_MOST_BITS = 4096


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of the TOML document ``text``. Raises ``ValueError`` with the reason, in one line."""
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:  # also raised for an integer with more digits than Python reads
        raise ValueError(str(error).splitlines()[0]) from None
    _require_short(tree)
    return tree


def _require_short(value: object) -> None:
    """Raise ``ValueError`` for an integer that is too long to be shown in a message."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            _require_short(one)
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError(f"an integer has {value.bit_length()} bits, at most {_MOST_BITS} are allowed")
