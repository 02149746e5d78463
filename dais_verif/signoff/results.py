"""The result of each stage and of each output, judged in the same way in a sign-off and in a check of a certificate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from dais_verif.base.errors import DaisError
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import EVIDENCE, NOT_RUN, StageResult
from dais_verif.record.simulation import OutputEvidence, Times
from dais_verif.signoff.context import Context, SignOffStage
from dais_verif.signoff.evidence import Unusable, read_tree, simulated
from dais_verif.signoff.judge import Judgement, may_excuse
from dais_verif.signoff.machines.judge import machine_outputs
from dais_verif.signoff.policy import Waived

__all__ = [
    "EVIDENCE",
    "FAILED",
    "GRADES",
    "NOT_RUN",
    "blocked",
    "issued_at",
    "judged",
    "judged_again",
    "name_keys",
    "outputs_of",
    "result_of",
    "time_of",
]

#: The file in the folder of a stage that could not be run; in retained evidence, of every stage that did not pass.
FAILED = "failed.json"

#: The verdicts that a waiver can cover: the result is unknown or incomplete. A known error is never waived.
_NOT_KNOWN = (Verdict.UNKNOWN, Verdict.NOT_RUN, Verdict.TOOL_FAILURE, Verdict.INVALID_INPUT, Verdict.NOT_SIGNED_OFF)

#: The verdicts that detect a seeded fault: in RTL or a model, and in a program that a machine must compute.
_SEEDED = (Verdict.RTL_MISMATCH, Verdict.PROGRAMS_DIFFER)

#: For each option of the commands that a sign-off runs, the corresponding key of a policy.
_KEYS = {
    **{
        f"--{name.replace('_', '-')}": f"[rtl] {name} (or --{name.replace('_', '-')})"
        for name in ("top", "data", "ports", "clock", "latency", "reset", "enable", "valid_in", "valid_out")
    },
    "--rtl": "[rtl] files (or --rtl)",
    "--exhaustive-bits": "the policy's exhaustive_bits",
    "--front-end": "the policy's front_end",
    "--inputs": "the policy's inputs",
    "--sim": "the policy's simulators",
    "--timeout": "the policy's proof_timeout",
    "--unchecked": 'the policy\'s overflow = "unchecked"',
    "--vectors": "the policy's vectors",
}
_OPTION = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(_KEYS, key=len, reverse=True))})(?![\w-])")
_HELP = re.compile(r"\.? See: dais-verif [\w-]+ --help$")

#: The grades of outputs, from worst to best.
GRADES = ("none", "sampled", "exhausted", "proved")


def blocked(stage: SignOffStage, before: Sequence[StageResult], stages: Sequence[SignOffStage]) -> StageResult | None:
    """Return a ``NOT_RUN`` result if a prerequisite of ``stage`` has not passed, else None.

    The result is optional if all failed prerequisites are optional or waived.
    """
    if not stage.needs:
        return None
    needed = {one.folder: one for one in stages}
    found = {result.name: result for result in before}
    wanted = [(found[needed[folder].name], needed[folder].gate) for folder in stage.needs]
    missing = [result for result, gate in wanted if not (result.passed or (gate and result.waived))]
    if not missing:
        return None
    optional = all(result.optional or result.waived for result in missing)
    message = f"{NOT_RUN} {missing[0].name} has not passed"
    return StageResult(stage.name, Verdict.NOT_RUN, message, False, False, stage.must_fail, optional=optional)


def judged(stage: SignOffStage, context: Context) -> Judgement:
    """Return the judgement of the evidence of ``stage``; problems name keys of the policy instead of options."""
    found = _judged(stage, context)
    return replace(found, problems=tuple(map(name_keys, found.problems)))


def name_keys(problem: str) -> str:
    """Return ``problem``, a message of a command, with keys of a policy instead of options."""
    texts = _HELP.sub("", problem).split("`")
    texts[::2] = (_OPTION.sub(lambda found: _KEYS[found[0]], text) for text in texts[::2])  # not in backquotes
    return "`".join(texts)


def _judged(stage: SignOffStage, context: Context) -> Judgement:
    folder = context.folder / stage.folder
    try:
        if (folder / FAILED).exists():
            tree = read_tree(folder / FAILED)
            verdict, message = Verdict(tree.get("verdict")), str(tree.get("message"))
            excused = tree.get("excused") is True and stage.waiver == "proof" and may_excuse(context.policy, verdict)
            return Judgement(verdict, message, (message,), excused=excused, ran=False)
        return stage.judge(context, folder)
    except Unusable as error:
        return Judgement(error.verdict, str(error), (str(error),))
    except (DaisError, ValueError) as error:  # ValueError: the text is not a verdict
        return Judgement(Verdict.NOT_SIGNED_OFF, str(error), (str(error),))


def judged_again(context: Context, stages: Sequence[SignOffStage], waivers: Mapping[str, Waived]) -> list[StageResult]:
    """Return the results of all ``stages`` from their evidence, in order."""
    results = list[StageResult]()
    for stage in stages:
        stopped = blocked(stage, results, stages)
        results.append(stopped or result_of(stage, judged(stage, context), waivers))
    return results


def result_of(stage: SignOffStage, found: Judgement, waivers: Mapping[str, Waived]) -> StageResult:
    """Return the stage's result: NOT_SIGNED_OFF if the record has the expected verdict, but there are problems."""
    passed = not found.problems
    fine = found.verdict in (_SEEDED if stage.must_fail else (Verdict.PASS,))
    verdict = Verdict.NOT_SIGNED_OFF if fine and not passed else found.verdict
    waived = not passed and not found.known and stage.waiver in waivers and verdict in _NOT_KNOWN
    message = found.message if passed else "; ".join(found.problems[:3])
    return StageResult(
        stage.name,
        verdict,
        message,
        found.ran,
        passed,
        stage.must_fail,
        waived,
        optional=found.excused,
        reproduce=found.reproduce,
    )


def outputs_of(context: Context, results: Sequence[StageResult]) -> list[OutputEvidence]:
    """Return the best evidence for each output. A proof counts only if the prover also refuted the seeded faults."""
    proof = [r for r in results if "proof" in r.name]
    proved = bool(proof) and all(r.passed for r in proof)
    if context.subject.is_machine:
        return machine_outputs(context, results, proved)
    best: dict[int, OutputEvidence] = {}
    for seed in context.policy.seeds:
        if any(r.name == f"simulation, seed {seed}" and r.passed for r in results):
            for found in simulated(context.folder / f"simulation-{seed}").outputs:
                known = best.get(found.output, found)
                grade = max(known.grade, found.grade, key=GRADES.index)
                vectors = known.vectors + (found.vectors if known is not found else 0)
                best[found.output] = OutputEvidence(found.output, grade, vectors)
    outputs = [best.get(number, OutputEvidence(number, "none", 0)) for number in range(context.subject.program.n_out)]
    kinds = context.subject.program.output_types
    return [
        replace(one, grade="proved") if proved and kind.width else one for one, kind in zip(outputs, kinds, strict=True)
    ]


def issued_at(times: Times) -> str:
    """Return the time at which a sign-off ended, in the format of the certificate; empty if it cannot be computed."""
    began = time_of(times.started)
    return "" if began is None else (began + timedelta(seconds=int(times.seconds))).isoformat(timespec="seconds")


def time_of(text: str) -> datetime | None:
    """Return the time in ``text``, from a record; None if it is not a time, or has no time zone."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
