"""Read some bits of an expression without making terms for the others, so that wide signals are read in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dais_verif.prover.four_state import ite
from dais_verif.prover.netlist import Bits, Read
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.expressions import ARITHMETIC, Converter, condition_of
from dais_verif.prover.slang.selects import place_of
from dais_verif.prover.spans import Spans
from dais_verif.prover.terms import Term, concat, extract

__all__ = ["bits_of", "converter"]

_BITWISE = (ast.BinaryOperator.BinaryAnd, ast.BinaryOperator.BinaryOr, ast.BinaryOperator.BinaryXor)


def converter(design: SlangDesign, read: Read) -> Converter:
    """Return a converter for an expression that simulators evaluate again when an operand changes."""
    return Converter(design, lambda symbol, low, width: design.part(read, symbol, low, width), free=False)


def bits_of(design: SlangDesign, expression: Any) -> Bits:
    """Return a function that gives bits of ``expression``."""
    return lambda read, low, width: _sliced(converter(design, read), expression, low, width)


def _sliced(c: Converter, e: Any, low: int, width: int) -> Term:
    """Return bits ``low .. low + width - 1`` of ``e`` without making terms for other bits where possible."""
    kind = type(e)
    if kind is ast.ConversionExpression and e.conversionKind is ast.ConversionKind.StreamingConcat:
        return extract(c(e), low, width)
    if width == c.type_of(e)[0]:
        return c(e)
    place = place_of(c, e)
    if place is not None:
        return c.read(place[0], place[1] + low, width)
    if kind is ast.ConversionExpression and c.design.doubts is None and low + width <= c.type_of(e.operand)[0]:
        return _sliced(c, e.operand, low, width)
    if kind is ast.ConcatenationExpression:
        return _slice_of_parts(c, e, low, width)
    if kind is ast.BinaryExpression and e.op in _BITWISE:
        return ARITHMETIC[e.op](_sliced(c, e.left, low, width), _sliced(c, e.right, low, width))
    if kind is ast.ConditionalExpression:
        return ite(condition_of(c, e), _sliced(c, e.left, low, width), _sliced(c, e.right, low, width))
    return extract(c(e), low, width)


def _slice_of_parts(c: Converter, e: Any, low: int, width: int) -> Term:
    parts = c.design.concatenations.get(e)
    if parts is None:  # an output port may be a concatenation of thousands of outputs
        parts = c.design.concatenations[e] = Spans(_places(c, e))
    return concat(*reversed([_sliced(c, x, at, last - first) for first, last, at, x in parts.within(low, width)]))


def _places(c: Converter, e: Any) -> Iterator[tuple[int, int, Any]]:
    place = 0
    for x in reversed([x for x in e.operands if not x.type.isVoid]):
        size = c.type_of(x)[0]
        yield place, size, x
        place += size
