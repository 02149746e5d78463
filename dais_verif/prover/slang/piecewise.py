"""Values of variables during symbolic execution; a wide value consists of pieces, so that assignments are cheap.

An array of 100,000 elements that a loop assigns one by one is a balanced tree of terms (an AVL tree). The tree is
immutable: an assignment makes a new path to the piece that it replaces. Branches of a block therefore share the parts
in which they do not differ, and these need not be visited to choose between the branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from dais_verif.prover.four_state import ite
from dais_verif.prover.terms import Term, concat, extract, replaced

__all__ = ["Pieces", "Value", "assigned", "chosen", "part", "whole"]

#: Values with more bits than this are kept in pieces.
_WIDE = 1024


class Pieces:
    """A node of the tree. ``low``: the lower bits. ``high``: the bits above them. Each is a term or a node."""

    __slots__ = ("_whole", "height", "high", "low", "width")

    def __init__(self, low: Value, high: Value) -> None:
        self.low, self.high = low, high
        self.width: int = low.width + high.width
        self.height = 1 + max(_height(low), _height(high))
        self._whole: Term | None = None

    def terms(self) -> Iterator[Term]:
        """Yield the pieces, the highest one first."""
        waiting: list[Value] = [self]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Pieces):
                waiting += (value.low, value.high)
            else:
                yield value

    def whole(self) -> Term:
        """Return all bits as one term."""
        if self._whole is None:
            self._whole = concat(*self.terms())
        return self._whole


#: The value of a variable.
Value = Term | Pieces


def whole(value: Value) -> Term:
    """Return ``value`` as one term."""
    return value.whole() if isinstance(value, Pieces) else value


def part(value: Value, low: int, width: int) -> Term:
    """Return bits ``low .. low + width - 1`` of ``value``."""
    while isinstance(value, Pieces) and width < value.width:
        middle = value.low.width
        if low >= middle:
            value, low = value.high, low - middle
        elif low + width <= middle:
            value = value.low
        else:
            above = part(value.high, 0, low + width - middle)
            return concat(above, part(value.low, low, middle - low))
    return extract(whole(value), low, width)


def assigned(value: Value, low: int, piece: Term) -> Value:
    """Return ``value`` with its bits from ``low`` on replaced by ``piece``."""
    if piece.width == value.width:
        return piece
    if not isinstance(value, Pieces):
        if value.width <= _WIDE:
            return replaced(value, low, piece)
        value = _divided(value)
    return _stored(value, low, piece)


def chosen(condition: Term, a: Value, b: Value) -> Value:
    """Choose ``a`` where ``condition`` is 1, else ``b``."""
    if a is b:
        return a
    if isinstance(a, Pieces):
        low, high = _split(b, a.low.width)
        return _joined(chosen(condition, a.low, low), chosen(condition, a.high, high))
    if isinstance(b, Pieces):
        low, high = _split(a, b.low.width)
        return _joined(chosen(condition, low, b.low), chosen(condition, high, b.high))
    return ite(condition, a, b)


def _height(value: Value) -> int:
    return value.height if isinstance(value, Pieces) else 0


@cache
def _divided(term: Term) -> Value:
    """Return a concatenation, such as the elements of an array, as a balanced tree of its parts."""
    parts: list[Value] = [*reversed(term.args)] if term.op == "concat" else [term]
    while len(parts) > 1:
        pairs: list[Value] = [Pieces(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def _stored(value: Value, low: int, piece: Term) -> Value:
    if isinstance(value, Pieces):
        middle = value.low.width
        if low >= middle:
            return _joined(value.low, _stored(value.high, low - middle, piece))
        if low + piece.width <= middle:
            return _joined(_stored(value.low, low, piece), value.high)
    elif piece.width < value.width <= _WIDE:
        return replaced(value, low, piece)
    high = low + piece.width
    result: Value = piece
    if low:
        result = _joined(_split(value, low)[0], result)
    if high < value.width:
        result = _joined(result, _split(value, high)[1])
    return result


def _split(value: Value, low: int) -> tuple[Value, Value]:
    """Return the bits below ``low`` and the other bits; neither part is empty."""
    if not isinstance(value, Pieces):
        return extract(value, 0, low), extract(value, low, value.width - low)
    middle = value.low.width
    if low == middle:
        return value.low, value.high
    if low < middle:
        below, above = _split(value.low, low)
        return below, _joined(above, value.high)
    below, above = _split(value.high, low - middle)
    return _joined(value.low, below), above


def _joined(low: Value, high: Value) -> Pieces:
    """Join two values into a balanced tree, in which the heights of the two halves differ by at most one."""
    if isinstance(low, Pieces) and low.height > _height(high) + 1:
        return _level(low.low, _joined(low.high, high))
    if isinstance(high, Pieces) and high.height > _height(low) + 1:
        return _level(_joined(low, high.low), high.high)
    return Pieces(low, high)


def _level(low: Value, high: Value) -> Pieces:
    """Join two balanced trees whose heights differ by at most two."""
    if isinstance(low, Pieces) and low.height > _height(high) + 1:
        inner = low.high
        if isinstance(inner, Pieces) and inner.height > _height(low.low):
            return Pieces(Pieces(low.low, inner.low), Pieces(inner.high, high))
        return Pieces(low.low, Pieces(inner, high))
    if isinstance(high, Pieces) and high.height > _height(low) + 1:
        inner = high.low
        if isinstance(inner, Pieces) and inner.height > _height(high.high):
            return Pieces(Pieces(low, inner.low), Pieces(inner.high, high.high))
        return Pieces(Pieces(low, inner), high.high)
    return Pieces(low, high)


class Marks:
    """The bits of a variable that were assigned, as ranges: at most one per assignment."""

    def __init__(self) -> None:
        self._stretches: dict[tuple[int, int], None] = {}

    def add(self, low: int, width: int) -> None:
        """Mark bits ``low .. low + width - 1``."""
        self._stretches[low, width] = None

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield the marked bits as maximal ranges (low bit, width), from the lowest on."""
        low, high = 0, 0
        for first, width in sorted(self._stretches):
            if first > high:
                if high > low:
                    yield low, high - low
                low = first
            high = max(high, first + width)
        if high > low:
            yield low, high - low

    def mask(self) -> int:
        """Return the marked bits as a bit mask."""
        found, digits = 0, []
        for low, width in self.runs():
            digits.append("0" * (low - found) + "1" * width)
            found = low + width
        return int("".join(digits)[::-1] or "0", 2)
