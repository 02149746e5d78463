"""Run a sign-off: every stage that the policy requires, then the verdict and the certificate.

``signoff.json`` always holds the current state. An earlier certificate is removed before anything is run, so that there
is never a certificate that does not match the evidence.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from dais_verif.base.errors import CertificateError, DaisError, InputError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.toolchain.process import workers
from dais_verif.base.toolchain.verilator_runtime import home_in
from dais_verif.base.verdict import Verdict
from dais_verif.record.coverage import Coverage
from dais_verif.record.program import ProgramInfo, ProjectInfo, RtlFacts
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import Decision, Times
from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE, Certificate, excused_in, stages_in, written
from dais_verif.signoff.context import Context, SignOffStage, pipeline_arguments, plain_path, write_json
from dais_verif.signoff.demands import demanded
from dais_verif.signoff.evidence import Unusable, simulated
from dais_verif.signoff.kept_evidence import LOGS, keep_what_is_judged, unjudged
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.machines.limits import require_for_machines, require_for_programs
from dais_verif.signoff.mutation import certified_score
from dais_verif.signoff.policy import Given, Policy, Waived, in_force
from dais_verif.signoff.results import (
    EVIDENCE,
    FAILED,
    NOT_RUN,
    blocked,
    issued_at,
    judged,
    judged_again,
    outputs_of,
    result_of,
)
from dais_verif.signoff.signed_design import Design, Subject, subject_of
from dais_verif.signoff.stages import RTL, emit, ignored_in, stages_of
from dais_verif.signoff.toolbox import Tool, copied, runtime_of, tools_of
from dais_verif.signoff.verbs import PRINTED, RUN, in_turn, own_cache
from dais_verif.spec.machine import Machine

__all__ = ["POLICY", "RECORD", "Signer", "require_ours", "run_stages", "sign_off", "withdraw"]


#: Names in the folder of a sign-off.
RECORD, POLICY, CACHE = "signoff.json", "policy.toml", ".cache"

#: The file that marks the folder as made by a sign-off, before it holds a record; and its content.
_MARK, _MARKED = ".dais-verif-signoff", b"dais-verif signoff keeps this folder and empties it\n"

_LOCK = ".lock"
_LONGEST_REASON = 160
_OURS = {RECORD, POLICY, EVIDENCE, LOGS, CERTIFICATE, SIGNATURE, CACHE, _LOCK, _MARK}
#: The first part of each schema, without the version.
_SCHEMAS = {CERTIFICATE: "dais-verif/certificate/", RECORD: "dais-verif/signoff/"}
_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Signer:
    """The signer of the certificate. ``sign``: returns the signature of its bytes."""

    fingerprint: str
    sign: Callable[[bytes], bytes]


def sign_off(
    design: Design,
    path: Path,
    layout: str | None,
    given: Given,
    folder: Path,
    *,
    reproduce: str,
    warnings: Sequence[str] = (),
    jobs: int | None = None,
    paranoid: bool = False,
    signer: Signer | None = None,
    listener: SignOffListener | None = None,
    project: ProjectInfo | None = None,
    kernel: Sequence[Path] = (),
) -> SignOffRecord:
    """Sign off ``design``, and return the record, which gives the reasons if it is not signed off.

    ``folder`` receives the record, all evidence and the certificate. ``project``: the project folder in which the
    program or RTL was found. ``kernel``: the files of the kernel, if ``design`` is its machine. ``paranoid``: compile
    Verilator's runtime for this sign-off, even if one is installed.

    Raises ``InputError`` for unusable arguments: then there is no record.
    """
    listener, policy = listener or SignOffListener(), given.policy
    _clear(folder)
    if design.origin.assumed:
        raise CertificateError.of(
            "{path}: the file is valid as headerless and as published and they differ; a sign-off does not choose "
            "between them: give {layout}",
            path=path,
        )
    if isinstance(design, Machine):
        require_for_machines(policy, layout)
    else:
        require_for_programs(policy)
    times = Times(datetime.now(UTC).isoformat(timespec="seconds"), 0.0)
    began = time.monotonic()  # after the start time, so that start plus duration is never in the future
    write_atomically(folder / POLICY, given.text.encode())
    subject = _subject(design, path, layout, policy, folder, kernel)
    asked = Context(subject, policy, folder / EVIDENCE, jobs)
    context = Context(*copied(subject, policy, folder / EVIDENCE), folder / EVIDENCE, jobs)
    good, late = in_force(policy.waivers, datetime.now(UTC).date())
    info = ProgramInfo.of_machine(design) if isinstance(design, Machine) else ProgramInfo.of(design)
    record = SignOffRecord(
        verdict=Verdict.NOT_RUN,
        message="the sign-off has not ended",
        program=info,
        policy=policy.tree(),
        demanded=demanded(policy),
        seed=policy.seeds[0] if policy.seeds else 0,
        reproduce=reproduce,
        rtl=replace(_facts(subject), project=project),
        tools={},
        decisions=[Decision("layout", info.layout, "given" if layout else "detected")],
        waivers=[waiver.told() for waiver in good.values()],
        warnings=[*warnings, *late, *_ignored(subject)],
        times=times,
        state="running",
    )
    _write(folder, record)
    try:
        stages = stages_of(context)
        results: list[StageResult] = []
        with own_cache(folder / CACHE, paranoid=paranoid):

            def run(stage: SignOffStage, before: Sequence[StageResult]) -> StageResult:
                return _run(stage, context, good, before, stages)

            def tell(result: StageResult) -> None:
                results.append(result)
                _write(folder, replace(record, stages=results))

            run_stages(stages, context, run, tell, listener)
            record = replace(record, stages=results)
            tools, problems = _tools(policy, results, installed=not paranoid, cache=folder / CACHE)
        problems = [*_problems(results), *subject.changed(), *context.subject.changed(), *problems]
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
            keep_what_is_judged(context, stages, results)
            _require_kept(context, stages, results, good)
            record = replace(record, stages=[_in_logs(stage, folder) for stage in record.stages])
        _write(folder, record)
        if answer is Verdict.PASS:
            _certify(asked, record, tools, folder, signer)
    except KeyboardInterrupt:
        _write(folder, replace(record, verdict=Verdict.INTERRUPTED, message="interrupted", state="complete"))
        raise
    except DaisError as error:
        _write(folder, replace(record, verdict=error.verdict, message=str(error), state="complete"))
        raise
    return record


def withdraw(folder: Path) -> None:
    """Remove the certificate of an earlier sign-off and its signature."""
    for name in (CERTIFICATE, SIGNATURE):
        (folder / name).unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Remove all files of an earlier sign-off, its certificate first.

    Raises ``InputError`` if ``folder`` holds other files, which a sign-off must neither remove nor mix with its own.
    """
    require_ours(folder)
    make_folder(folder)
    write_atomically(folder / _MARK, _MARKED)
    withdraw(folder)
    (folder / RECORD).unlink(missing_ok=True)
    for name in (EVIDENCE, LOGS):
        shutil.rmtree(folder / name, ignore_errors=True)
    make_folder(folder / EVIDENCE)


