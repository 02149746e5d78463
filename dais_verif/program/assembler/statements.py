"""The statements of the text form, and the program that they define.

A text is read line by line, with one token of look-ahead. ``checks`` checks that the program is valid; its findings are
reported with the line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from dais_verif.errors import TextFormError
from dais_verif.program.alir_codes import SPEC_VERSIONS as ALIR_VERSIONS
from dais_verif.program.assembler.expressions import INT32, Expressions, Row
from dais_verif.program.assembler.names import Scope, did_you_mean
from dais_verif.program.assembler.tokens import Cursor, Place, Token, decoded, error_at
from dais_verif.program.checks import BrokenRule
from dais_verif.program.layouts import LAYOUTS, SPEC_VERSIONS
from dais_verif.program.machine_begin import TAKE_MACHINES, begins_machine
from dais_verif.program.model import Origin, Program
from dais_verif.program.opcodes import OPCODES, Term
from dais_verif.program.types import FixedType

__all__ = ["Labelled", "assemble", "assemble_labelled"]

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
