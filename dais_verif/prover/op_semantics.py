"""The semantics of each op as terms, written from the specification independently of golden model and emitter.

``Integer`` is an exact number. Each rule computes in as many bits as its exact result needs, and ``interpret_op``
quantises that to the op's own type. The value of an op of width w is a term of w bits, or one 0 bit if w is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dais_verif.prover.terms import (
    Term,
    add,
    all_ones,
    band,
    bnot,
    bor,
    bxor,
    concat,
    const,
    eq,
    extract,
    ite,
    lookup,
    mul,
    neg,
    nonzero,
    resize,
    sext,
    top_bit,
    ult,
)
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import Code, bitwise_fields, high_int32, low_int32
from dais_verif.spec.program.ports import Element

__all__ = ["OpSemantics", "aligned", "as_type", "bits_of", "interpret_op", "interpret_output"]


class OpSemantics(NamedTuple):
    """``value``: the op's value, quantised as in hardware. ``kept``: a bit, 1 where quantisation changes nothing."""

    value: Term
    kept: Term


class Integer(NamedTuple):
    """The number ``term``, in two's complement, times ``2**-f``."""

    term: Term
    f: int

    def times_two_to(self, shift: int) -> Integer:
        """Return the number times ``2**shift``: the same bits with the binary point moved."""
        return Integer(self.term, self.f - shift)

    def at(self, f: int) -> Integer:
        """Return the number in units of ``2**-f``, floored if these units are coarser."""
        more = f - self.f
        if more > 0:
            return Integer(concat(self.term, const(more, 0)), f)
        low = min(-more, self.term.width - 1)  # the sign bit always remains
        return Integer(extract(self.term, low, self.term.width - low), f)

    def negated(self) -> Integer:
        """Return minus the number, one bit wider, since the most negative number has no counterpart."""
        return Integer(neg(sext(self.term, self.term.width + 1)), self.f)


def bits_of(kind: FixedType) -> int:
    """Return the width of the term of a value of type ``kind``: at least 1."""
    return max(kind.width, 1)


def _number(kind: FixedType, value: Term) -> Integer:
    """Return the number that the bits ``value`` of type ``kind`` encode."""
    if value.width != bits_of(kind):
        raise AssertionError(f"{value.width} bits hold no value of type {kind}")
    if kind.width == 0:
        return Integer(const(1, 0), kind.f)
    return Integer(value if kind.k else concat(const(1, 0), value), kind.f)


def _together(a: Integer, b: Integer, more: int) -> tuple[Term, Term, int]:
    """Return both numbers in the finer of their units, ``more`` bits wider than the wider one, and their ``f``."""
    f = max(a.f, b.f)
    x, y = a.at(f).term, b.at(f).term
    width = max(x.width, y.width) + more
    return sext(x, width), sext(y, width), f


def _plus(a: Integer, b: Integer) -> Integer:
    x, y, f = _together(a, b, 1)
    return Integer(add(x, y), f)


def _sum_of(parts: Sequence[tuple[Integer, bool]]) -> Integer:
    """Return the sum of numbers as one addition in the finest of their units; parts with True are negated."""
    f = max(part.f for part, _ in parts)
    aligned = [(part.at(f).term, negative) for part, negative in parts]
    width = max(term.width for term, _ in aligned) + len(parts).bit_length()
    wide = [(sext(term, width), negative) for term, negative in aligned]
    return Integer(add(*(neg(term) if negative else term for term, negative in wide)), f)


def _constant(raw: int, f: int) -> Integer:
    return Integer(const(raw.bit_length() + 1, raw), f)


def _quantised(exact: Integer, kind: FixedType) -> Term:
    """Return ``exact`` quantised to ``kind``: TRUNC, then WRAP."""
    if kind.width == 0:
        return const(1, 0)
    return resize(exact.at(kind.f).term, kind.width, signed=True)


def _equal(a: Integer, b: Integer) -> Term:
    x, y, _ = _together(a, b, 0)
    return eq(x, y)


class _Scope:
    """An op and its operands, in the form that the rule of the op reads."""

    def __init__(self, program: Program, op: Op, operands: Sequence[Term], element: Element | None) -> None:
        self.program, self.op, self.operands, self.element = program, op, operands, element

    def kind(self, position: int) -> FixedType:
        return self.program.ops[self.op.operands[position]].type

    def number(self, position: int) -> Integer:
        return _number(self.kind(position), self.operands[position])

    @property
    def a(self) -> Integer:
        return self.number(0)

    @property
    def b(self) -> Integer:
        return self.number(1)

    @property
    def signed_a(self) -> Integer:
        return self.a.negated() if self.op.spec.negate else self.a

    @property
    def raw_a(self) -> Term:
        """±raw(id0), without overflow."""
        return self.signed_a.term


def interpret_op(program: Program, op: Op, operands: Sequence[Term], element: Element | None = None) -> OpSemantics:
    """Return the value of ``op``, given the values of its operands in the order of ``op.operands``.

    For an ``input`` op, ``operands`` instead holds the bits of the port's ``element``; it is empty if the element has
    no bits.
    """
    scope = _Scope(program, op, operands, element)
    if op.code == Code.LOOKUP:
        return _looked_up(scope)
    exact = _RULES[op.code](scope)
    value = _quantised(exact, op.type)
    return OpSemantics(value, _equal(exact, _number(op.type, value)))


