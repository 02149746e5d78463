"""The verdict of a page: the verdict of its records, unless a record is incomplete or contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.coverage import CoverageRecord
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.record.signoff import SignOffRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.report.html.sources import Document, Source
from dais_verif.report.verdict_words import word_of

__all__ = ["Standing", "limits_of", "overall", "standing_of"]

#: The verdict of several records is the first of these that any of them has.
_WORST_FIRST = (
    Verdict.SIMULATORS_DISAGREE,
    Verdict.RTL_MISMATCH,
    Verdict.X_IN_OUTPUT,
    Verdict.PROGRAMS_DIFFER,
    Verdict.DISAGREEMENT,
    Verdict.UNSOUND,
    Verdict.PROGRAM_INVALID,
    Verdict.INTERNAL_ERROR,
    Verdict.INVALID_INPUT,
    Verdict.TOOL_FAILURE,
    Verdict.NOT_SIGNED_OFF,
    Verdict.INTERRUPTED,
    Verdict.UNKNOWN,
    Verdict.NOT_RUN,
    Verdict.PASS,
)


class Standing(NamedTuple):
    """The verdict of a record, the reason, and the word for it that the record's own command prints."""

    verdict: Verdict
    message: str
    word: str

    @classmethod
    def of(cls, verdict: Verdict, message: str) -> Standing:
        """Return a verdict that the page itself reaches, rather than a record."""
        return cls(verdict, message, verdict.value)


def standing_of(document: Document) -> Standing:
    """Judge ``document``: INTERRUPTED if it is incomplete, UNKNOWN if its content contradicts its verdict PASS."""
    said = f"{document.verdict.value}: {document.message}" if document.message else document.verdict.value
    if not isinstance(document, ProofRecord | CoverageRecord) and document.state != "complete":
        return Standing.of(
            Verdict.INTERRUPTED, f"the run was not completed or is still running; the record so far says {said}"
        )
    if document.verdict is Verdict.PASS:
        doubts = list(_doubts(document))
        if doubts:
            return Standing.of(Verdict.UNKNOWN, f"the record says {said}; but {'; '.join(doubts)}")
    return Standing(document.verdict, document.message, word_of(document, document.verdict))


def overall(sources: Sequence[Source]) -> Standing:
    """Return the worst verdict of ``sources``, at least one. The evidence of a stage is judged by its sign-off."""
    judged = [source for source in sources if not source.stage]
    standings = [(standing_of(source.document), source) for source in judged]
    # A coverage count says nothing about the RTL: next to other records, it cannot be the basis of a pass.
    of_rtl = [
        pair
        for pair in standings
        if not (isinstance(pair[1].document, CoverageRecord) and pair[0].verdict is Verdict.PASS)
    ]
    standings = of_rtl or standings[:1]
    standing, source = min(standings, key=lambda pair: _WORST_FIRST.index(pair[0].verdict))
    if len(standings) == 1:
        return standing
    if standing.verdict is Verdict.PASS:
        return Standing.of(Verdict.PASS, "; ".join(f"{each.name}: {s.message}" for s, each in standings))
    return standing._replace(message=f"{source.name}: {standing.message}")


def limits_of(sources: Sequence[Source]) -> list[str]:
    """Return the limits of the verdict of a page, which are shown next to it."""
    documents = [source.document for source in sources if not source.stage]
    waivers = sum(len(d.waivers) for d in documents if isinstance(d, SimulationRecord | SignOffRecord))
    warnings = sum(len(d.warnings) for d in documents if not isinstance(d, RegressionRecord))
    found = {
        "no RTL was examined": all(isinstance(d, CoverageRecord) for d in documents),
        "overflow was not checked": any(
            d.unchecked for d in documents if isinstance(d, SimulationRecord | ProofRecord | CoverageRecord)
        ),
        "the proof assumes that the program keeps its promises": any(
            isinstance(d, ProofRecord) and d.conditional for d in documents
        ),
        "the layout of the program was assumed": any(
            d.program.layout_assumed for d in documents if not isinstance(d, RegressionRecord)
        ),
        counted(waivers, "waiver"): waivers > 0,
        counted(warnings, "warning"): warnings > 0,
    }
    return [words for words, holds in found.items() if holds]


def _doubts(document: Document) -> Iterator[str]:
    """Yield the contradictions in a record that says PASS."""
    match document:
        case SimulationRecord():
            yield from _doubts_of_run(document)
        case ProofRecord(outputs=outputs):
            if not outputs:
                yield "no output was proved"
            open_claims = [claim for claim in outputs if claim.status is not Status.PROVED]
            if open_claims or document.counterexample is not None:
                yield f"{len(open_claims) or 'some'} of {len(outputs)} outputs are not proved"
        case SignOffRecord(stages=stages):
            if not any(stage.passed for stage in stages):
                yield "no stage passed"
            failed = [stage.name for stage in stages if not (stage.passed or stage.waived or stage.optional)]
            if failed:
                yield f"stages did not pass: {', '.join(failed)}"
        case RegressionRecord(jobs=jobs, planned=planned):
            if not jobs or len(jobs) != planned:
                yield f"{len(jobs)} of {planned} jobs are recorded"
            failed = [job.job.id for job in jobs if job.verdict is not Verdict.PASS]
            if failed:
                yield f"{len(failed)} of {len(jobs)} jobs did not pass"


def _doubts_of_run(record: SimulationRecord) -> Iterator[str]:
    if not sum(simulator.bits_compared for simulator in record.simulators):
        yield "no bit was compared"
    for simulator in record.simulators:
        if simulator.mismatches or simulator.vectors_with_x or simulator.failure:
            yield f"{simulator.name} did not pass"
    if record.first_mismatch is not None:
        yield "it contains a mismatch"
