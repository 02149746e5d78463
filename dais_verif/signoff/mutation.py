"""The stage that measures the verification by the share of mutants of the RTL that it kills.

The numbers of mutants by fate are judged, and the score in the certificate is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import MutationRecord, score_of
from dais_verif.signoff.certificate import CertifiedScore
from dais_verif.signoff.context import Context, SignOffStage, design_arguments, program_arguments, simulator_arguments
from dais_verif.signoff.evidence import mutated
from dais_verif.signoff.judge import Judgement, same_program
from dais_verif.signoff.kept_parts import kept_hashes, kept_head, only
from dais_verif.signoff.verbs import call

__all__ = ["MUTATION", "certified_score", "kept_mutation", "mutation_stage"]

#: The name of the stage, and of its folder.
MUTATION = "mutation"


def mutation_stage(good: str) -> SignOffStage:
    """Return the stage of mutants. ``good``: the folder of the simulation that must have passed before."""
    return SignOffStage(MUTATION, MUTATION, _run, _judge, needs=(good,), waiver=MUTATION)


def _run(context: Context, folder: Path) -> None:
    subject, policy = context.subject, context.policy
    asked = policy.mutation
    arguments = [*program_arguments(subject), *design_arguments(subject, policy)]
    arguments += ["--count", str(asked.mutants), "--seed", str(_seed(context)), "--vectors", str(asked.vectors)]
    # The policy's floor is judged below, with what else is wrong.
    arguments += ["--floor", "0", "--timeout", str(asked.timeout), *simulator_arguments(policy.simulators)]
    arguments += [part for name in _judges(context) for part in ("--judge", name)]
    arguments += [part for file in subject.of("input") for part in ("--inputs", file.path)]
    arguments += ["--unchecked"] if policy.overflow == "unchecked" else []
    arguments += [] if context.jobs is None else ["--jobs", str(context.jobs)]
    call("mutate", arguments, folder)


def _seed(context: Context) -> int:
    return context.policy.seeds[0] if context.policy.seeds else 0


def _judges(context: Context) -> list[str]:
    return ["sim"] if context.policy.proof == "off" else ["sim", "prove"]


def _judge(context: Context, folder: Path) -> Judgement:
    record, asked = mutated(folder), context.policy.mutation
    if record.verdict is not Verdict.PASS:
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce)
    found = record.summary
    if found.mutants < 1:
        return Judgement(Verdict.NOT_RUN, "there was no mutant", ("there was no mutant",))
    score = score_of(found.killed, found.to_kill)
    told = "all mutants are equivalent" if score is None else f"{score:g} % of the mutants are killed"
    unknown = f"{found.unknown} of {found.mutants} are unknown"
    message = f"{told}, at least {asked.floor:g} % is required; {unknown}"
    problems = [*_problems(context, record)]
    if not found.reaches(asked.floor):
        problems.insert(0, message)
    if 100 * found.unknown > asked.most_unknown * found.mutants:
        problems.append(f"{unknown}, at most {asked.most_unknown:g} % of the mutants may be")
    return Judgement(Verdict.PASS, message, tuple(problems), record.reproduce)


def _problems(context: Context, record: MutationRecord) -> Iterator[str]:
    """Yield the reasons why a record does not cover the signed-off design, or has fewer mutants than requested."""
    subject, policy, found = context.subject, context.policy, record.summary
    yield from same_program(subject, record.program.hash, record.program.file_sha256)
    if record.rtl.top != subject.top or record.rtl.sha256 != [file.sha256 for file in subject.of("rtl")]:
        yield "the mutants are of other RTL than the RTL that is signed off"
    if record.judges != _judges(context) or sorted(record.simulators) != sorted(policy.simulators):
        yield f"mutants were judged by {', '.join((*record.judges, *record.simulators))}, not as the policy requires"
    wanted = context.asked(_seed(context), policy.mutation.vectors).rows
    if (record.vectors, record.seed) != (wanted, _seed(context)):
        yield f"{counted(record.vectors, 'vector')} and seed {record.seed}, must be {wanted} and {_seed(context)}"
    if found.mutants + found.invalid != min(policy.mutation.mutants, record.possible):
        yield f"{found.mutants + found.invalid} of {record.possible} mutants, must be {policy.mutation.mutants}"
    if found.invalid > found.mutants:
        yield f"{found.invalid} of the mutants are invalid, and only {found.mutants} could be judged"
    fates = (found.killed_by_simulation, found.killed_by_proof, found.equivalent, found.unknown, found.survived)
    if (
        min(*fates, found.invalid) < 0
        or sum(fates) + found.unsound != found.mutants
        or found.score != score_of(found.killed, found.to_kill)
    ):
        yield "the fates of the mutants do not add up"
    if found.unsound:
        yield f"{found.unsound} mutants were proved, but a simulator shows that they differ from the program"


def certified_score(context: Context) -> CertifiedScore | None:
    """Return the result for mutants as a certificate holds it; None if there is no evidence of the stage."""
    if MUTATION not in context.policy.stages or not (context.folder / MUTATION / "printed.json").is_file():
        return None
    found = mutated(context.folder / MUTATION).summary
    return CertifiedScore(found.mutants, found.equivalent, found.unknown, score_of(found.killed, found.to_kill))


def kept_mutation(tree: dict[str, Any], context: Context, folder: Path) -> dict[str, Any]:
    """Return the numbers of mutants by fate, and the design that was mutated."""
    return {
        **kept_head(tree),
        "program": kept_hashes(tree["program"]),
        "rtl": {"emitted": False, "files": [], **only(tree["rtl"], "top", "sha256")},
        **only(tree, "judges", "simulators", "vectors", "seed", "possible", "summary"),
        "kinds": {},
        "mutants": [],
        "unexpected": [],
        "seconds": 0.0,
        "warnings": [],
        "reproduce": "",
    }