def require_ours(folder: Path) -> None:
    """Raise ``InputError`` if ``folder`` holds anything that a sign-off did not leave there.

    The names of files do not suffice, since a user's own files may be called ``policy.toml`` and ``evidence``:
    therefore, a file must exist that only a sign-off writes.
    """
    if not folder.is_dir():
        return
    linked = next((name for name in sorted(_OURS) if (folder / name).is_symlink()), None)
    if linked is not None:
        raise CertificateError(
            f"{str(folder / linked)!r} is a link, and a sign-off writes only into its own folder; remove it"
        )
    there = sorted(entry.name for entry in folder.iterdir() if entry.name != _LOCK)
    foreign = [name for name in there if name not in _OURS] or ([] if _is_ours(folder) else there)
    if foreign:
        raise CertificateError(
            f"{str(folder)!r} holds {foreign[0]!r}, which was not left by a sign-off; choose another folder with -o"
        )


def _is_ours(folder: Path) -> bool:
    """Return True if ``folder`` holds a mark, a record or a certificate that a sign-off wrote."""
    with contextlib.suppress(InputError):
        if read_plain(folder / _MARK, len(_MARKED)) == _MARKED:
            return True
    for name, schema in _SCHEMAS.items():
        with contextlib.suppress(InputError, ValueError, RecursionError):
            tree = json.loads(read_plain(folder / name, _MOST_BYTES))
            if isinstance(tree, dict) and str(tree.get("schema")).startswith(schema):
                return True
    return False


