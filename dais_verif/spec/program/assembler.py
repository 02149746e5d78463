"""Convert text to programs, the inverse of ``listing``. ``docs/programs.md`` has the grammar."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, NoReturn

from dais_verif.base.errors import ProgramError, TextFormError
from dais_verif.spec.program.alir_json import SPEC_VERSIONS as ALIR_VERSIONS
from dais_verif.spec.program.checks import BrokenRule
from dais_verif.spec.program.layouts import LAYOUTS, SPEC_VERSIONS
from dais_verif.spec.program.machine_begin import TAKE_MACHINES, begins_machine
from dais_verif.spec.program.model import Origin, Program
from dais_verif.spec.program.opcodes import BITWISE_NAMES, OPCODES, REDUCE_NAMES, Data, Term
from dais_verif.spec.program.types import FixedType

__all__ = [
    "Cursor",
    "Expressions",
    "INT32",
    "KEYWORDS",
    "LONGEST_NUMBER",
    "Labelled",
    "Place",
    "Row",
    "Scope",
    "Token",
    "assemble",
    "assemble_labelled",
    "decoded",
    "did_you_mean",
    "error_at",
    "quoted",
]


# The statements of the text form, and the program that they define.
#
# A text is read line by line, with one token of look-ahead. ``checks`` checks that the program is valid; its findings
# are reported with the line.


_LAYOUTS = (*LAYOUTS, "alir")
_ALIR = Origin("alir", spec_version=max(ALIR_VERSIONS))
_STATEMENTS = ("layout", "input", "table", "output")


def assemble(source: str | bytes, name: str = "text") -> Program:
    """Return the valid program that ``source`` (bytes: UTF-8) describes; its origin says the layout to write.

    Raises ``ProgramError`` with ``name``, line and column, both counted from 1.
    """
    data = source.encode("utf-8", "replace") if isinstance(source, str) else source
    if begins_machine(data):
        raise TextFormError(f"{name}: the text of a machine, where that of a program is expected; {TAKE_MACHINES}")
    text = source if isinstance(source, str) else decoded(source, name, "'dais-verif show' writes a binary as text")
    program = _Assembler(Cursor(text, name)).program()
    return replace(program, origin=replace(program.origin, file_sha256=hashlib.sha256(data).hexdigest()))


class Labelled(NamedTuple):
    """A program, and the numbers of its inputs and outputs, by their names in the text."""

    program: Program
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


def assemble_labelled(text: str, name: str, first: int = 1) -> Labelled:
    """Return the program in ``text`` with its names; ``first``: the number of the first line in errors."""
    assembler = _Assembler(Cursor(text, name, first=first))
    return Labelled(assembler.program(), assembler.inputs.index, assembler.outputs.index)


class _Assembler:
    """The part of a program that has been parsed so far."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.origin = Origin("v1")
        self.said: str | None = None
        self.started = False
        self.inputs, self.tables, self.values, self.outputs = map(Scope, ("input", "table", "value", "output"))
        self.expressions = Expressions(cursor, self.inputs, self.tables, self.values)
        self.inp_shift: list[int] = []
        self.entries: list[list[int]] = []
        self.rows: list[tuple[int, int, int, int, FixedType]] = []
        self.terms: list[Term] = []
        self.out_rows: list[tuple[int, int, int]] = []
        self.places: dict[str, list[Place]] = {
            "op": [],
            "type": [],
            "input": self.inputs.places,
            "output": self.outputs.places,
        }

    def program(self) -> Program:
        """Parse the whole text, and return the program."""
        cursor = self.cursor
        statements = {"layout": self.layout, "input": self.input, "table": self.table, "output": self.output}
        while cursor.next_line():
            # A keyword before '=' is intended as a name, and refused as such.
            statement = self.op if cursor.following.text == "=" else statements.get(cursor.token.text, self.op)
            statement()
            if cursor.token.kind != "end":
                cursor.unexpected("the end of the line")
            self.started = True
        try:
            program = Program.build(
                self.rows, self.out_rows, inp_shift=self.inp_shift, tables=self.entries, terms=self.terms
            )
        except BrokenRule as error:
            raise error_at(cursor.name, self.places[error.part][error.index], error.finding) from None
        return replace(program, origin=self.origin)

    def layout(self) -> None:
        """Parse ``layout v1 spec 1 firmware 0``."""
        cursor = self.cursor
        if self.started:
            cursor.refuse("layout must be the first statement")
        cursor.take()
        layout = cursor.token.text
        if layout not in _LAYOUTS:
            cursor.unexpected(f"a layout ({', '.join(_LAYOUTS)})", did_you_mean(layout, _LAYOUTS))
        cursor.take()
        self.said = layout
        versions = {"spec": Origin.spec_version, "firmware": Origin.firmware_version}
        for word, (low, high) in (("spec", (0, max(SPEC_VERSIONS))), ("firmware", INT32)):
            if cursor.token.text == word:
                if layout != "v1":
                    cursor.refuse(f"the {layout} layout has no {word} version; only v1 has")
                cursor.take()
                versions[word] = cursor.integer(f"{word} version", low, high)
        self.origin = Origin(layout, spec_version=versions["spec"], firmware_version=versions["firmware"])
        if layout == "alir":
            self.origin = _ALIR

    def input(self) -> None:
        """Parse ``input x<<2, y``."""
        self.cursor.take()
        while True:
            self.label(self.inputs)
            self.inp_shift.append(self.expressions.shift())
            if not self.cursor.accept(","):
                return

    def table(self) -> None:
        """Parse ``table t = [1, -2, 3]``, whose entries may stand on several lines."""
        cursor = self.cursor
        if self.origin.layout not in ("v1", "alir"):
            cursor.refuse(f"the {self.origin.layout} layout carries no tables; write 'layout v1'")
        cursor.take()
        self.label(self.tables)
        cursor.expect("=")
        opening = cursor.expect("[")
        entries: list[int] = []
        self.skip_lines(opening)
        while not cursor.accept("]"):
            entries.append(cursor.integer("table entry", *INT32))
            self.skip_lines(opening)
            if not cursor.accept(",") and cursor.token.text != "]":
                cursor.unexpected("',' or ']'")
            self.skip_lines(opening)
        self.entries.append(entries)

    def skip_lines(self, opening: Token) -> None:
        """Go to the next token, which may stand on a later line."""
        while self.cursor.token.kind == "end":
            if not self.cursor.next_line():
                self.cursor.refuse("this '[' is never closed; expected ']'", opening)

    def output(self) -> None:
        """Parse ``output y = -v>>1``; instead of a value, 0 stands for a constant 0."""
        cursor = self.cursor
        cursor.take()
        self.label(self.outputs)
        cursor.expect("=")
        negated = cursor.accept("-")
        if cursor.token.kind != "number":
            index = self.expressions.value()
        elif cursor.accept("0"):
            index = -1
        else:
            cursor.refuse(f"an output is a value or 0, not {cursor.token}; make the constant a value first")
        self.out_rows.append((index, self.expressions.shift(), int(negated)))

    def label(self, scope: Scope) -> None:
        """Parse the name or the number of a new member of ``scope``; a number is only checked."""
        cursor, token, number = self.cursor, self.cursor.token, len(scope.places)
        if token.kind == "number":
            if cursor.unsigned("number", 1 << 63) != number:
                cursor.refuse(f"this is {scope.what} {number}, not {token.text}; numbers count from 0 in order", token)
            scope.declare(None, token.place)
        elif token.kind == "name":
            scope.declare(scope.new_name(cursor), token.place)
        else:
            cursor.unexpected(f"a name or the number {number}")

    def op(self) -> None:
        """Parse an op, such as ``a = s8.3 b + c<<1``."""
        cursor, token, name = self.cursor, self.cursor.token, None
        if token.kind == "value":
            index = len(self.values.places)
            if token.text != f"%{index}":
                cursor.refuse(f"this is %{index}, not {token}; values count from 0 in order, or have names")
            cursor.take()
        elif token.kind == "name" and cursor.following.text == "=":
            name = self.values.new_name(cursor)
        else:
            hint = did_you_mean(token.text, _STATEMENTS)
            cursor.unexpected(f"'NAME = ...', {', '.join(map(repr, _STATEMENTS))}", hint)
        cursor.expect("=")
        self.places["type"].append(cursor.token.place)
        kind = self.expressions.type()
        self.places["op"].append(cursor.token.place)
        row = self.expressions.expression(kind)
        if OPCODES[row.code].alir:
            self.require_alir(row)
        if row.terms:
            row = row._replace(id0=len(self.terms))
            self.terms += row.terms
        self.rows.append((*row[:4], kind))
        self.values.declare(name, token.place)

    def require_alir(self, row: Row) -> None:
        """Treat the text as ALIR from here on, unless it states another layout."""
        if self.said is not None and self.said != "alir":
            _, column = self.places["op"][-1]
            name = OPCODES[row.code].words
            message = f"{name} is an ALIR op, which the {self.said} layout cannot hold; write 'layout alir'"
            raise error_at(self.cursor.name, Place(self.cursor.token.line, column), message)
        self.origin = _ALIR


