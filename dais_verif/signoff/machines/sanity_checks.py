"""Stages that must fail, for machines: a fault is seeded in the RTL or in the machine, and the same checks are run.

Each passes only if exactly this fault is detected: by every simulator with the right number of wrong cycles and the
right first one; by the prover with a sequence from power-up that a simulator confirms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import DaisError, PolicyError, ProgramError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    plain_path,
    program_arguments,
    prove_arguments,
    write_json,
)
from dais_verif.signoff.evidence import proved, read_tree, simulated
from dais_verif.signoff.inverting_wrappers import OriginalDesign, inverting_wrapper
from dais_verif.signoff.judge import Asked, Judgement
from dais_verif.signoff.machines.cycles import (
    asked_of,
    clock_arguments,
    clock_of,
    expected_of,
    sequences_of,
    simulate_machine,
)
from dais_verif.signoff.seeded_faults import (
    SEEDED_FAULT,
    SeededFault,
    always_wrong,
    is_of_what_was_seeded,
    original_design,
    problems_of_spoilt,
    with_bad,
)
from dais_verif.signoff.verbs import call
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.simulation.testbench.packed_rows import Words
from dais_verif.simulation.testbench.sequence_job import SequenceRows
from dais_verif.spec.machine import Machine, Role, parse_machine, validate
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.edits import incremented, set_connection
from dais_verif.spec.machine.faults import FaultKind, each_control_fault
from dais_verif.spec.machine.ports import bits_of

__all__ = [
    "PoisonedMachine",
    "poisoned_machine",
    "seed_faults_in_machine_proof",
    "seed_faults_in_machine_simulation",
    "sometimes_wrong_cycles",
]


_POISONED = "poisoned.json"


def seed_faults_in_machine_simulation(good: str) -> list[SignOffStage]:
    """Return the stages with seeded faults for the simulation in folder ``good``."""
    known_bad, poisoned = "known-bad RTL, simulated", "poisoned model, simulated"
    return [
        SignOffStage(known_bad, "known-bad-rtl", _simulate_bad, _judge_simulated, True, (good,)),
        SignOffStage(poisoned, "poisoned-model", _simulate_poisoned, _judge_simulated, True, (good,)),
    ]


def seed_faults_in_machine_proof(good: tuple[str, ...]) -> list[SignOffStage]:
    """Return the stages with seeded faults for the proof. ``good``: the folders of the simulation and the proof."""
    known_bad, poisoned = "known-bad RTL, proof", "poisoned model, proof"
    return [
        SignOffStage(known_bad, "known-bad-proof", _prove_bad, _judge_proved, True, good),
        SignOffStage(poisoned, "poisoned-proof", _prove_poisoned, _judge_proved, True, good),
    ]


# seeding


def _simulate_bad(context: Context, folder: Path) -> None:
    asked, machine, design = _asked(context), context.subject.machine, original_design(context)
    rows = expected_of(context, machine, sequences_of(context, machine, context.policy.vectors, asked.seed))
    bad = sometimes_wrong_cycles(interface_of(machine, clock_of(context)), design, rows, asked.seed)
    files = [*with_bad(context, folder, bad, design.suffix), *clock_arguments(context)]
    simulate_machine(context, folder, files, asked, context.policy.vectors, program_arguments(context.subject))


def _simulate_poisoned(context: Context, folder: Path) -> None:
    machine = _poisoned(context, folder)
    simulate_machine(context, folder, _files(context), _asked(context), context.policy.vectors, machine)


def _prove_bad(context: Context, folder: Path) -> None:
    design = original_design(context)
    bad = always_wrong(interface_of(context.subject.machine, clock_of(context)), design)
    files = [*with_bad(context, folder, bad, design.suffix), *clock_arguments(context)]
    call("prove", prove_arguments(context, program_arguments(context.subject), files), folder)


def _prove_poisoned(context: Context, folder: Path) -> None:
    machine = _poisoned(context, folder)
    call("prove", prove_arguments(context, machine, _files(context)), folder)


def _files(context: Context) -> list[str]:
    return [*file_arguments(context.subject, context.policy), *clock_arguments(context)]


def _asked(context: Context) -> Asked:
    return asked_of(context, context.policy.seeds[0], rtl=False)


def _poisoned(context: Context, folder: Path) -> list[str]:
    """Write the poisoned machine and its description into ``folder``, and return the arguments for it."""
    made = poisoned_machine(context)
    make_folder(folder)
    path = folder / _POISONED
    write_atomically(path, made.data)
    hashes = [file.sha256 for file in context.subject.of("rtl")]
    seeded = {"program": made.machine.hash, "top": context.subject.top, "rtl": hashes, "file": path.name}
    write_json(folder / SEEDED_FAULT, {**seeded, "rows": made.cycles, "first": made.first, "what": made.what})
    return [plain_path(path)]


# judging


def _judge_simulated(context: Context, folder: Path) -> Judgement:
    record, seeded, asked = simulated(folder), read_tree(folder / SEEDED_FAULT), _asked(context)
    problems = tuple(problems_of_spoilt(context, folder, seeded, record, asked))
    what = f" ({seeded['what']})" if "what" in seeded else ""
    message = f"found in all {seeded.get('rows')} cycles that were corrupted{what}, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, problems, record.reproduce)


def _judge_proved(context: Context, folder: Path) -> Judgement:
    record, seeded = proved(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(is_of_what_was_seeded(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256))
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    replay = None if record.machine is None else record.machine.replay
    if replay is None or replay.partition(":")[0] != Verdict.RTL_MISMATCH.value:
        problems.append("no simulator confirms the sequence that was found")
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)


# Seed faults that must be detected: RTL with wrong bits, and a machine that computes something else.
#
# For each fault, the number of cycles in which it is visible, and the first of them, are known in advance.


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
