"""Find from which signals of a machine others are computed, over any number of cycles: by signal, not by element."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.machine.model import Index, Machine

__all__ = ["deciding", "indexed", "signals_behind"]


def signals_behind(machine: Machine, name: str, *, control: bool = False) -> set[str]:
    """Return ``name`` and all signals it depends on as data; with ``control``, through enables, indices, resets too."""
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
    """Return all signals on which an enable, a reset or an index depends, as in ``signals_behind``."""
    roots = {s.reset.signal for s in machine.registers if s.reset is not None}
    roots |= {c.enable.signal for c in machine.connections if c.enable is not None}
    roots |= {index.value.signal for _, _, index in indexed(machine)}
    return {name for root in roots for name in signals_behind(machine, root, control=control)}


def indexed(machine: Machine) -> Iterator[tuple[int, str, Index]]:
    """Yield for each view with an index: the number of its connection, the field of that connection, the index."""
    for number, connection in enumerate(machine.connections):
        for field in ("source", "target", "alternative"):
            view = getattr(connection, field)
            if view is not None and view.index is not None:
                yield number, field, view.index
