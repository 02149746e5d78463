"""The options by which ``sim`` measures coverage: of the program, and of the RTL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import notices
from dais_verif.cli.vectors import decimal_rows
from dais_verif.errors import ViolationError
from dais_verif.files import write_atomically
from dais_verif.program import Program
from dais_verif.report.record import Record, StimulusClass
from dais_verif.stimulus import Stimulus
from dais_verif.stopwatch import Stopwatch

__all__ = ["Covering", "covering_options"]

DIRECTED = "directed.csv"


@dataclass(frozen=True)
class Covering:
    """What was asked for: coverage of the ``program``, with directed vectors, and of the ``rtl`` in Verilator."""

    program: bool
    rtl: bool

    def directed(
        self,
        program: Program,
        stimulus: Stimulus,
        record: Record,
        folder: Path,
        watch: Stopwatch,
        *,
        jobs: int | None,
    ) -> tuple[Stimulus, Record]:
        """The vectors with directed ones after them, which are kept in ``folder``, and the record with its coverage.

        Inputs keep to what ``program`` declares.
        """
        if not self.program:
            return stimulus, record
        from dais_verif.coverage import measure
        from dais_verif.golden.fast import threads

        try:
            with watch.stage("coverage"), notices().status("counting coverage") as status:
                coverage, found = measure(
                    program,
                    stimulus,
                    seed=record.seed,
                    check=not record.unchecked,
                    jobs=threads(jobs),
                    notice=status.update,
                )
        except ViolationError:  # which the run itself will find, and tell
            return stimulus, record
        if not found.rows:
            return stimulus, replace(record, coverage=coverage)
        write_atomically(folder / DIRECTED, decimal_rows(found).encode())
        classes = [*record.stimulus, StimulusClass("directed", found.rows)]
        record = replace(record, coverage=coverage, stimulus=classes, vectors=record.vectors + found.rows)
        return Stimulus([stimulus, found]), record

    def check(self, simulators: Sequence[str], wrapped: bool) -> None:
        """Raise ``UsageError`` where coverage of the RTL cannot be had."""
        if self.rtl and wrapped:
            raise click.UsageError("--rtl-coverage is not for --wrapped: it is of a core, verified without.")
        if self.rtl and "verilator" not in simulators:
            raise click.UsageError("--rtl-coverage is counted in Verilator; use --sim verilator or both.")

    def of_rtl(self, record: Record, folder: Path) -> Record:
        """The record with the coverage of the RTL, if it was asked for and Verilator has run."""
        ran = any(one.name == "verilator" and one.vectors_compared for one in record.simulators)
        if not self.rtl or not ran:
            return record
        from dais_verif.sim.rtl_coverage import collect

        return replace(record, rtl_coverage=collect(folder / "verilator"))


def covering_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--coverage`` and ``--rtl-coverage``; the command gets one ``covering`` for both."""

    @wraps(command)
    def with_options(*arguments: Any, coverage: bool, rtl_coverage: bool, **given: Any) -> Any:
        return command(*arguments, covering=Covering(coverage, rtl_coverage), **given)

    for option in (
        click.option("--rtl-coverage", is_flag=True, help="Lines and toggles of the RTL, in Verilator."),
        click.option("--coverage", is_flag=True, help="Functional coverage, with vectors for what is open."),
    ):
        with_options = option(with_options)
    return with_options
