"""Seed faults that must be detected: RTL with wrong bits, and a machine with another meaning.

For each, the cycles in which it is visible, and the first of them, are known in advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.dut.interface import DesignInterface
from dais_verif.errors import DaisError, InputError, ProgramError
from dais_verif.machine import Machine, Role, parse_machine, validate
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.machine.edits import incremented, set_connection
from dais_verif.machine.faults import FaultKind, each_control_fault
from dais_verif.machine.ports import bits_of
from dais_verif.signoff.context import Context
from dais_verif.signoff.machines.cycles import expected_of, sequences_of
from dais_verif.signoff.seeded_faults import SeededFault
from dais_verif.signoff.wrappers import OriginalDesign, inverting_wrapper
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.testbench.machine_job import SequenceRows
from dais_verif.simulation.testbench.packing import Words

__all__ = ["PoisonedMachine", "poisoned_machine", "sometimes_wrong_cycles"]

#: The number of rows, spread over all, with a wrong bit in RTL that is sometimes wrong; each in another output bit.
_WRONG_ROWS = 8
#: A faulty machine is acceptable if it shows a difference this early, and this often in a thousand cycles.
_EARLY, _OFTEN = 64, 5
#: The largest number of tries, with a fault of control and of data.
_MOST_TRIED = 32


@dataclass(frozen=True)
class PoisonedMachine:
    """A faulty machine: ``what`` is wrong, and the ``cycles`` in which it shows, from ``first`` on."""

    machine: Machine
    data: bytes
    what: str
    cycles: int
    first: int


# the machine


def poisoned_machine(context: Context) -> PoisonedMachine:
    """Return the machine with a fault in its control, else in its data, that is visible in simulation.

    Known bits differ, so that every simulator must see the fault in exactly these cycles. Raises ``InputError`` if no
    fault qualifies.
    """
    machine = context.subject.machine
    best: PoisonedMachine | None = None
    for what, faulty in _tried(machine):
        try:
            found = _planted(context, machine, what, faulty)
        except DaisError:  # it breaks a promise, or no file can represent it
            continue
        if found is None:
            continue
        total = context.policy.vectors or 1
        if found.first < _EARLY and found.cycles * 1000 >= _OFTEN * total:
            return found
        if best is None or (found.first, -found.cycles) < (best.first, -best.cycles):
            best = found
    if best is None:
        raise InputError(
            "no fault of this machine shows in these cycles: no golden model can be poisoned so that it is"
        )
    return best


def _tried(machine: Machine) -> Iterator[tuple[str, Machine]]:
    """Machines with a fault: some of control, the first of each kind that comes first, then faults of data."""
    kinds: set[FaultKind] = set()
    others: list[tuple[str, Machine]] = []
    for fault in islice(each_control_fault(machine), _MOST_TRIED):
        if fault.kind in kinds:
            others.append((str(fault), fault.machine))
            continue
        kinds.add(fault.kind)
        yield str(fault), fault.machine
    yield from islice(_of_data(machine), _MOST_TRIED)
    yield from others


def _of_data(machine: Machine) -> Iterator[tuple[str, Machine]]:
    """Yield machines in which the source of an output is one unit in the last place larger."""
    for number, connection in enumerate(machine.connections):
        if machine.signals[connection.target.signal].role is not Role.OUTPUT:
            continue
        edited, view = incremented(machine, connection.source)
        faulty = set_connection(edited, number, replace(connection, source=view))
        try:
            validate(faulty)
        except ProgramError:
            continue
        yield f"{connection}: one more", faulty


def _planted(context: Context, machine: Machine, what: str, faulty: Machine) -> PoisonedMachine | None:
    """Write ``faulty`` to a file, if its fault shows in known bits that the RTL also knows."""
    data = machine_json(faulty)
    read = parse_machine(data)
    if read.hash == machine.hash:
        return None
    sequences = sequences_of(context, read, context.policy.vectors, context.policy.seeds[0])
    theirs = expected_of(context, read, sequences)
    ours = expect(machine, sequences, check=False)
    bits = _ones(sum(bits_of(signal.types) for signal in machine.outputs))
    wrong = [_wrong(a, b, bits) for a, b in zip(ours, theirs, strict=True)]
    if any(one is None for one in wrong):
        return None
    cycles = np.concatenate([one for one in wrong if one is not None])
    shown = np.flatnonzero(cycles)
    return PoisonedMachine(read, data, what, len(shown), int(shown[0])) if len(shown) else None


def _wrong(ours: SequenceRows, theirs: SequenceRows, bits: Words) -> NDArray[np.bool_] | None:
    """Return the cycles in which rows differ; None if theirs knows bits that ours does not: simulators would show X.

    ``bits``: a row with all existing bits set.
    """
    known = bits if theirs.known is None else theirs.known
    if ours.known is not None and (known & ~ours.known).any():
        return None
    rows = _any((ours.expected ^ theirs.expected) & known)
    return rows[0::2] | rows[1::2]


# the RTL


def sometimes_wrong_cycles(
    interface: DesignInterface, design: OriginalDesign, rows: Sequence[SequenceRows], seed: int
) -> SeededFault:
    """Return the design with wrong bits in some of the cycles of ``rows`` only, the last one among them.

    Where the known bits of its outputs equal those of one of the chosen rows, one bit is inverted, a different one for
    each row. Raises ``InputError`` if there is no such bit.
    """
    width = interface.output_bits
    mask = reduce(np.bitwise_and, (_always_known(one) for one in rows), _ones(width))
    bits = [bit for bit in range(width) if int(mask[bit // 64]) >> (bit % 64) & 1]
    if not bits or not rows:
        raise InputError(
            "no bit of the outputs is known in all cycles: no known-bad RTL can be made that shows in some"
        )
    expected = np.concatenate([one.expected for one in rows]) & mask
    chosen = np.unique(np.linspace(0, len(expected) - 1, _WRONG_ROWS).astype(int))
    patterns = np.unique(expected[chosen], axis=0)
    which = np.random.default_rng(seed).permutation(bits)
    inverted: dict[int, tuple[int, ...]] = {}
    for number in range(len(patterns)):
        bit = int(which[number % len(bits)])
        inverted[bit] = (*inverted.get(bit, ()), number)
    rare = [int.from_bytes(pattern.tobytes(), "little") for pattern in patterns]
    hit = _any(np.stack([(expected == pattern).all(axis=1) for pattern in patterns], axis=1))
    spoilt = np.flatnonzero(hit[0::2] | hit[1::2])
    outer = f"{design.top}_sometimes_wrong"
    compared = int.from_bytes(mask.tobytes(), "little")
    text = inverting_wrapper(interface, design, outer, rare, inverted, None if len(bits) == width else compared)
    return SeededFault(outer, text, len(spoilt), int(spoilt[0]))


def _any(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the rows that are not 0."""
    found: NDArray[np.bool_] = (rows != 0).any(axis=1)
    return found


def _ones(width: int) -> Words:
    """Return a row of ``width`` bits that are 1."""
    words = -(-max(width, 1) // 64)
    found: Words = np.frombuffer(((1 << width) - 1).to_bytes(8 * words, "little"), dtype="<u8")
    return found


def _always_known(rows: SequenceRows) -> Words:
    if rows.known is None:
        return np.full(rows.expected.shape[1], (1 << 64) - 1, dtype="<u8")
    found: Words = np.bitwise_and.reduce(rows.known, axis=0)
    return found