def _subject(
    design: Design, path: Path, layout: str | None, policy: Policy, folder: Path, kernel: Sequence[Path]
) -> Subject:
    emitted = folder / EVIDENCE / RTL / f"{policy.rtl.top}.v"
    if not policy.rtl.files:
        words = [plain_path(path), *(["--layout", layout] if layout else [])]
        emitted = emit(words, policy.rtl.top, pipeline_arguments(policy), folder / EVIDENCE)
    return subject_of(design, path, layout, policy, emitted, kernel)


def _ignored(subject: Subject) -> list[str]:
    try:
        return [line] if (line := ignored_in(subject)) else []
    except DaisError:
        return []  # the first stage reports the error


def _facts(subject: Subject) -> RtlFacts:
    hashes = [file.sha256 for file in subject.of("rtl")]
    data = {file.name: file.sha256 for file in subject.of("data")}
    return RtlFacts(top=subject.top, emitted=subject.emitted, files=subject.rtl, sha256=hashes, data=data)


def _write(folder: Path, record: SignOffRecord) -> None:
    write_atomically(folder / RECORD, record.to_json().encode())


def _run(
    stage: SignOffStage,
    context: Context,
    waivers: dict[str, Waived],
    before: Sequence[StageResult],
    stages: Sequence[SignOffStage],
) -> StageResult:
    folder, began = context.folder / stage.folder, time.monotonic()
    stopped = blocked(stage, before, stages)
    if stopped is not None:
        return stopped
    try:
        stage.run(context, folder)
    except Unusable:
        pass  # the error is in the command's output, which is judged
    except DaisError as error:
        make_folder(folder)
        write_json(folder / FAILED, {"verdict": error.verdict.value, "message": str(error)})
    result = result_of(stage, judged(stage, context), waivers)
    seconds = round(time.monotonic() - began, 3)
    return replace(result, seconds=seconds, evidence=_evidence(context, stage))


def _evidence(context: Context, stage: SignOffStage) -> list[str]:
    folder = context.folder / stage.folder
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "vectors" not in path.parts]
    needed = [context.folder / name / PRINTED for name in stage.needs]
    files = files or [path for path in needed if path.is_file()]
    return [f"{EVIDENCE}/{path.relative_to(context.folder).as_posix()}" for path in files]


def _in_logs(stage: StageResult, folder: Path) -> StageResult:
    """Return ``stage`` with its complete files in the logs as evidence, where they are there."""
    names = [f"{LOGS}/{name.removeprefix(f'{EVIDENCE}/')}" for name in stage.evidence]
    pairs = zip(stage.evidence, names, strict=True)
    return replace(stage, evidence=[log if (folder / log).is_file() else name for name, log in pairs])


def _require_kept(
    context: Context, stages: Sequence[SignOffStage], results: Sequence[StageResult], waivers: dict[str, Waived]
) -> None:
    """Raise ``InputError`` if the retained evidence is judged differently from the complete evidence."""
    again = judged_again(context, stages, waivers)
    for now, then in zip(stages_in(again), stages_in(results), strict=True):
        if now != then:
            why = next(result.message for result in again if result.name == now.name)
            raise CertificateError(f"{now.name}: the stored evidence is not enough to judge it again: {why}")
    for finding in unjudged(context, stages, again):
        raise CertificateError(str(finding))


def _drop_vectors(folder: Path) -> None:
    """Remove the vectors. They are large and can be generated from the seed; their summary is sufficient evidence."""
    for name in ("vectors", "sequence_*"):
        for vectors in sorted((folder / EVIDENCE).rglob(f"{RUN}/{name}")):
            shutil.rmtree(vectors, ignore_errors=True)


def _problems(results: Sequence[StageResult]) -> list[str]:
    """Return the reasons why the design is not signed off, one line each."""
    found = [r for r in results if not (r.passed or r.waived or r.optional)]
    return [f"{r.name}: {r.message}" for r in found if not r.message.startswith(NOT_RUN)]


