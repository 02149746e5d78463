"""Control faults: errors in the control of a machine, each planted in its own copy of the machine.

The faults are derived from the machine alone: from enables, resets, indices, registers that depend on themselves, and
the blocks that compute these. A faulty machine is valid. It may break promises that the original keeps, and it may
behave like the original in every cycle, in which case the fault cannot be detected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from dais_verif.base.errors import ProgramError
from dais_verif.spec.machine.checks import validate
from dais_verif.spec.machine.edits import (
    add_constant,
    add_register,
    add_wire,
    incremented,
    inverted,
    part_of,
    set_connection,
    set_signal,
    types_of,
)
from dais_verif.spec.machine.model import Block, Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.order import deciding, indexed, signals_behind
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import Code, high_int32

__all__ = [
    "Fault",
    "FaultKind",
    "control_faults",
    "each_control_fault",
    "faults_of_decisions",
    "faults_of_enables",
    "faults_of_places",
    "faults_of_resets",
    "fed_back",
    "feeds_back",
]


def control_faults(machine: Machine) -> list[Fault]:
    """Return all single faults in the control of a valid ``machine``, in an order that only ``machine`` determines."""
    return list(each_control_fault(machine))


def each_control_fault(machine: Machine) -> Iterator[Fault]:
    """Yield control faults one by one: for a large machine, making all of them would take hours."""
    for propose in (faults_of_enables, faults_of_resets, faults_of_places, faults_of_decisions):
        for fault in propose(machine):
            try:
                validate(fault.machine)
            except ProgramError:  # a loop, or a source and an alternative of different kinds
                continue
            # A machine without registers has no clock port, which would be too obvious a fault.
            if fault.machine.registers and fault.machine != machine:
                yield fault


# The kinds of control faults.


class FaultKind(Enum):
    """The kind of a control fault."""

    # of enables
    NOT_ENABLED = "enable misses a register"
    FLUSH = "missing flush"
    INVERTED_ENABLE = "enable inverted"
    LATE_ENABLE = "enable one cycle late"
    ALTERNATIVE = "alternative dropped"
    STALE = "stale accumulator"
    # of resets and initial values
    NOT_RESET = "reset misses a register"
    LATE_RESET = "reset one cycle late"
    INVERTED_RESET = "reset inverted"
    HELD_RESET = "reset waits for the enable"
    RESET_VALUE = "wrong reset value"
    INITIAL = "wrong initial value"
    # of the place and time of data
    BANK = "bank swap missed"
    INDEX = "wrong index"
    MOVED = "moved by one element"
    EARLY = "early output"
    LATE = "late output"
    # of decisions
    COUNTER = "counter off by one"
    DECISION = "wrong decision"


@dataclass(frozen=True)
class Fault:
    """A control fault. ``machine``: the faulty machine. ``text``: the place and the change."""

    kind: FaultKind
    text: str
    machine: Machine

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}"


# Find the registers of a machine that are computed from themselves: counters, pointers, accumulators.


def feeds_back(machine: Machine, connection: Connection) -> bool:
    """Return True if a clocked connection writes a value that depends on its target."""
    return machine.clocked(connection) and connection.target.signal in signals_behind(machine, connection.source.signal)


def fed_back(machine: Machine) -> set[str]:
    """Return the registers that are computed from themselves, and all signals on the paths of these computations."""
    registers = {c.target.signal for c in machine.connections if feeds_back(machine, c)}
    return {name for name in machine.signals if any(_between(machine, name, register) for register in registers)}


def _between(machine: Machine, name: str, register: str) -> bool:
    return register in signals_behind(machine, name) and name in signals_behind(machine, register)


# Faults of decisions: counters that are off by one, and constants, gates and choices in blocks of control.


#: At most this many constants of one block are changed, and at most as many conditions.
_MOST = 8
#: The operations that replace AND, OR and XOR, as numbers in the data word.
_OTHER_GATE = {0: 1, 1: 0, 2: 1}


def faults_of_decisions(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each register that counts or accumulates, and of each block that computes control signals."""
    for number, connection in enumerate(machine.connections):
        if feeds_back(machine, connection):
            counted, view = incremented(machine, connection.source)
            faulty = set_connection(counted, number, replace(connection, source=view))
            yield Fault(FaultKind.COUNTER, f"{connection}: one more", faulty)
    signals = deciding(machine) | fed_back(machine)
    for block in machine.blocks.values():
        if block.outputs in signals:
            yield from _of_constants(machine, block)
            yield from _of_gates(machine, block)
            yield from _of_choices(machine, block)


def _of_constants(machine: Machine, block: Block) -> Iterator[Fault]:
    for op in [op for op in block.program.ops if _has_constant(op)][:_MOST]:
        for step in (1, -1):
            text = f"block {block.name}, {op}: constant {op.data + step} in place of {op.data}"
            yield Fault(FaultKind.DECISION, text, _with_data(machine, block, op, op.data + step))


