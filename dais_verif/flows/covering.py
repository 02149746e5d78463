"""Coverage in a simulation: coverage of the program, with vectors for open bins, and coverage of the RTL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.errors import RequestError, ViolationError
from dais_verif.files import write_atomically
from dais_verif.flows.arguments import require_types
from dais_verif.flows.options import option
from dais_verif.flows.progress import Progress
from dais_verif.flows.vectors import decimal_rows
from dais_verif.program import Program
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.stimulus import Stimulus
from dais_verif.stopwatch import Stopwatch

__all__ = ["DIRECTED", "Covering"]

DIRECTED = "directed.csv"


@dataclass(frozen=True)
class Covering:
    """The requested coverage."""

    program: bool = option(
        False, "Measure functional coverage, and add vectors for open bins.", group="Vectors", name="coverage"
    )
    rtl: bool = option(
        False,
        "Measure line and toggle coverage of the RTL in Verilator.",
        group="Vectors",
        name="rtl_coverage",
        rare=True,
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
        if not self.program:
            return stimulus, record
        from dais_verif.coverage import measure
        from dais_verif.golden.fast import threads

        try:
            with watch.stage("coverage"), progress.working("counting coverage") as tell:
                coverage, found = measure(
                    program,
                    stimulus,
                    seed=record.seed,
                    check=not record.unchecked,
                    jobs=threads(jobs),
                    notice=tell,
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
        if self.rtl and wrapped:
            raise RequestError.of(
                "{rtl_coverage} is not for {wrapped}: measure the coverage of the core without a wrapper."
            )
        if self.rtl and "verilator" not in simulators:
            raise RequestError.of("{rtl_coverage} is counted in Verilator; use {simulators} verilator or both.")

    def of_rtl(self, record: SimulationRecord, folder: Path) -> SimulationRecord:
        """Return the record with the coverage of the RTL, if it was requested and Verilator has run."""
        ran = any(one.name == "verilator" and one.vectors_compared for one in record.simulators)
        if not self.rtl or not ran:
            return record
        from dais_verif.simulation.rtl_coverage import collect

        return replace(record, rtl_coverage=collect(folder / "verilator"))
