"""Write a machine as text, which ``parse_text`` reads back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby

from dais_verif.counts import counted
from dais_verif.machine.model import Block, Machine, Role, Schedule, Signal
from dais_verif.machine.text.names import quoted_text, spelt_name
from dais_verif.machine.text.spelling import Spelling
from dais_verif.program import FixedType
from dais_verif.program.listing import constant, listing

__all__ = ["initial_words", "machine_text", "schedule_words", "type_words"]

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
