"""Find the registers of a machine that are computed from themselves: counters, pointers, accumulators."""

from __future__ import annotations

from dais_verif.machine.dependence import signals_behind
from dais_verif.machine.model import Connection, Machine

__all__ = ["fed_back", "feeds_back"]


def feeds_back(machine: Machine, connection: Connection) -> bool:
    """Return True if a clocked connection writes a value that depends on its target."""
    return machine.clocked(connection) and connection.target.signal in signals_behind(machine, connection.source.signal)


def fed_back(machine: Machine) -> set[str]:
    """Return the registers that are computed from themselves, and all signals on the paths of these computations."""
    registers = {c.target.signal for c in machine.connections if feeds_back(machine, c)}
    return {name for name in machine.signals if any(_between(machine, name, register) for register in registers)}


def _between(machine: Machine, name: str, register: str) -> bool:
    return register in signals_behind(machine, name) and name in signals_behind(machine, register)
