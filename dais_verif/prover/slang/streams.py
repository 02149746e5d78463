"""Streaming operators: ``{<<4{a, b}}`` and ``{>>{a, b}}``, as IEEE 1800 (11.4.14) orders their slices.

All operands side by side, the first in the highest bits, are cut into slices from the lowest bits on; ``<<`` puts the
slices in opposite order, the last one, which may be smaller, to the right. ``>>`` leaves them as they are.
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
#: What a stream stands in if it is all that is assigned.
_ASSIGNING = (
    _kinds.AssignmentExpression,
    _kinds.NonblockingAssignmentExpression,
    _kinds.EqualsValueClause,
    _kinds.ReturnStatement,
)

_ELSEWHERE = "simulators differ in where this stream begins in what is wider; assign it to a vector first"

__all__ = ["left_aligned", "operands", "refuse_rest", "refuse_wider", "reordered", "streamed"]


def operands(c: Converter, e: Any) -> list[Any]:
    """Return what is put side by side. Raises ``InputError`` for ``with``, which chooses a part of an array."""
    streams = list(e.streams)
    if any(stream.withExpr is not None for stream in streams):
        raise c.refused(e, "a stream of a part of an array is not supported by the proof")
    return [stream.operand for stream in streams]


def streamed(c: Converter, e: Any) -> Term:
    """Return the bits of a stream."""
    term = concat(*(c(x) for x in operands(c, e)))
    return concat(*(extract(term, low, width) for low, width in _slices(term.width, e.sliceSize)))


def left_aligned(c: Converter, e: Any, term: Term, width: int) -> Term:
    """Return a stream as the value of something wider: it begins with the highest bits, and zeros follow.

    Raises ``InputError`` where it is not all that is assigned to a vector: Verilator puts the zeros above it there.
    """
    around = getattr(e.syntax, "parent", None)
    if around is None or around.kind not in _ASSIGNING or not e.type.isIntegral:
        raise c.refused(e, _ELSEWHERE)
    return concat(term, const(width - term.width, 0))


def refuse_wider(c: Converter, e: Any, value: Any) -> None:
    """Raise ``InputError`` if the constant ``e`` got its ``value`` from a stream of other bits than it has."""
    wider = type(value) is ast.ConversionExpression and value.conversionKind is ast.ConversionKind.StreamingConcat
    if wider and value.operand.bitstreamWidth != c.type_of(e)[0]:
        raise c.refused(e, _ELSEWHERE)


def refuse_rest(c: Converter, e: Any) -> None:
    """Raise ``InputError`` if the assignment ``e`` gives a stream on its left more bits than it takes."""
    if type(e.left) is ast.StreamingConcatenationExpression and e.left.bitstreamWidth != c.type_of(e.right)[0]:
        raise c.refused(e, "a stream on the left is supported if it gets as many bits as it has")


def reordered(c: Converter, e: Any, parts: list[tuple[Any, int, int]]) -> list[tuple[Any, int, int]]:
    """Return the targets ``parts`` of a stream on the left, (symbol, low bit, width), in the order of their bits.

    Raises ``InputError`` if a slice is smaller than the others: tools differ in whether the order or its opposite is
    meant, which are one if all slices are of one size.
    """
    total = sum(width for _, _, width in parts)
    if e.sliceSize and total % e.sliceSize:
        raise c.refused(e, "a stream on the left is supported if its slices are all of one size")
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
    """Yield the slices as (low bit, width), the highest of the result first. ``size``: 0 for ``>>``."""
    if not size:
        yield 0, total
        return
    for low in range(0, total, size):
        yield low, min(size, total - low)
