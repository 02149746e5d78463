"""The oracle of machines: exact values of all signals, cycle by cycle, to be read next to ``docs/machines.md``.

A value that depends on an uninitialised register is unknown: None. A mux with a known condition depends only on the arm
that it selects; every other op depends on all its operands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dais_verif.base.errors import MachineInputError, ViolationError
from dais_verif.golden.oracle import Context, Violation, quantise, two, value_of
from dais_verif.spec.machine.model import Block, Connection, Machine, Signal, View
from dais_verif.spec.machine.order import settling_order
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import INPUT, MUXES

__all__ = [
    "Action",
    "Cycle",
    "ExplainedCycle",
    "Taken",
    "Value",
    "Values",
    "cycle_from",
    "explain_cycle",
    "trace_machine",
]


#: A number, or None if it is unknown.
Value = Fraction | None
#: The elements of each signal.
Values = Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True)
class Cycle:
    """All signals of one cycle: ``before`` its edge, and ``after`` its edge with the same inputs still applied."""

    before: Values
    after: Values


def trace_machine(
    machine: Machine,
    inputs: Mapping[str, Sequence[Sequence[Fraction]]],
    *,
    check: bool = True,
    cycles: int | None = None,
) -> Iterator[Cycle]:
    """Yield every cycle of a run from power-up.

    ``inputs``: for each input signal, one row of exact numbers per cycle. ``cycles``: the number of cycles, for a
    machine without inputs.

    If ``check``, raises ``ViolationError`` at the first broken promise: an op in a block breaks its own promise, an
    index is outside of its memory, or one element is written twice at one edge. Without ``check``, ops wrap as in
    hardware, a read outside of a memory returns an unknown value, a write outside does nothing, and an element that is
    written twice becomes unknown.
    """
    return _Run(machine, check).cycles(inputs, cycles)


def cycle_from(
    machine: Machine,
    registers: Mapping[str, Sequence[Value]],
    inputs: Mapping[str, Sequence[Fraction]],
    *,
    number: int,
    check: bool = True,
) -> Cycle:
    """Return cycle ``number`` alone; registers that are not in ``registers`` have their initial values.

    Raises as ``trace_machine`` does.
    """
    run = _Run(machine, check)
    for name, values in registers.items():
        run.values[name] = list(values)
    run.cycle = number
    return run.one({name: [row] for name, row in inputs.items()}, 0)


class _Run:
    """A running machine: the values of all its signals."""

    def __init__(self, machine: Machine, check: bool) -> None:
        self.machine, self.check = machine, check
        self.order = settling_order(machine)
        self.clocked = [connection for connection in machine.connections if machine.clocked(connection)]
        self.values: dict[str, list[Value]] = {
            signal.name: list(signal.initial)
            if signal.register and signal.initial
            else [_copied(None, kind) for kind in signal.types]
            for signal in machine.signals.values()
        }
        self.cycle = 0
        self.held_to_promises = check

    def cycles(self, inputs: Mapping[str, Sequence[Sequence[Fraction]]], count: int | None) -> Iterator[Cycle]:
        names = {signal.name for signal in self.machine.inputs}
        if set(inputs) != names:
            raise MachineInputError(f"inputs are {', '.join(sorted(inputs))}, must be {', '.join(sorted(names))}")
        lengths = {len(rows) for rows in inputs.values()}
        if len(lengths) > 1:
            raise MachineInputError(
                f"the inputs have {' and '.join(map(str, sorted(lengths)))} cycles, must have as many"
            )
        for self.cycle in range(max(lengths, default=count or 0)):
            yield self.one(inputs, self.cycle)

    def one(self, inputs: Mapping[str, Sequence[Sequence[Fraction]]], number: int) -> Cycle:
        """Run one cycle with row ``number`` of the inputs, and return its signals."""
        for signal in self.machine.inputs:
            row = inputs[signal.name][number]
            if len(row) != len(signal.types):
                raise MachineInputError(
                    f"cycle {self.cycle}: {signal.name} has {len(row)} elements, must have {len(signal.types)}"
                )
            self.values[signal.name] = [quantise(v, kind) for v, kind in zip(row, signal.types, strict=True)]
        self.settle(self.check)
        before = self.snapshot()
        self.edge()
        # Promises are not checked here: the inputs are still those of this cycle, and the next one checks the new
        # state.
        self.settle(False)
        return Cycle(before, self.snapshot())

    def snapshot(self) -> Values:
        return {name: tuple(values) for name, values in self.values.items()}

    def settle(self, check: bool) -> None:
        """Compute all combinational signals from inputs and registers."""
        self.held_to_promises = check
        for step in self.order:
            if isinstance(step, Block):
                self.values[step.outputs] = self.block(step)
                continue
            target = self.machine.signals[step.target.signal]
            for place, value in zip(range(step.target.start, step.target.stop), self.chosen(step), strict=True):
                self.values[target.name][place] = _copied(value, target.types[place])

    def edge(self) -> None:
        """Update all registers from the values before the edge."""
        now = {name: list(values) for name, values in self.values.items()}
        writers: dict[tuple[str, int], Connection] = {}
        for connection in self.clocked:
            self.write(connection, now, writers)
        for signal in self.machine.registers:
            if signal.reset is not None:
                self.reset(signal, now)
        # Resets come last: a reset may be a register itself, and its value before the edge counts.
        for signal in self.machine.registers:
            self.values[signal.name] = now[signal.name]

    def write(
        self, connection: Connection, now: dict[str, list[Value]], writers: dict[tuple[str, int], Connection]
    ) -> None:
        """Write into ``now`` what a clocked connection copies: nothing if it is disabled and has no alternative."""
        enabled = self.condition(connection.enable)
        if enabled == 0 and connection.alternative is None:
            return
        name = connection.target.signal
        types = self.machine.signals[name].types
        places = self.places(connection.target)
        if places is None:  # any element may be written, so all are unknown
            for place in self.machine.reach(connection.target):
                now[name][place] = _copied(None, types[place])
            return
        for place, value in zip(places, self.chosen(connection), strict=True):
            if not 0 <= place < len(types):
                continue
            new = _copied(value, types[place])
            if enabled is None and connection.alternative is None and new != self.values[name][place]:
                new = None
            other = writers.setdefault((name, place), connection)
            if other is not connection:
                self.broken(f"{name}[{place}] is written twice, by {other} and by {connection}")
                new = _copied(None, types[place])
            now[name][place] = new

    def reset(self, signal: Signal, now: dict[str, list[Value]]) -> None:
        asserted = self.condition(signal.reset)
        assert signal.initial is not None
        if asserted:
            now[signal.name] = list(signal.initial)
        elif asserted is None:
            pairs = zip(now[signal.name], signal.initial, strict=True)
            now[signal.name] = [value if value == initial else None for value, initial in pairs]

    def condition(self, view: View | None) -> Value:
        """Return the single bit of ``view``; 1 if there is none."""
        return Fraction(1) if view is None else self.values[view.signal][view.start]

    def chosen(self, connection: Connection) -> list[Value]:
        """Return the values that a connection copies; a value is known if all candidates for it are equal."""
        enabled = self.condition(connection.enable)
        if connection.alternative is None or enabled == 1:
            return self.read(connection.source)
        if enabled == 0:
            return self.read(connection.alternative)
        kinds = self.machine.signals[connection.target.signal].types[connection.target.start : connection.target.stop]
        one, other = (
            [_copied(value, kind) for value, kind in zip(self.read(view), kinds, strict=True)]
            for view in (connection.source, connection.alternative)
        )
        return [a if a == b else None for a, b in zip(one, other, strict=True)]

    def read(self, view: View) -> list[Value]:
        places = self.places(view)
        values = self.values[view.signal]
        if places is None:
            return [_copied(None, kind) for kind in self.machine.signals[view.signal].types[view.start : view.stop]]
        return [values[place] if 0 <= place < len(values) else None for place in places]

    def places(self, view: View) -> range | None:
        """Return the elements that a view selects now; None if its index is unknown."""
        if view.index is None:
            return range(view.start, view.stop)
        index = self.values[view.index.value.signal][view.index.value.start]
        if index is None:
            return None
        first = view.start + int(index) * view.index.stride
        count = len(self.machine.signals[view.signal].types)
        if first + view.size > count:
            self.broken(f"{view} with index {index} goes beyond the {count} elements of {view.signal}")
        return range(first, first + view.size)

    def broken(self, what: str) -> None:
        if self.held_to_promises:
            raise ViolationError(f"cycle {self.cycle}: {what}")

    def block(self, block: Block) -> list[Value]:
        """Return the outputs of a block, as its output wire carries them."""
        try:
            found = _outputs(block.program, self.values[block.inputs], self.held_to_promises)
        except ViolationError as error:
            raise ViolationError(f"cycle {self.cycle}, block {block.name}: {error}") from None
        types = self.machine.signals[block.outputs].types
        return [_copied(value, kind) for value, kind in zip(found, types, strict=True)]


def _needed(program: Program, op: Op, values: Sequence[Value], inputs: Sequence[Value]) -> list[Value]:
    """Return the values on which the value of ``op`` depends."""
    if op.code == INPUT:
        return [inputs[op.id0]]
    if op.code not in MUXES:
        return [values[index] for index in op.operands]
    condition = values[op.condition]
    kind = program.ops[op.condition].type
    if condition is None or kind.width == 0:
        return [condition, values[op.id0] if condition is None else values[op.id1]]
    msb_set = condition < 0 if kind.k else condition * two(kind.f) >= 1 << (kind.width - 1)
    return [values[op.id0 if msb_set else op.id1]]


def _copied(value: Value, kind: FixedType) -> Value:
    """Return ``value`` in type ``kind``, which drops low and high bits; an element without bits is 0."""
    return Fraction(0) if kind.width == 0 else None if value is None else quantise(value, kind)


def _outputs(program: Program, inputs: Sequence[Value], check: bool) -> list[Value]:
    values: list[Value] = []
    # The same values, with 0 in place of unknown ones. The rules of ops do not use these zeros, because a mux reads
    # only the arm that it selects.
    known: list[Fraction] = []
    given = [value or Fraction(0) for value in inputs]
    violations: list[Violation] | None = None if check else []
    for op in program.ops:
        unknown = op.type.width and any(value is None for value in _needed(program, op, values, inputs))
        values.append(None if unknown else value_of(Context(program, op, known, given), violations))
        known.append(values[-1] or Fraction(0))
    found: list[Value] = []
    for index, shift, negated in program.outputs:
        value = Fraction(0) if index < 0 else values[index]
        found.append(None if value is None else value * two(shift) * (-1 if negated else 1))
    return found


# Explain one cycle of a machine: the value of every signal, and the connections that determine the next values.


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
