"""Words and names of the text form of machines."""

from __future__ import annotations

import json
import re

__all__ = ["INPUTS", "KEYWORDS", "OUTPUTS", "quoted_text", "spelt_name"]

#: Keywords, which are names only if they are quoted.
KEYWORDS = frozenset(
    {"machine", "block", "input", "output", "wire", "register", "reset", "valid", "period", "attributes"}
    | {"when", "else", "raw"}
)
#: The suffixes after the name of a block for all its inputs, and for all its outputs.
INPUTS, OUTPUTS = "in", "out"

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def spelt_name(name: str) -> str:
    """Return ``name`` as written in a text: a JSON string, unless it is an identifier and not a keyword."""
    if _IDENTIFIER.fullmatch(name) and name not in KEYWORDS:
        return name
    return quoted_text(name)


def quoted_text(text: str) -> str:
    """Return ``text`` as a JSON string with semicolons escaped, which would begin a comment."""
    return json.dumps(text).replace(";", "\\u003b")
