"""Find the order in which a machine settles: blocks and connections to wires, each after the ones that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.base.errors import MachineError
from dais_verif.spec.machine.model import Block, Connection, Index, Machine, View

__all__ = ["Step", "deciding", "indexed", "settling_order", "signals_behind"]


#: Combinational steps: a connection to a wire, or a block. All outputs of a block depend on all of its inputs.
Step = Connection | Block


def settling_order(machine: Machine) -> tuple[Step, ...]:
    """Return all connections to wires and all blocks, each after those that drive the signals it reads.

    Raises ``ProgramError`` that names a combinational loop.
    """
    steps: list[Step] = [c for c in machine.connections if not machine.clocked(c)]
    steps += machine.blocks.values()
    drivers: dict[str, dict[int, int]] = {}
    for number, step in enumerate(steps):
        target = _written(machine, step)
        elements = drivers.setdefault(target.signal, {})
        elements.update(dict.fromkeys(machine.reach(target), number))
    before: list[set[int]] = []
    for step in steps:
        needed: set[int] = set()
        for view in _read(machine, step):
            if view.signal not in drivers:  # a register or an input: skip it, since a memory may be huge
                continue
            elements = drivers[view.signal]
            needed.update(elements[e] for e in machine.reach(view) if e in elements)
        before.append(needed)
    return tuple(steps[number] for number in _sorted(steps, before))


def _written(machine: Machine, step: Step) -> View:
    if isinstance(step, Block):
        return View(step.outputs, 0, len(machine.signals[step.outputs].types))
    return step.target


def _read(machine: Machine, step: Step) -> Iterator[View]:
    if isinstance(step, Block):
        yield View(step.inputs, 0, len(machine.signals[step.inputs].types))
    else:
        yield from step.reads


def _sorted(steps: list[Step], before: list[set[int]]) -> list[int]:
    """Return the numbers of the steps, each after the steps in its ``before``, otherwise in ascending order."""
    after: list[list[int]] = [[] for _ in steps]
    left = [len(needed) for needed in before]
    for number, needed in enumerate(before):
        for other in needed:
            after[other].append(number)
    ready = [number for number, count in enumerate(left) if count == 0]
    order: list[int] = []
    while ready:
        number = ready.pop()
        order.append(number)
        for other in after[number]:
            left[other] -= 1
            if left[other] == 0:
                ready.append(other)
    if len(order) != len(steps):
        raise MachineError(f"combinational loop: {_loop(steps, before, left)}; add a register to it")
    return order


def _loop(steps: list[Step], before: list[set[int]], left: list[int]) -> str:
    """Return the steps of one loop, in the order in which values propagate around the loop."""
    path: list[int] = []
    number = next(n for n, count in enumerate(left) if count)
    while number not in path:
        path.append(number)
        number = min(other for other in before[number] if left[other])
    names = [_name(steps[n]) for n in reversed(path[path.index(number) :])]
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 4} more", names[-1]]
    return ", then ".join(shown)


def _name(step: Step) -> str:
    return f"block {step.name}" if isinstance(step, Block) else str(step)


# Find which signals of a machine determine others, over any number of cycles: by signal, not by element.


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
