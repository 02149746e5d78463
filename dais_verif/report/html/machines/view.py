"""A machine on a page: its diagram, and tables of blocks, signals and connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from dais_verif.base.text import counted
from dais_verif.report.html.machines.graph import graph_of
from dais_verif.report.html.machines.layout import Drawing, draw
from dais_verif.spec.machine import Machine, Role, Signal
from dais_verif.spec.machine.ports import bits_of
from dais_verif.spec.machine.text import Spelling, initial_words
from dais_verif.spec.program import FixedType

__all__ = ["MachineView", "SignalRow", "view_of"]

#: The number of rows that a table shows.
_MOST_ROWS = 2000
#: The number of characters of initial values, and of runs of types, that are shown.
_CHARACTERS, _VALUES = 80, 16


@dataclass(frozen=True)
class SignalRow:
    """A signal as a row: its kind, types, initial value, reset and schedule."""

    name: str
    kind: str
    types: str
    bits: int
    initial: str
    reset: str
    schedule: str


@dataclass(frozen=True)
class MachineView:
    """The machine on a page. ``grouped``: kinds drawn as one box. ``left_out``: rows that are not on the page."""

    drawing: Drawing
    grouped: tuple[str, ...]
    blocks: list[tuple[str, int, int, int]]
    signals: list[SignalRow]
    connections: list[tuple[str, str]]
    left_out: int
    summary: str


def view_of(machine: Machine) -> MachineView:
    """Return the view of ``machine``."""
    graph = graph_of(machine)
    spelling = Spelling(machine)
    signals = [_row(machine, s, spelling) for s in machine.signals.values() if s.name not in spelling.ports]
    connections = [
        (spelling.connection(c), "at edges of the clock" if machine.clocked(c) else "at all times")
        for c in machine.connections
    ]
    blocks = [(b.name, b.program.n_ops, b.program.n_in, b.program.n_out) for b in machine.blocks.values()]
    rows = (blocks, signals, connections)
    left_out = sum(max(len(each) - _MOST_ROWS, 0) for each in rows)
    state = sum(bits_of(signal.types) for signal in machine.registers)
    summary = (
        f"{counted(len(blocks), 'block')} of {counted(sum(ops for _, ops, _, _ in blocks), 'op')},"
        f" {counted(len(machine.registers), 'register')} of {counted(state, 'bit')},"
        f" {counted(len(connections), 'connection')}, {counted(len(machine.inputs), 'input')},"
        f" {counted(len(machine.outputs), 'output')}"
    )
    return MachineView(
        draw(graph),
        graph.grouped,
        blocks[:_MOST_ROWS],
        signals[:_MOST_ROWS],
        connections[:_MOST_ROWS],
        left_out,
        summary,
    )


def _row(machine: Machine, signal: Signal, spelling: Spelling) -> SignalRow:
    kind = {Role.INPUT: "input", Role.OUTPUT: "output", Role.INTERNAL: "wire"}[signal.role]
    if signal.register:
        kind = "register" if signal.role is Role.INTERNAL else "output register"
    schedule = signal.schedule
    return SignalRow(
        name=signal.name,
        kind=kind,
        types=_types(signal.types),
        bits=bits_of(signal.types),
        initial=_initial(signal),
        reset="" if signal.reset is None else spelling.view(signal.reset),
        schedule="" if schedule is None else f"{', '.join(map(str, schedule.toggles))} of {schedule.period}",
    )


def _initial(signal: Signal) -> str:
    if not signal.register:
        return ""
    words = "unknown" if signal.initial is None else initial_words(signal)
    return words if len(words) <= _CHARACTERS else f"{words[:_CHARACTERS]}..."


def _types(types: Sequence[FixedType]) -> str:
    runs = [(kind, len(list(run))) for kind, run in groupby(types)]
    shown = ", ".join(f"{count} × {kind}" if count > 1 else str(kind) for kind, count in runs[:_VALUES])
    return (shown + (", ..." if len(runs) > _VALUES else "")) or "no elements"
