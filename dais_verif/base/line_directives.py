"""Remove `` `line `` directives, by which RTL lets tools name other files and lines than it has."""

from __future__ import annotations

import re

__all__ = ["FORM_OF_VHDL", "without_lines"]

#: The name of the Verilog that we make of VHDL, whose directives are ours, and name the VHDL.
FORM_OF_VHDL = "from_vhdl.v"

_LINE = re.compile(rb'^[ \t]*`line[ \t]+[0-9]+[ \t]+"[^"\n]*"(?:[ \t]+[0-2])?[ \t]*(?://[^\n]*)?(?=\r?$)', re.MULTILINE)


def without_lines(text: bytes) -> bytes:
    """Return the text of RTL with empty lines in place of directives."""
    return _LINE.sub(b"", text) if b"`line" in text else text
