"""Records as test cases, the form that JUnit and GitHub expect.

The cases must not look like a pass if the record is not a pass: if no case shows the reason, a case is added.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite
from junitparser.xunit2 import FlakyFailure, TestCase

from dais_verif.base.errors import RecordError
from dais_verif.base.text import printable
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import JobResult, RegressionRecord
from dais_verif.record.proof import ProofRecord
from dais_verif.record.read import AnyRecord
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import Failed, SimulationRecord
from dais_verif.report.verdict_words import word_of

__all__ = ["Case", "append_summary", "cases_of", "commands_of", "junit_of", "summary_of", "title_of"]


@dataclass(frozen=True)
class Case:
    """One tested item.

    ``passed`` and ``skipped`` exclude each other; if neither is set, the case failed and ``verdict`` says how.
    ``details``: lines below the message. ``file``: the file to look at first.
    """

    group: str
    name: str
    verdict: Verdict
    message: str
    details: tuple[str, ...] = ()
    seconds: float = 0.0
    passed: bool = False
    skipped: bool = False
    flaky: bool = False
    file: str | None = None


def cases_of(record: AnyRecord) -> list[Case]:
    """Return all cases of ``record``."""
    match record:
        case RegressionRecord():
            cases = [_of_job(result) for result in record.jobs]
        case SignOffRecord():
            cases = [_of_stage(stage, record) for stage in record.stages]
        case ProofRecord():
            cases = [_of_proof(record)]
        case SimulationRecord() | Failed():
            cases = [_of_run(record)]
    missing = record.planned - len(record.jobs) if isinstance(record, RegressionRecord) else 0
    if missing > 0:
        cases.append(Case("regress", "jobs that did not end", Verdict.NOT_RUN, f"{missing} jobs did not end"))
    if record.verdict is not Verdict.PASS and all(case.passed or case.skipped for case in cases):
        cases.append(Case(title_of(record), "verdict", record.verdict, record.message))
    return cases


def title_of(record: AnyRecord) -> str:
    """Return the kind of run that made the record."""
    names = {
        RegressionRecord: "regress",
        SignOffRecord: "signoff",
        ProofRecord: "prove",
        SimulationRecord: "run",
        Failed: "run",
    }
    return f"dais-verif {names[type(record)]}"


def _of_job(result: JobResult) -> Case:
    program = result.job.id.rsplit("/", 3)[0]
    return Case(
        f"{result.job.variant}.{result.job.simulator}",
        f"{program}, seed {result.job.seed}",
        result.verdict,
        result.message,
        _lines(result.blame, f"reproduce: {result.reproduce}"),
        result.seconds,
        result.verdict is Verdict.PASS,
        result.verdict is not Verdict.PASS and not result.attempts,
        result.flaky,
        result.job.program,
    )


def _of_stage(stage: StageResult, record: SignOffRecord) -> Case:
    return Case(
        "signoff",
        stage.name,
        stage.verdict,
        f"{stage.message}{' (waived)' if stage.waived else ''}",
        _lines(f"reproduce: {stage.reproduce}" if stage.reproduce else ""),
        stage.seconds,
        stage.passed or stage.waived,
        stage.optional and not stage.passed and not stage.waived,
        file=record.program.path,
    )


def _of_proof(record: ProofRecord) -> Case:
    found = record.counterexample
    blame = ""
    if found is not None:
        blame = f"output {found.output} is wrong on the inputs {', '.join(found.inputs)}"
        blame += f"; op {found.op} ({found.mnemonic}) is the first that is" if found.op is not None else ""
    return Case(
        "prove",
        record.program.path or record.program.hash,
        record.verdict,
        record.message,
        _lines(blame, f"reproduce: {record.reproduce}"),
        sum(record.seconds.values()),
        record.verdict is Verdict.PASS,
        file=record.program.path,
    )


def _of_run(record: SimulationRecord | Failed) -> Case:
    if isinstance(record, Failed):
        return Case("run", "run", record.verdict, record.message)
    found = record.first_mismatch
    blame = ""
    if found is not None:
        blame = f"vector {found.row}, output {found.output}, in {found.simulator}"
        blame += "".join(f"; {text}" for text in [found.blame.text, *found.blame.wrong()]) if found.blame else ""
    return Case(
        ".".join(simulator.name for simulator in record.simulators) or "run",
        f"{record.program.path or record.program.hash}, seed {record.seed}",
        record.verdict,
        record.message,
        _lines(blame, f"reproduce: {record.reproduce}"),
        record.times.seconds if record.times is not None else 0.0,
        record.verdict is Verdict.PASS,
        file=record.program.path,
    )


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)


# Records as JUnit XML, which every CI system reads.


#: Verdicts that report a defect, which is a failure in JUnit; other verdicts except PASS are errors in JUnit.
_FOUND = (
    Verdict.RTL_MISMATCH,
    Verdict.PROGRAMS_DIFFER,
    Verdict.DISAGREEMENT,
    Verdict.UNSOUND,
    Verdict.PROGRAM_INVALID,
    Verdict.X_IN_OUTPUT,
    Verdict.SIMULATORS_DISAGREE,
    Verdict.NOT_SIGNED_OFF,
)

#: Characters that no XML document can hold, even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_of(record: AnyRecord) -> bytes:
    """Return ``record`` as a document with one suite: a case for each job, stage or run."""
    suite = TestSuite(title_of(record))
    suite.add_testcases([_case(case) for case in cases_of(record)])
    document = JUnitXml(title_of(record))
    document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    document.write(out, pretty=True)
    return out.getvalue()


def _case(case: Case) -> TestCase:
    found = TestCase(_text(case.name), _text(case.group), case.seconds)
    message, kind = _text(case.message), case.verdict.value
    if case.skipped:
        found.result = [Skipped(message, kind)]
    elif not case.passed:
        # CI systems show only this line in lists of failures.
        headline = f"{kind}: {message}"
        result = (Failure if case.verdict in _FOUND else Error)(headline, kind)
        result.text = "\n".join((headline, *map(_text, case.details)))
        found.result = [result]
    elif case.flaky:
        found.add_interim_result(FlakyFailure(message, "flaky"))
    return found


def _text(text: str) -> str:
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", printable(text))


# Records for GitHub: annotations (workflow commands on standard output) and the step summary in Markdown.


#: GitHub shows at most this many annotations of each kind per step.
_ANNOTATIONS = 10
#: GitHub limits a summary to 1 MiB, which is more than is readable.
_ROWS, _LONGEST_CELL = 100, 500
_VARIABLE = "GITHUB_STEP_SUMMARY"


def commands_of(record: AnyRecord) -> str:
    """Return a line for each failure, at most ten, and a warning for each flaky job that passed."""
    cases = cases_of(record)
    failed = [case for case in cases if not case.passed and not case.skipped]
    flaky = [case for case in cases if case.passed and case.flaky]
    lines = [_command("error", case) for case in failed]
    if len(lines) > _ANNOTATIONS:
        more = len(lines) - _ANNOTATIONS + 1
        rest = Case("", "", record.verdict, f"{more} more failures: see the summary of the step, or the record")
        lines = [*lines[: _ANNOTATIONS - 1], _command("error", rest)]
    lines += [_command("warning", case) for case in flaky[:_ANNOTATIONS]]
    return "".join(f"{line}\n" for line in lines)


def summary_of(record: AnyRecord) -> str:
    """Return the verdict, followed by a table of failed and flaky jobs."""
    cases = cases_of(record)
    shown = [case for case in cases if (not case.passed and not case.skipped) or case.flaky]
    mark = ":white_check_mark:" if record.verdict is Verdict.PASS else ":x:"
    message = _markdown(printable(record.message))
    lines = [f"### {mark} {title_of(record)}: {word_of(record, record.verdict)}", "", message, ""]
    if shown:
        lines += ["| verdict | what | message |", "|---|---|---|"]
        lines += [
            _row((case.verdict.value, printable(f"{case.name}, {case.group}"), _details(case)))
            for case in shown[:_ROWS]
        ]
    if len(shown) > _ROWS:
        lines += ["", f"and {len(shown) - _ROWS} more"]
    return "\n".join([*lines, ""])


def append_summary(text: str, environ: Mapping[str, str]) -> None:
    """Append ``text`` to the summary of the current step, if there is one. Raises ``InputError`` if writing fails."""
    path = environ.get(_VARIABLE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise RecordError(f"{_VARIABLE} names {path!r}, which cannot be written: {error.strerror}") from None


def _command(kind: str, case: Case) -> str:
    title = f"{case.verdict.value}: {printable(case.name)}" if case.name else case.verdict.value
    properties = {"file": printable(_relative(case.file)), "title": title} if case.file else {"title": title}
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {said}::{_data(_details(case))}"


def _relative(path: str) -> str:
    """Return ``path`` relative to the checkout, where steps run."""
    absolute = Path(path).absolute()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else os.path.normpath(path)


def _details(case: Case) -> str:
    return "\n".join(map(printable, (case.message, *case.details)))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _row(cells: Sequence[str]) -> str:
    cut = [cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}…" for cell in cells]
    return f"| {' | '.join(map(_markdown, cut))} |"


def _markdown(text: str) -> str:
    """Return ``text`` escaped, so that it is neither markup, nor a cell border, nor HTML."""
    letters = (f"&#{ord(x)};" if x.isascii() and not (x.isalnum() or x in " .,;") else x for x in text)
    return "".join(letters).replace("&#10;", "<br>")
