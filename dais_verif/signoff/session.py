"""A sign-off: every stage that the policy asks for, one after the other, then the answer and the certificate.

What is known is in ``signoff.json`` at any time. A certificate is there only while it is true: an earlier one goes
before anything is run.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from dais_verif.errors import DaisError, InputError
from dais_verif.files import make_folder, write_atomically
from dais_verif.program import Program
from dais_verif.report.coverage import Coverage
from dais_verif.report.record import Decision, OutputEvidence, ProgramInfo, Times
from dais_verif.report.signoff import SignOff, StageResult
from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE, Certificate, written
from dais_verif.signoff.context import Context, Stage, pipeline_arguments, write_json
from dais_verif.signoff.evidence import Unusable, read_tree, simulated
from dais_verif.signoff.judge import Judged
from dais_verif.signoff.policy import Given, Policy, Waived, in_force
from dais_verif.signoff.stages import RTL, emit, stages_of
from dais_verif.signoff.subject import Subject, subject_of
from dais_verif.signoff.toolbox import Tool, tools_of
from dais_verif.signoff.verbs import RUN
from dais_verif.verdict import Verdict

__all__ = [
    # what is in the folder
    "EVIDENCE",
    "POLICY",
    "RECORD",
    # doing it
    "Listener",
    "Signer",
    "sign_off",
    # the same questions, asked of evidence
    "blocked",
    "issued_at",
    "judged",
    "outputs_of",
    "result_of",
    "time_of",
]

#: In the folder of a sign-off.
RECORD, POLICY, EVIDENCE = "signoff.json", "policy.toml", "evidence"

#: In the folder of a stage that broke off before there was anything to judge.
_FAILED = "failed.json"

_OURS = {RECORD, POLICY, EVIDENCE, CERTIFICATE, SIGNATURE, ".lock"}

#: What a waiver can stand in for: nothing is known, or not enough. Nothing that is known to be wrong.
_NOT_KNOWN = (Verdict.UNKNOWN, Verdict.NOT_RUN, Verdict.TOOL_FAILURE, Verdict.INVALID_INPUT, Verdict.NOT_SIGNED_OFF)

_GRADES = ("none", "sampled", "exhausted", "proved")


class Listener:
    """Told what goes on; this one does nothing."""

    def stage(self, name: str, number: int, total: int) -> None:
        """Stage ``name`` begins."""

    def result(self, result: StageResult) -> None:
        """A stage has ended."""


@dataclass(frozen=True)
class Signer:
    """Who signs the certificate. ``sign``: its bytes to a signature."""

    fingerprint: str
    sign: Callable[[bytes], bytes]


def sign_off(
    program: Program,
    path: Path,
    layout: str | None,
    given: Given,
    folder: Path,
    *,
    reproduce: str,
    warnings: Sequence[str] = (),
    jobs: int | None = None,
    signer: Signer | None = None,
    listener: Listener | None = None,
) -> SignOff:
    """Sign ``program`` off, or say why not. ``folder`` receives the record, all evidence and the certificate.

    Raises ``InputError`` for what cannot be used at all: then there is no record.
    """
    listener, policy, began = listener or Listener(), given.policy, time.monotonic()
    _clear(folder)
    times = Times(datetime.now(timezone.utc).isoformat(timespec="seconds"), 0.0)
    write_atomically(folder / POLICY, given.text.encode())
    subject = _subject(program, path, layout, policy, folder)
    context = Context(subject, policy, folder / EVIDENCE, jobs)
    good, late = in_force(policy.waivers, datetime.now(timezone.utc).date())
    record = SignOff(
        Verdict.NOT_RUN,
        "the sign-off has not ended",
        ProgramInfo.of(program),
        policy.tree(),
        policy.seeds[0] if policy.seeds else 0,
        reproduce,
        _facts(subject),
        {},
        decisions=[Decision("layout", program.origin.layout, "given" if layout else "detected")],
        waivers=[waiver.told() for waiver in good.values()],
        warnings=[*warnings, *late],
        times=times,
        state="running",
    )
    _write(folder, record)
    try:
        stages = stages_of(context)
        results: list[StageResult] = []
        for number, stage in enumerate(stages, 1):
            listener.stage(stage.name, number, len(stages))
            results.append(_run(stage, context, good, results, stages))
            listener.result(results[-1])
            record = replace(record, stages=list(results))
            _write(folder, record)
        tools, problems = _tools(policy)
        problems = [*_problems(results), *subject.changed(), *problems]
        answer = Verdict.NOT_SIGNED_OFF if problems else Verdict.PASS
        record = replace(
            record,
            verdict=answer,
            message=_message(results, problems),
            tools={name: tool.version for name, tool in tools.items()},
            outputs=outputs_of(context, results),
            coverage=_coverage(context, results),
            times=replace(times, seconds=round(time.monotonic() - began, 3)),
            state="complete",
        )
        if not problems:
            _drop_vectors(folder)
        _write(folder, record)
        if answer is Verdict.PASS:
            _certify(context, record, tools, folder, signer)
    except KeyboardInterrupt:
        _write(folder, replace(record, verdict=Verdict.INTERRUPTED, message="interrupted", state="complete"))
        raise
    except DaisError as error:
        _write(folder, replace(record, verdict=error.verdict, message=str(error), state="complete"))
        raise
    return record


def _clear(folder: Path) -> None:
    """Whatever an earlier sign-off left goes, its certificate first. What is not ours is never mixed with ours."""
    make_folder(folder)
    for name in (CERTIFICATE, SIGNATURE, RECORD):
        (folder / name).unlink(missing_ok=True)
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in _OURS)
    if foreign:
        raise InputError(
            f"{str(folder)!r} holds {foreign[0]!r}, which no sign-off left there; choose another folder with -o"
        )
    shutil.rmtree(folder / EVIDENCE, ignore_errors=True)
    make_folder(folder / EVIDENCE)


def _subject(program: Program, path: Path, layout: str | None, policy: Policy, folder: Path) -> Subject:
    emitted = folder / EVIDENCE / RTL / f"{policy.rtl.top}.v"
    if not policy.rtl.files:
        words = [str(path), *(["--layout", layout] if layout else [])]
        emitted = emit(words, policy.rtl.top, pipeline_arguments(policy), folder / EVIDENCE)
    return subject_of(program, path, layout, policy, emitted)


def _facts(subject: Subject) -> dict[str, object]:
    hashes = [file.sha256 for file in subject.of("rtl")]
    data = {file.name: file.sha256 for file in subject.of("data")}
    return {"top": subject.top, "emitted": subject.emitted, "files": subject.rtl, "sha256": hashes, "data": data}


def _write(folder: Path, record: SignOff) -> None:
    write_atomically(folder / RECORD, record.to_json().encode())


def _run(
    stage: Stage, context: Context, waivers: dict[str, Waived], before: Sequence[StageResult], stages: Sequence[Stage]
) -> StageResult:
    folder, began = context.folder / stage.folder, time.monotonic()
    stopped = blocked(stage, before, stages)
    if stopped is not None:
        return stopped
    try:
        stage.run(context, folder)
    except Unusable:
        pass  # its record says it
    except DaisError as error:
        make_folder(folder)
        write_json(folder / _FAILED, {"verdict": error.verdict.value, "message": str(error)})
    result = result_of(stage, judged(stage, context), waivers)
    seconds = round(time.monotonic() - began, 3)
    return replace(result, seconds=seconds, evidence=_evidence(context, stage))


def blocked(stage: Stage, before: Sequence[StageResult], stages: Sequence[Stage]) -> StageResult | None:
    """Why a stage makes no sense: one that it needs has not passed. If nobody insists on that, nobody does on this."""
    names = {one.folder: one.name for one in stages}
    found = {result.name: result for result in before}
    missing = [found[names[folder]] for folder in stage.needs if not found[names[folder]].passed]
    if not missing:
        return None
    optional = all(result.optional or result.waived for result in missing)
    message = f"not run: {missing[0].name} has not passed"
    return StageResult(stage.name, Verdict.NOT_RUN, message, False, False, stage.must_fail, optional=optional)


def judged(stage: Stage, context: Context) -> Judged:
    """What the evidence of ``stage`` is worth."""
    folder = context.folder / stage.folder
    try:
        if (folder / _FAILED).exists():
            tree = read_tree(folder / _FAILED)
            return Judged(
                Verdict(tree.get("verdict")), str(tree.get("message")), (str(tree.get("message")),), ran=False
            )
        return stage.judge(context, folder)
    except Unusable as error:
        return Judged(error.verdict, str(error), (str(error),))
    except (DaisError, ValueError) as error:  # ValueError: no verdict
        return Judged(Verdict.NOT_SIGNED_OFF, str(error), (str(error),))


def result_of(stage: Stage, found: Judged, waivers: dict[str, Waived]) -> StageResult:
    """The stage's result: a record that passes while its numbers do not is not signed off."""
    passed = not found.problems
    fine = found.verdict is (Verdict.RTL_MISMATCH if stage.must_fail else Verdict.PASS)
    verdict = Verdict.NOT_SIGNED_OFF if fine and not passed else found.verdict
    waived = not passed and stage.waiver in waivers and verdict in _NOT_KNOWN
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


