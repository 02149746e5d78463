"""Add, remove or replace a part of a machine: each edit returns a new machine, which is not checked yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dais_verif.machine.checks import output_types
from dais_verif.machine.model import Block, Connection, Machine, Signal, View
from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import Code

__all__ = [
    "add_block",
    "add_constant",
    "add_register",
    "add_wire",
    "incremented",
    "inverted",
    "part_of",
    "set_connection",
    "set_signal",
    "types_of",
]

#: An op of a block that computes on one element: code, id0, id1, data, type. Op 0 is the one that reads the element.
Row = tuple[int, int, int, int, FixedType]


def types_of(machine: Machine, view: View) -> tuple[FixedType, ...]:
    """Return the types of the elements of ``view``, which do not depend on the value of its index."""
    return machine.signals[view.signal].types[view.start : view.stop]


def part_of(view: View, start: int, stop: int) -> View:
    """Return a view of elements ``start`` to ``stop - 1``, counted within ``view``."""
    return replace(view, start=view.start + start, stop=view.start + stop)


def set_connection(machine: Machine, number: int, connection: Connection | None) -> Machine:
    """Replace the connection at ``number`` with ``connection``; None removes it."""
    before, after = machine.connections[:number], machine.connections[number + 1 :]
    return replace(machine, connections=(*before, *([connection] if connection else []), *after))


def set_signal(machine: Machine, signal: Signal) -> Machine:
    """Replace the signal that has the name of ``signal`` with ``signal``, or append ``signal`` if there is none."""
    return replace(machine, signals={**machine.signals, signal.name: signal})


def add_wire(machine: Machine, source: View, types: Sequence[FixedType] | None = None) -> tuple[Machine, View]:
    """Add a wire that copies ``source``, with the types ``types``, or else with those of ``source``."""
    name = _fresh(machine.signals, "wire")
    signal = Signal(name, tuple(types or types_of(machine, source)))
    return _connected(machine, source, signal)


def add_register(machine: Machine, source: View) -> tuple[Machine, View]:
    """Add a register that takes ``source`` at each edge and is 0 at power-up."""
    types = types_of(machine, source)
    name = _fresh(machine.signals, "register")
    signal = Signal(name, types, register=True, initial=tuple(Fraction(0) for _ in types))
    return _connected(machine, source, signal)


def add_constant(machine: Machine, types: Sequence[FixedType], values: Sequence[Fraction]) -> tuple[Machine, View]:
    """Add a wire that carries ``values``, from a register that nothing writes."""
    name = _fresh(machine.signals, "constant")
    machine = set_signal(machine, Signal(name, tuple(types), register=True, initial=tuple(values)))
    return add_wire(machine, View(name, 0, len(types)))


def _connected(machine: Machine, source: View, signal: Signal) -> tuple[Machine, View]:
    whole = View(signal.name, 0, len(signal.types))
    machine = set_signal(machine, signal)
    return replace(machine, connections=(*machine.connections, Connection(source, whole))), whole


def add_block(machine: Machine, source: View, rows_of: Callable[[FixedType], Sequence[Row]]) -> tuple[Machine, View]:
    """Add a block that computes the ops ``rows_of(type)`` on each element of ``source``; the last op is the output.

    The operands in these ops are numbered as if there were only one element: op 0 reads it.
    """
    types = types_of(machine, source)
    ops: list[Row] = []
    outputs = []
    for element, kind in enumerate(types):
        first = len(ops)
        ops.append((Code.INPUT, element, -1, 0, kind))
        ops += [(code, a + first, b + first if b >= 0 else -1, data, to) for code, a, b, data, to in rows_of(kind)]
        outputs.append((len(ops) - 1, 0, 0))
    name = _fresh(machine.blocks, "block")
    program = Program.build(ops, outputs, inp_shift=[0] * len(types))
    block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
    machine = replace(machine, blocks={**machine.blocks, name: block})
    machine = set_signal(machine, Signal(block.outputs, output_types(block)))
    machine, _ = _connected(machine, source, Signal(block.inputs, types))
    return machine, View(block.outputs, 0, len(types))


def inverted(machine: Machine, condition: View) -> tuple[Machine, View]:
    """Add a block that inverts ``condition``, which is one bit."""
    return add_block(machine, condition, lambda kind: [(Code.BIT_UNARY, 0, -1, 0, kind)])


def incremented(machine: Machine, view: View) -> tuple[Machine, View]:
    """Add a block that increments each element of ``view`` by one unit of its type, with wrap-around."""

    def rows_of(kind: FixedType) -> list[Row]:
        if not kind.width:
            return []
        wider = FixedType(kind.k, kind.i + 1, kind.f)
        return [(Code.ADD_CONST, 0, -1, 1, wider), (Code.QUANT, 1, -1, 0, kind)]

    return add_block(machine, view, rows_of)


def _fresh(taken: Mapping[str, object], stem: str) -> str:
    return next(name for number in range(len(taken) + 1) if (name := f"added_{stem}_{number}") not in taken)
