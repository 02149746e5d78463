"""The Verilog of every opcode: one small function for each, to be compared with the semantics page.

A rule returns the exact result as an expression, which ``statements`` quantises to the op's type. Ops with a promise
are quantised like all others, so that unchecked overflow wraps as the semantics page specifies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dais_verif.hardware.emitter.expressions import Expression, bits_for, literal, mask, storage_bits
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import Code, Term, bitwise_fields, high_int32, low_int32
from dais_verif.spec.program.ports import Ports

__all__ = ["Statement", "signal", "statements", "table"]


class Statement(NamedTuple):
    """The assignment ``target = text``; ``target`` is a signed signal of ``bits`` bits."""

    target: str
    bits: int
    text: str


def signal(index: int) -> str:
    """Return the name of the signal of op ``index``."""
    return f"op_{index}"


def table(index: int) -> str:
    """Return the name of the memory of table ``index``."""
    return f"table_{index}"


def statements(program: Program, ports: Ports, op: Op, name_of: Callable[[int], str] = signal) -> list[Statement]:
    """Return the assignments, in order, that compute ``op``; the target of the last one is the signal of the op.

    ``name_of``: returns the name of an operand's signal in the scope of the op.
    """
    name, kind = signal(op.index), op.type
    if kind.width == 0:
        return [Statement(name, 1, "1'sb0")]
    scope = Scope(program, ports, op, name_of)
    exact = _at(scope, RULES[op.code](scope), kind.f)
    text = exact.bare
    if not kind.k and not (exact.lo >= 0 and exact.hi <= kind.raw_max):
        text = f"{exact.text} & {mask(kind.width)}"
    return [*scope.helpers, Statement(name, storage_bits(kind), text)]


class Scope:
    """The data that the rule of an op may use, and the helper signals that it creates."""

    def __init__(self, program: Program, ports: Ports, op: Op, name_of: Callable[[int], str]) -> None:
        self.program, self.ports, self.op, self.name_of = program, ports, op, name_of
        self.helpers: list[Statement] = []

    def operand(self, index: int) -> Expression:
        """Return the signal of op ``index``."""
        kind = self.type_of(index)
        return Expression(self.name_of(index), kind.f, kind.raw_min, kind.raw_max, True)

    def type_of(self, index: int) -> FixedType:
        return self.program.ops[index].type

    def helper(self, suffix: str, value: Expression) -> Expression:
        """Return a new helper signal that holds the complete ``value``."""
        name = f"{signal(self.op.index)}_{suffix}"
        self.helpers.append(Statement(name, bits_for(value.lo, value.hi), value.bare))
        return value._replace(text=name, leaf=True)

    @property
    def a(self) -> Expression:
        return self.operand(self.op.id0)

    @property
    def b(self) -> Expression:
        return self.operand(self.op.id1)

    @property
    def signed_a(self) -> Expression:
        return self.a.negated() if self.op.spec.negate else self.a


def _at(scope: Scope, value: Expression, f: int) -> Expression:
    """Return ``value`` in units of ``2**-f``, floored if these units are coarser."""
    if value.f <= f:
        return value.aligned(f)
    return (value if value.leaf else scope.helper("exact", value)).floored(f)


_SUB = Code.SUB


def _input(s: Scope) -> Expression:
    lsb, width = s.ports.slice_of(s.op, int(s.program.inp_shift[s.op.id0]))
    kind = s.op.type
    return Expression(f"model_inp[{lsb + width - 1}:{lsb}]", kind.f, kind.raw_min, kind.raw_max)


def _add(s: Scope) -> Expression:
    a, b = s.a, s.b.shifted(s.op.data)
    f = max(a.f, b.f)
    a, b = a.aligned(f), b.aligned(f)
    if s.op.code == _SUB:
        return Expression(f"({a.text} - {b.text})", f, a.lo - b.hi, a.hi - b.lo)
    return Expression(f"({a.text} + {b.text})", f, a.lo + b.lo, a.hi + b.hi)


def _sum(s: Scope) -> Expression:
    """Return the sum of all terms, in the units of the finest one; flooring single terms would lose carries."""
    terms = [_term(s, term) for term in s.op.terms]
    f = max(value.f for _, value in terms)
    (negative, first), *others = [(negative, value.aligned(f)) for negative, value in terms]
    if not negative and not others:
        return first
    text = f"-{first.text}" if negative else first.text
    lo, hi = (-first.hi, -first.lo) if negative else (first.lo, first.hi)
    for minus, value in others:
        text += f" {'-' if minus else '+'} {value.text}"
        lo, hi = (lo - value.hi, hi - value.lo) if minus else (lo + value.lo, hi + value.hi)
    return Expression(f"({text})", f, lo, hi)


def _term(s: Scope, term: Term) -> tuple[bool, Expression]:
    """Return whether a term is subtracted, and its expression."""
    if term.op >= 0:
        return term.negative, s.operand(term.op).shifted(term.shift)
    size = abs(s.op.data)
    return s.op.data < 0, Expression(literal(size), -term.shift, size, size)


def _relu(s: Scope) -> Expression:
    sign = f"{s.a.text}[{storage_bits(s.type_of(s.op.id0)) - 1}]"
    # Flooring preserves order and 0; before the comparison, it needs no helper signal.
    x = _at(s, s.signed_a, s.op.type.f)
    arms = f"{x.text} : 1'sb0" if s.op.spec.negate else f"1'sb0 : {x.text}"
    return Expression(f"({sign} ? {arms})", x.f, 0, max(x.hi, 0))


def _quant(s: Scope) -> Expression:
    return s.signed_a


def _shift(s: Scope) -> Expression:
    return s.a.shifted(s.op.data)


def _add_const(s: Scope) -> Expression:
    f = max(s.a.f, s.op.type.f)
    a, constant = s.a.aligned(f), s.op.data << (f - s.op.type.f)
    sign = "-" if constant < 0 else "+"
    return Expression(f"({a.text} {sign} {literal(abs(constant))})", f, a.lo + constant, a.hi + constant)


def _const(s: Scope) -> Expression:
    return Expression(literal(s.op.data), s.op.type.f, s.op.data, s.op.data)


def _mux(s: Scope) -> Expression:
    f, condition = s.op.type.f, s.type_of(s.op.condition)
    b = s.b.negated() if s.op.spec.negate else s.b
    other = _at(s, b.shifted(high_int32(s.op.data)), f)
    if condition.width == 0:  # a missing top bit reads as 0
        return other
    taken = _at(s, s.a, f)
    msb = f"{s.name_of(s.op.condition)}[{condition.width - 1}]"
    lo, hi = min(taken.lo, other.lo), max(taken.hi, other.hi)
    return Expression(f"({msb} ? {taken.text} : {other.text})", f, lo, hi)


def _mul(s: Scope) -> Expression:
    a, b = s.a, s.b
    products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return Expression(f"({a.text} * {b.text})", a.f + b.f, min(products), max(products))


def _lookup(s: Scope) -> Expression:
    number, f = low_int32(s.op.data), s.op.type.f
    size = len(s.program.tables[number])
    if size == 0:
        return Expression("1'sb0", f, 0, 0)
    kind = s.type_of(s.op.id0)
    offset = kind.raw_min + high_int32(s.op.data)
    sign = "+" if offset < 0 else "-"
    lo, hi = kind.raw_min - offset, kind.raw_max - offset
    index = s.helper("index", Expression(f"({s.a.text} {sign} {literal(abs(offset))})", 0, lo, hi))
    inside = []
    if lo < 0:
        inside.append(f"!{index.text}[{bits_for(lo, hi) - 1}]")
    if hi >= size:
        inside.append(f"{index.text} < {literal(size)}")
    entry = f"{table(number)}[{index.text}]"
    entries = s.program.tables[number]
    lo, hi = min(int(entries.min()), 0), max(int(entries.max()), 0)
    return Expression(f"({' && '.join(inside)} ? {entry} : 1'sb0)" if inside else entry, f, lo, hi)


def _bit_unary(s: Scope) -> Expression:
    kind, a = s.type_of(s.op.id0), s.a
    ones = (1 << kind.width) - 1
    if s.op.data == 0:
        # ~x is -x - 1, so ~(-x) is x - 1.
        text = f"({a.text} - 2'sd1)" if s.op.spec.negate else f"(~{a.text})"
        t = s.signed_a
        if s.op.type.k:
            return Expression(text, a.f, -t.hi - 1, -t.lo - 1)
        return Expression(f"({text} & {mask(kind.width)})", a.f, 0, ones)
    if s.op.data == 1:
        return Expression(f"(|{a.text})", 0, 0, 1)
    if kind.width == 0:
        return Expression(literal(1), 0, 1, 1)
    pattern = f"{a.text}[{kind.width - 1}:0]"
    # Modulo 2**w, all bits of -x are 1 exactly if x is 1.
    return Expression(f"({pattern} == {kind.width}'d1)" if s.op.spec.negate else f"(&{pattern})", 0, 0, 1)


def _bit_binary(s: Scope) -> Expression:
    fields = bitwise_fields(s.op.data)
    a = s.a.negated() if fields.negate_a else s.a
    b = (s.b.negated() if fields.negate_b else s.b).shifted(fields.shift)
    f = max(a.f, b.f)
    a, b = a.aligned(f), b.aligned(f)
    bits = max(bits_for(a.lo, a.hi), bits_for(b.lo, b.hi))
    lo = 0 if a.lo >= 0 and b.lo >= 0 else -(1 << (bits - 1))
    return Expression(f"({a.text} {'&|^'[fields.operation]} {b.text})", f, lo, (1 << (bits - 1)) - 1)


#: The exact result of every opcode, as an expression.
RULES: dict[int, Callable[[Scope], Expression]] = {
    Code.INPUT: _input,
    Code.ADD: _add,
    Code.SUB: _add,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _quant,
    Code.QUANT_NEG: _quant,
    Code.ADD_CONST: _add_const,
    Code.CONST: _const,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.LOOKUP: _lookup,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _sum,
    Code.SHIFT: _shift,
}
