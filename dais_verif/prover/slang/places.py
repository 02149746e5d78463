"""Assignments to an element that a variable index selects, such as one-hot decoders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dais_verif.base.errors import InputError
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.four_state import band, bnot, bor, eq, ite, mul, shl
from dais_verif.prover.memory import chosen
from dais_verif.prover.netlist import Bits, Read
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.expressions import ARITHMETIC, Converter, condition_of
from dais_verif.prover.slang.selects import (
    base_of,
    element_bits,
    limited,
    member_low,
    place_of,
    static_index,
    target_parts,
)
from dais_verif.prover.terms import Term, concat, const, extract, replaced, resize

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["VariablePlace", "bits_of", "converter", "variable_place"]


_SELECTS = (ast.ElementSelectExpression, ast.RangeSelectExpression)


class VariablePlace(NamedTuple):
    """A target within bits ``low .. low + width - 1`` of ``symbol`` that a variable index selects.

    ``position``: the number of the first selected element, counted from the right. ``inside``: whether the index is in
    range; None: it always is. ``element``: the width of an element. ``ranged``: whether several elements are selected.
    ``offset``: the lowest bit of the selected part of the element, such as a member; None: the whole element.
    """

    symbol: Any
    low: int
    width: int
    position: Term
    inside: Term | None
    element: int
    ranged: bool
    offset: int | None = None

    def stored(self, old: Term, value: Term) -> Term:
        """Return ``old`` with ``value`` stored in it, if the index is in range."""
        if not self.ranged:
            return self._one(old, value)
        steps = mul(
            resize(self.position, self.position.width + self.element.bit_length(), False),
            const(self.position.width + self.element.bit_length(), self.element),
        )
        mask = shl(const(self.width, (1 << value.width) - 1), steps)
        return bor(band(old, bnot(mask)), shl(resize(value, self.width, False), steps))

    def _one(self, old: Term, value: Term) -> Term:
        parts = []
        for number in range(self.width // self.element):
            known = number >> self.position.width == 0
            here = eq(self.position, const(self.position.width, number)) if known else const(1, 0)
            kept = extract(old, number * self.element, self.element)
            parts.append(ite(here, value if self.offset is None else replaced(kept, self.offset, value), kept))
        return concat(*reversed(parts))


def variable_place(c: Converter, e: Any) -> VariablePlace | None:
    """Return the target of an assignment to ``e`` if exactly one of its indices is variable; else None."""
    if type(e) is ast.MemberAccessExpression:
        return _member(c, e)
    if type(e) not in _SELECTS or not e.value.type.hasFixedRange:
        return None
    selector = e.selector if type(e) is ast.ElementSelectExpression else e.left
    simple = type(e) is ast.RangeSelectExpression and e.selectionKind is ast.RangeSelectionKind.Simple
    if simple or static_index(c, selector) is not None:
        return _bits(c, e)
    try:
        ((symbol, low, total),) = target_parts(c, e.value)
    except InputError:
        return None
    if symbol in c.design.memories:
        return None
    span, element = e.value.type.fixedRange, element_bits(e.value.type)
    left, right, count = span.left, span.right, c.type_of(e)[0] // element
    if count > 1:
        left, right = limited(e, left, right, count)
    position, inside = chosen(c(selector), c.type_of(selector)[1], left, right)
    return VariablePlace(symbol, low, total, position, inside, element, count > 1)


def _bits(c: Converter, e: Any) -> VariablePlace | None:
    """Return the place of constant bits of an element that a variable index selects, such as bytes of a word."""
    found = variable_place(c, e.value) if type(e.value) in (*_SELECTS, ast.MemberAccessExpression) else None
    place = None if found is None or found.ranged else base_of(c, e)
    if found is None or place is None:
        return None
    low, element, count = place
    if low < 0 or low + element * count > c.type_of(e.value)[0]:
        return None
    return found._replace(offset=(found.offset or 0) + low)


def _member(c: Converter, e: Any) -> VariablePlace | None:
    """Return the place of a member of a structure that a variable index selects."""
    found = variable_place(c, e.value)
    if found is None or found.ranged:
        return None
    return found._replace(offset=(found.offset or 0) + member_low(c, e))


# Read some bits of an expression without making terms for the others, so that wide signals are read in parts.


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
