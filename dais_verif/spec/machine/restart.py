"""Restart a running machine with its own resets, and with an additional reset for registers that no input resets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dais_verif.spec.machine.edits import add_wire, set_signal
from dais_verif.spec.machine.model import Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.ports import bits_of
from dais_verif.spec.program import FixedType

__all__ = ["Restart", "reset_elements", "restart_of"]

_BIT = FixedType(0, 1, 0)


@dataclass(frozen=True)
class Restart:
    """How to restart a machine: ``core`` is the machine, with an added reset input ``line`` if it needs one.

    ``line`` resets the registers ``added``, which no input of the machine resets. ``held``: elements of the inputs of
    ``core`` that are 1 while ``core`` waits; after one edge with these values, its state is that at power-up, except
    for the registers ``lost``, which may have any value. ``begun``: the machine without initial values of the registers
    ``lost``.
    """

    core: Machine
    begun: Machine
    held: frozenset[tuple[str, int]]
    line: str | None
    added: tuple[str, ...]
    lost: tuple[str, ...]


def restart_of(machine: Machine) -> Restart:
    """Return how ``machine`` is restarted.

    A register with indexed elements and without a reset is a memory; it gets no reset and is ``lost``. A register
    without a reset and without an initial value is ``lost``, too.
    """
    written = {c.target.signal for c in machine.connections if machine.clocked(c)}
    changing = [s for s in machine.registers if s.name in written and bits_of(s.types)]
    indexed = _indexed(machine)
    places = {s.name: None if s.reset is None else _origin(machine, s.reset) for s in changing}
    free = [s for s in changing if s.reset is None]
    lost = tuple(s.name for s in free if s.name in indexed or s.initial is None)
    added = tuple(s.name for s in changing if places[s.name] is None and s.name not in lost)
    held = {place for place in places.values() if place is not None}
    begun = machine
    for name in lost:
        begun = set_signal(begun, replace(machine.signals[name], initial=None))
    if not added:
        return Restart(machine, begun, frozenset(held), None, (), lost)
    line = _fresh(machine, "restart")
    core = set_signal(machine, Signal(line, (_BIT,), Role.INPUT))
    for name in added:
        core = _restarted(core, machine.signals[name], View(line, 0, 1))
    return Restart(core, begun, frozenset({*held, (line, 0)}), line, added, lost)


def _restarted(machine: Machine, register: Signal, line: View) -> Machine:
    """Return ``machine`` with ``line`` as a reset of ``register``, in addition to the register's own reset."""
    if register.reset is None:
        return set_signal(machine, replace(register, reset=line))
    machine, own = add_wire(machine, register.reset)
    either = View(_fresh(machine, f"{line.signal}_{register.name}"), 0, 1)
    machine = set_signal(machine, Signal(either.signal, (_BIT,)))
    machine = set_signal(machine, replace(register, reset=either))
    return replace(machine, connections=(*machine.connections, Connection(line, either, line, own)))


def _fresh(machine: Machine, name: str) -> str:
    while name in machine.signals:
        name += "_"
    return name


def reset_elements(machine: Machine) -> set[tuple[str, int]]:
    """Return the elements of signals that act as a reset of a register, directly or through copies in wires."""
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
    """Return the element of an input of which the bit ``view`` is an unconditional copy; None if there is none."""
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
    """Return the registers whose elements an index selects."""
    views = [v for c in machine.connections for v in (c.source, c.target, c.alternative) if v is not None]
    return {view.signal for view in views if view.index is not None}
