"""Find the order in which a machine settles: blocks and connections to wires, each after the ones that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.errors import MachineError
from dais_verif.machine.model import Block, Connection, Machine, View

__all__ = ["Step", "settling_order"]

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