def _has_constant(op: Op) -> bool:
    return op.code in (Code.CONST, Code.ADD_CONST) or any(term.op < 0 for term in op.terms)


def _of_gates(machine: Machine, block: Block) -> Iterator[Fault]:
    for op in [op for op in block.program.ops if op.code == Code.BIT_BINARY][:_MOST]:
        gate = op.data >> 56
        data = op.data - (gate << 56) + (_OTHER_GATE[gate] << 56)
        names = ("AND", "OR", "XOR")
        text = f"block {block.name}, {op}: {names[_OTHER_GATE[gate]]} in place of {names[gate]}"
        yield Fault(FaultKind.DECISION, text, _with_data(machine, block, op, data))


def _of_choices(machine: Machine, block: Block) -> Iterator[Fault]:
    muxes = [op for op in block.program.ops if op.code == Code.MUX and high_int32(op.data) == 0]
    for op in muxes[:_MOST]:
        columns = block.program.columns
        id0, id1 = columns.id0.copy(), columns.id1.copy()
        id0[op.index], id1[op.index] = op.id1, op.id0
        program = replace(block.program, columns=columns._replace(id0=id0, id1=id1))
        text = f"block {block.name}, {op}: the other operand"
        yield Fault(FaultKind.DECISION, text, _with_program(machine, block, program))


def _with_data(machine: Machine, block: Block, op: Op, data: int) -> Machine:
    columns = block.program.columns
    column = columns.data.copy()
    column[op.index] = data
    return _with_program(machine, block, replace(block.program, columns=columns._replace(data=column)))


def _with_program(machine: Machine, block: Block, program: Program) -> Machine:
    return replace(machine, blocks={**machine.blocks, block.name: replace(block, program=program)})


# Faults of enables, which are ignored, never 1, inverted or late, and of the alternatives that they select.


