"""Streaming operators ``{<<4{a, b}}`` and ``{>>{a, b}}``, by IEEE 1800 (11.4.14).

The operands are concatenated, the first one in the highest bits, and cut into slices from the lowest bits on. ``<<``
reverses the order of slices: the last slice, which may be smaller, becomes the rightmost. ``>>`` keeps the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyslang

from dais_verif.prover.slang.design import ast
from dais_verif.prover.spans import Spans
from dais_verif.prover.terms import Term, concat, const, extract

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

_kinds = pyslang.syntax.SyntaxKind
#: The syntax around a stream that is the complete assigned value.
_ASSIGNING = (
    _kinds.AssignmentExpression,
    _kinds.NonblockingAssignmentExpression,
    _kinds.EqualsValueClause,
    _kinds.ReturnStatement,
)

_ELSEWHERE = "simulators differ in how they align this stream in a wider target; assign it to a vector first"

__all__ = ["left_aligned", "operands", "refuse_rest", "refuse_wider", "reordered", "streamed"]


def operands(c: Converter, e: Any) -> list[Any]:
    """Return the operands of a stream. Raises ``InputError`` for ``with``, which selects a part of an array."""
    streams = list(e.streams)
    if any(stream.withExpr is not None for stream in streams):
        raise c.refused(e, "a stream of a part of an array is not supported by the proof")
    return [stream.operand for stream in streams]


def streamed(c: Converter, e: Any) -> Term:
    """Return the bits of a stream."""
    term = concat(*(c(x) for x in operands(c, e)))
    return concat(*(extract(term, low, width) for low, width in _slices(term.width, e.sliceSize)))


def left_aligned(c: Converter, e: Any, term: Term, width: int) -> Term:
    """Return a stream as a wider value: left-aligned, with zeros in the low bits.

    Raises ``InputError`` unless it is the complete value assigned to a vector: elsewhere, Verilator puts the zeros
    above the stream.
    """
    around = getattr(e.syntax, "parent", None)
    if around is None or around.kind not in _ASSIGNING or not e.type.isIntegral:
        raise c.refused(e, _ELSEWHERE)
    return concat(term, const(width - term.width, 0))


def refuse_wider(c: Converter, e: Any, value: Any) -> None:
    """Raise ``InputError`` if the ``value`` of the constant ``e`` is a stream of another width."""
    wider = type(value) is ast.ConversionExpression and value.conversionKind is ast.ConversionKind.StreamingConcat
    if wider and value.operand.bitstreamWidth != c.type_of(e)[0]:
        raise c.refused(e, _ELSEWHERE)


def refuse_rest(c: Converter, e: Any) -> None:
    """Raise ``InputError`` if the left side of the assignment ``e`` is a stream that is not as wide as the right."""
    if type(e.left) is ast.StreamingConcatenationExpression and e.left.bitstreamWidth != c.type_of(e.right)[0]:
        raise c.refused(e, "a stream on the left is supported only if the right-hand side is as wide")


def reordered(c: Converter, e: Any, parts: list[tuple[Any, int, int]]) -> list[tuple[Any, int, int]]:
    """Return the targets ``parts`` of a stream on the left, (symbol, low bit, width), in the order of their bits.

    Raises ``InputError`` if the last slice is smaller than the others: tools differ in the direction of reordering,
    which matters only then.
    """
    total = sum(width for _, _, width in parts)
    if e.sliceSize and total % e.sliceSize:
        raise c.refused(e, "a stream on the left is supported only if all its slices have the same size")
    places, place = [], total
    for part in parts:
        place -= part[2]
        places.append((place, part[2], part))
    spans = Spans(places)
    found = []
    for low, width in _slices(total, e.sliceSize):
        for first, last, at, (symbol, start, _) in reversed(list(spans.within(low, width))):
            found.append((symbol, start + at, last - first))
    return found


def _slices(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the slices as (low bit, width), highest bits of the result first. ``size``: slice width; 0: ``>>``."""
    if not size:
        yield 0, total
        return
    for low in range(0, total, size):
        yield low, min(size, total - low)
