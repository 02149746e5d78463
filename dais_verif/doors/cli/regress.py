"""``dais-verif regress``: many programs, variants, simulators and seeds as one run."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dais_verif.base.files import write_atomically
from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.declared import requested
from dais_verif.doors.cli.terminal.regression import RegressDisplay
from dais_verif.doors.cli.verb import OutputPath
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.read import REGRESSION_NAME
from dais_verif.report.spoken import spoken
from dais_verif.verbs.regress import RegressionRequest
from dais_verif.verbs.regress import regress as run_regression

__all__ = ["regress"]


@click.command(cls=GroupedCommand)
@click.argument("paths", nargs=-1, required=True)
@requested(RegressionRequest)
@click.option("--junit", type=OutputPath(b"<?xml", needs="junitparser"), help="Also write JUnit XML to this file.")
@common.html_option
@click.option("--github", is_flag=True, help="Also print GitHub annotations and append to the summary of the step.")
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
    with RegressDisplay(err) as display:
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