def faults_of_enables(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each connection with an enable."""
    for number, connection in enumerate(machine.connections):
        if connection.enable is None:
            continue
        where = f"{connection} if {connection.enable}"
        if connection.alternative is None:
            yield from _held(machine, number, connection, where)
        else:
            yield from _chosen(machine, number, connection, f"{where} else {connection.alternative}")
        late, view = add_register(machine, connection.enable)
        yield Fault(FaultKind.LATE_ENABLE, where, set_connection(late, number, replace(connection, enable=view)))


def _held(machine: Machine, number: int, connection: Connection, where: str) -> Iterator[Fault]:
    """Yield faults of a connection to a register that keeps its value while the connection is not enabled."""
    assert connection.enable is not None
    always = replace(connection, enable=None)
    yield Fault(FaultKind.NOT_ENABLED, f"{where}: always", set_connection(machine, number, always))
    yield Fault(FaultKind.FLUSH, f"{where}: never", set_connection(machine, number, None))
    other, view = inverted(machine, connection.enable)
    faulty = set_connection(other, number, replace(connection, enable=view))
    yield Fault(FaultKind.INVERTED_ENABLE, where, faulty)
    if connection.target.size > 1:
        first, rest = (
            replace(connection, source=part_of(connection.source, *span), target=part_of(connection.target, *span))
            for span in ((0, 1), (1, connection.target.size))
        )
        faulty = set_connection(machine, number, rest)
        faulty = replace(faulty, connections=(*faulty.connections, replace(first, enable=None)))
        yield Fault(FaultKind.NOT_ENABLED, f"{first}: always enabled, unlike its neighbours", faulty)


def _chosen(machine: Machine, number: int, connection: Connection, where: str) -> Iterator[Fault]:
    """Yield faults of a connection that has an alternative."""
    assert connection.alternative is not None
    source, other = connection.source, connection.alternative
    always = replace(connection, enable=None, alternative=None)
    kind = FaultKind.STALE if feeds_back(machine, connection) else FaultKind.ALTERNATIVE
    yield Fault(kind, f"{where}: always {source}", set_connection(machine, number, always))
    yield Fault(kind, f"{where}: always {other}", set_connection(machine, number, replace(always, source=other)))
    swapped = replace(connection, source=other, alternative=source)
    yield Fault(FaultKind.INVERTED_ENABLE, where, set_connection(machine, number, swapped))


# Faults of the place and time of data: indices, views that are off by one, outputs a cycle early or late.


def faults_of_places(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each index, of each view of a register, and of each output."""
    yield from _of_indices(machine)
    yield from _of_views(machine)
    yield from _of_outputs(machine)


def _of_indices(machine: Machine) -> Iterator[Fault]:
    values = dict.fromkeys(index.value for _, _, index in indexed(machine))
    for number, field, index in indexed(machine):
        (kind,) = types_of(machine, index.value)
        if not kind.width:
            continue
        where = f"{field} of {machine.connections[number]}"
        base, value = add_wire(machine, index.value, [FixedType(0, kind.i - 1, 0)])
        faulty = _with_index(base, number, field, value)
        yield Fault(FaultKind.BANK, f"{where}: highest bit of the index ignored", faulty)
        base, value = incremented(machine, index.value)
        yield Fault(FaultKind.INDEX, f"{where}: one more", _with_index(base, number, field, value))
        base, value = add_register(machine, index.value)
        yield Fault(FaultKind.INDEX, f"{where}: one cycle late", _with_index(base, number, field, value))
        for other in values:
            if other != index.value and types_of(machine, other) == (kind,):
                faulty = _with_index(machine, number, field, other)
                yield Fault(FaultKind.INDEX, f"{where}: {other} in its place", faulty)


def _with_index(machine: Machine, number: int, field: str, value: View) -> Machine:
    """Replace the index of the view ``field`` of a connection with ``value``."""
    connection = machine.connections[number]
    view: View = getattr(connection, field)
    assert view.index is not None
    view = replace(view, index=replace(view.index, value=value))
    return set_connection(machine, number, replace(connection, **{field: view}))


def _of_views(machine: Machine) -> Iterator[Fault]:
    """Yield faults in which a connection from or to a register reads one element later or earlier."""
    for number, connection in enumerate(machine.connections):
        source = connection.source
        if source.index is not None or not (machine.clocked(connection) or machine.signals[source.signal].register):
            continue
        for step in (1, -1):
            moved = replace(source, start=source.start + step, stop=source.stop + step)
            if moved.start >= 0 and moved.stop <= len(machine.signals[source.signal].types):
                faulty = set_connection(machine, number, replace(connection, source=moved))
                yield Fault(FaultKind.MOVED, f"{connection}: {moved} in its place", faulty)


def _of_outputs(machine: Machine) -> Iterator[Fault]:
    for number, connection in enumerate(machine.connections):
        target = machine.signals[connection.target.signal]
        if target.role is not Role.OUTPUT:
            continue
        if target.register:
            wire = replace(target, register=False, initial=None, reset=None)
            yield Fault(FaultKind.EARLY, f"{target.name} before its register", set_signal(machine, wire))
        elif (early := _before_register(machine, connection.source)) is not None:
            faulty = set_connection(machine, number, replace(connection, source=early))
            yield Fault(FaultKind.EARLY, f"{connection}: {early} in its place", faulty)
        late, view = add_register(machine, connection.source)
        faulty = set_connection(late, number, replace(connection, source=view))
        yield Fault(FaultKind.LATE, f"{connection}: one cycle late", faulty)


def _before_register(machine: Machine, view: View) -> View | None:
    """Return the source that a connection writes to the register elements in ``view``; None if there is none."""
    if view.index is not None or not machine.signals[view.signal].register:
        return None
    for connection in machine.connections:
        target = connection.target
        inside = target.signal == view.signal and target.start <= view.start and view.stop <= target.stop
        if inside and target.index is None and connection.source.index is None:
            return part_of(connection.source, view.start - target.start, view.stop - target.start)
    return None


# Faults of resets and of initial values.
#
# In the model, the value after a reset is also the initial value. For a fault in which they differ, a connection
# replaces the reset: the register takes a constant while the reset is 1, else its previous source.


#: The most elements of one register whose values are changed, one at a time.
_MOST_ELEMENTS = 4


def faults_of_resets(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each register that has a reset or an initial value."""
    loops = fed_back(machine)
    for signal in machine.registers:
        if signal.reset is not None:
            yield from _of_reset(machine, signal, FaultKind.STALE if signal.name in loops else FaultKind.NOT_RESET)
        if signal.initial is not None:
            yield from _of_values(machine, signal, signal.initial)


def _of_reset(machine: Machine, signal: Signal, never: FaultKind) -> Iterator[Fault]:
    assert signal.reset is not None
    assert signal.initial is not None
    where = f"{signal.name} by {signal.reset}"
    yield Fault(never, f"{where}: never reset", set_signal(machine, replace(signal, reset=None)))
    late, view = add_register(machine, signal.reset)
    yield Fault(FaultKind.LATE_RESET, where, set_signal(late, replace(signal, reset=view)))
    other, view = inverted(machine, signal.reset)
    yield Fault(FaultKind.INVERTED_RESET, where, set_signal(other, replace(signal, reset=view)))
    waiting = _by_connections(machine, signal, signal.initial, enabled=True)
    if waiting is not None:
        yield Fault(FaultKind.HELD_RESET, where, waiting)
    if len(signal.types) > 1:
        missed = _by_connections(machine, signal, signal.initial, first=1)
        if missed is not None:
            yield Fault(FaultKind.NOT_RESET, f"{where}: not its first element", missed)


def _of_values(machine: Machine, signal: Signal, initial: Sequence[Fraction]) -> Iterator[Fault]:
    places = [place for place, kind in enumerate(signal.types) if kind.width]
    for place in places[:: max(1, -(-len(places) // _MOST_ELEMENTS))]:
        for value in dict.fromkeys(
            (_next(initial[place], signal.types[place]), _far(initial[place], signal.types[place]))
        ):
            values = (*initial[:place], value, *initial[place + 1 :])
            text = f"{signal.name}[{place}]: {value} in place of {initial[place]}"
            wrong = replace(signal, initial=values)
            if signal.reset is None:
                yield Fault(FaultKind.INITIAL, text, set_signal(machine, wrong))
                continue
            yield Fault(FaultKind.RESET_VALUE, f"{text}, at power-up, too", set_signal(machine, wrong))
            reset = _by_connections(machine, signal, values)
            if reset is not None:
                yield Fault(FaultKind.RESET_VALUE, text, reset)
            power_up = _by_connections(machine, wrong, initial)
            if power_up is not None:
                yield Fault(FaultKind.INITIAL, text, power_up)


def _next(value: Fraction, kind: FixedType) -> Fraction:
    """Return the next larger value of type ``kind``; the smallest follows the largest."""
    step = Fraction(2) ** -kind.f
    return value + step if value < kind.raw_max * step else kind.raw_min * step


def _far(value: Fraction, kind: FixedType) -> Fraction:
    """Return ``value`` with its highest bit inverted."""
    step = Fraction(2) ** -kind.f
    raw, half = int(value / step), 1 << kind.width - 1
    return (raw + half if raw < kind.raw_min + half else raw - half) * step


def _by_connections(
    machine: Machine, signal: Signal, values: Sequence[Fraction], *, first: int = 0, enabled: bool = False
) -> Machine | None:
    """Return ``machine`` with connections that reset a register to ``values``, from its element ``first`` on.

    ``enabled``: the reset acts only where the write of the register is enabled. Returns None if a connection writes at
    an index, if some elements are never written, or if ``enabled`` and no connection has an enable.
    """
    assert signal.reset is not None
    machine = _split(machine, signal.name, first)
    writers = [n for n, c in enumerate(machine.connections) if c.target.signal == signal.name]
    connections = [machine.connections[n] for n in writers]
    whole = sum(c.target.size for c in connections) == len(signal.types)
    held = any(c.enable is not None and c.alternative is None for c in connections)
    if not whole or any(c.target.index for c in connections) or enabled > held:
        return None
    machine = set_signal(machine, replace(signal, reset=None))
    machine, constant = add_constant(machine, signal.types, values)
    for number, connection in zip(writers, connections, strict=True):
        target = connection.target
        if target.start < first:
            continue
        machine, taken = _taken(machine, connection, signal.types[target.start : target.stop], enabled)
        value = View(constant.signal, target.start, target.stop)
        if enabled and connection.enable is not None and connection.alternative is None:
            machine, chosen = _chosen_of_resets(machine, signal.reset, value, taken)
            changed = Connection(chosen, target, connection.enable)
        else:
            changed = Connection(value, target, signal.reset, taken)
        machine = set_connection(machine, number, changed)
    return machine


def _split(machine: Machine, name: str, first: int) -> Machine:
    """Split the connections to ``name`` that write elements on both sides of the boundary before ``first``."""
    for number, connection in enumerate(machine.connections):
        target = connection.target
        if target.signal != name or target.index is not None or not target.start < first < target.stop:
            continue
        spans = ((0, first - target.start), (first - target.start, target.size))
        parts = [
            replace(
                connection,
                source=part_of(connection.source, *span),
                target=part_of(target, *span),
                alternative=connection.alternative and part_of(connection.alternative, *span),
            )
            for span in spans
        ]
        machine = set_connection(machine, number, parts[0])
        machine = replace(machine, connections=(*machine.connections, parts[1]))
    return machine


def _taken(machine: Machine, connection: Connection, types: Sequence[FixedType], enabled: bool) -> tuple[Machine, View]:
    """Add a wire with the value that a connection writes while the reset is 0."""
    machine, source = add_wire(machine, connection.source, types)
    if connection.enable is None or (enabled and connection.alternative is None):
        return machine, source
    machine, other = add_wire(machine, connection.alternative or connection.target, types)
    return _chosen_of_resets(machine, connection.enable, source, other)


def _chosen_of_resets(machine: Machine, enable: View, source: View, other: View) -> tuple[Machine, View]:
    """Add a wire that is ``source`` where ``enable`` is 1 and ``other`` where it is 0; both are wires."""
    machine, chosen = add_wire(machine, source)
    return set_connection(machine, len(machine.connections) - 1, Connection(source, chosen, enable, other)), chosen
