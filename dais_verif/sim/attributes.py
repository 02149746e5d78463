"""Attributes of Verilog whose values are computed: Icarus 11 refuses them, though they mean nothing to a simulator.

``(* rom_style = (WIDTH <= 9) ? "distributed" : "block" *)`` tells a synthesis tool how to build a table. The standard
lets the value be a constant expression of parameters; Icarus takes literals only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Plain", "without_computed_attributes"]

#: What may begin an attribute, and what may hold ``(*`` without beginning one; ``@(*)`` is none.
_BEGIN = re.compile(rb'//|/\*|"|\\|\(\*(?!\s*\))')
#: In an attribute.
_END = re.compile(rb'"|\*\)')
_STRING = re.compile(rb'"(?:\\.|[^"\\\n])*(?:"|$)', re.MULTILINE)
_SPACE = re.compile(rb"\s|$")
#: In the text of an attribute: what holds letters and names nothing, and the name of each attribute.
_NO_NAMES = re.compile(rb'"(?:\\.|[^"\\\n])*(?:"|$)|\d*\s*\'[sS]?[bodhBODH]\s*[0-9a-fA-F_xXzZ?]+', re.MULTILINE)
_OWN_NAME = re.compile(rb"(?:^|,)\s*[A-Za-z_$][\w$]*\s*(?==|,|$)")
_NAME = re.compile(rb"[A-Za-z_\\`$]")


class Plain(NamedTuple):
    """A text without computed attributes, and the lines, from 1, on which they were."""

    text: bytes
    lines: tuple[int, ...]


def without_computed_attributes(text: bytes) -> Plain:
    """Return ``text`` with blanks in place of attributes whose values name anything; all else keeps its place."""
    lines: list[int] = []
    parts: list[bytes] = []
    kept, line, counted = 0, 1, 0
    for begin, end in _attributes(text):
        line, counted = line + text.count(b"\n", counted, begin), begin
        if _NAME.search(_OWN_NAME.sub(b",", _NO_NAMES.sub(b"0", text[begin + 2 : end - 2]))):
            lines.append(line)
            parts += [text[kept:begin], re.sub(rb"[^\n]", b" ", text[begin:end])]
            kept = end
    return Plain(b"".join([*parts, text[kept:]]), tuple(lines))


def _attributes(text: bytes) -> Iterator[tuple[int, int]]:
    """Where attributes begin and end. What is never closed ends the text: so each byte is looked at once or twice."""
    at = 0
    while (found := _BEGIN.search(text, at)) is not None:
        begin, at = found.span()
        match found[0]:
            case b"//":
                at = _after(text, b"\n", at)
            case b"/*":
                at = _after(text, b"*/", at)
            case b'"':
                at = _string_end(text, begin)
            case b"\\":
                space = _SPACE.search(text, at)
                at = space.start() if space else len(text)
            case _:
                end = _attribute_end(text, at)
                if end is None:
                    return
                yield begin, end
                at = end


def _after(text: bytes, closing: bytes, at: int) -> int:
    end = text.find(closing, at)
    return len(text) if end < 0 else end + len(closing)


def _string_end(text: bytes, begin: int) -> int:
    """Where a string ends: at the end of its line at the latest."""
    found = _STRING.match(text, begin)
    return found.end() if found and found.end() > begin else begin + 1


def _attribute_end(text: bytes, at: int) -> int | None:
    while (found := _END.search(text, at)) is not None:
        if found[0] != b'"':
            return found.end()
        at = _string_end(text, found.start())
    return None
