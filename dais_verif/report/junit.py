"""Records as JUnit XML, which every CI system reads."""

from __future__ import annotations

import io
import re

from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite
from junitparser.xunit2 import FlakyFailure, TestCase

from dais_verif.printable import printable
from dais_verif.record.read import AnyRecord
from dais_verif.report.cases import Case, cases_of, title_of
from dais_verif.verdict import Verdict

__all__ = ["junit_of"]

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