def interpret_output(kind: FixedType, value: Term, negated: bool) -> Term:
    """Return the bits of an output that is ± a value of type ``kind``; the binary point does not matter."""
    if not negated:
        return value
    exact = _number(kind, value)
    return resize(exact.negated().term, kind.width + 1, signed=True)


def aligned(kind_a: FixedType, a: Term, kind_b: FixedType, b: Term) -> tuple[Term, Term]:
    """Return two values as terms that are equal exactly where they are the same number."""
    x, y, _ = _together(_number(kind_a, a), _number(kind_b, b), 0)
    return x, y


def as_type(kind: FixedType, value: Term, other: FixedType, *, negated: bool = False) -> Term:
    """Return ± a value of type ``kind``, quantised to type ``other``."""
    exact = _number(kind, value)
    return _quantised(exact.negated() if negated else exact, other)


def _input(s: _Scope) -> Integer:
    if not s.operands or s.element is None:
        return Integer(const(1, 0), s.op.type.f)
    unsigned = Integer(concat(const(1, 0), s.operands[0]), -s.element.lo)
    return unsigned.times_two_to(int(s.program.inp_shift[s.op.id0]))


def _add(s: _Scope) -> Integer:
    return _plus(s.a, s.b.times_two_to(s.op.data))


def _sub(s: _Scope) -> Integer:
    return _plus(s.a, s.b.times_two_to(s.op.data).negated())


def _relu(s: _Scope) -> Integer:
    x = s.signed_a
    return Integer(ite(top_bit(x.term), const(x.term.width, 0), x.term), x.f)


def _quant(s: _Scope) -> Integer:
    return s.signed_a


def _add_const(s: _Scope) -> Integer:
    return _plus(s.a, _constant(s.op.data, s.op.type.f))


def _sum(s: _Scope) -> Integer:
    """Return the sum of the op's terms; each is the next operand or the constant."""
    operands = map(s.number, range(len(s.operands)))
    parts = []
    for term in s.op.terms:
        value = next(operands) if term.op >= 0 else _constant(s.op.data, 0)
        parts.append((value.times_two_to(term.shift), term.negative))
    return _sum_of(parts)


def _shift(s: _Scope) -> Integer:
    return s.a.times_two_to(s.op.data)


def _const(s: _Scope) -> Integer:
    return _constant(s.op.data, s.op.type.f)


def _mux(s: _Scope) -> Integer:
    """Choose an arm; both arms are first aligned to the finer grid, since their exact values may differ in ``f``."""
    b = s.b.negated() if s.op.spec.negate else s.b
    taken, other, f = _together(s.a, b.times_two_to(high_int32(s.op.data)), 0)
    chosen = top_bit(s.operands[2]) if s.kind(2).width else const(1, 0)
    return Integer(ite(chosen, taken, other), f)


def _mul(s: _Scope) -> Integer:
    a, b = s.a, s.b
    width = a.term.width + b.term.width
    return Integer(mul(sext(a.term, width), sext(b.term, width)), a.f + b.f)


def _looked_up(s: _Scope) -> OpSemantics:
    entries = s.program.tables[low_int32(s.op.data)].tolist()
    kind, offset = s.kind(0), high_int32(s.op.data)
    width = bits_of(s.op.type)
    if not entries:
        return OpSemantics(const(width, 0), const(1, 0))
    first, last = -offset, kind.raw_max - kind.raw_min - offset  # the first and the last value of the index
    index = _plus(Integer(s.a.term, 0), _constant(-kind.raw_min - offset, 0)).term
    needed = max(last.bit_length(), first.bit_length(), len(entries).bit_length()) + 1
    index = resize(index, needed, signed=True)
    inside = const(1, 1)
    if first < 0:
        inside = band(inside, bnot(top_bit(index)))
    if last >= len(entries):
        inside = band(inside, ult(extract(index, 0, needed - 1), const(needed - 1, len(entries))))
    entry = lookup(extract(index, 0, max((len(entries) - 1).bit_length(), 1)), entries, width)
    return OpSemantics(ite(inside, entry, const(width, 0)), inside)


def _bit_unary(s: _Scope) -> Integer:
    kind, t = s.kind(0), s.raw_a
    if s.op.data == 0:
        if s.op.type.k:
            return Integer(bnot(t), kind.f)  # in two's complement, this is -t - 1
        return _number(kind._replace(k=0, i=kind.width - kind.f), resize(bnot(t), bits_of(kind), signed=True))
    if s.op.data == 1:
        found = nonzero(t)
    else:
        found = all_ones(resize(t, kind.width, signed=True)) if kind.width else const(1, 1)
    return Integer(concat(const(1, 0), found), 0)


def _bit_binary(s: _Scope) -> Integer:
    fields = bitwise_fields(s.op.data)
    a = s.a.negated() if fields.negate_a else s.a
    b = s.b.negated() if fields.negate_b else s.b
    x, y, f = _together(a, b.times_two_to(fields.shift), 0)
    return Integer((band, bor, bxor)[fields.operation](x, y), f)


#: The exact result of each opcode except the lookup, which has no exact result outside its table.
_RULES: dict[int, Callable[[_Scope], Integer]] = {
    Code.INPUT: _input,
    Code.ADD: _add,
    Code.SUB: _sub,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _quant,
    Code.QUANT_NEG: _quant,
    Code.ADD_CONST: _add_const,
    Code.CONST: _const,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _sum,
    Code.SHIFT: _shift,
}
