"""Shrink a failing case to the smallest program and vectors that show the failure."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.text import command_line
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case, opcodes_of
from dais_verif.campaigns.fuzzing.command import Command
from dais_verif.campaigns.fuzzing.files import (
    INPUTS_NAME,
    KeptCase,
    case_names,
    form_of,
    program_name,
    require_place,
    spelled,
    write_case,
)
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS, first_disagreement
from dais_verif.campaigns.fuzzing.rtl.case import RtlCase
from dais_verif.campaigns.fuzzing.shrinking.search import (
    CommandRun,
    Fails,
    as_disagreed,
    breaks_a_promise,
    first_violation,
)
from dais_verif.campaigns.fuzzing.shrinking.steps import shrunk, size
from dais_verif.record.campaigns import CaseSize, ShrinkRecord, ShrunkRtl
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program.listing import listing
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram, is_folder
from dais_verif.verbs import common_options as common
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.fuzzing.requests import versions
from dais_verif.verbs.fuzzing.shrink_rtl import VECTORS_NAME, RtlFails, RtlOutcome, shrink_rtl, write_vectors
from dais_verif.verbs.options import REQUIRED, Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.recognition import rtl_option
from dais_verif.verbs.vectors import batch_of

__all__ = ["ShrinkRequest", "shrink"]

#: The folder of RTL in the folder of a case.
_RTL = "rtl"


@dataclass(frozen=True, kw_only=True)
class ShrinkRequest(Request):
    """A failing case, and what counts as its failure.

    ``failing``: a command that must have the same exit code on a smaller case. None: a disagreement of built-in pairs,
    or a broken promise; with user RTL, which is reduced with its program, that a simulation reports RTL_MISMATCH.
    """

    verb: ClassVar[str] = "shrink"

    program: AnyProgram
    layout: str | None = common.layout()
    design: DesignRequest = rtl_option()
    failing: str | None = option(
        None,
        "The failing command (exit code not 0), with {program}, {inputs} and {rtl}.",
        group="Fuzzing",
        name="command",
    )
    vectors: int = common.vectors(100)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    time: float = common.duration(60.0, "Time limit of the whole run: 90s, 10m.", always=True)
    timeout: float = common.timeout(20.0, "Seconds for each run.", always=False)
    output: Path = common.output("Folder for the case.", REQUIRED)

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        written = (*self.written, *(f"{_RTL}/{path.name}" for path in self.design.rtl))
        require_no_loss(self.output, written, program=self.program, inputs=self.inputs, **self.design.read)
        if not self.design.rtl and not is_folder(self.program) and (self.design.pins.given or self.design.ports):
            raise RequestError.of("{clock} and {ports} are for RTL: give the RTL with {rtl}.")

    @property
    def written(self) -> tuple[str, ...]:
        """The possible names of files in the folder."""
        return (*case_names(), *((VECTORS_NAME, _RTL) if self.design.rtl else ()))


_FLAKY: Final = "the command did not fail again on the smallest case: its results vary, so the case may be useless"


class Failure(NamedTuple):
    """A failure: words for the folder and for users, and the test for smaller cases."""

    pair: str
    kind: str
    text: str
    fails: Fails


def shrink(request: ShrinkRequest, *, progress: Progress = SILENT) -> ShrinkRecord:
    """Find a small case with the same failure as the given one, and keep it in the folder ``request.output``.

    Verdicts: PASS with the case; NOT_RUN if nothing fails. Raises ``RequestError`` if the command cannot be run,
    ``InputError`` if the folder cannot hold a case.
    """
    open_for("shrink", request.program, request.layout)
    opened = open_projects(request.program, request.design)
    request = replace(request, design=opened.design)
    program, warnings = read_program(opened.program, request.layout, progress)
    opened.require_dialect(program)
    batch = batch_of([program], request.inputs, request.vectors, request.seed)
    case, form, begun = Case.of(program, batch), form_of(program), clock.monotonic()
    require_place(request.output, request.written, "shrink")
    make_folder(request.output)
    with temporary_folder() as scratch, progress.working("looking for a failure ...") as tell:
        if request.design.rtl:
            fails = _rtl_fails(request, form, scratch.path)
            found = shrink_rtl(request.design, case, fails, scratch.path, request.time, request.timeout, _told(tell))
            repeats = fails is None or not found.failure or fails(found.after)
            return _with_rtl(request, found, form, warnings, begun, repeats)
        failure = _failure(request, case, form, scratch.path)
        if failure is None:
            return _record(request, case, case, None, warnings, begun)
        outcome = shrunk(case, failure.fails, request.time, _told(tell))
        repeats = request.failing is None or failure.fails(outcome.case)
    replay = _replay(request, form)
    kept = KeptCase(
        failure.pair,
        failure.kind,
        failure.text,
        opcodes_of(outcome.case),
        None,
        request.failing,
        versions(),
        replay,
        spelled(outcome.case.rows),
    )
    write_case(outcome.case, kept, request.output, form)
    record = _record(request, case, outcome.case, failure, warnings, begun)
    return _found(record, outcome.asked, outcome.complete, replay, repeats)


def _rtl_fails(request: ShrinkRequest, form: str, scratch: Path) -> RtlFails | None:
    """Return the check that the command has the same exit code as on the first case; None if there is no command."""
    if request.failing is None:
        return None
    run = CommandRun(Command.of("command", request.failing, ("program", "rtl")), form, scratch, request.timeout)
    first: list[int | None] = []

    def fails(case: RtlCase) -> bool:
        try:
            status = run.ending(case.case, case.write(scratch / "command")).status
        except InputError:
            return False
        first.append(status)
        return first[0] != 0 and status == first[0]

    return fails


def _with_rtl(
    request: ShrinkRequest, found: RtlOutcome, form: str, warnings: list[str], begun: float, repeats: bool
) -> ShrinkRecord:
    """Keep the case of RTL, and return its record."""
    before, after = found.before, found.after
    if not found.failure or found.design is None:
        record = _record(request, before.case, before.case, None, warnings, begun)
        return record if request.failing else replace(record, message=f"nothing fails: {found.text}")
    folder = request.output / _RTL
    make_folder(folder)
    for name, path in after.includes:
        make_folder((folder / name).parent)
        write_atomically(folder / name, path.read_bytes())
    for name, text in after.files.items():
        write_atomically(folder / name, text.encode("latin-1"))
    design = found.design(tuple(folder / name for name in after.files))
    kept_data = [path for path in found.data if (folder / path.name).absolute() != path]
    for path in kept_data:
        write_atomically(folder / path.name, path.read_bytes())
    vectors = write_vectors(after.case.rows, request.output)
    words = [
        "sim",
        str(request.output / program_name(form)),
        "--inputs",
        str(vectors),
        "--vectors",
        "0",
        "--exhaustive-bits",
        "0",
    ]
    replay = own_command([*words, *replace(design, data=()).words()])
    failure = Failure("rtl", "RTL_MISMATCH", found.failure, lambda case: False)
    if request.failing is not None:
        command = Command.of("command", request.failing, ("program", "rtl"))
        program, inputs = request.output / program_name(form), request.output / INPUTS_NAME
        replay = command_line(command.words({"program": program, "inputs": inputs, "rtl": design.rtl}))
        failure = failure._replace(kind="command")
    versioned = KeptCase(
        failure.pair,
        failure.kind,
        failure.text,
        opcodes_of(after.case),
        None,
        request.failing,
        versions(),
        replay,
        spelled(after.case.rows),
    )
    write_case(after.case, versioned, request.output, form)
    rtl = ShrunkRtl([f"{_RTL}/{name}" for name in after.files], after.top, before.lines, after.lines)
    record = _record(request, before.case, after.case, failure, warnings, begun)
    record = _found(record, found.asked, found.complete, replay, repeats)
    return replace(record, rtl=rtl, message=f"{record.message}; {before.lines} lines of RTL became {after.lines}")


def _told(tell: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: tell(f"shrinking: {text}")


def _failure(request: ShrinkRequest, case: Case, form: str, scratch: Path) -> Failure | None:
    if request.failing is not None:
        return _of_command(request, request.failing, case, form, scratch)
    found = first_disagreement(case)
    if found is not None:
        return Failure(found.pair, found.kind, f"{PAIRS[found.pair].words}: {found.text}", as_disagreed(found))
    violation = first_violation(case)
    if violation is None:
        return None
    mnemonic = violation.op.spec.mnemonic
    return Failure("golden", "PROGRAM_INVALID", f"PROGRAM_INVALID: {violation}", breaks_a_promise(mnemonic))


def _of_command(request: ShrinkRequest, text: str, case: Case, form: str, scratch: Path) -> Failure | None:
    run = CommandRun(Command.of("command", text, ("program",)), form, scratch, request.timeout)
    ending = run.ending(case)
    if ending.status == 0:
        return None
    if ending.status in (126, 127):
        raise RequestError.of(
            "{command} cannot be run: it {ending}: {line}", ending=ending.words, line=ending.last_line
        )
    said = f"the command {ending.words}: {ending.last_line}"
    return Failure("command", ending.words, said, run.as_ended(ending.status))


def _replay(request: ShrinkRequest, form: str) -> str:
    """Return the command line that shows the failure of the case in the folder again."""
    if request.failing is None:
        return own_command(["fuzz", "--replay", str(request.output)])
    command = Command.of("command", request.failing, ("program",))
    files = {"program": request.output / program_name(form), "inputs": request.output / INPUTS_NAME}
    return command_line(command.words(files))


def _record(
    request: ShrinkRequest, before: Case, after: Case, failure: Failure | None, warnings: list[str], begun: float
) -> ShrinkRecord:
    what = (
        "the command ends with exit code 0"
        if request.failing
        else "all agree, and no promise is broken, on these vectors"
    )
    return ShrinkRecord(
        verdict=Verdict.NOT_RUN,
        message=f"nothing fails: {what}",
        program=ProgramInfo.of(before.program),
        failure="" if failure is None else failure.text,
        before=_sizes(before),
        after=_sizes(after),
        text=listing(after.program) if failure is not None else "",
        vectors=[list(row) for row in spelled(after.rows)] if failure is not None else [],
        attempts=0,
        seconds=round(clock.monotonic() - begun, 3),
        complete=True,
        folder="" if failure is None else str(request.output),
        replay="",
        warnings=warnings,
        reproduce=request.reproduce(),
    )


def _found(record: ShrinkRecord, asked: int, complete: bool, replay: str, repeats: bool) -> ShrinkRecord:
    """Return ``record`` with the outcome. ``repeats``: the smallest case failed again when it was run once more."""
    message = f"{record.after} {'still fail' if repeats else 'failed once'}" + (
        "" if complete else "; the time limit was reached before all smaller cases were tried"
    )
    warnings = record.warnings if repeats else [*record.warnings, _FLAKY]
    return replace(
        record,
        verdict=Verdict.PASS,
        message=message,
        attempts=asked,
        complete=complete,
        replay=replay,
        warnings=warnings,
    )


def _sizes(case: Case) -> CaseSize:
    computing, ops, rows = size(case)
    return CaseSize(ops, computing, case.program.n_in, case.program.n_out, rows)
