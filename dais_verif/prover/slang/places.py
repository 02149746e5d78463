"""Assignments to an element that a variable index selects, such as one-hot decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dais_verif.errors import InputError
from dais_verif.prover.four_state import band, bnot, bor, eq, ite, mul, shl
from dais_verif.prover.memory import chosen
from dais_verif.prover.slang.design import ast
from dais_verif.prover.slang.selects import base_of, element_bits, limited, member_low, static_index, target_parts
from dais_verif.prover.terms import Term, concat, const, extract, replaced, resize

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["VariablePlace", "variable_place"]

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
