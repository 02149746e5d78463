"""Expressions of the bound tree as terms.

pyslang has done what IEEE 1800 (11.6, 11.8) says of widths and signs: every operand has the width of its context, and
conversions are nodes of their own. What is left is what each operator computes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from dais_verif.errors import InputError
from dais_verif.prove.memory import chosen
from dais_verif.prove.slang.design import Design, ast, bits_in
from dais_verif.prove.terms import (
    Term,
    add,
    all_ones,
    ashr,
    band,
    bnot,
    bor,
    bxor,
    concat,
    const,
    eq,
    extract,
    ite,
    lshr,
    mul,
    neg,
    nonzero,
    resize,
    shl,
    slt,
    sub,
    top_bit,
    udiv,
    ult,
    undefined,
    urem,
)

__all__ = ["ARITHMETIC", "CONSTANTS", "NAMES", "Converter", "base_of", "integer_of", "static_index", "target_parts"]


class Converter:
    """Turns expressions into terms. ``read``: gives bits of a symbol's value."""

    def __init__(self, design: Design, read: Callable[[Any, int, int], Term]) -> None:
        self.design, self.read = design, read

    def __call__(self, e: Any) -> Term:
        """The term of ``e``, as wide as its type. Raises ``InputError`` for what has no term."""
        rule = _RULES.get(type(e))
        if rule is None:
            raise self.refused(e, f"{e.kind.name} expressions are not supported by the proof")
        return rule(self, e)

    def type_of(self, e: Any) -> tuple[int, bool]:
        """Width and sign."""
        kind = e.type
        known = self.design.types.get(kind)
        if known is None:
            width = bits_in(kind)
            if width is None:
                raise self.refused(e, f"a value of type {kind} is not supported by the proof")
            known = self.design.types[kind] = width, kind.isIntegral and kind.isSigned
        return known

    def refused(self, e: Any, text: str) -> InputError:
        """The error that names the place of ``e``."""
        return InputError(f"{self.design.where(e.sourceRange.start)}: {text}")


def integer_of(converter: Converter, e: Any, value: Any, width: int) -> Term:
    """A constant of pyslang's."""
    if value.hasUnknown:
        return converter.design.unknown(width, e)
    return const(width, int(value))


def _literal(c: Converter, e: Any) -> Term:
    value = e.intValue.value if type(e) is ast.StringLiteral else e.value
    return integer_of(c, e, value, c.type_of(e)[0])


def _symbol(c: Converter, e: Any) -> Term:
    symbol = e.symbol
    if symbol.kind in CONSTANTS:
        width, _ = c.type_of(e)
        return integer_of(c, e, symbol.value.value, width)
    if symbol in c.design.memories:
        raise c.refused(e, f"the whole array {symbol.name!r} is read; the proof reads word by word")
    return c.read(symbol, 0, c.type_of(e)[0])


def _conversion(c: Converter, e: Any) -> Term:
    operand = e.operand
    term = c(operand)
    width, signed = c.type_of(e)
    if width == term.width:
        return term
    # IEEE 1800, 11.8.2: an operand is extended as its expression is signed; elsewhere, as it is signed itself.
    if e.conversionKind is not ast.ConversionKind.Propagated:
        signed = c.type_of(operand)[1]
    return resize(term, width, signed)


def _unary(c: Converter, e: Any) -> Term:
    rule = _UNARY.get(e.op)
    if rule is None:
        raise c.refused(e, f"operator {e.op.name} is not supported by the proof here")
    return rule(c(e.operand))


def _parity(t: Term) -> Term:
    return reduce(bxor, (extract(t, bit, 1) for bit in range(t.width)))


def _divided(c: Converter, e: Any, a: Term, b: Term) -> Term:
    """Towards zero; the remainder has the sign of the first operand."""
    quotient = e.op is ast.BinaryOperator.Divide
    if c.type_of(e)[1]:
        positive = [ite(top_bit(x), neg(x), x) for x in (a, b)]
        result = (udiv if quotient else urem)(*positive)
        minus = bxor(top_bit(a), top_bit(b)) if quotient else top_bit(a)
        result = ite(minus, neg(result), result)
    else:
        result = (udiv if quotient else urem)(a, b)
    return ite(nonzero(b), result, undefined(a.width, "a quotient by 0", a, b))


