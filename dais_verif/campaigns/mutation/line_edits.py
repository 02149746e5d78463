"""Single edits of one statement of RTL, given by its first line: those of ``mutate``, and what undoes them.

The edits are made in the text, so that they serve Verilog and VHDL alike. Most are no improvement, and some no valid
RTL: the caller tries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["LineEdit", "line_edits"]

#: The largest number of lines of a statement.
_LINES = 6
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|--[^\n]*|/\*.*?\*/)
    |(?P<sized>\d*'[sS]?[bdhBDH][0-9a-fA-F_]+)
    |(?P<bits>[xX]?"[0-9a-fA-F]+"|'[01]')
    |(?P<word>\$?[A-Za-z_]\w*)
    |(?P<number>\d+)
    |(?P<operator><<<|>>>|<<|>>|<=|>=|==|!=|/=|&&|\|\||=>|:=|[-+*&|^<>=~!?:,;()\[\]{}.@\#/])""",
    re.VERBOSE | re.DOTALL,
)
#: By operator: what may have been meant.
_OPERATORS = {
    "+": "-|^", "-": "+", "*": "+", "&": "|^", "|": "&^+*", "^": "&|+", "~": (" ", "-"), "!": " ",
    "<<<": (">>>", ">>"), "<<": (">>",), ">>>": ("<<<", ">>"), ">>": ("<<", ">>>"),
    "==": ("!=",), "!=": ("==",), "<": ("<=", ">=", ">"), ">": (">=", "<=", "<"), ">=": ("<", ">", "<="),
    "&&": ("||",), "||": ("&&",),
}  # fmt: skip
_WORDS = {
    "and": ("or", "xor"), "or": ("and", "xor"), "xor": ("and", "or"), "not": ("",), "shift_left": ("shift_right",),
    "shift_right": ("shift_left",), "signed": ("unsigned",), "unsigned": ("signed",), "posedge": ("negedge",),
}  # fmt: skip
_KEYWORDS = frozenset(
    (
        "assign", "wire", "reg", "logic", "signed", "unsigned", "input", "output", "begin", "end", "if", "else", "case",
        "always", "posedge", "negedge", "entity", "work", "generic", "port", "map", "when", "then", "others", "downto",
        "to", "resize", "is", "signal", "variable", "and", "or", "xor", "not",
    )
)  # fmt: skip


class LineEdit(NamedTuple):
    """``new`` replaces the text from ``start`` to ``end``; ``line``: that at which it starts, from 1."""

    start: int
    end: int
    new: str
    line: int

    def applied(self, text: str) -> str:
        """Return the text with the edit."""
        return text[: self.start] + self.new + text[self.end :]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def line_edits(text: str, line: int, names: Sequence[str] = ()) -> list[LineEdit]:
    """Return edits of the statement that begins at ``line``; ``names``: signals that it may have to read instead.

    The likelier ones come first.
    """
    start, end = _span(text, line)
    tokens = [
        _Token(str(match.lastgroup), match[0], start + match.start(), start + match.end())
        for match in _TOKEN.finditer(text[start:end])
        if match.lastgroup != "comment"
    ]
    first = _first_value(tokens)
    found: dict[tuple[int, int, str], None] = {}
    for one in (*_of_tokens(tokens, first), *_exchanges(text, tokens, first), *_reads(tokens, first, names)):
        found.setdefault(one)
    for one in _insertions(tokens, first):
        found.setdefault(one)
    edits = (LineEdit(a, b, new, text.count("\n", 0, a) + 1) for a, b, new in found)
    return [one for one in edits if text[one.start : one.end] != one.new]


def _span(text: str, line: int) -> tuple[int, int]:
    """Return the span of a statement: up to a semicolon, an ``end`` or some lines."""
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    start = starts[min(line - 1, len(starts) - 2)]
    stop = starts[min(line - 1 + _LINES, len(starts) - 1)]
    match = re.compile(r";").search(text, start, stop)
    return start, match.end() if match else stop


def _first_value(tokens: Sequence[_Token]) -> int:
    """Return the number of the first token that may be edited: after the assigned name, if there is one."""
    for number, one in enumerate(tokens):
        if one.text in ("=", "<=", ":="):
            return number + 1
        if one.text in ("#", "(", "if", "case"):
            return number
    return 0


_Edit = tuple[int, int, str]


