"""Add, remove or replace a part of a machine: each edit returns a new machine, which is not checked yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dais_verif.spec.machine.builder import MachineBuilder
from dais_verif.spec.machine.checks import output_types
from dais_verif.spec.machine.model import Block, Connection, Machine, Role, Signal, View
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code

__all__ = [
    "add_block",
    "add_constant",
    "add_register",
    "add_wire",
    "embed",
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


# Embed a machine in one under construction: add its signals, blocks and connections, with prefixed names.


def embed(
    made: MachineBuilder,
    machine: Machine,
    prefix: str,
    *,
    without: Collection[str] = (),
    given: Mapping[str, View] | None = None,
) -> dict[str, View]:
    """Add ``machine`` to ``made``, with ``prefix`` before each name, and return its signals by their original names.

    Inputs become wires for the caller to drive, or the views in ``given``, which must not have an index. Outputs become
    internal. ``without``: signals to leave out, together with all connections that read or write them; no reset may
    read them.
    """
    views: dict[str, View] = {}
    named = given or {}
    inside = {name: block for block in machine.blocks.values() for name in (block.inputs, block.outputs)}
    for block in machine.blocks.values():
        added = made.block(f"{prefix}{block.name}", block.program)
        views[block.inputs], views[block.outputs] = added.inputs, added.outputs
    for signal in machine.signals.values():
        if signal.role is Role.INPUT and signal.name in named:
            views[signal.name] = named[signal.name]
        elif signal.name not in inside and signal.name not in without and signal.role is Role.INPUT:
            views[signal.name] = made.wire(f"{prefix}{signal.name}", signal.types)
    for signal in machine.signals.values():
        if signal.name not in views and signal.name not in without:
            views[signal.name] = _added(made, signal, prefix, views)
    for one in machine.connections:
        touched = {one.target.signal, *(view.signal for view in one.reads)}
        if touched.isdisjoint(without):
            made.connect(
                _moved(one.source, views),
                _moved(one.target, views),
                enable=None if one.enable is None else _moved(one.enable, views),
                otherwise=None if one.alternative is None else _moved(one.alternative, views),
            )
    return views


def _added(made: MachineBuilder, signal: Signal, prefix: str, views: Mapping[str, View]) -> View:
    name = f"{prefix}{signal.name}"
    if not signal.register:
        return made.wire(name, signal.types)
    # A reset may be a register that is added later, but its name is known already.
    reset = None
    if signal.reset is not None:
        there = signal.reset.signal in views
        reset = _moved(signal.reset, views) if there else replace(signal.reset, signal=f"{prefix}{signal.reset.signal}")
    return made.register(name, signal.types, initial=signal.initial, reset=reset)


def _moved(view: View, views: Mapping[str, View]) -> View:
    index = view.index
    moved = None if index is None else replace(index, value=_moved(index.value, views))
    base = views[view.signal]
    return View(base.signal, base.start + view.start, base.start + view.stop, moved)
