"""Compute expected outputs of a machine, as packed rows: with the fast engine if possible, else with the oracle.

The oracle stays the reference: if it takes only seconds, a design is blamed only for differences that it confirms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.golden.machine import trace_machine
from dais_verif.golden.machine_batch import run_raw
from dais_verif.golden.oracle import show
from dais_verif.record.simulation import Blame, CyclePlace, InputValue, Mismatch
from dais_verif.simulation.diagnosis.blame import value_of_bits
from dais_verif.simulation.machines.rows import (
    bits_of_value,
    element_bits,
    expected_rows,
    input_words,
    output_words,
    words_of_rows,
)
from dais_verif.simulation.testbench.sequence_job import MachineDifference, SequenceRows, differs
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of
from dais_verif.stimulus.machines import InputSequence, raw_rows

__all__ = ["contradiction", "describe", "expect"]


#: The number of ops times cycles that the oracle computes in a few seconds.
_MOST_EXACT = 1_000_000
#: The maximum number of output elements times cycles times sequences computed at once: half a gigabyte.
_MOST_AT_ONCE = 1 << 25


def expect(machine: Machine, sequences: Sequence[InputSequence], *, check: bool) -> list[SequenceRows]:
    """Return inputs and expected outputs of each sequence.

    If ``check``, raises ``ViolationError`` with the oracle's message for a broken promise, and with the sequence if
    there are several.
    """
    found: dict[int, SequenceRows] = {}
    for numbers in _groups(machine, sequences):
        found |= zip(numbers, _expect(machine, sequences, numbers, check), strict=True)
    return [found[number] for number in range(len(sequences))]


def _groups(machine: Machine, sequences: Sequence[InputSequence]) -> Iterator[list[int]]:
    """Yield the numbers of sequences of equal length: the fast engine runs them in parallel."""
    by_length: dict[int, list[int]] = {}
    for number, sequence in enumerate(sequences):
        by_length.setdefault(sequence.cycles, []).append(number)
    elements = sum(len(signal.types) for signal in machine.outputs)
    for cycles, numbers in by_length.items():
        most = max(_MOST_AT_ONCE // max(cycles * elements, 1), 1)
        for start in range(0, len(numbers), most):
            yield numbers[start : start + most]


def _expect(
    machine: Machine, sequences: Sequence[InputSequence], numbers: Sequence[int], check: bool
) -> list[SequenceRows]:
    group = [sequences[number] for number in numbers]
    try:
        found = _fast(machine, group, check)
    except (ViolationError, InputError):  # the oracle then reports which sequence fails, and why
        if len(numbers) > 1:
            return [rows for number in numbers for rows in _expect(machine, sequences, [number], check)]
        found = None
    try:
        return [
            _exact_rows(machine, sequence, check) if rows is None else rows
            for sequence, rows in zip(group, found or [None] * len(group), strict=True)
        ]
    except ViolationError as error:
        if len(sequences) == 1:
            raise
        raise ViolationError(f"sequence {numbers[0]}, {error}") from None


def _fast(machine: Machine, group: Sequence[InputSequence], check: bool) -> list[SequenceRows | None] | None:
    """Return the rows of sequences of one length; None if the fast engine cannot compute one of them, or any."""
    cycles = group[0].cycles
    raw = {
        signal.name: np.stack([raw_rows(sequence.rows[signal.name], signal.types) for sequence in group])
        for signal in machine.inputs
    }
    run = run_raw(machine, raw, sequences=len(group), cycles=cycles, check=check)
    if run is None:
        return None
    n_out = sum(len(signal.types) for signal in machine.outputs)
    found: list[SequenceRows | None] = []
    for number, sequence in enumerate(group):
        if number in run.beyond:
            found.append(None)
            continue
        before, after = (raw[:, :, number] for raw in (run.before, run.after))
        known = None
        if run.unknowns and (before[:, n_out:].any() or after[:, n_out:].any()):
            # Either all bits of an element are known, or none.
            known = output_words(machine, before[:, n_out:] - 1, after[:, n_out:] - 1)
        expected = output_words(machine, before[:, :n_out], after[:, :n_out])
        found.append(
            SequenceRows(input_words(machine, sequence), expected if known is None else expected & known, known)
        )
    return found


def _exact_rows(machine: Machine, sequence: InputSequence, check: bool) -> SequenceRows:
    bits = sum(bits_of(signal.types) for signal in machine.outputs)
    expected, known = words_of_rows(list(_exact(machine, sequence, check)), bits)
    return SequenceRows(input_words(machine, sequence), expected, known)


def _exact(machine: Machine, sequence: InputSequence, check: bool) -> Iterator[str]:
    cycles = trace_machine(machine, sequence.rows, check=check, cycles=sequence.cycles)
    return (row for cycle in cycles for row in expected_rows(machine, cycle))


def contradiction(
    machine: Machine, sequence: InputSequence, difference: MachineDifference, *, check: bool
) -> str | None:
    """Return how the oracle contradicts ``difference``; None if it does not, or if that takes too long."""
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    if n_ops * difference.cycle > _MOST_EXACT:
        return None
    number = 2 * difference.cycle + difference.after
    row = next(islice(_exact(machine, sequence, check), number, None))
    if row == difference.expected:
        return None
    when = f"cycle {difference.cycle}, {'after' if difference.after else 'before'} its edge"
    return f"the golden engines disagree in {when}: the oracle gives {row}, the fast engine {difference.expected}"


# Describe the first difference of a machine's run: cycle, signal and element.


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
