"""The stages that read the bitstream of a machine back, simulate and prove it; and see a wrong table in it found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.bitstreams.faults import wrong_table
from dais_verif.signoff.bitstreams.stages import READ_BACK
from dais_verif.signoff.context import Context, SignOffStage, program_arguments, prove_arguments, write_json
from dais_verif.signoff.evidence import proved, read_tree, simulated
from dais_verif.signoff.judge import Asked, Judgement, judge_what_proves, same_program
from dais_verif.signoff.machines.cycles import asked_of, clock_arguments, simulate_machine
from dais_verif.signoff.machines.judge import all_claims_proved, judge_machine_simulation
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.seeding import SEEDED_FAULT
from dais_verif.signoff.subject import Subject, sha256_of
from dais_verif.signoff.verbs import call
from dais_verif.verdict import Verdict

__all__ = ["BITSTREAM", "KNOWN_BAD", "PROVED_BITSTREAM", "machine_bitstream_stages"]

BITSTREAM, PROVED_BITSTREAM, KNOWN_BAD = "bitstream", "bitstream-proof", "known-bad-bitstream"
_WRONG = "wrong_table.bin"


def machine_bitstream_stages(good: str, policy: Policy) -> list[SignOffStage]:
    """The stages; ``good``: the first simulation. Nothing is proved where ``policy`` asks for no proofs.

    The fault is seeded where there is a proof: no cycles are known beforehand in which a wrong table must show.
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
    judged = judge_machine_simulation(context, folder, _asked(context))
    problems = list(judged.problems)
    if judged.verdict is Verdict.PASS and simulated(folder).rtl.sha256 != [sha256_of(folder / READ_BACK)]:
        problems.append("what was simulated is not what was read back")
    return Judgement(judged.verdict, judged.message, tuple(problems), judged.reproduce)


def _prove(context: Context, folder: Path) -> None:
    call("prove", prove_arguments(context, program_arguments(context.subject), _design(context)), folder)


def _judge_proof(context: Context, folder: Path) -> Judgement:
    def problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
        yield from same_program(subject, record.program.hash, record.program.file_sha256)
        made = [sha256_of(context.folder / BITSTREAM / READ_BACK)]
        if record.rtl.sha256 != made or [sha256_of(folder / READ_BACK)] != made:
            yield "what was proved is not what was read back and simulated"
        if record.unchecked is not (policy.overflow == "unchecked"):
            yield f"overflow was {'not ' if record.unchecked else ''}checked, which is not what the policy asks"
        if record.cached_claims:
            yield f"{record.cached_claims} claims were taken from earlier proofs"
        yield from all_claims_proved(subject, record)

    return judge_what_proves(context.subject, context.policy, folder, problems)


def _prove_bad(context: Context, folder: Path) -> None:
    subject = context.subject
    folder.mkdir(exist_ok=True)
    bitstream, pins = (Path(subject.only(role).path) for role in ("bitstream", "pins"))
    found = wrong_table(bitstream, pins, str(context.policy.bitstream.device), folder / _WRONG)
    told = {"file": _WRONG, "sha256": sha256_of(folder / _WRONG), "always": found.always}
    write_json(folder / SEEDED_FAULT, {**told, "cell": found.cell, "output": found.output})
    design = _design(context, folder / _WRONG)
    call("prove", prove_arguments(context, program_arguments(subject), design), folder)


def _judge_bad(context: Context, folder: Path) -> Judgement:
    record, seeded, subject = proved(folder), read_tree(folder / SEEDED_FAULT), context.subject
    problems = list(same_program(subject, record.program.hash, record.program.file_sha256))
    wrong, made = sha256_of(folder / _WRONG), sha256_of(folder / READ_BACK)
    if (seeded.get("file"), seeded.get("sha256")) != (_WRONG, wrong) or record.rtl.sha256 != [made]:
        problems.append("the record is of something else than what was seeded")
    if wrong == subject.only("bitstream").sha256 or made == sha256_of(context.folder / BITSTREAM / READ_BACK):
        problems.append("what was seeded is the bitstream itself")
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, and the verdict is {record.verdict.value}: {record.message}")
    replay = None if record.machine is None else record.machine.replay
    if replay is None or replay.partition(":")[0] != Verdict.RTL_MISMATCH.value:
        problems.append("no simulator confirms the sequence that was found")
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)
