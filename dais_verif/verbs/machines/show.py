"""Show a machine as a table: blocks, signals with their values and times, connections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dais_verif.base.errors import ConversionError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.conversion import ConversionRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine, Role, Signal, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.ports import bits_of
from dais_verif.spec.machine.text import Spelling, initial_words, machine_text, schedule_words, type_words
from dais_verif.spec.program.json_writers import compressed
from dais_verif.verbs.machines.requests import require_no_options

if TYPE_CHECKING:
    from dais_verif.verbs.convert import ConversionRequest

__all__ = ["convert_machine", "table_of"]


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


# Write a machine in another form: ALIRFSM, or text.


def convert_machine(machine: Machine, request: ConversionRequest) -> ConversionRecord:
    """Write ``machine``; the written machine computes the same in every cycle.

    Raises ``InputError``, which names signal, block or op, if ALIRFSM cannot express the machine; ``RequestError`` for
    formats of programs.
    """
    require_no_options(layout=request.layout)
    target = "alirfsm" if request.target == "alir" and request.to is None else request.target
    if target not in _WRITERS:
        raise RequestError.of("this is a machine, which is written as alirfsm or mach, not as {target}.", target=target)
    write = _WRITERS[target]
    data = write(machine)
    back = parse_machine(data)
    if write(back) != data:
        raise ConversionError(f"the {target} output does not read back as the same machine; please report it")
    write_atomically(request.output, compressed(data) if request.compressed else data)
    before, after = ProgramInfo.of_machine(machine), ProgramInfo.of_machine(back)
    return ConversionRecord(
        verdict=Verdict.PASS,
        message=f"written as {target}, {counted(after.n_ops, 'op')} of {before.n_ops}",
        program=before,
        written=replace(after, path=str(request.output)),
        output=str(request.output),
        target=target,
        restored=False,
        compressed=request.compressed,
        warnings=[],
        reproduce=request.reproduce(),
    )


def _text(machine: Machine) -> bytes:
    return machine_text(machine).encode()


_WRITERS = {"alirfsm": machine_json, "mach": _text}
