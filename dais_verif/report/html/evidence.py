"""The best evidence for each output, from all records of a page, per design; wrong outputs come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.coverage import Coverage, CoverageRecord
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.record.signoff import SignOffRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.report.html.sources import Source
from dais_verif.report.html.verdicts import standing_of
from dais_verif.spec.program import Program

__all__ = ["GRADES", "JudgedDesign", "Grade", "OutputRow", "designs_of", "output_rows"]

#: Grades in descending priority: an output that is known to be wrong remains wrong, whatever other records say.
GRADES = {
    "wrong": "a vector shows that it is wrong",
    "refuted": "the proof found an input for which it is wrong, which no simulator has confirmed",
    "proved": "for all inputs",
    "exhausted": "all inputs that reach it were compared",
    "sampled": "some vectors were compared",
    "none": "nothing is known",
}

#: The verdicts for which a vector shows that the design is wrong, rather than the program or our tools.
_WRONG = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE)


@dataclass(frozen=True)
class JudgedDesign:
    """A design: RTL, identified by the hashes of its files, or a board. Evidence applies to one design only."""

    label: str
    files: list[tuple[str, str]]
    sources: list[Source]


@dataclass(frozen=True)
class Grade:
    """Evidence for one output of one design.

    ``vectors``: the number of vectors in the largest run that compared the output. ``by``: the records with this grade.
    ``against``: records that call the output proved or exhausted although a vector shows that it is wrong; one of the
    two claims must be incorrect.
    """

    grade: str
    vectors: int = 0
    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputRow:
    """One output.

    ``type`` and ``op`` are unknown if the program is not available; ``op`` is None for a constant. ``grades``: one per
    design. ``bins``: the numbers of all, hit and unreachable coverage bins.
    """

    output: int
    type: str
    op: int | None
    grades: list[Grade]
    bins: list[int] | None

    @property
    def is_wrong(self) -> bool:
        """True if a vector or the proof shows that the output is wrong in any of the designs."""
        return any(grade.grade in ("wrong", "refuted") for grade in self.grades)


def designs_of(sources: Sequence[Source]) -> list[JudgedDesign]:
    """Return the designs in the records of a program's page, in order of appearance."""
    found: dict[object, list[Source]] = {}
    for source in sources:
        if not isinstance(source.document, RegressionRecord | CoverageRecord):
            found.setdefault(_identity(source), []).append(source)
    return [_design(group) for group in found.values()]


def _identity(source: Source) -> object:
    """Return a key that is equal for records of the same design. A record without hashes is a design of its own."""
    document = source.document
    if isinstance(document, SimulationRecord) and document.board is not None:
        return "board", document.board.target, document.board.program
    rtl = None if isinstance(document, RegressionRecord | CoverageRecord) else document.rtl
    if rtl is None or not rtl.sha256:
        return id(source)
    return rtl.top, tuple(sorted(rtl.sha256)), tuple(sorted((rtl.data or {}).items()))


def _design(group: list[Source]) -> JudgedDesign:
    documents = [source.document for source in group]
    first = documents[0]
    if isinstance(first, SimulationRecord) and first.board is not None:
        return JudgedDesign(f"board {first.board.target}", [], group)
    assert not isinstance(first, RegressionRecord | CoverageRecord)
    rtl = first.rtl
    names, hashes = rtl.files, rtl.sha256
    files = [(name, hashes[at] if at < len(hashes) else "") for at, name in enumerate(names)]
    files += (rtl.data or {}).items()
    shown = ", ".join(dict.fromkeys(Path(name).name for name in names[:3])) + (", ..." if len(names) > 3 else "")
    origin = "emitted from the program" if rtl.emitted else shown or "no RTL"
    return JudgedDesign(f"module {rtl.top}, {origin}" if rtl.top else origin, files, group)


def output_rows(
    sources: Sequence[Source], designs: Sequence[JudgedDesign], program: Program | None, coverage: Coverage | None
) -> list[OutputRow]:
    """Return a row for every output of the program, wrong ones first, so that users find them among thousands."""
    documents = [source.document for source in sources if not isinstance(source.document, RegressionRecord)]
    count = program.n_out if program is not None else max((d.program.n_out for d in documents), default=0)
    grades = [_grades(design, count) for design in designs]
    bins = coverage.outputs if coverage is not None else None
    rows = []
    for output in range(count):
        op = int(program.out_idx[output]) if program is not None else -1
        kind = str(program.output_types[output]) if program is not None else ""
        covered = bins[output] if bins is not None and output < len(bins) else None
        rows.append(OutputRow(output, kind, op if op >= 0 else None, [found[output] for found in grades], covered))
    return sorted(rows, key=lambda row: not row.is_wrong)


def _grades(design: JudgedDesign, count: int) -> list[Grade]:
    best = [Grade("none")] * count
    for source in design.sources:
        for output, grade, vectors in _claims(source):
            if 0 <= output < count and grade in GRADES:
                best[output] = _better(best[output], Grade(grade, vectors, (source.name,)))
    return best


def _better(a: Grade, b: Grade) -> Grade:
    order = list(GRADES)
    first, second = sorted((a, b), key=lambda grade: order.index(grade.grade))
    by, against = first.by, (*a.against, *b.against)
    if first.grade == second.grade:
        by += second.by
    elif first.grade in ("wrong", "refuted") and second.grade in ("proved", "exhausted"):
        against += second.by
    # Keep the number of compared vectors, even if the better evidence compared fewer.
    vectors = max(first.vectors, second.vectors)
    return Grade(first.grade, vectors, tuple(dict.fromkeys(by)), tuple(dict.fromkeys(against)))


def _claims(source: Source) -> Iterator[tuple[int, str, int]]:
    """Yield ``(output, grade, vectors)`` for each output; nothing if the record is incomplete or contradicts itself."""
    document = source.document
    if standing_of(document).verdict is not document.verdict:
        return
    passed = document.verdict is Verdict.PASS
    match document:
        case SimulationRecord():
            if document.first_mismatch is not None and document.verdict in _WRONG:
                yield document.first_mismatch.output, "wrong", 0
            if document.outputs and document.verdict in (Verdict.PASS, Verdict.TOOL_FAILURE, *_WRONG):
                yield from ((known.output, known.grade, known.vectors) for known in document.outputs)
            elif passed and document.evidence is not None:  # older records do not hold a grade for each output
                vectors = min(simulator.vectors_compared for simulator in document.simulators)
                for grade, outputs in (
                    ("exhausted", document.evidence.exhausted),
                    ("sampled", document.evidence.sampled),
                ):
                    yield from ((output, grade, vectors) for output in outputs)
        case SignOffRecord():
            yield from ((known.output, known.grade, known.vectors) for known in document.outputs)
        case ProofRecord():
            if document.counterexample is not None and document.verdict in _WRONG:
                yield document.counterexample.output, "wrong", 0
            if document.verdict in (*_WRONG, Verdict.UNKNOWN):
                for claim in document.outputs:
                    if claim.output is not None and claim.status is Status.REFUTED:
                        yield claim.output, "refuted", 0
            if document.proved_outputs is not None:
                yield from ((output, "proved", 0) for output in document.proved_outputs)
                return
            # Older records do not list outputs: an output is proved from the signals of the ops before it.
            sound = document.counterexample is None and all(claim.status is Status.PROVED for claim in document.ops)
            if passed or (document.verdict is Verdict.UNKNOWN and sound):
                for claim in document.outputs:
                    if claim.output is not None and claim.status is Status.PROVED:
                        yield claim.output, "proved", 0
        case _:
            pass