# Right-hand sides of the text form: types, values, constants, and one rule for every kind of op.


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


# Names of the text form: declarations and references.


#: Reserved words.
KEYWORDS = frozenset(
    {"layout", "spec", "firmware", "input", "table", "output"}
    | {"relu", "quant", "msb", "raw", "data", *REDUCE_NAMES, *BITWISE_NAMES}
)
#: The number of names, the latest ones, with which an unknown name is compared; the limit keeps hints fast.
_MOST_NAMES = 2000


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` if a word of ``known`` is close to ``word``, else an empty string."""
    close = difflib.get_close_matches(word[:40], deque(known, _MOST_NAMES), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class Scope:
    """The inputs, tables, values or outputs declared so far, each with its place and possibly a name."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.places: list[Place] = []
        self.index: dict[str, int] = {}

    def declare(self, name: str | None, place: Place) -> None:
        """Add a member; its number is the number of earlier members."""
        if name is not None:
            self.index[name] = len(self.places)
        self.places.append(place)

    def new_name(self, cursor: Cursor) -> str:
        """Return the name at the cursor, which must not be declared yet."""
        name = cursor.token.text
        if name in KEYWORDS:
            cursor.refuse(f"{name!r} is a keyword; choose another name for the {self.what}")
        if name in self.index:
            line = self.places[self.index[name]].line
            cursor.refuse(f"{self.what} {quoted(name)} is already defined on line {line}; choose another name")
        cursor.take()
        return name

    def number(self, cursor: Cursor) -> int:
        """Return the number of the member with the name or number at the cursor."""
        token = cursor.token
        if token.kind == "number":
            number = cursor.unsigned(f"number of the {self.what}", 1 << 63)
            if number >= len(self.places):
                declared = f"{len(self.places)} declared above, counted from 0"
                cursor.refuse(f"unknown {self.what} {token.text}; {declared}", token)
            return number
        if token.kind != "name" or token.text in KEYWORDS:
            cursor.unexpected(f"the name or number of {'an' if self.what[0] in 'aeiou' else 'a'} {self.what}")
        return self.named(cursor)

    def named(self, cursor: Cursor) -> int:
        """Return the number of the member with the name at the cursor."""
        name = cursor.token.text
        if name not in self.index:
            cursor.refuse(f"unknown {self.what} {quoted(name)}; {self._elsewhere(cursor, name)}")
        cursor.take()
        return self.index[name]

    def _elsewhere(self, cursor: Cursor, name: str) -> str:
        start = rf"\s*{name}\s*=" if self.what == "value" else rf"\s*{self.what}\s+{name}\b"
        line = cursor.line_that_begins(start)
        if line == cursor.token.line:
            return f"it is what this line defines, and a {self.what} must be defined before it is used"
        if line is not None:
            return f"it is defined on line {line}, and must be defined before it is used"
        return f"{self.what}s are defined before they are used{did_you_mean(name, self.index)}"


# The text form as tokens, one line at a time, and errors with file, line and column.


#: The largest number of characters of a number in a program; the limit keeps arithmetic fast.
LONGEST_NUMBER = 64

#: In ASCII mode, only ASCII characters count as white space or digits; all others are tokens of kind ``bad``.
_TOKEN = re.compile(
    r"""
    (?P<type>[su]\d+\.-?\d+(?![\w.]))
    |(?P<name>[A-Za-z_]\w*)
    |(?P<value>%\d+)
    |(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)
    |(?P<mark><<|>>|[-+*?:=,()\[\]])
    |(?P<bad>\S)
    """,
    re.VERBOSE | re.ASCII,
)


def quoted(text: str) -> str:
    """Return ``text`` for messages: in quotes, cut if it is long."""
    return repr(text if len(text) <= 40 else f"{text[:30]}...")


class Place(NamedTuple):
    """A position in a text; line and column count from 1, columns in characters."""

    line: int
    column: int


class Token(NamedTuple):
    """``kind``: ``type``, ``name``, ``value``, ``number``, ``mark``, ``bad`` or ``end`` (of a line)."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def place(self) -> Place:
        """The position of the token's first character."""
        return Place(self.line, self.column)

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the line"
        return quoted(self.text)


def error_at(name: str, place: Place, message: str) -> ProgramError:
    """Return the error, on one line, for a mistake at ``place`` of the text ``name``."""
    return TextFormError(f"{name}:{place.line}:{place.column}: {message}")


def decoded(data: bytes, name: str, remedy: str) -> str:
    """Decode UTF-8 ``data``. Raises ``ProgramError`` at the first invalid byte; ``remedy``: how to correct it."""
    at = data.find(b"\0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start if at < 0 else min(at, error.start)
    if at < 0:
        return text
    before = data[:at].rpartition(b"\n")[2].decode("utf-8", "replace")
    place = Place(data[:at].count(b"\n") + 1, len(before) + 1)
    raise error_at(name, place, f"byte 0x{data[at]:02x} is not UTF-8 text; {remedy}")


class Cursor:
    """The next token to read. Lines without a token are skipped.

    ``first``: the number of the first line, if the text is a part of another text. ``tokens``: the pattern of tokens,
    if the text is in another language. ``longest``: the largest number of characters of a number.
    """

    def __init__(
        self,
        text: str,
        name: str,
        *,
        first: int = 1,
        tokens: re.Pattern[str] = _TOKEN,
        longest: int = LONGEST_NUMBER,
    ) -> None:
        self.name = name
        self._first, self._pattern, self._longest = first, tokens, longest
        self._lines = text.split("\n")
        self._line = 0
        self._tokens: list[Token] = []
        self._at = 0
        self.token = Token("end", "", 1, 1)

    def next_line(self) -> bool:
        """Go to the first token of the next line; False at the end of the text."""
        while self._line < len(self._lines):
            code = self._lines[self._line].partition(";")[0].rstrip()
            self._line += 1
            if not code:
                continue
            line = self._line + self._first - 1
            self._tokens = [
                Token(match.lastgroup or "", match.group(), line, match.start() + 1)
                for match in self._pattern.finditer(code)
            ]
            self._tokens.append(Token("end", "", line, len(code) + 1))
            self._at = 0
            self.token = self._tokens[0]
            if self.token.kind != "end":
                return True
        return False

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def line_that_begins(self, pattern: str) -> int | None:
        """Return the number of the first line, from the current one on, that begins with a match of ``pattern``."""
        lines = enumerate(self._lines[self._line - 1 :], self._line + self._first - 1)
        return next((number for number, line in lines if re.match(pattern, line, re.ASCII)), None)

    def lines_before(self, closing: str) -> tuple[str, int] | None:
        """Return the lines after the token's line, up to a line ``closing``, and the number of the first of them.

        The token is then ``closing``. Returns None if there is no such line.
        """
        first = self._line
        for at in range(first, len(self._lines)):
            if self._lines[at].partition(";")[0].strip() == closing:
                self._line = at
                self.next_line()
                return "\n".join(self._lines[first:at]), first + self._first
        return None

    def take(self) -> Token:
        """Return the token, and advance the cursor."""
        token = self.token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        self.token = self._tokens[self._at]
        return token

    def accept(self, text: str) -> bool:
        """Return True if the token is ``text``, a mark or a keyword; if so, advance the cursor."""
        if self.token.text != text:
            return False
        self.take()
        return True

    def expect(self, text: str) -> Token:
        """Return the token, which must be ``text``, and advance the cursor."""
        if self.token.text != text:
            self.unexpected(repr(text))
        return self.take()

    def number(self, what: str) -> int | Fraction:
        """Return the number at the cursor, which has no sign, and advance it. ``what``: the name in messages."""
        text = self.token.text
        if self.token.kind != "number":
            self.unexpected(f"a number ({what})")
        if len(text) > self._longest:
            self.refuse(f"a number of {len(text)} characters, must have at most {self._longest}")
        self.take()
        return Fraction(text) if "." in text else int(text, 16 if text[:2] in ("0x", "0X") else 10)

    def integer(self, what: str, low: int, high: int) -> int:
        """Return an integer in ``low..high``, possibly negative. ``what``: the name of the integer in messages."""
        start, minus = self.token, self.accept("-")
        text, value = self.token.text, self.number(what)
        shown = f"{what} is {'-' if minus else ''}{text}"
        if "." in text:
            self.refuse(f"{shown}, must be an integer", start)
        value = -int(value) if minus else int(value)
        if not low <= value <= high:
            self.refuse(f"{shown}, must be within {low}..{high}", start)
        return value

    def unsigned(self, what: str, high: int) -> int:
        """Return an integer in ``0..high`` without a sign."""
        if self.token.text == "-":
            self.unexpected(f"a number ({what})")
        return self.integer(what, 0, high)

    def unexpected(self, wanted: str, hint: str = "") -> NoReturn:
        """Refuse the token. ``wanted``: what the grammar allows in its place."""
        if self.token.kind == "bad":
            self.refuse(f"unexpected character {self.token}; expected {wanted}{hint}")
        self.refuse(f"expected {wanted}, found {self.token}{hint}")

    def refuse(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise ``ProgramError`` at ``token``, by default at the next token."""
        raise error_at(self.name, (token or self.token).place, message)
