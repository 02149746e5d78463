"""Make the statements of an ``always`` block by which connections write into a register."""

from __future__ import annotations

from dais_verif.emitter.machines.bits import Vector, joined
from dais_verif.emitter.machines.storage import Memory, window_of
from dais_verif.emitter.machines.views import Reader, address, element, index_bits, step_of
from dais_verif.machine import Connection, Machine, View
from dais_verif.machine.ports import bits_of, offsets_of

__all__ = ["write"]


def write(machine: Machine, reader: Reader, vector: Vector, memory: Memory | None, connection: Connection) -> list[str]:
    """Return the statements by which ``connection`` writes into a register: ``memory``, or ``vector`` if it is None.

    The wires that the statements need are written first.
    """
    target = connection.target
    types = machine.signals[target.signal].types[target.start : target.stop]
    if not bits_of(types):
        return []
    value = " ".join(joined(reader.copy(connection.source, types)))
    other = None
    if connection.alternative is not None:
        other = " ".join(joined(reader.copy(connection.alternative, types)))
    enable = None if connection.enable is None else str(element(machine, reader.vectors, connection.enable))
    if _needs_a_wire(machine, target, memory):
        value = _wire(reader, vector, bits_of(types), value if other is None else f"{enable} ? {value} : {other}")
        lines = _one_by_one(machine, reader, target, vector, value)
        held = enable is not None and other is None
        return [f"if ({enable}) begin", *(f"  {line}" for line in lines), "end"] if held else lines
    place, inside = _place(machine, reader, target, vector, memory)
    if enable is None:
        lines = [f"{place} <= {value};"]
    elif other is None:
        lines = [f"if ({enable}) {place} <= {value};"]
    else:
        lines = [f"if ({enable}) {place} <= {value};", f"else {place} <= {other};"]
    return lines if inside is None else [f"if ({inside}) begin", *(f"  {line}" for line in lines), "end"]


def _needs_a_wire(machine: Machine, target: View, memory: Memory | None) -> bool:
    """Return True if the positions of ``target`` are not evenly spaced, or if a part can be outside the register."""
    if target.index is None or memory is not None:
        return False
    return window_of(machine, target).torn or step_of(machine, target) is None


def _wire(reader: Reader, vector: Vector, width: int, value: str) -> str:
    name = reader.names.take(f"{vector.name}_written")
    reader.out.wrapped(f"wire [{width - 1}:0] {name} = ", value.split(" "), ";")
    return name


def _place(
    machine: Machine, reader: Reader, target: View, vector: Vector, memory: Memory | None
) -> tuple[str, str | None]:
    """Return the target of the write, and the condition that it is within the register (None if it always is)."""
    if target.index is None:
        if memory is not None:
            return f"{vector.name}[{target.start // memory.size}]", None
        return str(element(machine, reader.vectors, target)), None
    index, window = index_bits(machine, reader.vectors, target), window_of(machine, target)
    low = offsets_of(machine.signals[target.signal].types)[target.start]
    if memory is not None:
        first = target.start // memory.size
        place = str(first) if index is None else address(index, target.index.stride // memory.size, first)
        text = f"{vector.name}[{place}]"
    else:
        step = step_of(machine, target)
        assert step is not None
        place = str(low) if index is None else address(index, step, low)
        width = bits_of(machine.signals[target.signal].types[target.start : target.stop])
        text = f"{vector.name}[{place} +: {width}]"
    whole = element(machine, reader.vectors, target.index.value)
    return text, f"{whole} <= {window.last}" if window.leaves else None


def _one_by_one(machine: Machine, reader: Reader, target: View, vector: Vector, value: str) -> list[str]:
    """Return one statement per index, which writes the part of ``target`` that is within the register."""
    assert target.index is not None
    offsets = offsets_of(machine.signals[target.signal].types)
    whole = element(machine, reader.vectors, target.index.value)
    lines = []
    for index in range(window_of(machine, target).reach + 1):
        start = target.start + index * target.index.stride
        low, high = offsets[start], offsets[min(start + target.size, len(offsets) - 1)]
        if high > low:
            lines.append(f"if ({whole} == {index}) {vector.name}[{high - 1}:{low}] <= {value}[{high - low - 1}:0];")
    return lines