def _binary(c: Converter, e: Any) -> Term:
    op = e.op
    a, b = c(e.left), c(e.right)
    rule = ARITHMETIC.get(op)
    if rule is not None:
        return rule(a, b)
    if op in _SHIFTS:
        operator = _SHIFTS[op]
        if op is ast.BinaryOperator.ArithmeticShiftRight and not c.type_of(e)[1]:
            operator = lshr
        return operator(a, b)
    if op in _COMPARISONS:
        signed = c.type_of(e.left)[1] and c.type_of(e.right)[1]
        return _COMPARISONS[op](slt if signed else ult, a, b)
    if op in (ast.BinaryOperator.Divide, ast.BinaryOperator.Mod):
        return _divided(c, e, a, b)
    if op is ast.BinaryOperator.Power and a.op == b.op == "const" and not c.type_of(e.right)[1]:
        return const(a.width, pow(a.value, b.value, 1 << a.width))
    raise c.refused(e, f"operator {op.name} is not supported by the proof here")


def _conditional(c: Converter, e: Any) -> Term:
    if len(e.conditions) != 1 or e.conditions[0].pattern is not None:
        raise c.refused(e, "a pattern is not supported by the proof")
    return ite(nonzero(c(e.conditions[0].expr)), c(e.left), c(e.right))


def _concatenation(c: Converter, e: Any) -> Term:
    return concat(*(c(x) for x in e.operands if not x.type.isVoid))


def _replication(c: Converter, e: Any) -> Term:
    count = c(e.count).value
    part = c(e.concat)
    if part.width == 1:
        return resize(part, count, True)
    return concat(*[part] * count)


def static_index(c: Converter, e: Any) -> int | None:
    """The value of an index that is constant."""
    if type(e) is ast.IntegerLiteral and not e.value.hasUnknown:
        return int(e.value)
    term = c(e)
    if term.op != "const":
        return None
    _, signed = c.type_of(e)
    return term.value - (1 << term.width) if signed and term.value >> (term.width - 1) else term.value


def _element_bits(kind: Any) -> int:
    return (bits_in(kind.arrayElementType) or 1) if kind.isPackedArray or kind.isUnpackedArray else 1


def base_of(c: Converter, e: Any) -> tuple[int, int, int] | None:
    """Where bits with a constant place begin within ``e.value``: (low bit, element width, count); None if variable.

    For one element, or for a range of them.
    """
    span = e.value.type.fixedRange
    element = _element_bits(e.value.type)
    down = span.left >= span.right
    if type(e) is ast.ElementSelectExpression:
        index = static_index(c, e.selector)
        if index is None:
            return None
        first, count = index, 1
    else:
        left, right = static_index(c, e.left), static_index(c, e.right)
        if left is None or right is None:
            return None
        if e.selectionKind is ast.RangeSelectionKind.Simple:
            first, count = right, abs(left - right) + 1
        else:
            up = e.selectionKind is ast.RangeSelectionKind.IndexedUp
            count = right
            # The least significant of the elements that are meant: the lowest index if indices fall to the right.
            lowest = left if up else left - count + 1
            first = lowest if down else lowest + count - 1
    low = (first - span.right if down else span.right - first) * element
    return low, element, count


def _selected(c: Converter, e: Any) -> Term:
    value = e.value
    if type(value) in NAMES and value.symbol in c.design.memories:
        memory = c.design.memories[value.symbol]
        return memory.read(c(e.selector), c.type_of(e.selector)[1])
    width, _ = c.type_of(e)
    place = base_of(c, e)
    if place is not None:
        low = place[0]
        total = c.type_of(value)[0]
        if low < 0 or low + width > total:
            return _beyond(c, e, low, width, total)
        if type(value) in NAMES and value.symbol.kind not in CONSTANTS:
            return c.read(value.symbol, low, width)
        return extract(c(value), low, width)
    return _at_variable_place(c, e, width)


def _beyond(c: Converter, e: Any, low: int, width: int, total: int) -> Term:
    """Bits of which some are not there: these are undefined."""
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
    element = _element_bits(value.type)
    term = c(value)
    count = width // element
    selector = e.selector if type(e) is ast.ElementSelectExpression else e.left
    left, right = span.left, span.right
    if count > 1:
        if e.selectionKind is ast.RangeSelectionKind.Simple or left < right:
            raise c.refused(e, "a range with a variable place is supported as [base +: width] of a [msb:lsb] vector")
        # The base is the lowest or the highest index of the range; the lowest one may go so far up.
        if e.selectionKind is ast.RangeSelectionKind.IndexedDown:
            right += count - 1
        else:
            left -= count - 1
    index = c(selector)
    position, inside = chosen(index, c.type_of(selector)[1], left, right)
    steps = mul(
        resize(position, position.width + element.bit_length(), False),
        const(position.width + element.bit_length(), element),
    )
    shifted = extract(lshr(term, steps), 0, width)
    if inside is None:
        return shifted
    return ite(inside, shifted, undefined(width, "bits beyond a vector", term, index))


