"""The word that a record ends in: the verdict, and for a sign-off the words that everybody reads in its place.

Console, HTML page and summaries take it from here, so that none of them can say it another way.
"""

from __future__ import annotations

from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.verdict import Verdict

__all__ = ["signed_word", "stage_word", "word_of"]


def signed_word(verdict: Verdict) -> str:
    """Return what a sign-off, or a check of its certificate, says for ``verdict``."""
    return {Verdict.PASS: "SIGNED OFF", Verdict.NOT_SIGNED_OFF: "NOT SIGNED OFF"}.get(verdict, verdict.value)


def word_of(record: object, verdict: Verdict) -> str:
    """Return what a ``record`` of whichever kind says for ``verdict``."""
    return signed_word(verdict) if isinstance(record, SignOffRecord) else verdict.value


def stage_word(result: StageResult) -> str:
    """Return what became of a stage of a sign-off, in a word or two."""
    if result.passed:
        return "found" if result.must_fail else "passed"
    if result.waived:
        return "waived"
    return ("undecided" if result.ran else "not run") if result.optional else ("FAILED" if result.ran else "NOT RUN")
