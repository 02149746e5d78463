"""Tokens of RTL, and uses of names with effects outside of the RTL."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["UNENDED", "Token", "Use", "tokens_of"]

UNENDED = "may not end on its line, or not in all tools: code and comments cannot be told apart"


class Use(NamedTuple):
    """A use of ``name`` with an effect outside of the RTL. ``why``: the effect, as text."""

    file: str
    line: int
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name} {self.why}"


class Token(NamedTuple):
    """A token: the name of its kind, its text, and its position."""

    kind: str
    text: str
    at: int


def tokens_of(pattern: re.Pattern[bytes], text: bytes) -> list[Token]:
    """Return the tokens of ``text`` by ``pattern``, without comments and spaces."""
    return [
        Token(str(found.lastgroup), found[0].decode(errors="surrogateescape"), found.start())
        for found in pattern.finditer(text)
        if found.lastgroup != "skip"
    ]
