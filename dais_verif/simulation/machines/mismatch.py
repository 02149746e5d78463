"""Describe the first difference of a machine's run: cycle, signal and element."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.golden.oracle import show
from dais_verif.machine import Machine
from dais_verif.record.simulation import Blame, CyclePlace, InputValue, Mismatch
from dais_verif.simulation.diagnosis.blame import value_of_bits
from dais_verif.simulation.machines.rows import bits_of_value, element_bits
from dais_verif.simulation.testbench.machine_job import MachineDifference, differs
from dais_verif.stimulus.machines import InputSequence

__all__ = ["describe"]


def describe(
    machine: Machine, sequences: Sequence[InputSequence], simulator: str, number: int, difference: MachineDifference
) -> Mismatch:
    """Return the first element that differs; numbers of outputs and inputs count elements of all signals."""
    elements = list(
        zip(element_bits(machine, difference.expected), element_bits(machine, difference.found), strict=True)
    )
    output = next(j for j, ((_, _, expected), (_, _, found)) in enumerate(elements) if differs(expected, found))
    (signal, element, expected), (_, _, found) = elements[output]
    kind = signal.types[element]
    place = CyclePlace(number, difference.cycle, "after" if difference.after else "before", signal.name, element)
    inputs: list[InputValue] = []
    for given in machine.inputs:
        row = sequences[number].rows[given.name][difference.cycle]
        for e, (value, of) in enumerate(zip(row, given.types, strict=True)):
            name = given.name if len(given.types) == 1 else f"{given.name}[{e}]"
            inputs.append(InputValue(len(inputs), show(value), bits_of_value(value, of), name))
    earlier = sum(sequence.cycles for sequence in sequences[:number])
    return Mismatch(
        simulator=simulator,
        row=earlier + difference.cycle,
        output=output,
        expected=value_of_bits(expected, kind),
        found=value_of_bits(found, kind),
        inputs=inputs,
        blame=Blame("cycle", str(place)),
        place=place,
    )
