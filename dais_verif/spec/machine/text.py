"""The text form of machines, for people to read and write; ``docs/machines.md`` has the grammar."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby

from dais_verif.base.text import counted
from dais_verif.spec.machine.model import Block, Connection, Machine, Role, Schedule, Signal, View
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.listing import constant, listing

__all__ = [
    "INPUTS",
    "KEYWORDS",
    "OUTPUTS",
    "Spelling",
    "initial_words",
    "machine_text",
    "quoted_text",
    "schedule_words",
    "spelt_name",
    "type_words",
]


# Write a machine as text, which ``parse_text`` reads back.


#: Values per line.
_VALUES = 12
_INDENT = "    "


def machine_text(machine: Machine) -> str:
    """Return the text of the whole machine, with a final newline: signals, blocks, connections.

    Declared intervals and estimates are omitted, since a program's text cannot state them.
    """
    return "\n".join(_Writer(machine).lines()) + "\n"


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.spelling = Spelling(machine)

    def lines(self) -> Iterator[str]:
        machine = self.machine
        counts = f"{counted(len(machine.blocks), 'block')}, {counted(len(machine.registers), 'register')}"
        yield f"; {counts}, {counted(len(machine.connections), 'connection')}"
        yield "machine"
        yield ""
        for signal in machine.signals.values():
            if signal.name not in self.spelling.ports:
                yield from self.signal(signal)
        for block in machine.blocks.values():
            yield ""
            yield from self.block(block)
        yield ""
        for connection in machine.connections:
            yield self.spelling.connection(connection)

    def signal(self, signal: Signal) -> Iterator[str]:
        word = "register" if signal.register and signal.role is Role.INTERNAL else _WORDS[signal.role]
        if signal.register and signal.role is Role.OUTPUT:
            word += " register"
        line = f"{word} {spelt_name(signal.name)}: {type_words(signal.types)}"
        rest = ""
        if signal.reset is not None:
            rest += f" reset {self.spelling.view(signal.reset)}"
        if signal.schedule is not None:
            rest += f" valid {schedule_words(signal.schedule)}"
        if signal.attributes is not None:
            rest += f" attributes {quoted_text(signal.attributes)}"
        if not signal.register or signal.initial is None:
            yield line + rest
            return
        values = _values(signal)
        if len(values) <= _VALUES or (len(set(signal.types)) == 1 and len(set(values)) == 1):
            yield f"{line} = {initial_words(signal)}{rest}"
        else:
            yield f"{line} = ["
            for start in range(0, len(values), _VALUES):
                yield f"{_INDENT}{', '.join(values[start : start + _VALUES])},"
            yield f"]{rest}"

    def block(self, block: Block) -> Iterator[str]:
        yield f"block {spelt_name(block.name)} {{"
        for line in listing(block.program).splitlines():
            if not line.startswith(";"):  # number of ops, hash
                yield _INDENT + line
        yield "}"


_WORDS = {Role.INPUT: "input", Role.OUTPUT: "output", Role.INTERNAL: "wire"}


def type_words(types: Sequence[FixedType]) -> str:
    """Return the text of types, such as ``u4.0, s6.2[16]``; ``u0.0[0]`` for a signal without elements."""
    runs = [(kind, len(list(run))) for kind, run in groupby(types)]
    return ", ".join(f"{kind}[{count}]" if count > 1 else str(kind) for kind, count in runs) or "u0.0[0]"


def initial_words(signal: Signal) -> str:
    """Return text like ``3`` if all elements have one type and that initial value, else ``[1, 2.5, raw(-3)]``."""
    values = _values(signal)
    if len(set(signal.types)) == 1 and len(set(values)) == 1:
        return values[0]
    return f"[{', '.join(values)}]"


def _values(signal: Signal) -> list[str]:
    return [_value(value, kind) for value, kind in zip(signal.initial or (), signal.types, strict=True)]


def _value(value: Fraction, kind: FixedType) -> str:
    raw = int(value * Fraction(2) ** kind.f)
    if raw < 0 and constant(-raw, kind.f).startswith("raw"):
        return f"raw({raw})"
    return f"{'-' if raw < 0 else ''}{constant(abs(raw), kind.f)}"


def schedule_words(schedule: Schedule) -> str:
    """Return ``0, 3 period 8``."""
    return " ".join(filter(None, (", ".join(map(str, schedule.toggles)), f"period {schedule.period}")))


# The spelling of a machine's views and connections, in its text and in messages.


class Spelling:
    """Spells views and connections of a ``machine``; the wires of a block ``b`` are ``b.in`` and ``b.out``."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        #: The names of the wires of blocks.
        self.ports = {
            name: f"{spelt_name(block.name)}.{port}"
            for block in machine.blocks.values()
            for name, port in ((block.inputs, INPUTS), (block.outputs, OUTPUTS))
        }

    def name(self, signal: str) -> str:
        """Return the spelling of the signal ``signal``."""
        return self.ports.get(signal) or spelt_name(signal)

    def connection(self, connection: Connection) -> str:
        """Return ``mem[i] <- x when en``."""
        line = f"{self.view(connection.target)} <- {self.view(connection.source)}"
        if connection.enable is not None:
            line += f" when {self.view(connection.enable)}"
        if connection.alternative is not None:
            line += f" else {self.view(connection.alternative)}"
        return line

    def view(self, view: View) -> str:
        """Return ``x``, ``x[2]``, ``x[2:5]``, ``mem[i]`` or ``mem[0:4 + 4*i]``."""
        name = self.name(view.signal)
        if view.index is None:
            if (view.start, view.stop) == (0, len(self.machine.signals[view.signal].types)):
                return name
            return f"{name}[{_span(view)}]"
        index = self.view(view.index.value)
        if (view.start, view.stop, view.index.stride) == (0, 1, 1):
            return f"{name}[{index}]"
        return f"{name}[{_span(view)} + {view.index.stride}*{index}]"


def _span(view: View) -> str:
    return str(view.start) if view.size == 1 else f"{view.start}:{view.stop}"


# Words and names of the text form of machines.


#: Keywords, which are names only if they are quoted.
KEYWORDS = frozenset(
    {"machine", "block", "input", "output", "wire", "register", "reset", "valid", "period", "attributes"}
    | {"when", "else", "raw"}
)
#: The suffixes after the name of a block for all its inputs, and for all its outputs.
INPUTS, OUTPUTS = "in", "out"

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def spelt_name(name: str) -> str:
    """Return ``name`` as written in a text: a JSON string, unless it is an identifier and not a keyword."""
    if _IDENTIFIER.fullmatch(name) and name not in KEYWORDS:
        return name
    return quoted_text(name)


def quoted_text(text: str) -> str:
    """Return ``text`` as a JSON string with semicolons escaped, which would begin a comment."""
    return json.dumps(text).replace(";", "\\u003b")
