"""Convert expressions of pyslang's bound tree to terms.

pyslang has applied the rules of IEEE 1800 (11.6, 11.8) for widths and signs: every operand has the width of its
context, and conversions are separate nodes. This module computes the operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from dais_verif.base.errors import InputError, StateError, UnsupportedVerilog
from dais_verif.prover.four_state import (
    add,
    all_ones,
    ashr,
    band,
    bnot,
    bor,
    bxor,
    eq,
    ite,
    lshr,
    mul,
    neg,
    nonzero,
    shl,
    slt,
    strict,
    sub,
    udiv,
    ult,
    urem,
)
from dais_verif.prover.netlist import NoValue
from dais_verif.prover.slang.bundles import keyed, listed, repeated
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in, fields, why_no_bits
from dais_verif.prover.slang.kinds import BINARY, CONVERSIONS, PATTERNS, UNARY, VALUES, Table
from dais_verif.prover.slang.selects import CONSTANTS, member, selected
from dais_verif.prover.slang.wildcards import left_aligned, matches, member_of, refuse_wider, streamed, subject_of
from dais_verif.prover.slang.writes import symbol_of
from dais_verif.prover.terms import Term, concat, const, extract, resize, top_bit, undefined

__all__ = ["ARITHMETIC", "Converter", "condition_of", "definite", "integer_of"]


class Converter:
    """Converts expressions to terms. ``read``: called with (symbol, low, width), returns bits of a symbol's value.

    ``free``: whether functions may read signals that are not arguments, since changes of these signals also cause the
    expression to be evaluated again.
    """

    def __init__(self, design: SlangDesign, read: Callable[[Any, int, int], Term], free: bool = True) -> None:
        self.design, self.read, self.free = design, read, free
        #: The left side of the assignment that is being evaluated, for compound assignments.
        self.target: Any = None
        #: Whether the expression is evaluated at a clock edge.
        self.clocked = False
        #: Whether the expression is evaluated while memories are filled.
        self.filling = False

    def __call__(self, e: Any) -> Term:
        """Return the term of ``e``, with the width of its type. Raises ``InputError`` if it is not supported."""
        rule = _RULES.get(e.kind)
        if rule is None:
            raise self.refused(e, VALUES.message(e.kind))
        return rule(self, e)

    def type_of(self, e: Any) -> tuple[int, bool]:
        """Return the width of the type of ``e``, and whether it is signed."""
        kind = e.type
        known = self.design.types.get(kind)
        if known is None:
            width = bits_in(kind)
            if width is None:
                raise self.refused(e, f"a value of type {kind}: {why_no_bits(kind)}")
            known = self.design.types[kind] = width, kind.isIntegral and kind.isSigned
        return known

    def decided(self, e: Any, table: Table[Any], kind: Any) -> None:
        """Raise ``InputError`` with the message of ``table`` if it refuses the ``kind`` of ``e``."""
        refusal = table.refusal(kind)
        if refusal is not None:
            raise self.refused(e, refusal)

    def refused(self, e: Any, text: str, advice: str = "") -> InputError:
        """Return an error with the location of ``e``. ``advice`` may name arguments, as in ``DaisError.of``."""
        return UnsupportedVerilog.of(
            "{where}: {text}" + advice, where=self.design.where(e.sourceRange.start), text=text
        )

    def stateful(self, e: Any, text: str) -> StateError:
        """Return an error with the location of ``e``, because of which the RTL is not a function of its inputs."""
        return StateError(f"{self.design.where(e.sourceRange.start)}: {text}")


def integer_of(converter: Converter, e: Any, value: Any, width: int) -> Term:
    """Return a pyslang constant as a term; X digits are undefined."""
    if value.hasUnknown:
        digits = [str(value[bit]) for bit in range(width)]
        if any(digit not in "01xX" for digit in digits):
            return converter.design.unknown(width, e)
        known = (const(1, int(d)) if d in "01" else converter.design.undecided(1, e) for d in reversed(digits))
        return concat(*known) if set(digits) & set("01") else converter.design.undecided(width, e)
    return const(width, int(value))


def _constant(c: Converter, e: Any, value: Any, kind: Any) -> Term:
    """Return a constant that may be an array, or an unpacked structure."""
    if isinstance(value, list):
        kinds = [x.type for x in fields(kind)] if kind.isUnpackedStruct else [kind.arrayElementType] * len(value)
        return concat(*(_constant(c, e, x.value, own) for x, own in zip(value, kinds, strict=True)))
    return integer_of(c, e, value, bits_in(kind) or 0)


def _literal(c: Converter, e: Any) -> Term:
    value = e.intValue.value if type(e) is ast.StringLiteral else e.value
    return integer_of(c, e, value, c.type_of(e)[0])


def _symbol(c: Converter, e: Any) -> Term:
    symbol = symbol_of(e)
    signal = c.design.signals.get(symbol)
    if signal is not None:  # the usual case; memories are not signals
        return c.read(symbol, 0, signal.width)
    if symbol.kind in CONSTANTS:
        c.type_of(e)
        refuse_wider(c, e, getattr(symbol, "initializer", None))
        return _constant(c, e, symbol.value.value, symbol.type)
    if symbol in c.design.memories:
        raise c.refused(e, f"the whole array {symbol.name!r} is read; the proof supports reading single words only")
    return c.read(symbol, 0, c.type_of(e)[0])


def _conversion(c: Converter, e: Any) -> Term:
    extended = _EXTENDED.get(e.conversionKind)
    if extended is None:
        raise c.refused(e, CONVERSIONS.message(e.conversionKind))
    operand = e.operand
    term = c(operand)
    width, signed = c.type_of(e)
    if width == term.width:
        return term
    if extended == "stream":
        return left_aligned(c, e, term, width)
    own = c.type_of(operand)[1]
    involved, signed = own or signed, own if extended == "operand" else signed
    found = resize(term, width, signed)
    if c.design.doubts is None or not involved:
        return found
    return c.design.doubts.either(e, "extension" if width > term.width else "narrowing", found, term, width)


def _unary(c: Converter, e: Any) -> Term:
    rule = _UNARY.get(e.op)
    if rule is None:
        raise c.refused(e, UNARY.message(e.op))
    return rule(definite(c, e.operand))


def _parity(t: Term) -> Term:
    return reduce(bxor, (extract(t, bit, 1) for bit in range(t.width)))


def _divided(c: Converter, e: Any) -> Term:
    """Return a quotient, rounded towards zero, or a remainder, with the sign of the first operand."""
    a, b = definite(c, e.left), definite(c, e.right)
    quotient, signed = e.op is ast.BinaryOperator.Divide, c.type_of(e)[1]
    if signed:
        positive = [ite(top_bit(x), neg(x), x) for x in (a, b)]
        result = (udiv if quotient else urem)(*positive)
        minus = bxor(top_bit(a), top_bit(b)) if quotient else top_bit(a)
        result = ite(minus, neg(result), result)
    else:
        result = (udiv if quotient else urem)(a, b)
    if signed and c.design.doubts is not None:
        result = c.design.doubts.either(e, "division", result, a, b, quotient)
    return ite(nonzero(b), result, undefined(a.width, "a division by 0", a, b))


def _power(c: Converter, e: Any) -> Term:
    a, b = definite(c, e.left), definite(c, e.right)
    signed = c.type_of(e.right)[1]
    if a.op == b.op == "const" and not signed:
        return const(a.width, pow(a.value, b.value, 1 << a.width))
    if a.op == "const" and a.value == 2 and a.width > 2:
        power = shl(const(a.width, 1), b)
        return strict(ite(top_bit(b), const(a.width, 0), power) if signed else power, b)
    raise c.refused(e, "the proof supports a power only if it is constant or its base is 2")


def definite(c: Converter, e: Any) -> Term:
    """Return an operand as a term. Raises ``NoValue`` if the operand is a literal X, except in a netlist."""
    literal = e
    while type(literal) is ast.ConversionExpression:
        literal = literal.operand
    if type(literal) in _LITERALS and literal.value.hasUnknown and not c.design.bitwise:
        raise NoValue(c.design.where(e.sourceRange.start))
    return c(e)


def _inside(c: Converter, e: Any) -> Term:
    subject, signed = subject_of(c, e.left, e.rangeList)
    return reduce(bor, (member_of(c, subject, signed, x) for x in e.rangeList))


def _binary(c: Converter, e: Any) -> Term:
    rule = _BINARY.get(e.op)
    if rule is None:
        raise c.refused(e, BINARY.message(e.op))
    return rule(c, e)


def _wildcard(c: Converter, e: Any) -> Term:
    match = matches(c, definite(c, e.left), e.right, "xXzZ")
    return match if e.op is ast.BinaryOperator.WildcardEquality else bnot(match)


def _plain(c: Converter, e: Any) -> Term:
    a, b = definite(c, e.left), definite(c, e.right)
    found = ARITHMETIC[e.op](a, b)
    if e.op in _EQUALITIES:
        c.design.conditions[found] = None
        return _with_cut(c, e, _differ if e.op in _INEQUALITIES else eq, found, a, b)
    return found


def _differ(a: Term, b: Term) -> Term:
    return bnot(eq(a, b))


def _beyond(constant: Term, width: int) -> bool:
    """Return whether neither an unsigned nor a signed number of ``width`` bits has the value of ``constant``."""
    return 1 << width <= constant.value < (1 << constant.width) - (1 << width - 1)


def _with_cut(c: Converter, e: Any, rule: Callable[[Term, Term], Term], found: Term, a: Term, b: Term) -> Term:
    """Return ``found``, with the other reading of a constant that has more bits than the other operand."""
    for narrow, constant in ((e.left, b), (e.right, a)):
        while type(narrow) is ast.ConversionExpression:
            narrow = narrow.operand
        width = c.type_of(narrow)[0]
        if c.design.doubts is not None and constant.op == "const" and _beyond(constant, width):
            found = c.design.doubts.either(e, "constant beyond the range", found, rule, a, b, width)
    return found


def _shift(c: Converter, e: Any) -> Term:
    a, b = definite(c, e.left), definite(c, e.right)
    unsigned = e.op is ast.BinaryOperator.ArithmeticShiftRight and not c.type_of(e)[1]
    found = (lshr if unsigned else _SHIFTS[e.op])(a, b)
    if c.design.doubts is None or e.op not in _TO_THE_RIGHT:
        return found
    return c.design.doubts.either(e, "shift to the right", found, a, b)


def _compare(c: Converter, e: Any) -> Term:
    a, b = definite(c, e.left), definite(c, e.right)
    signed = c.type_of(e.left)[1] and c.type_of(e.right)[1]
    rule = _COMPARISONS[e.op]
    found = rule(slt if signed else ult, a, b)
    c.design.conditions[found] = None
    if c.design.doubts is None:
        return found
    found = c.design.doubts.either(e, "order", found, rule, a, b)
    return _with_cut(c, e, partial(rule, slt if signed else ult), found, a, b)


def _conditional(c: Converter, e: Any) -> Term:
    condition = condition_of(c, e)
    c.design.conditions[condition] = None
    return ite(condition, c(e.left), c(e.right))


def condition_of(c: Converter, e: Any) -> Term:
    """Return the condition of an expression or a statement as one bit. Raises ``InputError`` for patterns."""
    for condition in e.conditions:
        if condition.pattern is not None:
            raise c.refused(e, PATTERNS.message(condition.pattern.kind))
    if len(e.conditions) != 1:
        raise c.refused(e, "&&& is not supported by the proof; write &&")
    return nonzero(c(e.conditions[0].expr))


def _concatenation(c: Converter, e: Any) -> Term:
    found = concat(*(parts := [c(x) for x in e.operands if not x.type.isVoid]))
    doubts = c.design.doubts
    return found if doubts is None else doubts.either(e, "kept sign", found, parts)


def _replication(c: Converter, e: Any) -> Term:
    count = c(e.count).value
    part = c(e.concat)
    if part.width == 1:
        return resize(part, count, True)
    return concat(*[part] * count)


def _target(c: Converter, e: Any) -> Term:
    return c(c.target)


def _call(c: Converter, e: Any) -> Term:
    return c.design.call(c, e)


_Compare = Callable[[Callable[[Term, Term], Term], Term, Term], Term]

_LITERALS = (ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral)
_k = ast.ExpressionKind
_RULES: dict[Any, Callable[[Converter, Any], Term]] = VALUES.rules(
    {
        _k.IntegerLiteral: _literal,
        _k.UnbasedUnsizedIntegerLiteral: _literal,
        _k.StringLiteral: _literal,
        _k.NamedValue: _symbol,
        _k.HierarchicalValue: _symbol,
        _k.Conversion: _conversion,
        _k.UnaryOp: _unary,
        _k.BinaryOp: _binary,
        _k.ConditionalOp: _conditional,
        _k.Concatenation: _concatenation,
        _k.Replication: _replication,
        _k.ElementSelect: selected,
        _k.RangeSelect: selected,
        _k.Call: _call,
        _k.Inside: _inside,
        _k.SimpleAssignmentPattern: listed,
        _k.StructuredAssignmentPattern: keyed,
        _k.ReplicatedAssignmentPattern: repeated,
        _k.MemberAccess: member,
        _k.Streaming: streamed,
        _k.LValueReference: _target,
    }
)
_u, _b = ast.UnaryOperator, ast.BinaryOperator
_UNARY: dict[Any, Callable[[Term], Term]] = UNARY.rules(
    {
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
)
ARITHMETIC: dict[Any, Callable[[Term, Term], Term]] = {
    _b.Add: add,
    _b.Subtract: sub,
    _b.Multiply: mul,
    _b.BinaryAnd: band,
    _b.BinaryOr: bor,
    _b.BinaryXor: bxor,
    _b.BinaryXnor: lambda a, b: bnot(bxor(a, b)),
    _b.Equality: eq,
    _b.Inequality: _differ,
    _b.CaseEquality: eq,
    _b.CaseInequality: _differ,
    _b.LogicalAnd: lambda a, b: band(nonzero(a), nonzero(b)),
    _b.LogicalOr: lambda a, b: bor(nonzero(a), nonzero(b)),
    _b.LogicalImplication: lambda a, b: bor(bnot(nonzero(a)), nonzero(b)),
    _b.LogicalEquivalence: lambda a, b: eq(nonzero(a), nonzero(b)),
}
_TO_THE_RIGHT = (_b.LogicalShiftRight, _b.ArithmeticShiftRight)
_INEQUALITIES = (_b.Inequality, _b.CaseInequality)
_EQUALITIES = (_b.Equality, _b.Inequality, _b.CaseEquality, _b.CaseInequality)
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
_BINARY: dict[Any, Callable[[Converter, Any], Term]] = BINARY.rules(
    {
        **dict.fromkeys(ARITHMETIC, _plain),
        **dict.fromkeys(_SHIFTS, _shift),
        **dict.fromkeys(_COMPARISONS, _compare),
        **dict.fromkeys((_b.Divide, _b.Mod), _divided),
        **dict.fromkeys((_b.WildcardEquality, _b.WildcardInequality), _wildcard),
        _b.Power: _power,
    }
)
#: IEEE 1800, 11.8.2: an operand is extended by the sign of its expression; in other conversions, by its own sign.
_EXTENDED: dict[Any, str] = CONVERSIONS.rules(
    {
        ast.ConversionKind.Propagated: "expression",
        ast.ConversionKind.Implicit: "operand",
        ast.ConversionKind.Explicit: "operand",
        ast.ConversionKind.BitstreamCast: "operand",
        ast.ConversionKind.StreamingConcat: "stream",
    }
)
