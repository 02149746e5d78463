"""Show a machine as a table: blocks, signals with their values and times, connections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dais_verif.counts import counted
from dais_verif.machine import Machine, Role, Signal
from dais_verif.machine.ports import bits_of
from dais_verif.machine.text.spelling import Spelling
from dais_verif.machine.text.writer import initial_words, schedule_words, type_words

__all__ = ["table_of"]

#: Longer words are cut.
_WIDEST = 48


def table_of(machine: Machine) -> str:
    """Return all parts of ``machine`` in columns, one line per part."""
    return "\n".join(line.rstrip() for line in _lines(machine)) + "\n"


def _lines(machine: Machine) -> Iterator[str]:
    spelling = Spelling(machine)
    signals = [signal for signal in machine.signals.values() if signal.name not in spelling.ports]
    indexed = [view for c in machine.connections for view in (c.source, c.target, c.alternative)]
    memories = {view.signal for view in indexed if view is not None and view.index is not None}
    kinds: dict[str, list[Signal]] = {"inputs": [], "outputs": [], "registers": [], "memories": [], "wires": []}
    for signal in signals:
        kinds[_kind(signal, memories)].append(signal)
    yield f"blocks ({len(machine.blocks)})"
    yield from _columns(
        [
            (b.name, counted(b.program.n_ops, "op"), f"{b.program.n_in} in", f"{b.program.n_out} out")
            for b in machine.blocks.values()
        ]
    )
    for kind, members in kinds.items():
        if members:
            bits = sum(bits_of(signal.types) for signal in members)
            yield f"{kind} ({len(members)}, {counted(bits, 'bit')})"
            yield from _columns([_row(signal, spelling) for signal in members])
    for title, clocked in (("connections at all times", False), ("connections at edges of the clock", True)):
        chosen = [c for c in machine.connections if machine.clocked(c) == clocked]
        if chosen:
            yield f"{title} ({len(chosen)})"
            for connection in chosen:
                yield f"  {spelling.connection(connection)}"


def _kind(signal: Signal, memories: set[str]) -> str:
    if signal.register:
        return "memories" if signal.name in memories else "registers"
    return {Role.INPUT: "inputs", Role.OUTPUT: "outputs", Role.INTERNAL: "wires"}[signal.role]


def _row(signal: Signal, spelling: Spelling) -> tuple[str, ...]:
    initial = ""
    if signal.register:
        initial = "unknown at first" if signal.initial is None else f"= {initial_words(signal)}"
    return (
        signal.name,
        _cut(type_words(signal.types)),
        _cut(initial),
        "" if signal.reset is None else f"reset {spelling.view(signal.reset)}",
        "" if signal.schedule is None else f"valid {schedule_words(signal.schedule)}",
        "output" if signal.register and signal.role is Role.OUTPUT else "",
    )


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        yield "  " + "  ".join(cells)
