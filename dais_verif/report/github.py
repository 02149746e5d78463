"""Records for GitHub: annotations (workflow commands on standard output) and the step summary in Markdown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.errors import RecordError
from dais_verif.printable import printable
from dais_verif.record.read import AnyRecord
from dais_verif.report.cases import Case, cases_of, title_of
from dais_verif.report.words import word_of
from dais_verif.verdict import Verdict

__all__ = ["append_summary", "commands_of", "summary_of"]

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
