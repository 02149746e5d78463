"""Judge the evidence of a machine's stages as for programs, by numbers of cycles instead of vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.record.signoff import StageResult
from dais_verif.record.simulation import OutputEvidence, SimulationRecord, SimulatorResult
from dais_verif.signoff.context import Context
from dais_verif.signoff.evidence import simulated
from dais_verif.signoff.judge import (
    NOTHING_FOUND,
    SENT,
    Asked,
    Judgement,
    distinct_of,
    judge_proof,
    judge_what_proves,
    of_subject,
    sound_proof,
)
from dais_verif.signoff.machines.cycles import SentCycles, input_combinations
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.signed_design import Subject
from dais_verif.spec.machine import Machine

__all__ = [
    "all_claims_proved",
    "elements_with_bits",
    "judge_machine_proof",
    "judge_machine_simulation",
    "judge_proof_of",
    "machine_outputs",
    "of_simulators",
]


def elements_with_bits(machine: Machine) -> list[int]:
    """Return the numbers of output elements that have bits."""
    kinds = (kind for signal in machine.outputs for kind in signal.types)
    return [number for number, kind in enumerate(kinds) if kind.width]


def judge_machine_simulation(context: Context, folder: Path, asked: Asked) -> Judgement:
    """Judge the output of a ``sim`` that must pass: every simulator, cycle, and known bit before and after the edge."""
    record, subject = simulated(folder), context.subject
    if record.verdict is not Verdict.PASS:
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce)
    sent = SentCycles.load(folder / SENT)
    problems = [*of_subject(subject, context.policy, record, asked), *_complete(record, asked, sent)]
    problems += _worth_it(subject.machine, record, asked, sent)
    return Judgement(record.verdict, record.message, tuple(problems), record.reproduce)


def _complete(record: SimulationRecord, asked: Asked, sent: SentCycles) -> Iterator[str]:
    if asked.rows < 1:
        yield "the policy requires no cycles"
    if record.vectors != asked.rows or sent.cycles != asked.rows:
        yield f"{record.vectors} cycles, of which {sent.cycles} are expected, must be {asked.rows}"
    yield from of_simulators(record, sent)


def of_simulators(record: SimulationRecord, sent: SentCycles) -> Iterator[str]:
    """Yield problems unless every simulator compared all known bits of ``sent`` and found them equal."""
    for simulator in record.simulators:
        yield from _of_simulator(simulator, sent)


def _of_simulator(simulator: SimulatorResult, sent: SentCycles) -> Iterator[str]:
    name = simulator.name
    if simulator.failure is not None:
        yield f"{name}: {simulator.failure}"
    if simulator.vectors_compared != sent.cycles or sent.cycles < 1:
        yield f"{name} compared {simulator.vectors_compared} of {sent.cycles} cycles"
    if simulator.bits_compared != sent.bits or sent.bits < 1:
        yield f"{name} compared {simulator.bits_compared} bits, must be {sent.bits}"
    if simulator.mismatches or simulator.vectors_with_x:
        yield f"{name} found {simulator.mismatches} mismatches and {simulator.vectors_with_x} cycles with X"
    if simulator.digest in (None, "", NOTHING_FOUND):
        yield f"{name} has no digest of the outputs that it found"
    # The results must equal those of the golden model, even where outputs were not compared.
    if simulator.digest != sent.digest:
        yield f"{name} found outputs that differ from the golden model, contrary to its report"
    if simulator.cached:
        yield f"{name} did not build the design for this run"
    if not simulator.version:
        yield f"{name} does not report its version"


def _worth_it(machine: Machine, record: SimulationRecord, asked: Asked, sent: SentCycles) -> Iterator[str]:
    wanted = distinct_of(input_combinations(machine), asked)
    if sent.distinct < wanted:
        yield f"the inputs of {sent.distinct} of {sent.cycles} cycles are different, must be at least {wanted}"
    if sent.unseen:
        some = ", ".join(map(str, sent.unseen[:8]))
        yield f"elements {some} of the outputs are unknown in all cycles, and were not compared"


def judge_machine_proof(subject: Subject, policy: Policy, folder: Path) -> Judgement:
    """Judge the output of ``prove``: outputs are equal in every cycle for all inputs, and all registers match."""
    return judge_what_proves(subject, policy, folder, _proof_problems)


def judge_proof_of(subject: Subject, policy: Policy, folder: Path) -> Judgement:
    """Judge the output of ``prove`` for the signed-off design, a program or a machine."""
    judge = judge_machine_proof if subject.is_machine else judge_proof
    return judge(subject, policy, folder)


def _proof_problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
    yield from sound_proof(subject, policy, record)
    yield from all_claims_proved(subject, record)


def all_claims_proved(subject: Subject, record: ProofRecord) -> Iterator[str]:
    """Yield problems unless every output and all claims on registers, which the induction needs, are proved."""
    if record.machine is None:
        yield "the proof is not that of a machine: it says nothing about registers"
    found = {claim.output: claim.status for claim in record.outputs}
    wanted = elements_with_bits(subject.machine)
    missing = [number for number in wanted if found.get(number) is not Status.PROVED]
    if missing or not wanted:
        some = ", ".join(map(str, missing[:8]))
        yield f"elements {some} of the outputs are not proved" if missing else "there is no output to prove"
    if subject.is_kernel and (record.kernel is None or record.kernel.folded is not Verdict.PASS):
        said = "nothing" if record.kernel is None else record.kernel.message
        yield f"the machine is not proved to compute what the members of the kernel do: {said}"
    rest = [number for number, status in found.items() if number not in missing and status is not Status.PROVED]
    if rest:
        yield f"{len(rest)} claims on registers, which the induction needs, are not proved"


def machine_outputs(context: Context, results: Sequence[StageResult], proved: bool) -> list[OutputEvidence]:
    """Return the best evidence for each output element. ``proved``: the proof counts as evidence."""
    machine = context.subject.machine
    with_bits = set(elements_with_bits(machine))
    cycles = [0] * sum(len(signal.types) for signal in machine.outputs)
    for seed in context.policy.seeds:
        if any(r.name == f"simulation, seed {seed}" and r.passed for r in results):
            sent = SentCycles.load(context.folder / f"simulation-{seed}" / SENT)
            for number in with_bits - set(sent.unseen):
                cycles[number] += sent.cycles
    return [
        OutputEvidence(number, _grade(number in with_bits, proved, count), count) for number, count in enumerate(cycles)
    ]


def _grade(has_bits: bool, proved: bool, cycles: int) -> str:
    return "none" if not has_bits else "proved" if proved else "sampled" if cycles else "none"
