"""Stages that synthesize a netlist from a machine's RTL and simulate it, and that prove it with all its flip-flops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.context import Context, SignOffStage, program_arguments, prove_arguments
from dais_verif.signoff.evidence import simulated
from dais_verif.signoff.extras import NETLIST, require_call
from dais_verif.signoff.judge import Asked, Judgement, judge_what_proves, same_program
from dais_verif.signoff.machines.cycles import asked_of, clock_arguments, simulate_machine
from dais_verif.signoff.machines.judge import all_claims_proved, judge_machine_simulation
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.subject import Subject, sha256_of
from dais_verif.signoff.verbs import RUN, call, read_call
from dais_verif.verdict import Verdict

__all__ = ["PROVED_NETLIST", "netlist_stages"]

_FOLDER, _SYNTH, _SIM = "netlist", "synth", "sim"
PROVED_NETLIST = "netlist-proof"


def netlist_stages(good: str, policy: Policy) -> list[SignOffStage]:
    """Return the stages, with the proof only if ``policy`` requires proofs. ``good``: the first simulation."""
    stages = [SignOffStage("netlist", _FOLDER, _run, _judge, needs=(good,), waiver="netlist")]
    if policy.proof != "off":
        name, needs = "netlist, for all inputs", (_FOLDER,)
        stages.append(SignOffStage(name, PROVED_NETLIST, _prove, _judge_proof, needs=needs, waiver="netlist"))
    return stages


def _run(context: Context, folder: Path) -> None:
    subject, policy = context.subject, context.policy
    rtl = [] if subject.emitted else [part for file in subject.rtl for part in ("--rtl", file)]
    design = [*rtl, "--top", subject.top, "--target", policy.netlist.target]
    call("synth", [*program_arguments(subject), *design], folder / _SYNTH)
    require_call(folder / _SYNTH, "no netlist was made")
    design = [*_netlist(context, folder), *clock_arguments(context)]
    simulate_machine(context, folder / _SIM, design, _asked(context), policy.netlist.vectors)


def _netlist(context: Context, folder: Path) -> list[str]:
    return ["--netlist", str(folder / _SYNTH / RUN), "--top", context.subject.top]


def _asked(context: Context) -> Asked:
    return asked_of(context, context.policy.seeds[0], context.policy.netlist.vectors, rtl=False)


def _judge(context: Context, folder: Path) -> Judgement:
    judged = judge_machine_simulation(context, folder / _SIM, _asked(context))
    problems = list(judged.problems)
    if read_call(folder / _SYNTH).exit_code:
        problems.append("the synthesis failed")
    if judged.verdict is Verdict.PASS and sha256_of(folder / NETLIST) not in simulated(folder / _SIM).rtl.sha256:
        problems.append("the simulated netlist is not the one that was made")
    return Judgement(judged.verdict, judged.message, tuple(problems), judged.reproduce)


def _prove(context: Context, folder: Path) -> None:
    design = [*_netlist(context, context.folder / _FOLDER), *clock_arguments(context)]
    call("prove", prove_arguments(context, program_arguments(context.subject), design), folder)


def _judge_proof(context: Context, folder: Path) -> Judgement:
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
