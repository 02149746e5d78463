"""Faults of enables, which are ignored, never 1, inverted or late, and of the alternatives that they select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dais_verif.machine.edits import add_register, inverted, part_of, set_connection
from dais_verif.machine.faults.dependence import feeds_back
from dais_verif.machine.faults.kinds import Fault, FaultKind
from dais_verif.machine.model import Connection, Machine

__all__ = ["faults_of_enables"]


def faults_of_enables(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each connection with an enable."""
    for number, connection in enumerate(machine.connections):
        if connection.enable is None:
            continue
        where = f"{connection} if {connection.enable}"
        if connection.alternative is None:
            yield from _held(machine, number, connection, where)
        else:
            yield from _chosen(machine, number, connection, f"{where} else {connection.alternative}")
        late, view = add_register(machine, connection.enable)
        yield Fault(FaultKind.LATE_ENABLE, where, set_connection(late, number, replace(connection, enable=view)))


def _held(machine: Machine, number: int, connection: Connection, where: str) -> Iterator[Fault]:
    """Yield faults of a connection to a register that keeps its value while the connection is not enabled."""
    assert connection.enable is not None
    always = replace(connection, enable=None)
    yield Fault(FaultKind.NOT_ENABLED, f"{where}: always", set_connection(machine, number, always))
    yield Fault(FaultKind.FLUSH, f"{where}: never", set_connection(machine, number, None))
    other, view = inverted(machine, connection.enable)
    faulty = set_connection(other, number, replace(connection, enable=view))
    yield Fault(FaultKind.INVERTED_ENABLE, where, faulty)
    if connection.target.size > 1:
        first, rest = (
            replace(connection, source=part_of(connection.source, *span), target=part_of(connection.target, *span))
            for span in ((0, 1), (1, connection.target.size))
        )
        faulty = set_connection(machine, number, rest)
        faulty = replace(faulty, connections=(*faulty.connections, replace(first, enable=None)))
        yield Fault(FaultKind.NOT_ENABLED, f"{first}: always enabled, unlike its neighbours", faulty)


def _chosen(machine: Machine, number: int, connection: Connection, where: str) -> Iterator[Fault]:
    """Yield faults of a connection that has an alternative."""
    assert connection.alternative is not None
    source, other = connection.source, connection.alternative
    always = replace(connection, enable=None, alternative=None)
    kind = FaultKind.STALE if feeds_back(machine, connection) else FaultKind.ALTERNATIVE
    yield Fault(kind, f"{where}: always {source}", set_connection(machine, number, always))
    yield Fault(kind, f"{where}: always {other}", set_connection(machine, number, replace(always, source=other)))
    swapped = replace(connection, source=other, alternative=source)
    yield Fault(FaultKind.INVERTED_ENABLE, where, set_connection(machine, number, swapped))
