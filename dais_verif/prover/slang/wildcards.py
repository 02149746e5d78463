"""Patterns with wildcard digits: items of cases, ``inside`` and ``==?``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyslang
from pyslang.parsing import TokenKind

from dais_verif.base.errors import InputError
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.four_state import band, bnot, eq, slt, ult
from dais_verif.prover.slang.design import ast
from dais_verif.prover.slang.kinds import VALUE_RANGES
from dais_verif.prover.terms import Term, concat, const, extract, resize

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = [
    "is_complete",
    "left_aligned",
    "matches",
    "member_of",
    "operands",
    "pattern_of",
    "refuse_mixed",
    "refuse_rest",
    "refuse_wider",
    "reordered",
    "streamed",
    "subject_of",
]


#: pyslang does not expose the kind of a range, only its token.
_RANGES = {
    TokenKind.Colon: ast.ValueRangeKind.Simple,
    TokenKind.PlusDivMinus: ast.ValueRangeKind.AbsoluteTolerance,
    TokenKind.PlusModMinus: ast.ValueRangeKind.RelativeTolerance,
}
#: Widest subject for which all values are enumerated.
_WIDEST = 12


class Pattern(NamedTuple):
    """Matches values that agree with ``value`` in the bits of ``mask``."""

    mask: int
    value: int


def matches(c: Converter, subject: Term, e: Any, wild: str) -> Term:
    """Return, as a bit, whether the pattern ``e`` matches ``subject``. ``wild``: the digits that match anything."""
    found = pattern_of(c, subject.width, e, wild)
    if found is None or found.mask == (1 << subject.width) - 1:
        return eq(subject, c(e))
    match = const(1, 1)
    for bit in range(subject.width):
        if found.mask >> bit & 1:
            match = band(match, eq(extract(subject, bit, 1), const(1, found.value >> bit & 1)))
    return match


def pattern_of(c: Converter, size: int, e: Any, wild: str) -> Pattern | None:
    """Return ``e`` as a pattern, extended to ``size`` bits; None if it is not constant."""
    literal = e
    while type(literal) is ast.ConversionExpression:
        literal = literal.operand
    written = type(literal) in (ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral) and literal.value.hasUnknown
    value = e.eval(ast.EvalContext(next(iter(c.design.signals), None))).value if wild or written else None
    if value is None or not value.hasUnknown:
        term = c(e)
        return Pattern((1 << size) - 1, term.value) if term.op == "const" else None
    width, signed = c.type_of(literal)
    if signed and width < size and str(value[width - 1]) in "xXzZ":
        raise c.refused(e, "simulators differ in how they extend this item; write as many digits as bits")
    digits = [str(value[bit]) for bit in range(size)]
    if any(digit not in "01" + wild for digit in digits):
        raise c.refused(e, "X matches anything in simulation only; write ? in a casez")
    mask, ones = (sum(1 << bit for bit, digit in enumerate(digits) if digit in some) for some in ("01", "1"))
    return Pattern(mask, ones)


def subject_of(c: Converter, e: Any, entries: Iterable[Any]) -> tuple[Term, bool]:
    """Return the subject of a list of ``inside`` with the given ``entries``, and whether it is signed.

    Raises ``InputError`` if an unsigned entry makes a signed subject unsigned and this matters: by the standard, the
    comparisons with all entries are then unsigned, as in a ``case``; in Verilator, only the one with this entry is.
    """
    width, signed = c.type_of(e)
    own, own_signed = c.type_of(_unconverted(e))
    ranges = ((x.left, x.right) for x in entries if type(x) is ast.ValueRangeExpression)
    compared = any(all(c.type_of(_unconverted(x))[1] for x in bounds) for bounds in ranges)
    if own_signed and not signed and (own < width or compared):
        raise c.refused(e, "simulators differ in the sign of the operand of inside; write $unsigned, or signed entries")
    return c(e), signed


def _unconverted(e: Any) -> Any:
    """Return ``e`` as written, without implicit conversions."""
    while type(e) is ast.ConversionExpression and e.conversionKind is not ast.ConversionKind.Explicit:
        e = e.operand
    return e


def member_of(c: Converter, subject: Term, signed: bool, e: Any) -> Term:
    """Return, as a bit, whether ``subject`` matches one entry of an ``inside`` list, which is a range or a pattern."""
    if type(e) is not ast.ValueRangeExpression:
        if c.type_of(e)[0] != subject.width:
            raise c.refused(e, "an array among the values of inside is not supported by the proof")
        return matches(c, subject, e, "xXzZ")
    c.decided(e, VALUE_RANGES, _RANGES.get(e.syntax.op.kind))
    bounds = [x for x in (e.left, e.right) if type(x) is not ast.UnboundedLiteral]
    if len(bounds) != 2 or any(c.type_of(x)[0] != subject.width for x in bounds):
        raise c.refused(e, "a range with an open end is not supported by the proof; write both ends")
    low, high = map(c, bounds)
    if signed and all(c.type_of(x)[1] for x in bounds) and not all(map(_is_natural, (low, high))):
        raise c.refused(e, "simulators differ in the sign of this range; write >= and <=")
    less = slt if signed and all(c.type_of(x)[1] for x in bounds) else ult
    return band(bnot(less(subject, low)), bnot(less(high, subject)))


def refuse_mixed(c: Converter, item: Any) -> None:
    """Raise ``InputError`` if ``item`` of a case is signed but the comparison is not, and the item must be extended.

    Verilator extends the item with its sign; the standard and other simulators extend it with zeros.
    """

    def look(e: Any) -> None:
        if type(e) is not ast.ConversionExpression or e.conversionKind is not ast.ConversionKind.Propagated:
            return
        (width, signed), (whole, all_signed) = c.type_of(e.operand), c.type_of(e)
        if signed and not all_signed and width < whole and not _is_positive(c, e.operand):
            raise c.refused(item, "simulators differ in how they extend this item; write as many digits as bits")

    item.visit(look)


def _is_positive(c: Converter, e: Any) -> bool:
    try:
        return _is_natural(c(e))
    except InputError:  # it has wildcard digits
        return False


def _is_natural(t: Term) -> bool:
    """Return whether ``t`` is a constant with a top bit of 0."""
    return t.op == "const" and not t.value >> (t.width - 1)


def is_complete(c: Converter, subject: Any, patterns: Sequence[Pattern | None]) -> bool:
    """Return whether each value of the expression ``subject`` matches one of ``patterns``."""
    core, (size, signed) = subject, c.type_of(subject)
    if type(subject) is ast.ConversionExpression:  # converted to the width of the items, which are often integers
        core = subject.operand
        signed = signed if subject.conversionKind is ast.ConversionKind.Propagated else c.type_of(core)[1]
    width = c.type_of(core)[0]
    if width > _WIDEST or width > size:
        return False
    values = {resize(const(width, v), size, signed).value for v in range(1 << width)}
    for pattern in patterns:
        if pattern is not None and pattern.mask == (1 << size) - 1:
            values.discard(pattern.value)
        elif pattern is not None:
            values = {v for v in values if v & pattern.mask != pattern.value}
    return not values


# Streaming operators ``{<<4{a, b}}`` and ``{>>{a, b}}``, by IEEE 1800 (11.4.14).
#
# The operands are concatenated, the first one in the highest bits, and cut into slices from the lowest bits on. ``<<``
# reverses the order of slices: the last slice, which may be smaller, becomes the rightmost. ``>>`` keeps the order.


_kinds = pyslang.syntax.SyntaxKind
#: The syntax around a stream that is the complete assigned value.
_ASSIGNING = (
    _kinds.AssignmentExpression,
    _kinds.NonblockingAssignmentExpression,
    _kinds.EqualsValueClause,
    _kinds.ReturnStatement,
)

_ELSEWHERE = "simulators differ in how they align this stream in a wider target; assign it to a vector first"


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
