"""Right-hand sides of the text form: types, values, constants, and one rule for every kind of op."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dais_verif.program.assembler.names import KEYWORDS, Scope, did_you_mean
from dais_verif.program.assembler.tokens import Cursor, Token
from dais_verif.program.opcodes import BITWISE_NAMES, OPCODES, REDUCE_NAMES, Data, Term
from dais_verif.program.types import FixedType

__all__ = ["INT32", "Expressions", "Row"]

#: The ranges of a word and of a pair of words in a binary.
INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)
#: Largest exponent, positive or negative, of a power of two by which a literal is multiplied.
_FARTHEST_POINT = 1000

_FUNCTIONS = ("relu", "quant", "msb", "sum", *REDUCE_NAMES)
_SPECS = {spec.mnemonic: spec for spec in OPCODES.values()}


class Row(NamedTuple):
    """An op without its type."""

    code: int
    id0: int
    id1: int
    data: int
    terms: tuple[Term, ...] = ()


def _row(mnemonic: str, id0: int, id1: int = -1, data: int = 0) -> Row:
    return Row(_SPECS[mnemonic].code, id0, id1, data)


def _pair(low: int, high: int) -> int:
    """Return the data word that consists of two int32."""
    return high << 32 | low & 0xFFFF_FFFF


class Expressions:
    """Reads expressions at the cursor, with names from the scopes."""

    def __init__(self, cursor: Cursor, inputs: Scope, tables: Scope, values: Scope) -> None:
        self.cursor, self.inputs, self.tables, self.values = cursor, inputs, tables, values

    def type(self) -> FixedType:
        """Parse a type such as ``s8.3``."""
        token = self.cursor.token
        if token.kind != "type":
            self.cursor.unexpected("a type such as s8.3 or u4.0")
        width, f = token.text[1:].split(".")
        if max(len(width), len(f)) > 9:
            self.cursor.refuse(f"the numbers of type {token} must have at most 9 characters")
        self.cursor.take()
        k = int(token.text[0] == "s")
        return FixedType(k, int(width) - k - int(f), int(f))

    def value(self) -> int:
        """Parse ``name`` or ``%N``, and return the index of the op."""
        cursor, token = self.cursor, self.cursor.token
        if token.kind == "value":
            if len(token.text) > 19 or int(token.text[1:]) >= len(self.values.places):
                above = f"%0 to %{len(self.values.places) - 1}" if self.values.places else "nothing"
                cursor.refuse(f"unknown value {token}; only values defined above can be read, here {above}")
            return int(cursor.take().text[1:])
        if token.kind != "name" or token.text in KEYWORDS:
            cursor.unexpected("a value")
        if token.text in self.inputs.index and token.text not in self.values.index:
            cursor.refuse(f"{token} is an input; an op reads it first: NAME = TYPE input {token.text}")
        return self.values.named(cursor)

    def shift(self) -> int:
        """Parse ``<<1``, ``>>1`` or nothing, and return the number of bits of a shift to the left."""
        cursor = self.cursor
        if cursor.accept("<<"):
            return cursor.unsigned("shift", INT32[1])
        if cursor.accept(">>"):
            return -cursor.unsigned("shift", INT32[1])
        return 0

    def expression(self, kind: FixedType) -> Row:
        """Parse the expression of an op of type ``kind``."""
        row = self._expression(kind)
        if self.cursor.token.text != "data":
            return row
        spec = OPCODES[row.code]
        if spec.data is not Data.NONE:
            self.cursor.refuse(f"{spec.mnemonic} takes no explicit data; its data word is made from the expression")
        self.cursor.take()
        data = self.cursor.integer("data", INT64[0], (1 << 64) - 1)
        return row._replace(data=data - (1 << 64) if data > INT64[1] else data)

    def _expression(self, kind: FixedType) -> Row:
        cursor = self.cursor
        text = cursor.token.text
        if text in ("relu", "quant"):
            negated, a, shift = self._argument(shifted=text == "quant")
            if shift is not None:
                return _row("quant_shift", a, data=shift)
            return _row(f"{text}_neg" if negated else text, a)
        if text == "sum" and cursor.following.text == "(":  # else a value with this name
            return self._sum()
        if text in REDUCE_NAMES:
            negated, a, _ = self._argument()
            return _row("bit_unary_neg" if negated else "bit_unary", a, data=REDUCE_NAMES.index(text))
        if text == "msb":
            return self._mux()
        if text == "input":
            cursor.take()
            return _row("input", self.inputs.number(cursor))
        if text == "table" or (cursor.token.kind == "name" and cursor.following.text == "["):
            return self._lookup()
        minus = cursor.token
        negated = cursor.accept("-")
        if self._at_constant():
            return _row("const", -1, data=self._constant(kind, -1 if negated else 1))
        if cursor.token.kind == "name" and cursor.following.text == "(":
            hint = did_you_mean(cursor.token.text, _FUNCTIONS)
            cursor.refuse(f"unknown function {cursor.token}; must be one of {', '.join(_FUNCTIONS)}{hint}")
        return self._two_operands(kind, minus if negated else None)

    def _argument(self, shifted: bool = False) -> tuple[bool, int, int | None]:
        """Parse an argument such as ``(-a)``; return whether it is negated, its value, and its shift if ``shifted``."""
        cursor = self.cursor
        cursor.take()
        cursor.expect("(")
        negated = cursor.accept("-")
        a, shift = self.value(), None
        if shifted and not negated and cursor.token.text in ("<<", ">>"):
            shift = self.shift()
        cursor.expect(")")
        return negated, a, shift

    def _sum(self) -> Row:
        """Parse ``sum(a<<2, -b, 5>>3)``: values, and at most one integer."""
        cursor, data = self.cursor, 0
        terms: list[Term] = []
        cursor.take()
        cursor.expect("(")
        while True:
            negative = cursor.accept("-")
            if cursor.token.kind == "number":
                if any(term.op < 0 for term in terms):
                    cursor.refuse("a sum has at most one constant; add them up")
                data = cursor.integer("constant", 0, -INT64[0] if negative else INT64[1])
                data, negative = -data if negative else data, False
                terms.append(Term(-1, self.shift(), False))
            else:
                terms.append(Term(self.value(), self.shift(), negative))
            if not cursor.accept(","):
                break
        cursor.expect(")")
        return Row(_SPECS["sum"].code, -1, len(terms), data, tuple(terms))

    def _mux(self) -> Row:
        """Parse ``msb(c) ? a : -b<<s``."""
        cursor = self.cursor
        cursor.take()
        cursor.expect("(")
        condition = self.value()
        cursor.expect(")")
        cursor.expect("?")
        a = self.value()
        cursor.expect(":")
        mnemonic = "mux_neg" if cursor.accept("-") else "mux"
        return _row(mnemonic, a, self.value(), _pair(condition, self.shift()))

    def _lookup(self) -> Row:
        """Parse ``t[a - offset]`` or ``table 0[a - offset]``."""
        cursor = self.cursor
        table = self.tables.number(cursor) if cursor.accept("table") else self.tables.named(cursor)
        cursor.expect("[")
        a, offset = self.value(), 0
        if cursor.accept("-"):
            offset = cursor.unsigned("offset", INT32[1])
        elif cursor.accept("+"):
            offset = -cursor.unsigned("offset", -INT32[0])
        cursor.expect("]")
        return _row("lookup", a, data=_pair(table, offset))

    def _two_operands(self, kind: FixedType, minus: Token | None) -> Row:
        """Parse an operation that begins with a value, possibly negated."""
        cursor = self.cursor
        name, a = cursor.token.text[:40], self.value()
        operator = cursor.token.text
        if operator in BITWISE_NAMES:
            return self._bitwise(a, minus is not None)
        if minus is not None:
            cursor.refuse(
                "only 'and', 'or' and 'xor' can negate their first operand; to negate it in an op of its own, "
                f"write quant(-{name})",
                minus,
            )
        if operator in ("<<", ">>"):
            cursor.refuse(f"{operator!r} must follow the second operand of an op; no other operand can be shifted")
        if operator not in ("+", "-", "*"):
            cursor.unexpected("an operator (+, -, *, and, or, xor)", f"; for {name} alone write quant({name})")
        cursor.take()
        if operator == "*":
            return _row("mul", a, self.value())
        if cursor.token.text == "-":
            cursor.refuse(
                f"the second operand of {operator!r} cannot have a sign of its own; use the other operator instead"
            )
        if self._at_constant():
            return _row("add_const", a, data=self._constant(kind, -1 if operator == "-" else 1))
        return _row("add" if operator == "+" else "sub", a, self.value(), self.shift())

    def _bitwise(self, a: int, negate_a: bool) -> Row:
        """Parse ``and -b<<s`` after the first operand."""
        operation = BITWISE_NAMES.index(self.cursor.take().text)
        negate_b = self.cursor.accept("-")
        b = self.value()
        return _row("bit_binary", a, b, _pair(self.shift(), operation << 24 | negate_b << 1 | negate_a))

    def _at_constant(self) -> bool:
        return self.cursor.token.kind == "number" or self.cursor.token.text == "raw"

    def _constant(self, kind: FixedType, sign: int) -> int:
        """Parse ``1.25`` or ``raw(10)``, and return it times ``sign``, in units of the type's ``2**-f``."""
        cursor, start = self.cursor, self.cursor.token
        if cursor.accept("raw"):
            cursor.expect("(")
            data = sign * cursor.integer("raw constant", -INT64[1] - 1, -INT64[0])
            cursor.expect(")")
        else:
            # The binary point is clamped so that an extreme type is cheap; results do not change.
            f = max(-_FARTHEST_POINT, min(kind.f, _FARTHEST_POINT))
            exact = sign * cursor.number("a constant") * Fraction(2) ** f
            if exact.denominator != 1:
                cursor.refuse(
                    f"{start.text} is not a multiple of 2^{-kind.f}, the step of {kind}; round it, or give steps: "
                    f"raw(N)",
                    start,
                )
            data = int(exact)
        if not INT64[0] <= data <= INT64[1]:
            cursor.refuse(f"the constant is beyond 64 bits in steps of 2^{-kind.f}, those of {kind}", start)
        return data