def _evidence(context: Context, stage: Stage) -> list[str]:
    folder = context.folder / stage.folder
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "vectors" not in path.parts]
    return [f"{EVIDENCE}/{path.relative_to(context.folder).as_posix()}" for path in files]


def _drop_vectors(folder: Path) -> None:
    """They come from the seed again, and take more room than all else; their hash is evidence enough."""
    for vectors in sorted((folder / EVIDENCE).rglob(f"{RUN}/vectors")):
        shutil.rmtree(vectors, ignore_errors=True)


def _problems(results: Sequence[StageResult]) -> list[str]:
    """Why not, a line each."""
    return [f"{r.name}: {r.message}" for r in results if not (r.passed or r.waived or r.optional)]


def _message(results: Sequence[StageResult], problems: Sequence[str]) -> str:
    if problems:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        return f"{problems[0]}{more}"
    passed, waived = sum(r.passed for r in results), sum(r.waived for r in results)
    optional = len(results) - passed - waived
    more = f", {waived} waived" if waived else ""
    more += f", {optional} optional ones undecided" if optional else ""
    return f"{passed} of {len(results)} stages passed{more}"


def _tools(policy: Policy) -> tuple[dict[str, Tool], list[str]]:
    try:
        return tools_of(policy), []
    except DaisError as error:
        return {}, [f"tools: {error}"]


