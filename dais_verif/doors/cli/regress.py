"""``dais-verif regress``: many programs, variants, simulators and seeds as one run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from dais_verif.base.files import write_atomically
from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal.regression import RegressDisplay
from dais_verif.doors.cli.verb import OutputPath
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.read import REGRESSION_NAME
from dais_verif.report.spoken import spoken
from dais_verif.verbs.regress import DEFAULT_FOLDER, DEFAULT_TIMEOUT, SIMULATORS, RegressionRequest, shard_from
from dais_verif.verbs.regress import regress as run_regression

__all__ = ["regress"]


@click.command(cls=GroupedCommand)
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--sim",
    "simulators",
    type=click.Choice(SIMULATORS),
    multiple=True,
    help="Simulator; may be repeated. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
)
@click.option("--seed", "seeds", type=click.IntRange(0), multiple=True, help="Seed; may be repeated.  [default: 0]")
@click.option(
    "--seed-from", type=common.file_path, help="Use the seeds of an earlier run: its folder or regression.json."
)
@click.option("--fresh-seed", is_flag=True, help="Draw a random seed, which is printed and recorded.")
@click.option("--vectors", type=click.IntRange(0), help="Vectors to generate for each job.  [default: 1000]")
@click.option(
    "--stages",
    type=click.IntRange(0),
    multiple=True,
    help="Number of pipeline stages of the emitted RTL, 0: combinational; may be repeated. Manifests have a key for "
    "it.",
)
@common.jobs_option
@click.option("--shard", callback=common.parsed_by(shard_from), metavar="I/N", help="Only share I of N (N machines).")
@click.option("--fail-fast/--keep-going", default=False, show_default=True, help="Stop at the first failure.")
@click.option("--resume", is_flag=True, help="Reuse the finished jobs of an interrupted run in the same folder.")
@click.option("--rerun-failed", is_flag=True, help="Reuse only the jobs that passed there, and run the others again.")
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    help="Further attempts at a failed job; if results differ, it is flaky.",
)
@click.option("--allow-flaky", is_flag=True, help="A flaky job passes if its last attempt did.")
@click.option(
    "--timeout", type=common.seconds, help=f"Time limit for each attempt, in seconds.  [default: {DEFAULT_TIMEOUT:g}]"
)
@click.option("--cluster", help="Run on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N].")
@click.option("--junit", type=OutputPath(b"<?xml", needs="junitparser"), help="Also write JUnit XML to this file.")
@common.html_option
@click.option("--github", is_flag=True, help="Also print GitHub annotations and append to the summary of the step.")
@click.option(
    "-o",
    "--output",
    type=common.file_path,
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Folder to keep: regression.json, journal.jsonl, and a folder for each job.",
)
@common.json_option
def regress(junit: Path | None, html: Path | None, github: bool, output: Path, as_json: bool, **asked: Any) -> int:
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
    request = RegressionRequest(output=output, command=common.reproduce(), **asked)
    err = common.notices()
    err.quiet = spoken().quiet
    with RegressDisplay(err) as display:
        record = run_regression(request, progress=display)
    _render(record, output, junit, html, github, as_json)
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