def _call(c: Converter, e: Any) -> Term:
    if not e.isSystemCall:
        from dais_verif.prove.slang.execution import called

        return called(c, e)
    name = e.subroutineName
    if name in ("$signed", "$unsigned"):
        return c(e.arguments[0])
    value = e.eval(ast.EvalContext(next(iter(c.design.signals), None))) if name in _CONSTANT_CALLS else None
    if value is None or value.value is None:
        raise c.refused(e, f"{name} is not supported by the proof here")
    return integer_of(c, e, value.value, c.type_of(e)[0])


def target_parts(c: Converter, e: Any) -> list[tuple[Any, int, int]]:
    """What an assignment to ``e`` assigns, most significant first: (symbol, low bit, width).

    Raises ``InputError`` if its place is not constant, as ``c`` reads indices.
    """
    kind = type(e)
    if kind in NAMES:
        return [(e.symbol, 0, c.type_of(e)[0])]
    if kind is ast.ConcatenationExpression:
        return [part for x in e.operands for part in target_parts(c, x)]
    if kind in (ast.ElementSelectExpression, ast.RangeSelectExpression):
        width = c.type_of(e)[0]
        ((symbol, low, total),) = target_parts(c, e.value)
        place = base_of(c, e)
        if place is None or place[0] < 0 or place[0] + width > total:
            raise c.refused(e, "an assignment to a place that is variable or beyond its signal is not supported")
        return [(symbol, low + place[0], width)]
    raise c.refused(e, f"an assignment to a {e.kind.name} is not supported by the proof")


_Compare = Callable[[Callable[[Term, Term], Term], Term, Term], Term]

_CONSTANT_CALLS = ("$clog2", "$bits", "$high", "$low", "$left", "$right", "$size", "$increment")
NAMES = (ast.NamedValueExpression, ast.HierarchicalValueExpression)
CONSTANTS = (ast.SymbolKind.Parameter, ast.SymbolKind.EnumValue)
_RULES: dict[Any, Callable[[Converter, Any], Term]] = {
    ast.IntegerLiteral: _literal,
    ast.UnbasedUnsizedIntegerLiteral: _literal,
    ast.StringLiteral: _literal,
    ast.NamedValueExpression: _symbol,
    ast.HierarchicalValueExpression: _symbol,
    ast.ConversionExpression: _conversion,
    ast.UnaryExpression: _unary,
    ast.BinaryExpression: _binary,
    ast.ConditionalExpression: _conditional,
    ast.ConcatenationExpression: _concatenation,
    ast.ReplicationExpression: _replication,
    ast.ElementSelectExpression: _selected,
    ast.RangeSelectExpression: _selected,
    ast.CallExpression: _call,
}
_u, _b = ast.UnaryOperator, ast.BinaryOperator
_UNARY: dict[Any, Callable[[Term], Term]] = {
    _u.Plus: lambda t: t,
    _u.Minus: neg,
    _u.BitwiseNot: bnot,
    _u.BitwiseAnd: all_ones,
    _u.BitwiseOr: nonzero,
    _u.BitwiseXor: _parity,
    _u.BitwiseNand: lambda t: bnot(all_ones(t)),
    _u.BitwiseNor: lambda t: bnot(nonzero(t)),
    _u.BitwiseXnor: lambda t: bnot(_parity(t)),
    _u.LogicalNot: lambda t: bnot(nonzero(t)),
}
ARITHMETIC: dict[Any, Callable[[Term, Term], Term]] = {
    _b.Add: add,
    _b.Subtract: sub,
    _b.Multiply: mul,
    _b.BinaryAnd: band,
    _b.BinaryOr: bor,
    _b.BinaryXor: bxor,
    _b.BinaryXnor: lambda a, b: bnot(bxor(a, b)),
    _b.Equality: eq,
    _b.Inequality: lambda a, b: bnot(eq(a, b)),
    _b.CaseEquality: eq,
    _b.CaseInequality: lambda a, b: bnot(eq(a, b)),
    _b.LogicalAnd: lambda a, b: band(nonzero(a), nonzero(b)),
    _b.LogicalOr: lambda a, b: bor(nonzero(a), nonzero(b)),
    _b.LogicalImplication: lambda a, b: bor(bnot(nonzero(a)), nonzero(b)),
    _b.LogicalEquivalence: lambda a, b: eq(nonzero(a), nonzero(b)),
}
_SHIFTS: dict[Any, Callable[[Term, Term], Term]] = {
    _b.LogicalShiftLeft: shl,
    _b.ArithmeticShiftLeft: shl,
    _b.LogicalShiftRight: lshr,
    _b.ArithmeticShiftRight: ashr,
}
_COMPARISONS: dict[Any, _Compare] = {
    _b.LessThan: lambda less, a, b: less(a, b),
    _b.GreaterThan: lambda less, a, b: less(b, a),
    _b.LessThanEqual: lambda less, a, b: bnot(less(b, a)),
    _b.GreaterThanEqual: lambda less, a, b: bnot(less(a, b)),
}
