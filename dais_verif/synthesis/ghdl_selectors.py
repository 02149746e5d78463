"""Correct the selectors that GHDL's synthesis writes: a ``case`` in ``always @*`` with non-blocking assignments.

GHDL omits the default of the ``case`` if it is ``'X'`` in VHDL. In Verilog, the target of such a block would keep its
value. Here the block gets the intended default, in which every bit is X, so that a proof has to show that the default
is never chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["with_settled_selectors"]

_ITEM = re.compile(r"(      (?:\d+'b[01]+|default): )(\w+) <= (.+;)")
_WIDTH = re.compile(r"^  reg (?:\[(\d+):0\] )?(\w+);", re.MULTILINE)


def with_settled_selectors(text: str) -> str:
    """Return ``text``, GHDL's Verilog, in which all selectors have blocking assignments and a default."""
    if "\n  always @*\n    case (" not in text:
        return text
    return "\n".join(_rewritten(text.split("\n")))


def _rewritten(lines: Sequence[str]) -> Iterator[str]:
    widths: dict[str, int] = {}  # by register, in one module
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("module "):
            widths = {}
        declared = _WIDTH.match(line)
        if declared is not None:
            widths[declared[2]] = int(declared[1] or 0) + 1
        yield line
        if line == "  always @*" and number < len(lines) and lines[number].startswith("    case ("):
            end = next((at for at in range(number, len(lines)) if not _continues(lines[at], at == number)), len(lines))
            yield lines[number]
            yield from _items(lines[number + 1 : end], widths)
            number = end


def _continues(line: str, first: bool) -> bool:
    return first or _ITEM.fullmatch(line) is not None


def _items(lines: Sequence[str], widths: dict[str, int]) -> Iterator[str]:
    found = [match for match in map(_ITEM.fullmatch, lines) if match is not None]
    names = {match[2] for match in found}
    if len(names) != 1 or not names <= set(widths):
        yield from lines
        return
    (name,) = names
    yield from (f"{match[1]}{name} = {match[3]}" for match in found)
    if not any("default" in match[1] for match in found):
        yield f"      default: {name} = {widths[name]}'b{'x' * widths[name]};"