def outputs_of(context: Context, results: Sequence[StageResult]) -> list[OutputEvidence]:
    """The best that is known of each output. A proof counts only if the prover was also seen to refute."""
    proof = [r for r in results if "proof" in r.name]
    proved = bool(proof) and all(r.passed for r in proof)
    best: dict[int, OutputEvidence] = {}
    for seed in context.policy.seeds:
        if any(r.name == f"simulation, seed {seed}" and r.passed for r in results):
            for found in simulated(context.folder / f"simulation-{seed}").outputs:
                known = best.get(found.output, found)
                grade = max(known.grade, found.grade, key=_GRADES.index)
                vectors = known.vectors + (found.vectors if known is not found else 0)
                best[found.output] = OutputEvidence(found.output, grade, vectors)
    outputs = [best.get(number, OutputEvidence(number, "none", 0)) for number in range(context.subject.program.n_out)]
    kinds = context.subject.program.output_types
    return [
        replace(one, grade="proved") if proved and kind.width else one for one, kind in zip(outputs, kinds, strict=True)
    ]


def _coverage(context: Context, results: Sequence[StageResult]) -> Coverage | None:
    for seed in context.policy.seeds[:1]:
        if any(r.name == f"simulation, seed {seed}" and r.passed for r in results):
            return simulated(context.folder / f"simulation-{seed}").coverage
    return None


def _certify(context: Context, record: SignOff, tools: dict[str, Tool], folder: Path, signer: Signer | None) -> None:
    assert record.times is not None
    issued = issued_at(record.times)
    name = signer.fingerprint if signer else ""
    certificate = Certificate.of(context.subject, context.policy, tools, record, folder, issued=issued, signer=name)
    data = written(certificate)
    if signer is not None:
        write_atomically(folder / SIGNATURE, signer.sign(data))
    write_atomically(folder / CERTIFICATE, data)


def issued_at(times: Times) -> str:
    """When a sign-off that took ``times`` ended, as its certificate says it."""
    began = time_of(times.started)
    return "" if began is None else (began + timedelta(seconds=int(times.seconds))).isoformat(timespec="seconds")


def time_of(text: str) -> datetime | None:
    """A time of a record; None if it is none, or has no zone."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
