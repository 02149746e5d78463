"""Selects of elements, ranges of bits and members, in expressions and as targets of assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dais_verif.prover.four_state import ite, lookup, lshr, mul
from dais_verif.prover.memory import Memory, chosen
from dais_verif.prover.slang.design import ast, bits_in
from dais_verif.prover.slang.kinds import RANGES, TARGETS
from dais_verif.prover.slang.wildcards import operands, reordered
from dais_verif.prover.slang.writes import NAMES, symbol_of
from dais_verif.prover.terms import Term, concat, const, extract, resize, undefined

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = [
    "CONSTANTS",
    "base_of",
    "element_bits",
    "limited",
    "member",
    "member_low",
    "memory_word",
    "place_of",
    "selected",
    "static_index",
    "target_parts",
]

CONSTANTS = (ast.SymbolKind.Parameter, ast.SymbolKind.EnumValue)


def static_index(c: Converter, e: Any) -> int | None:
    """Return the value of an index if it is constant, else None."""
    if type(e) is ast.IntegerLiteral and not e.value.hasUnknown:
        return int(e.value)
    term = c(e)
    if term.op != "const":
        return None
    _, signed = c.type_of(e)
    return term.value - (1 << term.width) if signed and term.value >> (term.width - 1) else term.value


def place_of(c: Converter, e: Any) -> tuple[Any, int] | None:
    """Return the symbol and the lowest bit of a part with a constant place; None for any other expression."""
    kind = type(e)
    if kind in NAMES:
        symbol = symbol_of(e)
        return None if symbol.kind in CONSTANTS or symbol in c.design.memories else (symbol, 0)
    if kind not in (ast.ElementSelectExpression, ast.RangeSelectExpression, ast.MemberAccessExpression):
        return None
    inner = place_of(c, e.value)
    if inner is None or kind is ast.MemberAccessExpression:
        return inner and (inner[0], inner[1] + member_low(c, e))
    place = base_of(c, e)
    if place is None or place[0] < 0 or place[0] + c.type_of(e)[0] > c.type_of(e.value)[0]:
        return None
    return inner[0], inner[1] + place[0]


def base_of(c: Converter, e: Any) -> tuple[int, int, int] | None:
    """Return the constant place of elements within ``e.value``: (low bit, element width, number of elements).

    Returns None if the place is variable.
    """
    span = e.value.type.fixedRange
    element = element_bits(e.value.type)
    down = span.left >= span.right
    if type(e) is ast.ElementSelectExpression:
        index = static_index(c, e.selector)
        if index is None:
            return None
        first, count = index, 1
    else:
        c.decided(e, RANGES, e.selectionKind)
        left, right = static_index(c, e.left), static_index(c, e.right)
        if left is None or right is None:
            return None
        if e.selectionKind is ast.RangeSelectionKind.Simple:
            first, count = right, abs(left - right) + 1
        else:
            up = e.selectionKind is ast.RangeSelectionKind.IndexedUp
            count = right
            # The least significant selected element: it has the lowest index if indices fall to the right.
            lowest = left if up else left - count + 1
            first = lowest if down else lowest + count - 1
    low = (first - span.right if down else span.right - first) * element
    return low, element, count


def element_bits(kind: Any) -> int:
    """Return the width of an element of an array or a vector."""
    return (bits_in(kind.arrayElementType) or 1) if kind.isPackedArray or kind.isUnpackedArray else 1


def selected(c: Converter, e: Any) -> Term:
    """Return an element, or a range of elements or bits; undefined where out of range."""
    value = e.value
    memory, indices = memory_word(c, e)
    if memory is not None:
        if c.filling:
            raise c.refused(e, f"memory {memory.name!r} is read in an initial block; fill it with constants")
        return memory.read(*((c(index), c.type_of(index)[1]) for index in indices))
    width, _ = c.type_of(e)
    known = place_of(c, e)
    if known is not None:
        return c.read(*known, width)
    place = base_of(c, e)
    if place is None:
        return _at_variable_place(c, e, width)
    low, total = place[0], c.type_of(value)[0]
    if low < 0 or low + width > total:
        return _beyond(c, e, low, width, total)
    return extract(c(value), low, width)


def memory_word(c: Converter, e: Any) -> tuple[Memory | None, list[Any]]:
    """Return the memory of which ``e`` selects a word, if any, with the indices of the word.

    Raises ``InputError`` if ``e`` selects several words.
    """
    indices: list[Any] = []
    inner = e
    while type(inner) is ast.ElementSelectExpression and inner.value.type.isUnpackedArray:
        indices.insert(0, inner.selector)
        inner = inner.value
    memory = c.design.memories.get(symbol_of(inner)) if indices and type(inner) in NAMES else None
    if memory is not None and len(indices) != len(memory.spans):
        raise c.refused(e, f"several words of {memory.name!r} at once; the proof supports single words only")
    return memory, indices


def member(c: Converter, e: Any) -> Term:
    """Return a member of a structure, or of a union whose members have the same width."""
    width, _ = c.type_of(e)
    place = place_of(c, e)
    return extract(c(e.value), member_low(c, e), width) if place is None else c.read(*place, width)


def member_low(c: Converter, e: Any) -> int:
    """Return the lowest bit of a member. The first member is in the highest bits of a structure, packed or not."""
    kind, width = e.value.type, c.type_of(e)[0]
    total = c.type_of(e.value)[0]
    if kind.isPackedUnion and width != total:
        raise c.refused(e, "a union with members of several widths is not supported by the proof")
    return total - width - int(e.member.bitOffset) if kind.isUnpackedStruct else int(e.member.bitOffset)


def _beyond(c: Converter, e: Any, low: int, width: int, total: int) -> Term:
    """Return bits that are partly out of range; bits out of range are undefined."""
    where = f"bits beyond a signal at {c.design.where(e.sourceRange.start)}"
    first, last = max(low, 0), min(low + width, total)
    if first >= last:
        return undefined(width, where)
    parts = [undefined(low + width - last, f"{where}, above")] if low + width > last else []
    parts.append(extract(c(e.value), first, last - first))
    if first > low:
        parts.append(undefined(first - low, f"{where}, below"))
    return concat(*parts)


def _at_variable_place(c: Converter, e: Any, width: int) -> Term:
    value, span = e.value, e.value.type.fixedRange
    element = element_bits(value.type)
    term = c(value)
    count = width // element
    selector = e.selector if type(e) is ast.ElementSelectExpression else e.left
    left, right = span.left, span.right
    if count > 1:
        if e.selectionKind is ast.RangeSelectionKind.Simple:
            raise c.refused(e, "a range with a variable index is supported only as [base +: width]")
        left, right = limited(e, left, right, count)
    index = c(selector)
    position, inside = chosen(index, c.type_of(selector)[1], left, right)
    if term.op == "const" and count == 1:
        elements = tuple(extract(term, low, element).value for low in range(0, term.width, element))
        word = lookup(position, elements, element)
        return word if inside is None else ite(inside, word, undefined(width, "bits beyond a vector", term, index))
    steps = mul(
        resize(position, position.width + element.bit_length(), False),
        const(position.width + element.bit_length(), element),
    )
    shifted = extract(lshr(term, steps), 0, width)
    if inside is None:
        return shifted
    return ite(inside, shifted, undefined(width, "bits beyond a vector", term, index))


def limited(e: Any, left: int, right: int, count: int) -> tuple[int, int]:
    """Return the range ``[left:right]`` within which the base of an indexed range of ``count`` elements must lie.

    The base is the lowest (``+:``) or highest (``-:``) index, and the position of the range is that of the element at
    its right end.
    """
    if (e.selectionKind is ast.RangeSelectionKind.IndexedDown) == (left >= right):
        return (left, right + count - 1) if left >= right else (left, right - count + 1)
    return (left - count + 1, right) if left >= right else (left + count - 1, right)


def target_parts(c: Converter, e: Any) -> list[tuple[Any, int, int]]:
    """Return the parts that an assignment to ``e`` assigns, most significant first: (symbol, low bit, width).

    Raises ``InputError`` if an index is not constant. ``c``: the converter that evaluates indices.
    """
    kind = type(e)
    c.decided(e, TARGETS, e.kind)
    if kind in NAMES:
        return [(symbol_of(e), 0, c.type_of(e)[0])]
    if kind is ast.ConcatenationExpression:
        return [part for x in e.operands for part in target_parts(c, x)]
    if kind is ast.StreamingConcatenationExpression:
        return reordered(c, e, [part for x in operands(c, e) for part in target_parts(c, x)])
    if kind is ast.SimpleAssignmentPatternExpression:
        return [part for x in e.elements for part in target_parts(c, getattr(x, "left", x))]
    if kind is ast.MemberAccessExpression:
        ((symbol, low, _),) = target_parts(c, e.value)
        return [(symbol, low + member_low(c, e), c.type_of(e)[0])]
    width = c.type_of(e)[0]
    ((symbol, low, total),) = target_parts(c, e.value)
    place = base_of(c, e)
    if place is None or place[0] < 0 or place[0] + width > total:
        raise c.refused(e, "an assignment to a variable index or beyond its signal is not supported")
    return [(symbol, low + place[0], width)]
