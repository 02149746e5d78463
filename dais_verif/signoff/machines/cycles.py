"""Simulate a machine's RTL, and regenerate the simulated cycles and the required results."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import xor
from pathlib import Path

import msgspec
import numpy as np

from dais_verif.base.errors import PolicyError
from dais_verif.base.structs import converted
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.context import Context, file_arguments, program_arguments, simulator_arguments, write_json
from dais_verif.signoff.evidence import read_tree, simulated
from dais_verif.signoff.judge import SENT, Asked
from dais_verif.signoff.verbs import call
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.scoreboard import digest_of_sequence
from dais_verif.simulation.testbench.sequence_job import SequenceRows
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK, bits_of
from dais_verif.stimulus.generate_sequences import generate_sequences
from dais_verif.stimulus.machines import InputSequence, given_sequences

__all__ = [
    "SentCycles",
    "asked_of",
    "clock_of",
    "expected_of",
    "input_combinations",
    "machine_design",
    "sequences_of",
    "simulate_machine",
]


def clock_of(context: Context) -> str:
    """Return the clock port of the RTL."""
    return context.policy.rtl.clock or CLOCK


def machine_design(context: Context) -> list[str]:
    """Return the signed-off RTL as arguments of ``sim`` and ``prove``."""
    subject, policy = context.subject, context.policy
    if subject.emitted:
        return ["--top", subject.top]
    return [*file_arguments(subject, policy), *clock_arguments(context)]


def clock_arguments(context: Context) -> list[str]:
    """Return the arguments for the clock of user RTL; none if the policy does not name it."""
    clock = context.policy.rtl.clock
    return [] if clock is None else ["--clock", clock]


def sequences_of(context: Context, machine: Machine, vectors: int, seed: int) -> list[InputSequence]:
    """Return all input sequences of a run: those in files, then ``vectors`` cycles generated for ``machine``."""
    given = [one for file in context.subject.of("input") for one in given_sequences(Path(file.path), machine)]
    made = generate_sequences(machine, vectors, seed) if vectors else []
    return [sequence for sequence in (*given, *made) if sequence.cycles]


def expected_of(context: Context, machine: Machine, sequences: Sequence[InputSequence]) -> list[SequenceRows]:
    """Return the output of the golden model for ``sequences``, one item per sequence.

    Raises ``ViolationError`` for a broken promise, unless the policy has ``overflow = "unchecked"``.
    """
    return expect(machine, sequences, check=context.policy.overflow != "unchecked")


def input_combinations(machine: Machine) -> int:
    """Return the number of different inputs that are possible in a cycle."""
    return 1 << sum(bits_of(signal.types) for signal in machine.inputs)


def asked_of(
    context: Context, seed: int, vectors: int | None = None, *, rtl: bool = True, covered: bool = False
) -> Asked:
    """Return the requirements on a simulation; rows are cycles."""
    policy, machine = context.policy, context.subject.machine
    given = (given_sequences(Path(file.path), machine) for file in context.subject.of("input"))
    rows = sum(one.cycles for each in given for one in each) + (policy.vectors if vectors is None else vectors)
    distinct = policy.distinct if vectors is None and policy.distinct is not None else rows // 10
    return Asked(rows, seed, policy.simulators, distinct, rtl=rtl, swept=False, covered=covered)


@dataclass(frozen=True)
class SentCycles:
    """A summary of the cycles of a run.

    ``cycles``, ``sequences``: the numbers of cycles and of sequences. ``distinct``: the number of cycles with different
    inputs. ``bits``: the number of known output bits, before and after all edges. ``unseen``: the output elements of
    which no bit is ever known. ``digest``: the digest that a simulator must report if its outputs are those of the
    golden model.
    """

    cycles: int
    sequences: int
    distinct: int
    bits: int
    unseen: list[int]
    digest: str
    inputs_sha256: str

    @classmethod
    def load(cls, path: Path) -> SentCycles:
        """Load a summary from the file ``path``. Raises ``InputError`` if it does not hold one."""
        try:
            return converted(read_tree(path), cls)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise PolicyError(f"{str(path)!r} has no valid data on cycles: {error}") from None

    @classmethod
    def of(cls, machine: Machine, rows: Sequence[SequenceRows]) -> SentCycles:
        """Return the summary of ``rows``, the sequences of a run in order."""
        inputs = hashlib.sha256()
        for one in rows:
            inputs.update(len(one.inputs).to_bytes(8, "little") + np.ascontiguousarray(one.inputs).tobytes())
        seen = reduce(np.bitwise_or, (_ever_known(one) for one in rows)) if rows else np.zeros(1, dtype="<u8")
        known = int.from_bytes(seen.astype("<u8").tobytes(), "little")
        width = sum(bits_of(signal.types) for signal in machine.outputs)
        return cls(
            cycles=sum(len(one.inputs) for one in rows),
            sequences=len(rows),
            distinct=len(np.unique(np.concatenate([one.inputs for one in rows]), axis=0)) if rows else 0,
            bits=sum(_known_bits(one, width) for one in rows),
            unseen=_unseen(machine, known),
            digest=f"{reduce(xor, (digest_of_sequence(n, r.expected, r.known) for n, r in enumerate(rows)), 0):064x}",
            inputs_sha256=inputs.hexdigest(),
        )


def _ever_known(rows: SequenceRows) -> np.ndarray:
    """Return the output bits that are known in any row."""
    if rows.known is None:
        return np.full(rows.expected.shape[1], (1 << 64) - 1, dtype="<u8")
    found: np.ndarray = np.bitwise_or.reduce(rows.known, axis=0)
    return found


def _known_bits(rows: SequenceRows, width: int) -> int:
    if rows.known is None:
        return len(rows.expected) * width
    return int(np.unpackbits(np.ascontiguousarray(rows.known).view(np.uint8)).sum())


def _unseen(machine: Machine, known: int) -> list[int]:
    """Return the numbers of the output elements of which no bit is ``known``; elements without bits are left out."""
    kinds = [kind for signal in machine.outputs for kind in signal.types]
    found, offset = [], 0
    for number, kind in enumerate(kinds):
        if kind.width and not known >> offset & ((1 << kind.width) - 1):
            found.append(number)
        offset += kind.width
    return found


def simulate_machine(
    context: Context, folder: Path, design: list[str], asked: Asked, vectors: int, machine: list[str] | None = None
) -> SimulationRecord:
    """Run ``sim`` on ``design`` in every simulator for every cycle.

    If it passes, a summary of the required results is written into ``folder``. ``machine``: the arguments of a machine
    other than the signed-off one, for which no summary is written.
    """
    policy, subject = context.policy, context.subject
    arguments = [*(machine or program_arguments(subject)), *design]
    arguments += ["--vectors", str(vectors), "--seed", str(asked.seed)]
    # The policy's number of cycles applies to each simulator, and all cycles go through the ports.
    arguments += [*simulator_arguments(asked.simulators), "--no-bulk"]
    arguments += [part for file in subject.of("input") for part in ("--inputs", file.path)]
    arguments += ["--unchecked"] if policy.overflow == "unchecked" else []
    arguments += ["--coverage"] if asked.covered else []
    arguments += ["--jobs", str(context.jobs)] if context.jobs else []
    call("sim", arguments, folder)
    record = simulated(folder)
    if machine is None and record.verdict is Verdict.PASS:
        sequences = sequences_of(context, subject.machine, vectors, asked.seed)
        sent = SentCycles.of(subject.machine, expected_of(context, subject.machine, sequences))
        write_json(folder / SENT, asdict(sent))
    return record