def _of_tokens(tokens: Sequence[_Token], first: int) -> Iterator[_Edit]:
    for one in tokens[first:]:
        if one.kind == "operator":
            yield from ((one.start, one.end, new) for new in _OPERATORS.get(one.text, ()))
        elif one.kind == "word":
            yield from ((one.start, one.end, new) for new in _WORDS.get(one.text.lower(), ()))
            if one.text in ("$unsigned", "$signed"):
                yield one.start, one.end, ""
        elif one.kind == "number":
            value = int(one.text)
            others = dict.fromkeys((1 - value if value < 2 else 0, value + 1, value - 1, value + 2, value - 2))
            yield from ((one.start, one.end, str(other)) for other in others if other >= 0)
        elif one.kind == "sized":
            yield from ((one.start, one.end, new) for new in _sized(one.text))
        elif one.kind == "bits":
            yield from ((one.start, one.end, new) for new in _bits(one.text))
    yield from _slices(tokens, first)


def _slices(tokens: Sequence[_Token], first: int) -> Iterator[_Edit]:
    """Yield slices that are moved as a whole."""
    for high, colon, low in zip(tokens[first:], tokens[first + 1 :], tokens[first + 2 :], strict=False):
        if high.kind == low.kind == "number" and colon.text in (":", "downto"):
            for step in (1, -1):
                if int(low.text) + step >= 0:
                    moved = (
                        f"{int(high.text) + step}{' downto ' if colon.text == 'downto' else ':'}{int(low.text) + step}"
                    )
                    yield high.start, low.end, moved


def _sized(text: str) -> Iterator[str]:
    """Yield literals with one bit flipped, with a neighbouring value, or of the other sign."""
    head, _, rest = text.partition("'")
    sign = rest[0] if rest[0] in "sS" else ""
    letter, digits = rest[len(sign)], rest[len(sign) + 1 :].replace("_", "")
    base = {"b": 2, "d": 10, "h": 16}[letter.lower()]
    try:
        value, width = int(digits, base), int(head or 32)
    except ValueError:
        return
    form = {2: "b", 10: "d", 16: "x"}[base]
    others = (value + 1, value - 1, *(value ^ 1 << bit for bit in range(min(width, 64))))
    for other in dict.fromkeys(number % (1 << width) for number in others):
        yield f"{head}'{sign}{letter}{other:{form}}"
    yield f"{head}'{'' if sign else 's'}{letter}{digits}"


def _bits(text: str) -> Iterator[str]:
    """Yield strings of bits with one bit flipped."""
    if text[0] in "xX":
        return
    for place, bit in enumerate(text):
        if bit in "01":
            yield text[:place] + "10"[int(bit)] + text[place + 1 :]


def _reads(tokens: Sequence[_Token], first: int, names: Sequence[str]) -> Iterator[_Edit]:
    """Yield other signals in the place of each that is read."""
    for number, one in enumerate(tokens[first:], start=first):
        following = tokens[number + 1].text if number + 1 < len(tokens) else ""
        before = tokens[number - 1].text if number else ""
        if one.kind != "word" or one.text.lower() in _KEYWORDS or one.text[0] == "$" or following == "=>":
            continue
        if before != ".":
            yield from ((one.start, one.end, name) for name in names if name != one.text)


def _exchanges(text: str, tokens: Sequence[_Token], first: int) -> Iterator[_Edit]:
    """Yield exchanged operands: neighbours among the simple values of the statement."""
    values = list(_values(tokens, first))
    for (a, b), (c, d) in pairwise(values):
        if text[a:b] != text[c:d]:
            yield a, d, text[c:d] + text[b:c] + text[a:b]


def _values(tokens: Sequence[_Token], first: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of names with their selects, but of no formal names."""
    number = first
    while number < len(tokens):
        one = tokens[number]
        following = tokens[number + 1].text if number + 1 < len(tokens) else ""
        plain = one.kind in ("sized", "bits") or (
            one.kind == "word" and one.text.lower() not in _KEYWORDS and one.text[0] != "$"
        )
        if plain and following != "=>" and (not number or tokens[number - 1].text != "."):
            end = number
            if following == "[":
                end = next((k for k in range(number, len(tokens)) if tokens[k].text == "]"), number)
            yield one.start, tokens[end].end
            number = end
        number += 1


def _insertions(tokens: Sequence[_Token], first: int) -> Iterator[_Edit]:
    """Yield a sign, an inversion or a conversion before each name."""
    for number, one in enumerate(tokens[first:], start=first):
        before = tokens[number - 1].text if number else ""
        if one.kind == "word" and one.text.lower() not in _KEYWORDS and before != "." and one.text[0] != "$":
            yield from ((one.start, one.end, f"{sign}{one.text}") for sign in "~-")
            yield one.start, one.end, f"$signed({one.text})"
