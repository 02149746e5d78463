"""Which signals of a machine depend on which, over any number of cycles: whole signals, not their elements."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.machine.dependence import signals_behind
from dais_verif.machine.model import Connection, Index, Machine

__all__ = ["deciding", "fed_back", "feeds_back", "indexed"]


def feeds_back(machine: Machine, connection: Connection) -> bool:
    """Whether what a clocked connection writes is computed of what its register holds."""
    return machine.clocked(connection) and connection.target.signal in signals_behind(machine, connection.source.signal)


def fed_back(machine: Machine) -> set[str]:
    """Registers that are computed of themselves, and all that is computed on the way."""
    registers = {c.target.signal for c in machine.connections if feeds_back(machine, c)}
    return {name for name in machine.signals if any(_between(machine, name, register) for register in registers)}


def _between(machine: Machine, name: str, register: str) -> bool:
    return register in signals_behind(machine, name) and name in signals_behind(machine, register)


def deciding(machine: Machine) -> set[str]:
    """All signals of which an enable, a reset or an index is computed."""
    roots = {s.reset.signal for s in machine.registers if s.reset is not None}
    roots |= {c.enable.signal for c in machine.connections if c.enable is not None}
    roots |= {index.value.signal for _, _, index in indexed(machine)}
    return {name for root in roots for name in signals_behind(machine, root)}


def indexed(machine: Machine) -> Iterator[tuple[int, str, Index]]:
    """Every view with an index: the number of its connection, which of the views there it is, the index."""
    for number, connection in enumerate(machine.connections):
        for field in ("source", "target", "alternative"):
            view = getattr(connection, field)
            if view is not None and view.index is not None:
                yield number, field, view.index
