"""``dais-verif fuzz``: random programs through everything that must agree, or through your own tool."""

from __future__ import annotations

from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.report.campaigns_text import print_fuzzing
from dais_verif.verbs.fuzzing.fuzz import fuzz as run_fuzz
from dais_verif.verbs.fuzzing.requests import ALL_PAIRS, DEFAULT_FOLDER, FORMS, KINDS, FuzzRequest, seconds_from


@click.command(cls=GroupedCommand)
@click.option(
    "--kind", type=click.Choice(list(KINDS)), default="program", show_default=True, help="Kind of the generated cases."
)
@click.option("--time", callback=common.parsed_by(seconds_from), help="How long: 90s, 10m, 2h.  [default: 60s]")
@click.option("--count", type=click.IntRange(1), help="Number of cases; with --time, the limit that is reached first.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the run; the seed of each case is derived from it.",
)
@click.option(
    "--pair", "pairs", type=click.Choice(ALL_PAIRS), multiple=True, help="Check only this pair; may be repeated."
)
@click.option(
    "--against",
    help="An interpreter to compare with: a command with {program}, {inputs}, {outputs}; or da4ml, or alkaid.",
)
@click.option(
    "--rtl-from", help="A Verilog generator to check: a command with {program}, {folder}; or da4ml, or alkaid."
)
@click.option(
    "--form",
    type=click.Choice(FORMS),
    help="Format of the programs passed to the tool of --against or --rtl-from.  [default: v1]",
)
@common.top_option
@click.option(
    "--timeout",
    type=common.seconds,
    default=20.0,
    show_default=True,
    help="Time limit for each run of the tool, in seconds.",
)
@click.option("--replay", type=common.file_path, help="Check the kept cases in this folder again.")
@click.option("--resume", is_flag=True, help="Continue after the last case of the run in the folder.")
@click.option("--cluster", help="Check on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N].")
@common.jobs_option
@click.option(
    "-o", "--output", type=common.file_path, default=DEFAULT_FOLDER, show_default=True, help="Folder for kept cases."
)
@common.json_option
def fuzz(as_json: bool, **asked: Any) -> int:
    """Run random programs through implementations that must agree; keep one small case per cause (docs/mutation.md).

    \b
    dais-verif fuzz --time 10m                                            engines, forms, claims and proofs
    dais-verif fuzz --kind machine --pair engines --pair icarus           machines, cycle by cycle
    dais-verif fuzz --against 'mytool {program} {inputs} {outputs}'       your own interpreter
    dais-verif fuzz --rtl-from 'mytool {program} -o {folder}' --top top   your own RTL generator
    dais-verif fuzz --replay crashers                                     all kept cases again, as a test

    Exit code 0 if all agree, 1 if a case is kept.
    """
    record = run_fuzz(FuzzRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_fuzzing(record, common.console()))
