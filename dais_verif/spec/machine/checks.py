"""Check machines before anything runs: one function per rule, one line per message."""

from __future__ import annotations

from itertools import pairwise

from dais_verif.base.errors import MachineError
from dais_verif.base.text import counted
from dais_verif.spec.machine.model import Block, Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.order import settling_order
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.types import type_of_interval

__all__ = ["BIT", "input_types", "output_types", "validate"]

#: The type of a condition, which is an enable or a reset.
BIT = FixedType(0, 1, 0)
_NOTHING = FixedType(0, 0, 0)


def validate(machine: Machine) -> None:
    """Raise ``ProgramError`` for the first rule that ``machine`` breaks; return None if it is valid."""
    for block in machine.blocks.values():
        _check_block(machine, block)
    _check_reserved_names(machine)
    for signal in machine.signals.values():
        _check_reset(machine, signal)
    for connection in machine.connections:
        _check_connection(machine, connection)
    _check_drivers(machine)
    settling_order(machine)


def input_types(block: Block) -> tuple[FixedType, ...]:
    """Return the types with which a block reads its inputs; an input that no op reads has no bits.

    Raises ``ProgramError`` if two ops read one input with different types, since its wire then has no defined type.
    """
    found: dict[int, FixedType] = {}
    for op in block.program.ops:
        if op.code == INPUT and found.setdefault(op.id0, op.type) != op.type:
            raise MachineError(
                f"block {block.name}: {op} reads input {op.id0} as {op.type}, an earlier one as {found[op.id0]};"
                " in a machine all must read it in one type"
            )
    return tuple(found.get(j, _NOTHING) for j in range(block.program.n_in))


def output_types(block: Block) -> tuple[FixedType, ...]:
    """Return the types of a block's outputs, from the intervals that its source declares, if any."""
    program = block.program
    if program.intervals is None:
        return program.output_types
    return tuple(_declared(program, *output) for output in program.outputs)


def _declared(program: Program, index: int, shift: int, negated: bool) -> FixedType:
    if index < 0:
        return _NOTHING
    assert program.intervals is not None
    lo, hi = program.intervals[index]
    return type_of_interval(*((-hi, -lo) if negated else (lo, hi)), program.ops[index].type.f - shift)


def _check_block(machine: Machine, block: Block) -> None:
    shifted = [j for j, shift in enumerate(block.program.inp_shift.tolist()) if shift]
    if shifted:
        raise MachineError(
            f"block {block.name}: input {shifted[0]} has an inp_shift; the value on a machine's wire would be"
            " undefined, so inputs of its blocks must have none"
        )
    for name, types in ((block.inputs, input_types(block)), (block.outputs, output_types(block))):
        signal = machine.signals[name]
        if signal.register or signal.role is not Role.INTERNAL:
            raise MachineError(f"block {block.name}: {name} must be an internal wire")
        if signal.types == types or (name == block.outputs and signal.types == block.program.output_types):
            continue
        if len(signal.types) != len(types):
            many = counted(len(signal.types), "element")
            raise MachineError(f"block {block.name}: {name} has {many}, must be {len(types)}")
        j = next(j for j, (have, want) in enumerate(zip(signal.types, types, strict=True)) if have != want)
        raise MachineError(f"block {block.name}: {name}[{j}] has type {signal.types[j]}, the block has {types[j]}")


def _check_reserved_names(machine: Machine) -> None:
    ports = {name for block in machine.blocks.values() for name in (block.inputs, block.outputs)}
    for name in machine.signals:
        if name.startswith("INTERNAL_") and name.endswith(("_inp", "_outp")) and name not in ports:
            raise MachineError(
                f"signal {name}: there is no block of that name; names of this form are for ports of blocks"
            )


def _check_reset(machine: Machine, signal: Signal) -> None:
    if signal.reset is None:
        return
    if not signal.register:
        raise MachineError(f"signal {signal.name}: a wire cannot be reset; only registers can")
    _check_condition(machine, signal.reset, f"signal {signal.name}: its reset")


def _check_condition(machine: Machine, view: View, what: str) -> None:
    types = machine.signals[view.signal].types[view.start : view.stop]
    if types != (BIT,) or view.index is not None:
        raise MachineError(f"{what} is {view}, must be one element of type {BIT}, at a fixed place")


def _check_connection(machine: Machine, connection: Connection) -> None:
    what = f"connection {connection}"
    target = machine.signals[connection.target.signal]
    if target.role is Role.INPUT:
        raise MachineError(f"{what}: {target.name} is an input of the machine, which only the outside drives")
    if any(block.outputs == target.name for block in machine.blocks.values()):
        raise MachineError(f"{what}: {target.name} is driven by its block")
    if connection.enable is not None:
        _check_condition(machine, connection.enable, f"{what}: its enable")
        if connection.alternative is None and not target.register:
            raise MachineError(f"{what}: a wire with an enable needs an alternative source, since it holds no value")
    elif connection.alternative is not None:
        raise MachineError(f"{what}: an alternative source needs an enable that selects it")
    views = [view for view in (connection.source, connection.alternative, connection.target) if view is not None]
    for view in views:
        if view.size != connection.target.size:
            many = counted(view.size, "element")
            raise MachineError(f"{what}: {view} has {many}, the target {connection.target.size}")
        _check_index(machine, view, what)
    if connection.target.index is not None and not target.register:
        raise MachineError(f"{what}: a wire is driven at fixed places; only registers are written at an index")
    kinds = {machine.signals[view.signal].register for view in views[:-1]}
    if len(kinds) > 1:
        raise MachineError(f"{what}: source and alternative must both be registers or both be wires")


def _check_index(machine: Machine, view: View, what: str) -> None:
    if view.index is None:
        return
    index = view.index.value
    types = machine.signals[index.signal].types[index.start : index.stop]
    if len(types) != 1 or types[0].k or types[0].f or index.index is not None:
        raise MachineError(f"{what}: the index {index} must be one unsigned integer element, at a fixed place")
    if view.index.stride < 1:
        raise MachineError(f"{what}: the stride of {view} is {view.index.stride}, must be at least 1")
    signal, size = machine.signals[view.signal], view.size
    base = signal.types[view.start : view.stop]
    if signal.types == base[:1] * len(signal.types):
        return
    for start in range(view.start, len(signal.types) - size + 1, view.index.stride):
        if signal.types[start : start + size] != base:
            every = counted(view.index.stride, "element")
            raise MachineError(f"{what}: the types of {view.signal} must repeat every {every}")
        if start - view.start >= view.index.stride * types[0].raw_max:
            break


def _check_drivers(machine: Machine) -> None:
    written: dict[str, list[tuple[int, int, Connection]]] = {}
    for connection in machine.connections:
        target = connection.target
        written.setdefault(target.signal, []).append((target.start, target.stop, connection))
    for name, spans in written.items():
        spans.sort(key=lambda span: span[:2])
        for (_, stop, first), (start, _, second) in pairwise(spans):
            if start < stop:
                raise MachineError(f"signal {name}[{start}] is driven twice, by {first} and by {second}")
    by_block = {block.outputs for block in machine.blocks.values()}
    for signal in machine.signals.values():
        if signal.register or signal.role is Role.INPUT or signal.name in by_block:
            continue
        driven = {e for start, stop, _ in written.get(signal.name, []) for e in range(start, stop)}
        for e, kind in enumerate(signal.types):
            if kind.width and e not in driven:
                raise MachineError(f"signal {signal.name}[{e}]: nothing drives it, and a wire holds no value")
