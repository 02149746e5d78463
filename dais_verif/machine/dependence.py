"""Find which signals of a machine determine others, over any number of cycles: by signal, not by element."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.machine.model import Index, Machine

__all__ = ["deciding", "indexed", "signals_behind"]


def signals_behind(machine: Machine, name: str, *, control: bool = False) -> set[str]:
    """Return ``name`` and all signals whose data reaches it; with ``control``, also via enables, indices and resets."""
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


def deciding(machine: Machine, *, control: bool = False) -> set[str]:
    """Return all signals on which any enable, reset or index depends, as ``signals_behind`` defines dependence."""
    roots = {s.reset.signal for s in machine.registers if s.reset is not None}
    roots |= {c.enable.signal for c in machine.connections if c.enable is not None}
    roots |= {index.value.signal for _, _, index in indexed(machine)}
    return {name for root in roots for name in signals_behind(machine, root, control=control)}


def indexed(machine: Machine) -> Iterator[tuple[int, str, Index]]:
    """Yield, for each view with an index, its connection's number, its field in the connection, and the index."""
    for number, connection in enumerate(machine.connections):
        for field in ("source", "target", "alternative"):
            view = getattr(connection, field)
            if view is not None and view.index is not None:
                yield number, field, view.index
