"""Parse the statements of a machine's text, with their positions. ``resolution`` resolves names later."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NamedTuple, NoReturn

from dais_verif.base.errors import InputError, ProgramError
from dais_verif.base.text import counted
from dais_verif.spec.machine.checks import input_types, output_types, validate
from dais_verif.spec.machine.model import (
    LONGEST_NAME,
    Block,
    Connection,
    Index,
    Machine,
    Role,
    Schedule,
    Signal,
    View,
    is_name,
    is_schedule,
)
from dais_verif.spec.machine.text import INPUTS, KEYWORDS, OUTPUTS
from dais_verif.spec.program import Origin, Program
from dais_verif.spec.program.assembler import (
    Cursor,
    Labelled,
    Place,
    Token,
    assemble_labelled,
    decoded,
    did_you_mean,
    error_at,
)
from dais_verif.spec.program.types import LIMIT, FixedType

__all__ = [
    "BlockText",
    "ConnectionText",
    "Declaration",
    "ReadBlock",
    "Statements",
    "ViewText",
    "parse_text",
    "read_statements",
]


_TOKEN = re.compile(
    r"""
    (?P<type>[su]\d+\.-?\d+(?![\w.]))
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)
    |(?P<mark><-|[-+*:=,.(){}\[\]])
    |(?P<bad>\S)
    """,
    re.VERBOSE | re.ASCII,
)
#: The most characters that a value of the widest type may need.
_LONGEST_NUMBER = 1400
#: The limit of elements in all signals together: a short line must not cost gigabytes.
_MOST_ELEMENTS = 1 << 20
_INT32 = (1 << 31) - 1
_ROLES = {"input": Role.INPUT, "output": Role.OUTPUT, "wire": Role.INTERNAL, "register": Role.INTERNAL}
_STATEMENTS = ("machine", *_ROLES, "block")


@dataclass(frozen=True)
class ViewText:
    """A view of a signal, or, with ``port``, of a wire of a block: ``in``, ``out`` or a name in the block's text.

    If ``stop`` is None, the view has all elements.
    """

    token: Token
    name: str
    port: str | None
    start: int
    stop: int | None
    stride: int
    index: ViewText | None


@dataclass(frozen=True)
class Declaration:
    """The declaration of a signal."""

    token: Token
    name: str
    role: Role
    register: bool
    types: tuple[FixedType, ...]
    initial: tuple[Fraction, ...] | None
    reset: ViewText | None
    schedule: Schedule | None
    attributes: str | None


class BlockText(NamedTuple):
    """A block: the text of its program, whose first line has the number ``first`` in messages, or a file name."""

    token: Token
    name: str
    text: str
    first: int
    file: Token | None


class ConnectionText(NamedTuple):
    """A connection: ``target <- source when enable else alternative``."""

    token: Token
    target: ViewText
    source: ViewText
    enable: ViewText | None
    alternative: ViewText | None


@dataclass
class Statements:
    """All statements of a text."""

    name: str
    signals: dict[str, Declaration] = field(default_factory=dict)
    blocks: dict[str, BlockText] = field(default_factory=dict)
    connections: list[ConnectionText] = field(default_factory=list)


def read_statements(text: str, name: str) -> Statements:
    """Read all statements. Raises ``ProgramError`` with ``name``, line and column for the first invalid one."""
    return _Reader(Cursor(text, name, tokens=_TOKEN, longest=_LONGEST_NUMBER)).statements()


class _Reader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.found = Statements(cursor.name)
        self.elements = 0

    def statements(self) -> Statements:
        cursor = self.cursor
        if not cursor.next_line() or not cursor.accept("machine"):
            cursor.unexpected("'machine', the first statement of a machine's text")
        self.end()
        while cursor.next_line():
            word = cursor.token.text
            if word in _ROLES:
                self.declaration()
            elif word == "block":
                self.block()
            else:
                self.connection()
            self.end()
        return self.found

    def end(self) -> None:
        if self.cursor.token.kind != "end":
            self.cursor.unexpected("the end of the line")

    def declaration(self) -> None:
        """Parse a declaration, such as ``output register y, z: u4.0[2] = [1, 2] reset rst valid 1 period 8``."""
        cursor = self.cursor
        word = cursor.take().text
        register = word == "register" or (word == "output" and cursor.accept("register"))
        names = [self.new_signal()]
        while cursor.accept(","):
            names.append(self.new_signal({name for _, name in names}))
        cursor.expect(":")
        types = self.types(len(names))
        initial = reset = schedule = attributes = None
        if register:
            initial = self.values(types) if cursor.accept("=") else None
            reset = self.view() if cursor.accept("reset") else None
            if reset is not None and initial is None:
                initial = tuple(Fraction(0) for _ in types)
        elif cursor.token.text in ("=", "reset"):
            cursor.refuse(
                f"only a register has a value and a reset, and {names[0][1]!r} is not a register: write 'register'"
            )
        if cursor.accept("valid"):
            schedule = self.schedule()
        if cursor.accept("attributes"):
            attributes = self.string("attributes in quotes")
        for token, name in names:
            self.found.signals[name] = Declaration(
                token, name, _ROLES[word], register, types, initial, reset, schedule, attributes
            )

    def new_signal(self, beside: Set[str] = frozenset()) -> tuple[Token, str]:
        """Read the name of a new signal; refuse a name that is in use or in ``beside``."""
        cursor, token = self.cursor, self.cursor.token
        name = self.name("the name of a signal")
        known = self.found.signals.get(name)
        if known is not None or name in beside:
            line = token.line if known is None else known.token.line
            cursor.refuse(f"signal {name!r} is already declared on line {line}; choose another name", token)
        return token, name

    def types(self, times: int) -> tuple[FixedType, ...]:
        """Parse ``u4.0, s6.2[16]``: the types of all elements, for ``times`` signals."""
        cursor = self.cursor
        found: list[FixedType] = []
        while True:
            token = cursor.token
            kind, count = self.type(), 1
            if cursor.accept("["):
                count = cursor.unsigned("number of elements", _INT32)
                cursor.expect("]")
            self.elements += count * times
            if self.elements > _MOST_ELEMENTS:
                cursor.refuse(f"more than {_MOST_ELEMENTS} elements in all signals together", token)
            found += [kind] * count
            if not cursor.accept(","):
                return tuple(found)

    def type(self) -> FixedType:
        cursor, token = self.cursor, self.cursor.token
        if token.kind != "type":
            cursor.unexpected("a type such as s8.3 or u4.0")
        width, f = token.text[1:].split(".")
        kind = FixedType(0, 0, 0)
        if max(len(width), len(f)) <= 9:
            k = int(token.text[0] == "s")
            kind = FixedType(k, int(width) - k - int(f), int(f))
        if max(len(width), len(f)) > 9 or max(abs(kind.i), abs(kind.f), kind.width) > LIMIT:
            cursor.refuse(f"type {token}: its width, integer and fractional bits must be at most {LIMIT}")
        cursor.take()
        return kind

    def values(self, types: tuple[FixedType, ...]) -> tuple[Fraction, ...]:
        """Parse ``3``, for all elements, or ``[1, -2.5, raw(7)]``, one per element, which may span lines."""
        cursor, start = self.cursor, self.cursor.token
        if not cursor.accept("["):
            if len(set(types)) < 2:
                return (self.value(types[0]),) * len(types) if types else (self.value(None),) * 0
            cursor.refuse("elements of different types need one value each: [1, 2, ...]")
        found: list[Fraction] = []
        self.skip_lines(start)
        while not cursor.accept("]"):
            if len(found) == len(types):
                cursor.refuse(f"more values than the {counted(len(types), 'element')}")
            found.append(self.value(types[len(found)]))
            self.skip_lines(start)
            if not cursor.accept(",") and cursor.token.text != "]":
                cursor.unexpected("',' or ']'")
            self.skip_lines(start)
        if len(found) != len(types):
            cursor.refuse(f"{counted(len(found), 'value')}, must be {len(types)}, one per element", start)
        return tuple(found)

    def skip_lines(self, opening: Token) -> None:
        while self.cursor.token.kind == "end":
            if not self.cursor.next_line():
                self.cursor.refuse("this '[' is never closed; expected ']'", opening)

    def value(self, kind: FixedType | None) -> Fraction:
        """Parse ``-1.25`` or ``raw(-5)``, a value of ``kind``."""
        cursor, start = self.cursor, self.cursor.token
        kind = kind or FixedType(0, 0, 0)
        limit = 1 << LIMIT
        if cursor.accept("raw"):
            cursor.expect("(")
            raw = Fraction(cursor.integer("raw value", -limit, limit))
            cursor.expect(")")
        else:
            minus = cursor.accept("-")
            raw = Fraction(cursor.number("a value")) * (-1 if minus else 1) * Fraction(2) ** kind.f
        if raw.denominator != 1 or not kind.raw_min <= raw <= kind.raw_max:
            cursor.refuse(f"this is not a value of type {kind}: round it, or declare another type", start)
        return raw * Fraction(2) ** -kind.f

    def schedule(self) -> Schedule:
        """Parse ``0, 3 period 8`` after ``valid``."""
        cursor, start = self.cursor, self.cursor.token
        times: list[int] = []
        while cursor.token.text != "period":
            times.append(cursor.integer("cycle", -_INT32, _INT32))
            if not cursor.accept(","):
                break
        cursor.expect("period")
        period = cursor.unsigned("period", _INT32)
        schedule = Schedule(tuple(times), period)
        if not is_schedule(schedule):
            cursor.refuse("the cycles must rise and lie within one period", start)
        return schedule

    def block(self) -> None:
        """Parse a block: ``block NAME {``, a program and ``}``; or ``block NAME = "file"``."""
        cursor = self.cursor
        cursor.take()
        token, name = cursor.token, self.name("the name of a block")
        if name in self.found.blocks:
            line = self.found.blocks[name].token.line
            cursor.refuse(f"block {name!r} is already defined on line {line}; choose another name", token)
        text, first, file = "", 0, None
        if cursor.accept("="):
            file = cursor.token
            self.string("the name of a file in quotes")
        else:
            opening = cursor.token
            if not cursor.accept("{"):
                cursor.unexpected("'{' and a program, or '=' and a file")
            self.end()
            lines = cursor.lines_before("}")
            if lines is None:
                cursor.refuse("this '{' is never closed: a line with '}' alone must follow the program", opening)
            text, first = lines
            cursor.expect("}")
        self.found.blocks[name] = BlockText(token, name, text, first, file)

    def connection(self) -> None:
        """Read a connection, such as ``acc <- mac.sum when en else bias``."""
        cursor, token = self.cursor, self.cursor.token
        if token.kind == "name" and cursor.following.kind in ("name", "string"):
            words = ", ".join(map(repr, _STATEMENTS[1:]))
            cursor.unexpected(f"{words}, or 'TARGET <- SOURCE'", did_you_mean(token.text, _STATEMENTS))
        target = self.view()
        cursor.expect("<-")
        source = self.view()
        enable = self.view() if cursor.accept("when") else None
        alternative = self.view() if cursor.accept("else") else None
        self.found.connections.append(ConnectionText(token, target, source, enable, alternative))

    def view(self, depth: int = 0) -> ViewText:
        """Parse a view: ``x``, ``x[3]``, ``x[2:5]``, ``mem[i]``, ``mem[0:4 + 4*i]``, ``mac.in[0]`` or ``mac.sum``."""
        cursor, token = self.cursor, self.cursor.token
        name = self.name("a signal, or a block and its port")
        port = self.name(f"{INPUTS!r}, {OUTPUTS!r} or a name that the block's text has") if cursor.accept(".") else None
        start, stop, stride, index = 0, None, 0, None
        if cursor.accept("["):
            if depth:
                start = cursor.unsigned("element", _INT32)
                stop = start + 1
            elif cursor.token.kind == "number":
                start = cursor.unsigned("element", _INT32)
                stop = cursor.unsigned("end of the elements", _INT32) if cursor.accept(":") else start + 1
                if cursor.accept("+"):
                    stride = cursor.unsigned("stride", _INT32)
                    cursor.expect("*")
                    index = self.view(depth + 1)
            else:
                index = self.view(depth + 1)
                stop, stride = 1, 1
            cursor.expect("]")
        return ViewText(token, name, port, start, stop, stride, index)

    def name(self, what: str) -> str:
        """Return an identifier, or any name in quotes."""
        cursor, token = self.cursor, self.cursor.token
        if token.kind == "string" or (token.kind == "name" and len(token.text) > LONGEST_NAME):
            name = self.string(what) if token.kind == "string" else token.text
            if not is_name(name):
                cursor.refuse(f"a name must have 1 to {LONGEST_NAME} characters, none of them invisible", token)
            return name
        if token.kind == "name" and token.text in KEYWORDS:
            cursor.refuse(f"expected {what}, found the keyword {token}; to use it as a name, write it in quotes")
        if token.kind != "name":
            cursor.unexpected(what)
        return cursor.take().text

    def string(self, what: str) -> str:
        cursor, token = self.cursor, self.cursor.token
        if token.kind != "string":
            cursor.unexpected(what)
        try:
            text = json.loads(token.text)
        except ValueError:
            cursor.refuse(f"{token} is not a string in quotes, as in JSON")
        cursor.take()
        return str(text)


# Turn the statements of a text into a machine: resolve names, and report broken rules with line numbers.


#: A function that reads the program of a block: takes a file name, and returns the bytes and their content.
ReadBlock = Callable[[str], tuple[bytes, Program | str]]

_PORT = re.compile(r"INTERNAL_(\w+?)_(inp|outp)\b")


def parse_text(data: bytes, name: str = "text", read_block: ReadBlock | None = None) -> Machine:
    """Return the valid machine that ``data`` (UTF-8) describes. Raises ``ProgramError`` with ``name``, line and column.

    ``read_block``: reads a block's file; without it, blocks in files are refused.
    """
    statements = read_statements(decoded(data, name, "'dais-verif convert' writes a machine as text"), name)
    digest = hashlib.sha256(data)
    resolution = _Resolution(statements)
    for block in statements.blocks.values():
        resolution.add_block(block, read_block, digest.update)
    machine = resolution.machine(Origin("mach", file_sha256=digest.hexdigest()))
    try:
        validate(machine)
    except ProgramError as error:
        raise _placed(str(error), statements, machine) from None
    return machine


@dataclass(frozen=True)
class _Ports:
    """The wires of a block, and their elements by the names in the block's text."""

    block: Block
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


