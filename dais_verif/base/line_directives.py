"""Remove `` `line `` directives, by which RTL lets tools name other files and lines than it has."""

from __future__ import annotations

import re

__all__ = ["FORM_OF_VHDL", "without_lines"]

#: The name of the Verilog that we make of VHDL, whose directives are ours, and name the VHDL.
FORM_OF_VHDL = "from_vhdl.v"

#: A directive that stands alone on its line, or what may hold the same characters without being one: comments, texts
#: and escaped names. ``broken``: what is none of these, so that code and comments cannot be told apart.
_TOKEN = re.compile(
    rb"""
    (?P<directive>^[ \t]*`line[ \t]+[0-9]+[ \t]+"[^"\\\n]*"(?:[ \t]+[0-2])?[ \t]*(?=(?://[^\n]*)?\r?$))
  | //[^\n]* | /\*.*?\*/ | "(?:\\\r?\n|\\[^\n]|[^"\\\n])*" | \\[^\s]+
  | (?P<broken>["]|/\*|`["`\\])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def without_lines(text: bytes) -> bytes:
    """Return the text of Verilog with empty lines in place of directives.

    A text whose comments do not end, and one that makes texts or names of macros, is returned as it is.
    """
    if b"`line" not in text:
        return text
    kept, at = [], 0
    for found in _TOKEN.finditer(text):
        if found["broken"] is not None:
            return text
        if found["directive"] is not None:
            kept.append(text[at : found.start()])
            at = found.end()
    return b"".join([*kept, text[at:]])
