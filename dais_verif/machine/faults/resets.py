"""Faults of resets and of initial values.

In the model, the value after a reset is also the initial value. For a fault in which they differ, a connection replaces
the reset: the register takes a constant while the reset is 1, else its previous source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dais_verif.machine.edits import add_constant, add_register, add_wire, inverted, part_of, set_connection, set_signal
from dais_verif.machine.faults.dependence import fed_back
from dais_verif.machine.faults.kinds import Fault, FaultKind
from dais_verif.machine.model import Connection, Machine, Signal, View
from dais_verif.program import FixedType

__all__ = ["faults_of_resets"]

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
            machine, chosen = _chosen(machine, signal.reset, value, taken)
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
    return _chosen(machine, connection.enable, source, other)


def _chosen(machine: Machine, enable: View, source: View, other: View) -> tuple[Machine, View]:
    """Add a wire that is ``source`` where ``enable`` is 1 and ``other`` where it is 0; both are wires."""
    machine, chosen = add_wire(machine, source)
    return set_connection(machine, len(machine.connections) - 1, Connection(source, chosen, enable, other)), chosen
