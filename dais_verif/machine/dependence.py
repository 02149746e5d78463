"""Which signals of a machine others are computed of, over any number of cycles: whole signals, not their elements."""

from __future__ import annotations

from dais_verif.machine.model import Machine

__all__ = ["signals_behind"]


def signals_behind(machine: Machine, name: str, *, control: bool = False) -> set[str]:
    """``name`` and all signals that it copies or is computed of; with those of its enables, indices and resets too."""
    sources: dict[str, set[str]] = {}
    for connection in machine.connections:
        views = connection.reads if control else (connection.source, connection.alternative)
        sources.setdefault(connection.target.signal, set()).update(v.signal for v in views if v is not None)
    for block in machine.blocks.values():
        sources.setdefault(block.outputs, set()).add(block.inputs)
    for signal in machine.registers if control else ():
        if signal.reset is not None:
            sources.setdefault(signal.name, set()).add(signal.reset.signal)
    found, waiting = {name}, [name]
    while waiting:
        new = sources.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
