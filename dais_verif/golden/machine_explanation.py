"""Explain one cycle of a machine: the value of every signal, and the connections that determine the next values."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dais_verif.errors import ViolationError
from dais_verif.golden.machine import Cycle, Value, Values, trace_machine
from dais_verif.machine.model import Connection, Machine, View

__all__ = ["Action", "ExplainedCycle", "Taken", "explain_cycle"]


class Taken(Enum):
    """The action of a connection in a cycle."""

    SOURCE = "source"
    ALTERNATIVE = "alternative"
    NOTHING = "nothing"  # it is not enabled, and the register keeps its value
    UNKNOWN = "unknown"  # its enable or its write index is unknown


@dataclass(frozen=True)
class Action:
    """The action of one connection: its ``enable``, its index values, and the element ``places`` that it writes.

    ``enable`` is 1 if the connection has none. ``indices``: the views with an index, each with the value of its index;
    those of the target come last. ``places`` are elements of the target; empty if they are unknown or out of range.
    """

    connection: Connection
    taken: Taken
    enable: Value
    indices: tuple[tuple[View, Value], ...]
    places: range


@dataclass(frozen=True)
class ExplainedCycle:
    """All signals before and after the edge, the actions of all connections, and which resets are active.

    ``resets``: the value of the reset of each register that has one. ``violation``: the first promise that was broken
    up to this cycle, in words.
    """

    cycle: Cycle
    actions: tuple[Action, ...]
    resets: Mapping[str, Value]
    violation: str | None


def explain_cycle(machine: Machine, inputs: Mapping[str, Sequence[Sequence[Fraction]]], number: int) -> ExplainedCycle:
    """Return cycle ``number`` of a run from power-up.

    ``inputs``: as for ``trace_machine``, at least up to this cycle. The run continues after a broken promise, as
    hardware does.
    """
    rows = {name: given[: number + 1] for name, given in inputs.items()}
    violation: str | None = None
    try:
        (cycle,) = deque(trace_machine(machine, rows, cycles=number + 1), maxlen=1)
    except ViolationError as error:
        violation = str(error)
        (cycle,) = deque(trace_machine(machine, rows, check=False, cycles=number + 1), maxlen=1)
    before = cycle.before
    return ExplainedCycle(
        cycle,
        tuple(_action(machine, connection, before) for connection in machine.connections),
        {
            signal.name: before[signal.reset.signal][signal.reset.start]
            for signal in machine.registers
            if signal.reset is not None
        },
        violation,
    )


def _action(machine: Machine, connection: Connection, before: Values) -> Action:
    enable: Value = Fraction(1)
    if connection.enable is not None:
        enable = before[connection.enable.signal][connection.enable.start]
    if enable is None:
        taken = Taken.UNKNOWN
    elif enable:
        taken = Taken.SOURCE
    else:
        taken = Taken.NOTHING if connection.alternative is None else Taken.ALTERNATIVE
    views = (connection.source, connection.alternative, connection.target)
    indices = tuple(
        (view, before[view.index.value.signal][view.index.value.start])
        for view in views
        if view is not None and view.index is not None
    )
    target = connection.target
    places = range(target.start, target.stop)
    if target.index is not None:
        index = indices[-1][1]
        if index is None:
            taken, places = Taken.UNKNOWN if taken is not Taken.NOTHING else taken, range(0)
        else:
            first = target.start + int(index) * target.index.stride
            places = range(first, min(first + target.size, max(len(machine.signals[target.signal].types), first)))
    return Action(connection, taken, enable, indices, places)
