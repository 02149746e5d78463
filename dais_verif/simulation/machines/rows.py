"""What a machine is given and what it must answer, as rows of bits; and its ports as a bench sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dais_verif.dut.interface import Clocking, DesignInterface, Wire
from dais_verif.golden.machine import Cycle, Value, Values
from dais_verif.golden.oracle import quantise, two
from dais_verif.machine import Machine, Signal
from dais_verif.machine.ports import bits_of, port_names
from dais_verif.program import FixedType
from dais_verif.simulation.testbench.machine_job import UNKNOWN
from dais_verif.stimulus.machines import InputSequence

__all__ = ["bits_of_value", "element_bits", "expected_rows", "input_row", "interface_of", "row_of"]


def interface_of(machine: Machine, clock: str) -> DesignInterface:
    """The ports of ``machine``: a packed row of inputs, or of outputs, is those signals one after the other."""
    names = port_names(machine)
    clocking = Clocking(clock) if machine.registers else None
    return DesignInterface(_wires(machine.inputs, names), _wires(machine.outputs, names), clocking)


def _wires(signals: Sequence[Signal], names: dict[str, str]) -> tuple[Wire, ...]:
    wires, offset = [], 0
    for signal in signals:
        width = bits_of(signal.types)
        wires.append(Wire(names[signal.name], offset, width))
        offset += width
    return tuple(wires)


def bits_of_value(value: Value, kind: FixedType) -> str:
    """The bits of one element, most significant first; what is unknown has none that are expected."""
    if value is None:
        return UNKNOWN * kind.width
    if kind.width == 0:
        return ""
    raw = int(quantise(value, kind) * two(kind.f))
    return format(raw & ((1 << kind.width) - 1), f"0{kind.width}b")


def input_row(machine: Machine, sequence: InputSequence, cycle: int) -> str:
    """The packed row of inputs of ``cycle``; 0 and 1 in turn if they have no bits."""
    row = _row(machine.inputs, {name: rows[cycle] for name, rows in sequence.rows.items()})
    return row if any(kind.width for signal in machine.inputs for kind in signal.types) else str(cycle & 1)


def expected_rows(machine: Machine, cycle: Cycle) -> Iterator[str]:
    """The packed rows of outputs before the edge of ``cycle``, and after it. A row without bits is one 0."""
    for values in (cycle.before, cycle.after):
        yield _row(machine.outputs, values)


def _row(signals: Sequence[Signal], values: Values | dict[str, Sequence[Fraction]]) -> str:
    return row_of(
        [
            bits_of_value(value, kind)
            for signal in signals
            for value, kind in zip(values[signal.name], signal.types, strict=True)
        ]
    )


def row_of(elements: Sequence[str]) -> str:
    """The packed row of ``elements``, the first one in the least significant bits; one 0 if they have no bits."""
    return "".join(reversed(elements)) or "0"


def element_bits(machine: Machine, row: str) -> Iterator[tuple[Signal, int, str]]:
    """Of each element of the outputs, in order: signal, number in it, and its bits in ``row``."""
    end = len(row)
    for signal in machine.outputs:
        for element, kind in enumerate(signal.types):
            yield signal, element, row[end - kind.width : end]
            end -= kind.width
