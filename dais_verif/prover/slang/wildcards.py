"""Patterns with wildcard digits: items of cases, ``inside`` and ``==?``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyslang.parsing import TokenKind

from dais_verif.errors import InputError
from dais_verif.prover.four_state import band, bnot, eq, slt, ult
from dais_verif.prover.slang.design import ast
from dais_verif.prover.slang.kinds import VALUE_RANGES
from dais_verif.prover.terms import Term, const, extract, resize

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["is_complete", "matches", "member_of", "pattern_of", "refuse_mixed", "subject_of"]

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
