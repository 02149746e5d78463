"""Shrink a failing case of a machine: fewer and shorter sequences, fewer outputs and connections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from dais_verif.errors import ProgramError
from dais_verif.fuzzing.machines.case import MachineCase
from dais_verif.fuzzing.shrinking.search import Search, TimeUp
from dais_verif.machine import Connection, Machine, Role, validate

__all__ = ["shrunk_machine"]


def shrunk_machine(case: MachineCase, fails: Callable[[MachineCase], bool], seconds: float) -> tuple[MachineCase, bool]:
    """Return the smallest case found within ``seconds`` of CPU time that ``fails``, and whether all were tried.

    The result is deterministic unless the time runs out. ``fails`` is only called with valid machines.
    """
    search = Search(case, fails, seconds, lambda text: None)
    try:
        for number in range(len(case.sequences)):
            if search.consider(replace(case, sequences=case.sequences[number : number + 1])):
                break
        before = None
        while before != search.case.key:
            before = search.case.key
            _shorter(search)
            of = search.case
            outputs = [signal.name for signal in of.machine.outputs]
            search.fewest(outputs, lambda left, of=of: _with_outputs(of, left))  # type: ignore[misc]
            of = search.case
            search.fewest(of.machine.connections, lambda left, of=of: _made(of, of.machine, left))  # type: ignore[misc]
    except TimeUp:
        return search.case, False
    return search.case, True


def _shorter(search: Search[MachineCase]) -> None:
    """Remove halves, quarters, ... of the cycles at the end, until not even one cycle can be removed."""
    step = search.case.cycles // 2
    while step:
        of = search.case
        cycles = of.cycles - step
        cut = tuple({name: rows[:cycles] for name, rows in one.items()} for one in of.sequences)
        if cycles < 1 or not search.consider(replace(of, sequences=cut, cycles=cycles)):
            step //= 2


def _with_outputs(case: MachineCase, names: Sequence[str]) -> MachineCase | None:
    """Return ``case`` with only the outputs ``names``, and the signals on which they depend."""
    if not names:
        return None
    signals = {
        name: replace(signal, role=Role.INTERNAL, schedule=None)
        if signal.role is Role.OUTPUT and name not in names
        else signal
        for name, signal in case.machine.signals.items()
    }
    machine = replace(case.machine, signals=signals)
    return _made(case, machine, machine.connections)


def _made(case: MachineCase, machine: Machine, connections: Sequence[Connection]) -> MachineCase | None:
    """Return ``machine`` with these ``connections``, without parts that no output needs; None if it is not valid."""
    needed = _needed(machine, connections)
    smaller = Machine(
        {name: block for name, block in machine.blocks.items() if block.outputs in needed},
        {name: signal for name, signal in machine.signals.items() if name in needed},
        tuple(connection for connection in connections if connection.target.signal in needed),
        machine.origin,
    )
    try:
        validate(smaller)
    except ProgramError:
        return None
    rows = tuple({name: rows for name, rows in one.items() if name in needed} for one in case.sequences)
    return replace(case, machine=smaller, sequences=rows, kernel=None)


def _needed(machine: Machine, connections: Collection[Connection]) -> set[str]:
    """Return the signals on which an output depends."""
    into: dict[str, list[Connection]] = {}
    for connection in connections:
        into.setdefault(connection.target.signal, []).append(connection)
    block_of = {block.outputs: block.inputs for block in machine.blocks.values()}
    found: set[str] = set()
    waiting = [signal.name for signal in machine.outputs]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        reset = machine.signals[name].reset
        waiting += [view.signal for connection in into.get(name, ()) for view in connection.reads]
        waiting += [reset.signal] if reset is not None else []
        waiting += [block_of[name]] if name in block_of else []
    return found
