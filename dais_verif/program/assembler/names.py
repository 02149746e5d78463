"""Names of the text form: declarations and references."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable

from dais_verif.program.assembler.tokens import Cursor, Place, quoted
from dais_verif.program.opcodes import BITWISE_NAMES, REDUCE_NAMES

__all__ = ["KEYWORDS", "Scope", "did_you_mean"]

#: Reserved words.
KEYWORDS = frozenset(
    {"layout", "spec", "firmware", "input", "table", "output"}
    | {"relu", "quant", "msb", "raw", "data", *REDUCE_NAMES, *BITWISE_NAMES}
)
#: The number of names, the latest ones, with which an unknown name is compared; the limit keeps hints fast.
_MOST_NAMES = 2000


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` if a word of ``known`` is close to ``word``, else an empty string."""
    close = difflib.get_close_matches(word[:40], deque(known, _MOST_NAMES), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class Scope:
    """The inputs, tables, values or outputs declared so far, each with its place and possibly a name."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.places: list[Place] = []
        self.index: dict[str, int] = {}

    def declare(self, name: str | None, place: Place) -> None:
        """Add a member; its number is the number of earlier members."""
        if name is not None:
            self.index[name] = len(self.places)
        self.places.append(place)

    def new_name(self, cursor: Cursor) -> str:
        """Return the name at the cursor, which must not be declared yet."""
        name = cursor.token.text
        if name in KEYWORDS:
            cursor.refuse(f"{name!r} is a keyword; choose another name for the {self.what}")
        if name in self.index:
            line = self.places[self.index[name]].line
            cursor.refuse(f"{self.what} {quoted(name)} is already defined on line {line}; choose another name")
        cursor.take()
        return name

    def number(self, cursor: Cursor) -> int:
        """Return the number of the member with the name or number at the cursor."""
        token = cursor.token
        if token.kind == "number":
            number = cursor.unsigned(f"number of the {self.what}", 1 << 63)
            if number >= len(self.places):
                declared = f"{len(self.places)} declared above, counted from 0"
                cursor.refuse(f"unknown {self.what} {token.text}; {declared}", token)
            return number
        if token.kind != "name" or token.text in KEYWORDS:
            cursor.unexpected(f"the name or number of {'an' if self.what[0] in 'aeiou' else 'a'} {self.what}")
        return self.named(cursor)

    def named(self, cursor: Cursor) -> int:
        """Return the number of the member with the name at the cursor."""
        name = cursor.token.text
        if name not in self.index:
            cursor.refuse(f"unknown {self.what} {quoted(name)}; {self._elsewhere(cursor, name)}")
        cursor.take()
        return self.index[name]

    def _elsewhere(self, cursor: Cursor, name: str) -> str:
        start = rf"\s*{name}\s*=" if self.what == "value" else rf"\s*{self.what}\s+{name}\b"
        line = cursor.line_that_begins(start)
        if line == cursor.token.line:
            return f"it is what this line defines, and a {self.what} must be defined before it is used"
        if line is not None:
            return f"it is defined on line {line}, and must be defined before it is used"
        return f"{self.what}s are defined before they are used{did_you_mean(name, self.index)}"
