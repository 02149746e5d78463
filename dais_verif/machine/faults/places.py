"""Faults of the place and time of data: indices, views that are off by one, outputs a cycle early or late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dais_verif.machine.dependence import indexed
from dais_verif.machine.edits import (
    add_register,
    add_wire,
    incremented,
    part_of,
    set_connection,
    set_signal,
    types_of,
)
from dais_verif.machine.faults.kinds import Fault, FaultKind
from dais_verif.machine.model import Machine, Role, View
from dais_verif.program import FixedType

__all__ = ["faults_of_places"]


def faults_of_places(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each index, of each view of a register, and of each output."""
    yield from _of_indices(machine)
    yield from _of_views(machine)
    yield from _of_outputs(machine)


def _of_indices(machine: Machine) -> Iterator[Fault]:
    values = dict.fromkeys(index.value for _, _, index in indexed(machine))
    for number, field, index in indexed(machine):
        (kind,) = types_of(machine, index.value)
        if not kind.width:
            continue
        where = f"{field} of {machine.connections[number]}"
        base, value = add_wire(machine, index.value, [FixedType(0, kind.i - 1, 0)])
        faulty = _with_index(base, number, field, value)
        yield Fault(FaultKind.BANK, f"{where}: highest bit of the index ignored", faulty)
        base, value = incremented(machine, index.value)
        yield Fault(FaultKind.INDEX, f"{where}: one more", _with_index(base, number, field, value))
        base, value = add_register(machine, index.value)
        yield Fault(FaultKind.INDEX, f"{where}: one cycle late", _with_index(base, number, field, value))
        for other in values:
            if other != index.value and types_of(machine, other) == (kind,):
                faulty = _with_index(machine, number, field, other)
                yield Fault(FaultKind.INDEX, f"{where}: {other} in its place", faulty)


def _with_index(machine: Machine, number: int, field: str, value: View) -> Machine:
    """Replace the index of the view ``field`` of a connection with ``value``."""
    connection = machine.connections[number]
    view: View = getattr(connection, field)
    assert view.index is not None
    view = replace(view, index=replace(view.index, value=value))
    return set_connection(machine, number, replace(connection, **{field: view}))


def _of_views(machine: Machine) -> Iterator[Fault]:
    """Yield faults in which a connection from or to a register reads one element later or earlier."""
    for number, connection in enumerate(machine.connections):
        source = connection.source
        if source.index is not None or not (machine.clocked(connection) or machine.signals[source.signal].register):
            continue
        for step in (1, -1):
            moved = replace(source, start=source.start + step, stop=source.stop + step)
            if moved.start >= 0 and moved.stop <= len(machine.signals[source.signal].types):
                faulty = set_connection(machine, number, replace(connection, source=moved))
                yield Fault(FaultKind.MOVED, f"{connection}: {moved} in its place", faulty)


def _of_outputs(machine: Machine) -> Iterator[Fault]:
    for number, connection in enumerate(machine.connections):
        target = machine.signals[connection.target.signal]
        if target.role is not Role.OUTPUT:
            continue
        if target.register:
            wire = replace(target, register=False, initial=None, reset=None)
            yield Fault(FaultKind.EARLY, f"{target.name} before its register", set_signal(machine, wire))
        elif (early := _before_register(machine, connection.source)) is not None:
            faulty = set_connection(machine, number, replace(connection, source=early))
            yield Fault(FaultKind.EARLY, f"{connection}: {early} in its place", faulty)
        late, view = add_register(machine, connection.source)
        faulty = set_connection(late, number, replace(connection, source=view))
        yield Fault(FaultKind.LATE, f"{connection}: one cycle late", faulty)


def _before_register(machine: Machine, view: View) -> View | None:
    """Return the source that a connection writes to the register elements in ``view``; None if there is none."""
    if view.index is not None or not machine.signals[view.signal].register:
        return None
    for connection in machine.connections:
        target = connection.target
        inside = target.signal == view.signal and target.start <= view.start and view.stop <= target.stop
        if inside and target.index is None and connection.source.index is None:
            return part_of(connection.source, view.start - target.start, view.stop - target.start)
    return None