def _message(results: Sequence[StageResult], problems: Sequence[str]) -> str:
    if problems:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        return f"{problems[0]}{more}"
    passed, waived = sum(r.passed for r in results), [r.name for r in results if r.waived]
    more = f"; waived: {', '.join(waived)}" if waived else ""
    if excused := excused_in(results):
        first = next(result for result in results if result.name == excused[0])
        why = first.message if len(first.message) <= _LONGEST_REASON else f"{first.message[:_LONGEST_REASON]}..."
        more += f"; without a result, as the policy allows: {', '.join(excused)} ({first.verdict.value}: {why})"
    return f"{passed} of {len(results)} stages passed{more}"


def _tools(
    policy: Policy, results: Sequence[StageResult], *, installed: bool, cache: Path
) -> tuple[dict[str, Tool], list[str]]:
    try:
        runtime = runtime_of(policy, installed=installed, cache=home_in(cache))
        return tools_of(policy, runtime, netlist=any(r.name == "netlist" and r.passed for r in results)), []
    except DaisError as error:
        return {}, [f"tools: {error}"]


def _coverage(context: Context, results: Sequence[StageResult]) -> Coverage | None:
    for seed in context.policy.seeds[:1]:
        if any(r.name == f"simulation, seed {seed}" and r.passed for r in results):
            return simulated(context.folder / f"simulation-{seed}").coverage
    return None


def _certify(
    context: Context, record: SignOffRecord, tools: dict[str, Tool], folder: Path, signer: Signer | None
) -> None:
    assert record.times is not None
    issued = issued_at(record.times)
    name = signer.fingerprint if signer else ""
    certificate = Certificate.of(
        context.subject,
        context.policy,
        tools,
        record,
        folder,
        issued=issued,
        signer=name,
        mutation=certified_score(context),
    )
    data = written(certificate)
    if signer is not None:
        write_atomically(folder / SIGNATURE, signer.sign(data))
    write_atomically(folder / CERTIFICATE, data)


# Run stages side by side where they do not need each other; their results are told in the order of the stages.
#
# Only the commands of stages overlap: what stages do in this process, they do in turn.
#
# A stage may reach a limit of time or memory only because another one runs beside it. If its result is open, it is
# therefore run again alone, so that no answer depends on what ran beside it.


#: A simulation keeps two CPUs busy only in parts, and most proofs only one.
_AT_ONCE = 2

#: The results that a limit of time or memory may cause.
_OPEN = (Verdict.UNKNOWN, Verdict.TOOL_FAILURE, Verdict.NOT_SIGNED_OFF)

#: Runs a stage and judges it, given the results of stages that have ended, among them all that it needs.
Run = Callable[[SignOffStage, Sequence[StageResult]], StageResult]


def run_stages(
    stages: Sequence[SignOffStage],
    context: Context,
    run: Run,
    tell: Callable[[StageResult], None],
    listener: SignOffListener,
) -> None:
    """Run ``stages``, and tell each result when all stages before it have ended.

    At most two run side by side, and one if the sign-off may take only one CPU. If this ends early, as with Ctrl-C, the
    commands of all stages are stopped first.
    """
    at_once = min(_AT_ONCE, context.jobs or len(os.sched_getaffinity(0)))
    waiting, alone = list(stages), list[SignOffStage]()
    running: dict[Future[StageResult], SignOffStage] = {}
    beside = set[str]()
    ended: dict[str, StageResult] = {}
    turn = Lock()

    def begin(stage: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        with in_turn(turn):
            return run(stage, before)

    def ready() -> SignOffStage | None:
        """Take the next stage that can be started."""
        if len(running) == at_once or (alone and running):
            return None
        if alone:
            return alone.pop(0)
        found = next((stage for stage in waiting if ended.keys() >= set(stage.needs)), None)
        if found is not None:
            waiting.remove(found)
        return found

    with workers(at_once) as pool:
        for number, told in enumerate(stages, 1):
            listener.stage_begins(told.name, number, len(stages))
            while told.folder not in ended:
                while (stage := ready()) is not None:
                    running[pool.submit(copy_context().run, begin, stage, list(ended.values()))] = stage
                    if len(running) > 1:
                        beside.update(one.folder for one in running.values())
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    stage, result = running.pop(future), future.result()
                    if result.verdict in _OPEN and stage.folder in beside:
                        beside.remove(stage.folder)
                        shutil.rmtree(context.folder / stage.folder, ignore_errors=True)
                        alone.append(stage)
                    else:
                        ended[stage.folder] = result
            listener.stage_ends(ended[told.folder])
            tell(ended[told.folder])
