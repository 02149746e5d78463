"""Inputs and expected outputs of a machine as rows of bits, and its ports as a bench sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dais_verif.golden.machine import Cycle, Value, Values
from dais_verif.golden.oracle import quantise, two
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Wire
from dais_verif.simulation.scoreboard import words_of_text
from dais_verif.simulation.testbench.packed_rows import Words
from dais_verif.simulation.testbench.packing import pack_outputs
from dais_verif.simulation.testbench.sequence_job import UNKNOWN
from dais_verif.spec.machine import Machine, Signal
from dais_verif.spec.machine.ports import bits_of, port_names
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import IntArray
from dais_verif.spec.program.ports import Element, Ports
from dais_verif.stimulus.machines import InputSequence, raw_rows

__all__ = [
    "bits_of_value",
    "element_bits",
    "expected_rows",
    "input_words",
    "interface_of",
    "output_words",
    "words_of_rows",
]


def interface_of(machine: Machine, clock: str) -> DesignInterface:
    """Return the ports of ``machine``: a packed row of inputs, or of outputs, is the concatenation of its signals."""
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
    """Return the bits of one element, most significant first; an unknown value matches any bits."""
    if value is None:
        return UNKNOWN * kind.width
    if kind.width == 0:
        return ""
    raw = int(quantise(value, kind) * two(kind.f))
    return format(raw & ((1 << kind.width) - 1), f"0{kind.width}b")


def input_words(machine: Machine, sequence: InputSequence) -> Words:
    """Return the packed rows of inputs, one per cycle; if inputs have no bits, rows are 0 and 1 in turn."""
    if not any(kind.width for signal in machine.inputs for kind in signal.types):
        return np.arange(sequence.cycles, dtype="<u8").reshape(-1, 1) & np.uint64(1)
    columns: list[IntArray] = []
    for signal in machine.inputs:
        raw = raw_rows(sequence.rows[signal.name], signal.types)
        columns += [raw[:, element] for element in range(len(signal.types))]
    return pack_outputs(columns, Ports((), _elements(machine.inputs)), sequence.cycles)


def output_words(machine: Machine, before: IntArray, after: IntArray) -> Words:
    """Return packed rows of outputs, two per cycle, from raw outputs (cycles, elements) before and after each edge."""
    ports = Ports((), _elements(machine.outputs))
    early, late = (pack_outputs(list(raw.T), ports, len(raw)) for raw in (before, after))
    return np.stack([early, late], axis=1).reshape(-1, early.shape[1])


def words_of_rows(rows: Sequence[str], bits: int) -> tuple[Words, Words | None]:
    """Convert rows of text to packed words; also return which bits are known, or None if all are."""
    if not any(UNKNOWN in row for row in rows):
        return words_of_text(list(rows), bits)[0], None
    known = ["".join("0" if bit == UNKNOWN else "1" for bit in row) for row in rows]
    return words_of_text([row.replace(UNKNOWN, "0") for row in rows], bits)[0], words_of_text(known, bits)[0]


def _elements(signals: Sequence[Signal]) -> tuple[Element, ...]:
    found, offset = [], 0
    for signal in signals:
        for kind in signal.types:
            found.append(Element(offset, kind.width, -kind.f))
            offset += kind.width
    return tuple(found)


def expected_rows(machine: Machine, cycle: Cycle) -> Iterator[str]:
    """Yield the packed rows of outputs before the edge of ``cycle``, and after it. A row without bits is one 0."""
    for values in (cycle.before, cycle.after):
        yield _row(machine.outputs, values)


def _row(signals: Sequence[Signal], values: Values) -> str:
    elements = [
        bits_of_value(value, kind)
        for signal in signals
        for value, kind in zip(values[signal.name], signal.types, strict=True)
    ]
    return "".join(reversed(elements)) or "0"


def element_bits(machine: Machine, row: str) -> Iterator[tuple[Signal, int, str]]:
    """Yield for each element of the outputs, in order: its signal, its number in that, and its bits in ``row``."""
    end = len(row)
    for signal in machine.outputs:
        for element, kind in enumerate(signal.types):
            yield signal, element, row[end - kind.width : end]
            end -= kind.width
