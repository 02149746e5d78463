"""Seed faults that must be detected: RTL with wrong bits, and a machine that computes something else.

For each fault, the number of cycles in which it is visible, and the first of them, are known in advance.
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
from dais_verif.errors import DaisError, PolicyError, ProgramError
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
from dais_verif.simulation.testbench.packed_rows import Words

__all__ = ["PoisonedMachine", "poisoned_machine", "sometimes_wrong_cycles"]

#: The number of rows chosen for RTL that is sometimes wrong: evenly spread, each with a different inverted output bit.
_WRONG_ROWS = 8
#: A faulty machine is chosen at once if it differs before this cycle, and in at least this many of a thousand cycles.
_EARLY, _OFTEN = 64, 5
#: The maximum number of faults that are tried, for control and for data each.
_MOST_TRIED = 32


@dataclass(frozen=True)
class PoisonedMachine:
    """A faulty machine.

    ``what``: the fault, as text. ``cycles``: the number of cycles in which the fault is visible; ``first``: the first
    such cycle.
    """

    machine: Machine
    data: bytes
    what: str
    cycles: int
    first: int


# the machine


def poisoned_machine(context: Context) -> PoisonedMachine:
    """Return the machine with a fault in its control or data that is visible in simulation.

    The bits that differ are known in both machines, so every simulator must see the fault in exactly these cycles.
    Raises ``InputError`` if no fault qualifies.
    """
    machine = context.subject.machine
    best: PoisonedMachine | None = None
    for what, faulty in _tried(machine):
        try:
            found = _planted(context, machine, what, faulty)
        except DaisError:  # the faulty machine breaks a promise, or no file can represent it
            continue
        if found is None:
            continue
        total = context.policy.vectors or 1
        if found.first < _EARLY and found.cycles * 1000 >= _OFTEN * total:
            return found
        if best is None or (found.first, -found.cycles) < (best.first, -best.cycles):
            best = found
    if best is None:
        raise PolicyError(
            "no fault of this machine is visible in these cycles, so that no golden model can be poisoned"
        )
    return best


def _tried(machine: Machine) -> Iterator[tuple[str, Machine]]:
    """Yield faulty machines and their faults: one control fault of each kind, faults of data, then the other faults."""
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
    """Yield machines in which the source of an output is larger by one in the last bit."""
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
    """Return ``faulty`` as a poisoned machine; None if its fault is not visible, or would appear as X in simulation."""
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
    """Return for each cycle whether known bits of its two rows differ.

    None if ``theirs`` knows bits that ``ours`` does not: simulators would show X there. ``bits``: a row in which all
    bits of the outputs are set.
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
    """Return the design with wrong bits in only some of the cycles of ``rows``, including the last.

    Only output bits that are known in every cycle are used. Wherever they equal those of one of the chosen rows, one
    of them is inverted; which one depends on the row. Raises ``InputError`` if no bit is known in all cycles.
    """
    width = interface.output_bits
    mask = reduce(np.bitwise_and, (_always_known(one) for one in rows), _ones(width))
    bits = [bit for bit in range(width) if int(mask[bit // 64]) >> (bit % 64) & 1]
    if not bits or not rows:
        raise PolicyError(
            "no bit of the outputs is known in all cycles: no known-bad RTL with a visible fault can be made"
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
    """Return for each row whether it is not 0."""
    found: NDArray[np.bool_] = (rows != 0).any(axis=1)
    return found


def _ones(width: int) -> Words:
    """Return a row of words with the lowest ``width`` bits set."""
    words = -(-max(width, 1) // 64)
    found: Words = np.frombuffer(((1 << width) - 1).to_bytes(8 * words, "little"), dtype="<u8")
    return found


def _always_known(rows: SequenceRows) -> Words:
    if rows.known is None:
        return np.full(rows.expected.shape[1], (1 << 64) - 1, dtype="<u8")
    found: Words = np.bitwise_and.reduce(rows.known, axis=0)
    return found
