"""Count the coverage bins that vectors hit, find vectors for open bins, and show which bins are unreachable."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dais_verif.base.errors import RequestError, ViolationError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.record.coverage import Coverage, CoverageRecord, coverage_line
from dais_verif.record.program import ProgramInfo
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.spec.program import Program
from dais_verif.stimulus import Stimulus, read_batch
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import WithBoundaries, decimal_rows

if TYPE_CHECKING:
    from dais_verif.coverage import Measured

__all__ = ["CoverageRequest", "Covered", "Covering", "DIRECTED", "cover"]


# Coverage in a simulation: coverage of the program, with vectors for open bins, and coverage of the RTL.


DIRECTED = "directed.csv"


@dataclass(frozen=True)
class Covering:
    """The requested coverage."""

    coverage: bool = option(False, "Measure functional coverage, and add vectors for open bins.", group="Vectors")
    rtl_coverage: bool = option(
        False, "Measure line and toggle coverage of the RTL in Verilator.", group="Vectors", rare=True
    )

    def __post_init__(self) -> None:
        require_types(self)

    def directed(
        self,
        program: Program,
        stimulus: Stimulus,
        record: SimulationRecord,
        folder: Path,
        watch: Stopwatch,
        *,
        jobs: int | None,
        progress: Progress,
    ) -> tuple[Stimulus, SimulationRecord]:
        """Return the stimulus with directed vectors, which are written into ``folder``, and the record with coverage.

        Directed vectors stay within the input intervals that ``program`` declares.
        """
        if not self.coverage:
            return stimulus, record
        from dais_verif.coverage import measure
        from dais_verif.golden.fast import threads

        try:
            with watch.stage("coverage"), progress.working("counting coverage") as tell:
                coverage, found = measure(
                    program, stimulus, seed=record.seed, check=not record.unchecked, jobs=threads(jobs), notice=tell
                )
        except ViolationError:  # the run itself will find and report it
            return stimulus, record
        if not found.rows:
            return stimulus, replace(record, coverage=coverage)
        write_atomically(folder / DIRECTED, decimal_rows(found).encode())
        classes = [*record.stimulus, StimulusClass("directed", found.rows)]
        record = replace(record, coverage=coverage, stimulus=classes, vectors=record.vectors + found.rows)
        return Stimulus([stimulus, found]), record

    def check(self, simulators: Sequence[str], wrapped: bool) -> None:
        """Raise ``RequestError`` if coverage of the RTL cannot be measured."""
        if self.rtl_coverage and wrapped:
            raise RequestError.of(
                "{rtl_coverage} is not for {wrapped}: measure the coverage of the core without a wrapper."
            )
        if self.rtl_coverage and "verilator" not in simulators:
            raise RequestError.of("{rtl_coverage} is counted in Verilator; use {simulators} verilator or both.")

    def of_rtl(self, record: SimulationRecord, folder: Path) -> SimulationRecord:
        """Return the record with the coverage of the RTL, if it was requested and Verilator has run."""
        ran = any(one.name == "verilator" and one.vectors_compared for one in record.simulators)
        if not self.rtl_coverage or not ran:
            return record
        from dais_verif.simulation.rtl_coverage import collect

        return replace(record, rtl_coverage=collect(folder / "verilator"))


# Count the coverage bins that vectors hit, find vectors for open bins, and show which bins are unreachable.


#: Files that ``cover`` writes into its folder.
_WRITTEN = ("coverage.json", "open.csv", "unreachable.csv", DIRECTED)


@dataclass(frozen=True, kw_only=True)
class CoverageRequest(Request):
    """A program and the vectors to count: the vectors of ``inputs``, then ``vectors`` generated ones."""

    verb: ClassVar[str] = "coverage"

    program: AnyProgram
    layout: str | None = common.layout()
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    directed: bool = option(
        True, "Compute vectors for open bins from the program, and count them too.", group="Vectors"
    )
    unreachable: bool = option(True, "Find out which bins no input can hit.", group="Vectors", rare=True)
    floor: float | None = option(
        None, "Lowest accepted coverage, in percent; exit code 7 below it.", group="Vectors", least=0, most=100
    )
    timeout: float = option(
        10.0,
        "Time limit for the solver in total, in seconds; without it, results do not depend on the speed of the "
        "machine.",
        group="Limits",
        least=0,
        most=10**9,
        always=True,
    )
    unchecked: bool = common.unchecked()
    out_of_range: bool = option(
        False, "Also use inputs beyond the intervals that da4ml's JSON declares.", group="Vectors", rare=True
    )
    jobs: int | None = common.jobs()
    output: Path | None = common.output("Folder for coverage.json, open.csv, unreachable.csv, directed.csv.")

    def require(self) -> None:
        """Raise ``RequestError`` if the output would destroy what is read."""
        require_no_loss(self.output, _WRITTEN, program=self.program, inputs=self.inputs)


@dataclass(frozen=True)
class Covered:
    """The result of ``cover``: its record, and the program."""

    record: CoverageRecord
    program: Program


def cover(request: CoverageRequest, *, progress: Progress = SILENT) -> Covered:
    """Count the bins of the program that the vectors hit.

    Verdicts: PASS, NOT_RUN if nothing was counted, NOT_SIGNED_OFF below the floor. Raises ``ViolationError`` if a
    vector breaks a promise and ``request`` is not ``unchecked``.
    """
    from dais_verif.coverage import Effort, measured, summary
    from dais_verif.golden.fast import threads

    subject = open_for("coverage", request.program, request.layout)
    program, warnings = read_program(subject.given, request.layout, progress)
    given = [read_batch(path, program.n_in) for path in request.inputs]
    stimulated = replace(program, intervals=None) if request.out_of_range else program
    with progress.working("counting coverage") as tell:
        found = measured(
            stimulated,
            Stimulus([*given, WithBoundaries(stimulated, request.vectors, request.seed, check=not request.unchecked)]),
            directed=request.directed,
            unreachable=request.unreachable,
            seed=request.seed,
            check=not request.unchecked,
            declared=not request.out_of_range,
            effort=Effort(seconds=request.timeout),
            jobs=threads(request.jobs),
            notice=tell,
        )
    coverage = summary(found)
    verdict, message = _judge(coverage, request.floor)
    record = CoverageRecord(
        verdict=verdict,
        message=message,
        program=ProgramInfo.of(program),
        seed=request.seed,
        unchecked=request.unchecked,
        warnings=warnings,
        reproduce=request.reproduce(),
        coverage=coverage,
    )
    if request.output is not None:
        make_folder(request.output)
        (request.output / DIRECTED).unlink(missing_ok=True)
        write_atomically(request.output / "coverage.json", f"{record.to_json()}\n".encode())
        for name, text in _files(found).items():
            write_atomically(request.output / name, text.encode())
    return Covered(record, program)


def _judge(coverage: Coverage, floor: float | None) -> tuple[Verdict, str]:
    if not sum(group.bins for group in coverage.groups):
        return Verdict.NOT_RUN, "nothing was counted: no op of the program has any bits"
    if not coverage.vectors:
        return Verdict.NOT_RUN, "nothing was counted: there was no vector"
    line = coverage_line(coverage)
    if floor is not None and coverage.percent < floor:
        return Verdict.NOT_SIGNED_OFF, f"{line}; the floor is {floor:g} %"
    return Verdict.PASS, line


def _files(found: Measured) -> dict[str, str]:
    """Return CSV files by name: open bins, unreachable bins with the method that showed it, directed vectors."""
    from dais_verif.coverage import How

    never = (found.how != How.NOT).nonzero()[0].tolist()
    left = (~found.hit & (found.how == How.NOT)).nonzero()[0].tolist()
    rows = [[found.bins.text(bin), How(found.how[bin]).name.lower()] for bin in never]
    return {
        "open.csv": _csv([["bin"], *([found.bins.text(bin)] for bin in left)]),
        "unreachable.csv": _csv([["bin", "shown by"], *rows]),
        **({DIRECTED: decimal_rows(found.directed)} if found.directed.rows else {}),
    }


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
