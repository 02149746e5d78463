"""Optional stages of a policy for a machine: coverage, netlist, bitstream, timing, and the program that it computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.bitstreams.stages import (
    FOLDER,
    problems_of_fault,
    problems_of_proof,
    seed_wrong_table,
    with_read_back,
)
from dais_verif.signoff.bitstreams.timing import timing_stage
from dais_verif.signoff.context import Context, SignOffStage, program_arguments, prove_arguments
from dais_verif.signoff.evidence import proved, simulated
from dais_verif.signoff.extras import NETLIST, coverage_stage, require_call
from dais_verif.signoff.judge import Asked, Judgement, judge_what_proves, same_program
from dais_verif.signoff.machines.cycles import asked_of, clock_arguments, simulate_machine
from dais_verif.signoff.machines.difference import difference_stages
from dais_verif.signoff.machines.judge import all_claims_proved, judge_machine_simulation
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.signed_design import Subject, sha256_of
from dais_verif.signoff.verbs import RUN, call, read_call

__all__ = [
    "BITSTREAM",
    "KNOWN_BAD",
    "PROVED_BITSTREAM",
    "PROVED_NETLIST",
    "machine_bitstream_stages",
    "more_machine_stages",
    "netlist_stages",
]


def more_machine_stages(context: Context) -> list[SignOffStage]:
    """Return the optional stages of the policy, which run after the first simulation."""
    policy = context.policy
    good = f"simulation-{policy.seeds[0]}" if policy.seeds else "simulation"
    stages = [coverage_stage(good)] if policy.coverage else []
    stages += netlist_stages(good, policy) if "netlist" in policy.stages else []
    stages += machine_bitstream_stages(good, policy) if "bitstream" in policy.stages else []
    stages += [timing_stage()] if "timing" in policy.stages else []
    return stages + (difference_stages() if "diff" in policy.stages else [])


# The stages that read back, simulate and prove the bitstream of a machine, and that detect a seeded wrong table.


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


# Stages that synthesize a netlist from a machine's RTL and simulate it, and that prove it with all its flip-flops.


_FOLDER, _SYNTH, _SIM = "netlist", "synth", "sim"
PROVED_NETLIST = "netlist-proof"


def netlist_stages(good: str, policy: Policy) -> list[SignOffStage]:
    """Return the stages, with the proof only if ``policy`` requires proofs. ``good``: the first simulation."""
    stages = [SignOffStage("netlist", _FOLDER, _run_of_netlist, _judge_of_netlist, needs=(good,), waiver="netlist")]
    if policy.proof != "off":
        name, needs = "netlist, for all inputs", (_FOLDER,)
        stages.append(
            SignOffStage(
                name, PROVED_NETLIST, _prove_of_netlist, _judge_proof_of_netlist, needs=needs, waiver="netlist"
            )
        )
    return stages


def _run_of_netlist(context: Context, folder: Path) -> None:
    subject, policy = context.subject, context.policy
    rtl = [] if subject.emitted else [part for file in subject.rtl for part in ("--rtl", file)]
    design = [*rtl, "--top", subject.top, "--target", policy.netlist.target]
    call("synth", [*program_arguments(subject), *design], folder / _SYNTH)
    require_call(folder / _SYNTH, "no netlist was made")
    design = [*_netlist(context, folder), *clock_arguments(context)]
    simulate_machine(context, folder / _SIM, design, _asked_of_netlist(context), policy.netlist.vectors)


def _netlist(context: Context, folder: Path) -> list[str]:
    return ["--netlist", str(folder / _SYNTH / RUN), "--top", context.subject.top]


def _asked_of_netlist(context: Context) -> Asked:
    return asked_of(context, context.policy.seeds[0], context.policy.netlist.vectors, rtl=False)


def _judge_of_netlist(context: Context, folder: Path) -> Judgement:
    judged = judge_machine_simulation(context, folder / _SIM, _asked_of_netlist(context))
    problems = list(judged.problems)
    if read_call(folder / _SYNTH).exit_code:
        problems.append("the synthesis failed")
    if judged.verdict is Verdict.PASS and sha256_of(folder / NETLIST) not in simulated(folder / _SIM).rtl.sha256:
        problems.append("the simulated netlist is not the one that was made")
    return Judgement(judged.verdict, judged.message, tuple(problems), judged.reproduce)


def _prove_of_netlist(context: Context, folder: Path) -> None:
    design = [*_netlist(context, context.folder / _FOLDER), *clock_arguments(context)]
    call("prove", prove_arguments(context, program_arguments(context.subject), design), folder)


def _judge_proof_of_netlist(context: Context, folder: Path) -> Judgement:
    netlist = sha256_of(context.folder / _FOLDER / NETLIST)

    def problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
        yield from same_program(subject, record.program.hash, record.program.file_sha256)
        if netlist not in record.rtl.sha256:
            yield "the proved netlist is not the one that was made"
        if record.unchecked is not (policy.overflow == "unchecked"):
            yield f"overflow was {'not ' if record.unchecked else ''}checked, contrary to the policy"
        if record.cached_claims:
            yield f"{record.cached_claims} claims were taken from earlier proofs"
        yield from all_claims_proved(subject, record)

    return judge_what_proves(context.subject, context.policy, folder, problems)
