"""The final word of a record: the verdict, or for a sign-off its customary wording.

Console, HTML page and summaries share this code, so that they always agree.
"""

from __future__ import annotations

from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import SignOffRecord, StageResult

__all__ = ["signed_word", "stage_word", "word_of"]


def signed_word(verdict: Verdict) -> str:
    """Return the word that a sign-off, or a check of its certificate, uses for ``verdict``."""
    return {Verdict.PASS: "SIGNED OFF", Verdict.NOT_SIGNED_OFF: "NOT SIGNED OFF"}.get(verdict, verdict.value)


def word_of(record: object, verdict: Verdict) -> str:
    """Return the word that ``record``, of any kind, uses for ``verdict``."""
    return signed_word(verdict) if isinstance(record, SignOffRecord) else verdict.value


def stage_word(result: StageResult) -> str:
    """Return the outcome of a stage of a sign-off, in a word or two."""
    if result.passed:
        return "found" if result.must_fail else "passed"
    if result.waived:
        return "waived"
    return ("undecided" if result.ran else "not run") if result.optional else ("FAILED" if result.ran else "NOT RUN")
