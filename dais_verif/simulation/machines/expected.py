"""What a machine must answer, as rows of bits: from the fast engine where it can, else from the oracle.

The oracle is the judge all the same: where it takes seconds, what a design is blamed for is what the oracle says, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from dais_verif.errors import InputError, ViolationError
from dais_verif.golden.machine import Value, trace_machine
from dais_verif.golden.machine_batch import run_machine
from dais_verif.machine import Machine, Signal
from dais_verif.simulation.machines.rows import expected_rows, row_of
from dais_verif.simulation.testbench.machine_job import UNKNOWN, MachineDifference
from dais_verif.stimulus.machines import InputSequence

__all__ = ["contradiction", "expect"]

#: Ops times cycles that the oracle computes in some seconds.
_MOST_EXACT = 1_000_000
#: Bits of a number, and of its exponent, that float64 holds in any case.
_BITS, _EXPONENT = 53, 900


def expect(machine: Machine, sequence: InputSequence, *, check: bool) -> Iterator[str]:
    """The packed rows of outputs before and after each edge.

    Raises ``ViolationError``, in the oracle's words, for the first broken promise if ``check``.
    """
    found = _fast(machine, sequence, check)
    return iter(found) if found is not None else _exact(machine, sequence, check)


def _exact(machine: Machine, sequence: InputSequence, check: bool) -> Iterator[str]:
    cycles = trace_machine(machine, sequence.rows, check=check, cycles=sequence.cycles)
    return (row for cycle in cycles for row in expected_rows(machine, cycle))


def _fast(machine: Machine, sequence: InputSequence, check: bool) -> list[str] | None:
    """The rows, or None where the fast engine cannot say, or finds a broken promise."""
    if not sequence.rows or not all(map(_is_double, _values(sequence))):
        return None
    arrays = {name: np.array([[[float(v) for v in row] for row in rows]]) for name, rows in sequence.rows.items()}
    try:
        before, after = (
            run_machine(machine, arrays, after=late, check=check, engine="fast").outputs for late in (False, True)
        )
    except (ViolationError, InputError):
        return None
    rows = []
    for cycle in range(sequence.cycles):
        for found in (before, after):
            values = {name: array[0, cycle].tolist() for name, array in found.items()}
            rows.append(_row(machine.outputs, values))
    return rows


def _values(sequence: InputSequence) -> Iterator[Value]:
    return (value for rows in sequence.rows.values() for row in rows for value in row)


def _is_double(value: Value) -> bool:
    """Whether float64 holds ``value`` exactly; some that it holds are not known to be held."""
    if value is None:
        return False
    return value.numerator.bit_length() <= _BITS and value.denominator.bit_length() <= _EXPONENT


def _row(signals: Iterable[Signal], values: dict[str, list[float]]) -> str:
    def bits(value: float, width: int, f: int) -> str:
        return (
            UNKNOWN * width
            if math.isnan(value)
            else format(int(math.ldexp(value, f)) & ((1 << width) - 1), f"0{width}b")
        )

    return row_of(
        [
            bits(value, kind.width, kind.f) if kind.width else ""
            for signal in signals
            for value, kind in zip(values[signal.name], signal.types, strict=True)
        ]
    )


def contradiction(
    machine: Machine, sequence: InputSequence, difference: MachineDifference, *, check: bool
) -> str | None:
    """What the oracle says otherwise than ``difference`` expects; None if nothing, or if it would take too long."""
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    if n_ops * difference.cycle > _MOST_EXACT:
        return None
    number = 2 * difference.cycle + difference.after
    row = next(islice(_exact(machine, sequence, check), number, None))
    if row == difference.expected:
        return None
    when = f"cycle {difference.cycle}, {'after' if difference.after else 'before'} its edge"
    return f"the golden engines disagree in {when}: the oracle gives {row}, the fast engine {difference.expected}"
