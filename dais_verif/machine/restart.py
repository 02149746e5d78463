"""How a machine is made to begin again, while it runs: by its own resets, and by one more where it has none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dais_verif.errors import InputError
from dais_verif.machine.model import Machine, Role, Signal, View
from dais_verif.machine.ports import bits_of
from dais_verif.program import FixedType

__all__ = ["Restart", "reset_elements", "restart_of"]

_BIT = FixedType(0, 1, 0)


@dataclass(frozen=True)
class Restart:
    """``core``: the machine, with an input more, ``line``, if ``added`` names registers that nothing else resets.

    ``held``: elements of the inputs of ``core`` that are 1 while it waits; after one edge with them it is as at
    power-up, but for the registers ``lost``, which may hold anything. ``begun``: the machine itself, of which nothing
    says what those hold at power-up.
    """

    core: Machine
    begun: Machine
    held: frozenset[tuple[str, int]]
    line: str | None
    added: tuple[str, ...]
    lost: tuple[str, ...]


def restart_of(machine: Machine) -> Restart:
    """How ``machine`` begins again.

    A register that an index chooses elements of is a memory, which no reset clears, and so is ``lost``; so is one
    without an initial value. Raises ``InputError`` for a register that changes whose reset is no input.
    """
    written = {c.target.signal for c in machine.connections if machine.clocked(c)}
    changing = [s for s in machine.registers if s.name in written and bits_of(s.types)]
    held, alone = set(), []
    for signal in changing:
        if signal.reset is None:
            alone.append(signal)
            continue
        place = _origin(machine, signal.reset)
        if place is None:
            raise InputError(
                f"register {signal.name} is reset by {signal.reset}, which is no input of one unsigned bit, nor a copy"
                " of one: a board cannot begin a vector with what this register holds after a reset; lead the reset to"
                " an input"
            )
        held.add(place)
    indexed = _indexed(machine)
    lost = tuple(s.name for s in alone if s.name in indexed or s.initial is None)
    added = tuple(s.name for s in alone if s.name not in lost)
    begun = _with(machine, {name: replace(machine.signals[name], initial=None) for name in lost})
    if not added:
        return Restart(machine, begun, frozenset(held), None, (), lost)
    line = "restart"
    while line in machine.signals:
        line += "_"
    signals = {name: replace(machine.signals[name], reset=View(line, 0, 1)) for name in added}
    core = _with(machine, {**signals, line: Signal(line, (_BIT,), Role.INPUT)})
    return Restart(core, begun, frozenset({*held, (line, 0)}), line, added, lost)


def reset_elements(machine: Machine) -> set[tuple[str, int]]:
    """The elements of signals that are a reset, by themselves or copied through wires."""
    found: set[tuple[str, int]] = set()
    waiting = [signal.reset for signal in machine.registers if signal.reset is not None]
    while waiting:
        view = waiting.pop()
        if (view.signal, view.start) in found:
            continue
        found.add((view.signal, view.start))
        for connection in machine.connections:
            source, target = connection.source, connection.target
            if machine.clocked(connection) or target.signal != view.signal or source.index is not None:
                continue
            if target.start <= view.start < target.stop:
                place = source.start + view.start - target.start
                waiting.append(View(source.signal, place, place + 1))
    return found


def _origin(machine: Machine, view: View) -> tuple[str, int] | None:
    """The element of an input of which the bit ``view`` is a copy at all times; None if it is none."""
    name, place = view.signal, view.start
    for _ in range(len(machine.connections) + 1):
        signal = machine.signals[name]
        if view.index is not None or signal.types[place] != _BIT:
            return None
        if signal.role is Role.INPUT:
            return name, place
        if signal.register:
            return None
        copies = [
            c
            for c in machine.connections
            if c.target.signal == name and c.target.start <= place < c.target.stop and c.target.index is None
        ]
        if len(copies) != 1 or copies[0].enable is not None or copies[0].source.index is not None:
            return None
        name, place = copies[0].source.signal, copies[0].source.start + place - copies[0].target.start
    return None


def _indexed(machine: Machine) -> set[str]:
    """The registers of which an index chooses elements."""
    views = [v for c in machine.connections for v in (c.source, c.target, c.alternative) if v is not None]
    return {view.signal for view in views if view.index is not None}


def _with(machine: Machine, signals: dict[str, Signal]) -> Machine:
    return replace(machine, signals={**machine.signals, **signals}) if signals else machine
