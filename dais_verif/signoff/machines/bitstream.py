"""The stages that read back, simulate and prove the bitstream of a machine, and that detect a seeded wrong table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.bitstreams.stages import (
    FOLDER,
    problems_of_fault,
    problems_of_proof,
    seed_wrong_table,
    with_read_back,
)
from dais_verif.signoff.context import Context, SignOffStage, program_arguments, prove_arguments
from dais_verif.signoff.evidence import proved
from dais_verif.signoff.judge import Asked, Judgement, judge_what_proves
from dais_verif.signoff.machines.cycles import asked_of, clock_arguments, simulate_machine
from dais_verif.signoff.machines.judge import all_claims_proved, judge_machine_simulation
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.subject import Subject
from dais_verif.signoff.verbs import call
from dais_verif.verdict import Verdict

__all__ = ["BITSTREAM", "KNOWN_BAD", "PROVED_BITSTREAM", "machine_bitstream_stages"]

BITSTREAM, PROVED_BITSTREAM, KNOWN_BAD = FOLDER, "bitstream-proof", "known-bad-bitstream"


def machine_bitstream_stages(good: str, policy: Policy) -> list[SignOffStage]:
    """Return the stages, with those of proofs only if ``policy`` requires proofs.

    ``good``: the folder of the first simulation. The fault is seeded only for a proof, since the cycles in which a
    wrong table is visible in simulation are not known in advance.
    """
    stages = [SignOffStage("bitstream", BITSTREAM, _run, _judge, needs=(good,), waiver="bitstream")]
    if policy.proof == "off":
        return stages
    bad, needs = "known-bad bitstream, proof", (BITSTREAM, PROVED_BITSTREAM)
    name = "bitstream, for all inputs"
    return [
        *stages,
        SignOffStage(name, PROVED_BITSTREAM, _prove, _judge_proof, needs=(BITSTREAM,), waiver="bitstream"),
        SignOffStage(bad, KNOWN_BAD, _prove_bad, _judge_bad, True, needs),
    ]


def _design(context: Context, bitstream: Path | None = None) -> list[str]:
    subject, policy = context.subject, context.policy
    bits = subject.only("bitstream").path if bitstream is None else str(bitstream)
    words = ["--bitstream", bits, "--pins", subject.only("pins").path, "--device", str(policy.bitstream.device)]
    return [*words, "--top", subject.top, *clock_arguments(context)]


def _asked(context: Context) -> Asked:
    return asked_of(context, context.policy.seeds[0], context.policy.bitstream.vectors, rtl=False)


def _run(context: Context, folder: Path) -> None:
    simulate_machine(context, folder, _design(context), _asked(context), context.policy.bitstream.vectors)


def _judge(context: Context, folder: Path) -> Judgement:
    return with_read_back(judge_machine_simulation(context, folder, _asked(context)), folder)


def _prove(context: Context, folder: Path) -> None:
    call("prove", prove_arguments(context, program_arguments(context.subject), _design(context)), folder)


def _judge_proof(context: Context, folder: Path) -> Judgement:
    def problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
        yield from problems_of_proof(context, folder, record)
        yield from all_claims_proved(subject, record)

    return judge_what_proves(context.subject, context.policy, folder, problems)


def _prove_bad(context: Context, folder: Path) -> None:
    design = _design(context, seed_wrong_table(context, folder))
    call("prove", prove_arguments(context, program_arguments(context.subject), design), folder)


def _judge_bad(context: Context, folder: Path) -> Judgement:
    record = proved(folder)
    problems = [*problems_of_fault(context, folder, record)]
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    replay = None if record.machine is None else record.machine.replay
    if replay is None or replay.partition(":")[0] != Verdict.RTL_MISMATCH.value:
        problems.append("no simulator confirms the sequence that was found")
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)
