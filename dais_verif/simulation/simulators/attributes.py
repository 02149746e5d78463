"""Remove Verilog attributes with computed values, which Icarus 11 refuses, although they do not affect simulation.

``(* rom_style = (WIDTH <= 9) ? "distributed" : "block" *)`` tells a synthesis tool how to build a table. The standard
allows any constant expression of parameters as the value; Icarus accepts only literals.

A simulator must not get any code other than the user's. Therefore unusual text stays, and Icarus reports what it cannot
read: comments and macros in an attribute, macros that begin one, names or strings whose end is ambiguous.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Plain", "without_computed_attributes"]

_STRING = rb'"(?:\\[\s\S]|[^"\\\n])*"'
#: Text that contains ``(*`` but no attribute, and possible starts of attributes. The last two are unterminated.
_PIECE = re.compile(
    rb"(?P<skip>//[^\n]*|/\*[\s\S]*?\*/|" + _STRING + rb")|(?P<escaped>\\\S*)|(?P<attribute>\(\*)"
    rb'|(?P<define>`define\b(?:\\\r?\n|[^\n])*)|(?P<odd>/\*|")'
)
#: An attribute without unusual text: no comment, macro, statement or further attribute.
_WHOLE = re.compile(
    rb"\(\*\s*[A-Za-z_](?:" + _STRING + rb"|\\[\w+.$\[\]]+(?=\s)|/(?![/*])|\((?!\*)|\*(?!\))|[^\"\\/(*`;])*\*\)"
)
#: Text that readers may interpret differently: names with a backslash, and bodies of macros.
_ODD_NAME = re.compile(rb'"|//|/\*|\(\*|`')
_ODD_BODY = re.compile(rb'"|/\*|\(\s*\*|\*\s*\)')
#: In an attribute: literals, whose letters do not refer to names, and the name of each attribute.
_NO_NAMES = re.compile(_STRING + rb"|\d*\s*\'[sS]?[bodhBODH]\s*[0-9a-fA-F_xXzZ?]+")
_OWN_NAME = re.compile(rb"(?:^|,)\s*[A-Za-z_$][\w$]*\s*(?==|,|$)")
_NAME = re.compile(rb"[A-Za-z_\\`$]")


class Plain(NamedTuple):
    """A text without computed attributes, and the lines on which they were; the first line is 1."""

    text: bytes
    lines: tuple[int, ...]


def without_computed_attributes(text: bytes) -> Plain:
    """Return ``text`` with blanks instead of attributes whose values refer to names; positions do not change."""
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


def _attributes(text: bytes) -> list[tuple[int, int]]:
    """Return starts and ends of attributes; none if anything in the text is unusual."""
    found: list[tuple[int, int]] = []
    at = 0
    while (piece := _PIECE.search(text, at)) is not None:
        begin, at = piece.span()
        match piece.lastgroup:
            case "odd":
                return []
            case "escaped" if _ODD_NAME.search(piece[0]):
                return []
            case "define" if _ODD_BODY.search(re.sub(_STRING, b"", piece[0])):
                return []
            case "attribute" if text[at : at + 200].lstrip()[:1] != b")":  # (*) is not an attribute
                whole = None if _is_event(text, begin) else _WHOLE.match(text, begin)
                if whole is None:
                    return []
                found.append((begin, whole.end()))
                at = whole.end()
    return found


def _is_event(text: bytes, begin: int) -> bool:
    """Return True if the text that begins here follows ``@``, or a comment that may hide one."""
    while begin and text[begin - 1 : begin].isspace():
        begin -= 1
    return text[max(begin - 1, 0) : begin] == b"@" or text[max(begin - 2, 0) : begin] == b"*/"
