"""Mutation operators: the replacements for each kind of Verilog expression.

Many mutants are equivalent to the original; the judges must recognise these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["KINDS", "Change", "Declared", "changes_of"]


class Change(NamedTuple):
    """A replacement of the text from ``start`` to ``end`` by ``new``."""

    kind: str
    start: int
    end: int
    new: str


class Declared(NamedTuple):
    """The declaration of a vector: its bounds, and whether it is signed."""

    high: int
    low: int
    signed: bool


#: The kinds of mutants, in the order of tables. Mutants of kinds that concern whole statements come from ``sites``.
KINDS = (
    "operator", "constant", "sign", "slice", "shift", "width", "condition", "choice", "table entry", "enable", "reset",
    "stage", "valid", "instance", "connection", "stuck",
)  # fmt: skip

_BINARY: Mapping[str, tuple[str, ...]] = {
    "+": ("-", "|"),
    "-": ("+",),
    "*": ("+",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("|", "&"),
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "&&": ("||",),
    "||": ("&&",),
}
_SHIFTS: Mapping[str, tuple[str, ...]] = {
    "<<<": (">>>",),
    "<<": (">>",),
    ">>>": (">>", "<<<"),
    ">>": ("<<",),
}
_UNARY: Mapping[str, tuple[str, ...]] = {
    "-": ("", "~"),
    "~": ("", "-"),
    "!": ("",),
    "|": ("&", "^"),
    "&": ("|", "^"),
    "^": ("|",),
}

_SIZED = re.compile(r"(\d+)'(s?)([dhbDHB])([0-9a-fA-F]+)")
_BASES = {"d": 10, "h": 16, "b": 2}

_Text = Callable[[Any], str]


def changes_of(node: Any, text: _Text, declared: Mapping[str, Declared]) -> Iterator[Change]:
    """Yield all changes of ``node`` itself, but none of its children. ``text``: returns the text of a node.

    ``declared``: the vectors of the module, by name.
    """
    kind = type(node).__name__
    if kind == "BinaryExpressionSyntax":
        yield from _binary(node, text)
    elif kind == "PrefixUnaryExpressionSyntax":
        token = node.operatorToken
        for new in _UNARY.get(token.rawText, ()):
            yield _at_token("operator", token, new or " ")
    elif kind == "ConditionalExpressionSyntax":
        yield from _choice(node, text)
    elif kind == "IntegerVectorExpressionSyntax":
        start, end = _span(node)
        for what, new in _sized(text(node)):
            yield Change(what, start, end, new)
    elif kind == "IdentifierNameSyntax":
        found = declared.get(text(node))
        if found is not None and found.signed:
            start, end = _span(node)
            yield Change("sign", start, end, f"$unsigned({text(node)})")
    elif kind == "IdentifierSelectNameSyntax":
        yield from _selects(node, text, declared)


def _span(node: Any) -> tuple[int, int]:
    return node.sourceRange.start.offset, node.sourceRange.end.offset


def _at_token(kind: str, token: Any, new: str) -> Change:
    start = token.range.start.offset
    return Change(kind, start, start + len(token.rawText), new)


def _binary(node: Any, text: _Text) -> Iterator[Change]:
    token = node.operatorToken
    for new in _BINARY.get(token.rawText, ()):
        yield _at_token("operator", token, new)
    for new in _SHIFTS.get(token.rawText, ()):
        yield _at_token("shift", token, new)
    if token.rawText in _SHIFTS and text(node.right).isdigit():
        start, end = _span(node.right)
        for step in (1, -1):
            amount = int(text(node.right)) + step
            if amount >= 0:
                yield Change("shift", start, end, str(amount))


def _choice(node: Any, text: _Text) -> Iterator[Change]:
    """Yield changes of ``c ? a : b``: swapped arms, an inverted condition, or an inverted arm."""
    (low, high), (start, end), (other, last) = _span(node.predicate), _span(node.left), _span(node.right)
    del high
    yield Change("choice", start, last, f"{text(node.right)} : {text(node.left)}")
    condition = text(node.predicate)
    yield Change("condition", low, low + len(condition), f"!({condition})")
    yield Change("choice", start, end, f"~{_bracketed(text(node.left))}")
    yield Change("choice", other, last, f"~{_bracketed(text(node.right))}")


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _sized(text: str) -> Iterator[tuple[str, str]]:
    """Yield changes of a sized literal: another value, or an unsigned literal."""
    match = _SIZED.fullmatch(text)
    if match is None or not int(match[1]):
        return
    size, base = int(match[1]), match[3].lower()
    try:
        value = int(match[4], _BASES[base])
    except ValueError:
        return
    for other in dict.fromkeys((value + 1, value - 1, value ^ 1 << (size - 1), 0)):
        other %= 1 << size
        if other != value:
            yield "constant", f"{size}'{match[2]}{match[3]}{other:{'x' if base == 'h' else base}}"
    if match[2] and value >> (size - 1):
        yield "sign", f"{size}'{match[3]}{match[4]}"


def _selects(node: Any, text: _Text, declared: Mapping[str, Declared]) -> Iterator[Change]:
    """Yield changes that select the adjacent bits, if the vector has them."""
    selectors = list(node.selectors)
    if len(selectors) != 1 or selectors[0].selector is None:
        return
    selector, vector = selectors[0].selector, declared.get(node.identifier.rawText)
    start, end = _span(selector)
    found = re.fullmatch(r"(\d+)(?:\s*:\s*(\d+))?", text(selector))
    if found is None:
        return
    high = int(found[1])
    low = high if found[2] is None else int(found[2])
    steps = ((1, 1), (-1, -1)) if found[2] is None else ((1, 1), (-1, -1), (-1, 0), (0, 1))
    for up, down in steps:
        a, b = high + up, low + down
        if a < b or b < 0 or (vector is not None and not (vector.low <= b and a <= vector.high)):
            continue
        yield Change("slice", start, end, str(a) if found[2] is None else f"{a}:{b}")