class _Resolution:
    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.ports: dict[str, _Ports] = {}
        self.types = {name: signal.types for name, signal in statements.signals.items()}

    def add_block(self, text: BlockText, read: ReadBlock | None, digest: Callable[[bytes], None]) -> None:
        """Read the program of a block; its wires become signals. ``digest`` receives the content of files."""
        labelled = self.program(text, read, digest)
        block = Block(text.name, labelled.program, f"INTERNAL_{text.name}_inp", f"INTERNAL_{text.name}_outp")
        self.ports[text.name] = _Ports(block, labelled.inputs, labelled.outputs)
        for name, types_of in ((block.inputs, input_types), (block.outputs, output_types)):
            if name in self.types:
                self.refuse(
                    self.statements.signals[name].token, f"{name} is a wire of block {text.name}; write its port"
                )
            try:
                self.types[name] = types_of(block)
            except ProgramError as error:
                self.refuse(text.token, str(error))

    def program(self, text: BlockText, read: ReadBlock | None, digest: Callable[[bytes], None]) -> Labelled:
        if text.file is None:
            return assemble_labelled(text.text, self.statements.name, text.first)
        file = str(json.loads(text.file.text))
        if read is None:
            self.refuse(text.file, "a block's file must lie beside that of the machine, but this text is not in a file")
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or "\0" in file:
            self.refuse(text.file, "a block's file must lie beside that of the machine, or in a folder below it")
        try:
            data, found = read(file)
            digest(data)
            if isinstance(found, Program):
                return Labelled(found, {}, {})
            return assemble_labelled(found, file)
        except (ProgramError, InputError) as error:
            self.refuse(text.file, f"block {text.name}: {error}")

    def machine(self, origin: Origin) -> Machine:
        signals = {}
        for declared in self.statements.signals.values():
            reset = None if declared.reset is None else self.view(declared.reset)
            signals[declared.name] = Signal(
                declared.name,
                declared.types,
                declared.role,
                declared.register,
                declared.initial,
                reset,
                declared.schedule,
                declared.attributes,
            )
        blocks = {name: ports.block for name, ports in self.ports.items()}
        for block in blocks.values():
            for name in (block.inputs, block.outputs):
                signals[name] = Signal(name, self.types[name])
        connections = tuple(self.connection(text) for text in self.statements.connections)
        return Machine(blocks, signals, connections, origin)

    def connection(self, text: ConnectionText) -> Connection:
        return Connection(
            self.view(text.source),
            self.view(text.target, target=True),
            None if text.enable is None else self.view(text.enable),
            None if text.alternative is None else self.view(text.alternative),
        )

    def view(self, text: ViewText, *, target: bool = False) -> View:
        """Return the view that ``text`` describes; a name in a block is an input if ``target``, else an output."""
        signal, first, count = self.elements(text, target)
        stop = count if text.stop is None else text.stop
        if not text.start <= stop <= count:
            self.refuse(text.token, f"elements {text.start} to {stop} of {_shown(text)}, which has {count}")
        index = None if text.index is None else Index(self.view(text.index), text.stride)
        return View(signal, first + text.start, first + stop, index)

    def elements(self, text: ViewText, target: bool) -> tuple[str, int, int]:
        """Return the signal that ``text`` names, the number of its first element there, and the count of elements."""
        if text.port is None:
            if text.name not in self.statements.signals:
                blocks = f"; {text.name} is a block: write {text.name}.{INPUTS}" if text.name in self.ports else ""
                hint = blocks or did_you_mean(text.name, self.statements.signals)
                self.refuse(text.token, f"unknown signal {text.name!r}{hint}")
            return text.name, 0, len(self.types[text.name])
        ports = self.ports.get(text.name)
        if ports is None:
            self.refuse(text.token, f"unknown block {text.name!r}{did_you_mean(text.name, self.ports)}")
        labels = ports.inputs if target else ports.outputs
        signal = ports.block.inputs if target else ports.block.outputs
        if text.port in labels:
            return signal, labels[text.port], 1
        if text.port in (INPUTS, OUTPUTS):
            signal = ports.block.inputs if text.port == INPUTS else ports.block.outputs
            return signal, 0, len(self.types[signal])
        side = "input" if target else "output"
        self.refuse(text.token, f"block {text.name} has no {side} {text.port!r}{did_you_mean(text.port, labels)}")

    def refuse(self, token: Token, message: str) -> NoReturn:
        raise error_at(self.statements.name, token.place, message)


def _shown(text: ViewText) -> str:
    return text.name if text.port is None else f"{text.name}.{text.port}"


def _placed(message: str, statements: Statements, machine: Machine) -> ProgramError:
    """Return an error with the position of the connection, signal or block, and with ports named as in the text."""
    pairs = zip(statements.connections, machine.connections, strict=True)
    places = [text.token.place for text, made in pairs if str(made) in message][-1:]
    if not places:
        wires = {block.name: (block.inputs, block.outputs) for block in machine.blocks.values()}
        named = [
            *((f"signal {name}", signal.token) for name, signal in statements.signals.items()),
            *((f"block {name}", block.token) for name, block in statements.blocks.items()),
            *((f"signal {wire}", block.token) for name, block in statements.blocks.items() for wire in wires[name]),
        ]
        places = [token.place for words, token in named if re.match(rf"{re.escape(words)}(?!\w)", message)]
    in_words = _PORT.sub(lambda found: f"{found[1]}.{INPUTS if found[2] == 'inp' else OUTPUTS}", message)
    return error_at(statements.name, places[0] if places else Place(1, 1), in_words)
