"""``dais-verif regress``: many programs, variants, simulators and seeds as one run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import click
from rich.console import Console
from rich.live import Live

from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand, OutputPath
from dais_verif.record.campaigns import JobResult, RegressionRecord
from dais_verif.record.read import REGRESSION_NAME
from dais_verif.report.live import job_word, regression_table, seconds_left
from dais_verif.report.spoken import spoken
from dais_verif.verbs.regress import Past, RegressionRequest
from dais_verif.verbs.regress import regress as run_regression

__all__ = ["regress"]


@click.command(cls=GroupedCommand)
@click.argument("paths", nargs=-1, required=True)
@requested(RegressionRequest)
@common.output_option(
    "--junit",
    type=OutputPath(b"<?xml", needs="junitparser"),
    help="Also write JUnit XML to this file.",
)
@common.html_option
@common.output_option(
    "--github",
    rare=True,
    is_flag=True,
    help="Also print GitHub annotations and append to the summary of the step.",
)
@common.json_option
def regress(request: RegressionRequest, junit: Path | None, html: Path | None, github: bool, as_json: bool) -> int:
    """Run `sim` on all programs of PATHS: files, folders, globs, or TOML manifests (docs/regression.md).

    \b
    dais-verif regress networks/                              every program in the folder and below
    dais-verif regress 'networks/*.bin' --sim verilator --seed 0 --seed 1
    dais-verif regress regress.toml --vectors 10000           programs x variants x simulators x seeds
    dais-verif regress networks/ --rerun-failed               jobs that did not pass last time
    dais-verif regress networks/ --resume                     continue after an interruption
    dais-verif regress networks/ --shard 2/5                  the second of five shares, for CI
    dais-verif regress networks/ --cluster slurm:20           on 20 workers in the queue of a farm
    dais-verif regress networks/ --junit junit.xml --github --html regress.html

    Jobs that failed last time run first. The verdict is PASS only if every planned job ran and passed, else the worst
    verdict of all jobs.
    """
    err = common.notices()
    err.quiet = spoken().quiet
    with _Display(err) as display:
        record = run_regression(request, progress=display)
    _render(record, request.output, junit, html, github, as_json)
    return record.verdict.exit_code


def _render(
    record: RegressionRecord, output: Path, junit: Path | None, html: Path | None, github: bool, as_json: bool
) -> None:
    if as_json:
        click.echo(record.to_json())
    else:
        from dais_verif.report.campaigns_text import print_regression

        out = common.console()
        print_regression(record, out)
        out.print(f"files      {output}", markup=False)
    if github:
        from dais_verif.report.test_cases import append_summary, commands_of, summary_of

        click.echo(commands_of(record), err=as_json, nl=False)
        append_summary(summary_of(record), os.environ)
    if junit is not None:
        from dais_verif.report.test_cases import junit_of

        write_atomically(junit, junit_of(record))
    if html is not None:
        common.write_page(record, None, html, output / REGRESSION_NAME)


class _Display(TerminalProgress):
    """The counts of jobs, the running and the failed jobs, and the estimated time left."""

    def __init__(self, err: Console) -> None:
        super().__init__()
        self._err = err
        self._live = Live(console=err, transient=True, refresh_per_second=4, auto_refresh=False)
        self._jobs = 0
        self._past: Mapping[str, Past] = {}
        self._results: list[JobResult] = []
        self._done: set[str] = set()
        self._running: Sequence[str] = ()
        self._workers = 1
        self._begun = time.monotonic()

    def __enter__(self) -> _Display:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def jobs_planned(self, jobs: int, past: Mapping[str, Past]) -> None:
        """Show the table."""
        self._jobs, self._past, self._begun = jobs, past, time.monotonic()
        if self._err.is_terminal:
            self._live.start()
        else:
            self._err.print(counted(jobs, "job"), markup=False)

    def job_ends(self, result: JobResult) -> None:
        """Print a line for the job if stderr is not a terminal."""
        self._results.append(result)
        self._done.add(result.job.id)
        if not self._err.is_terminal:
            text = f"[{len(self._results)}/{self._jobs}] {job_word(result)}  {result.job.id}"
            more = f"  {result.message}" if result.verdict is not Verdict.PASS else ""
            self._err.print(f"{text}{more}", markup=False)

    def jobs_running(self, names: Sequence[str], workers: int) -> None:
        """Draw the table again."""
        self._running, self._workers = names, workers
        if self._err.is_terminal:
            elapsed = time.monotonic() - self._begun
            known = [past.seconds for name, past in self._past.items() if name not in self._done]
            left = seconds_left(self._jobs, self._results, known, self._workers)
            table = regression_table(self._jobs, self._results, self._running, self._workers, elapsed, left)
            self._live.update(table, refresh=True)
