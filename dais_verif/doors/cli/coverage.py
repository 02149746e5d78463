"""``dais-verif coverage``: functional coverage of a program by vectors, and vectors for open bins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import FiniteRange
from dais_verif.report.programs_text import print_coverage_record
from dais_verif.verbs.cover import CoverageRequest, cover


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@common.vectors_option(1000)
@common.seed_option
@common.inputs_option
@click.option(
    "--directed/--no-directed",
    default=True,
    show_default=True,
    help="Compute vectors for open bins from the program, and count them too.",
)
@click.option(
    "--unreachable/--no-unreachable", default=True, show_default=True, help="Find out which bins no input can hit."
)
@click.option("--floor", type=FiniteRange(0, 100), help="Lowest accepted coverage, in percent; exit code 7 below it.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, max=1e9),
    default=10.0,
    show_default=True,
    help="Time limit for the solver in total, in seconds; without it, results do not depend on the speed of the "
    "machine.",
)
@common.unchecked_option
@click.option("--out-of-range", is_flag=True, help="Also use inputs beyond the intervals that da4ml's JSON declares.")
@common.jobs_option
@click.option(
    "-o", "--output", type=common.file_path, help="Folder for coverage.json, open.csv, unreachable.csv, directed.csv."
)
@common.html_option
@common.json_option
def coverage(output: Path | None, html: Path | None, as_json: bool, **asked: Any) -> int:
    """Measure functional coverage of PROGRAM: bits, signs, mux arms, wraps, table entries of every op and output.

    \b
    dais-verif coverage prog.bin                          of generated vectors, then directed ones
    dais-verif coverage prog.bin --no-directed            of generated ones only
    dais-verif coverage prog.bin --vectors 0 --inputs x.npy --no-directed     of your vectors
    dais-verif coverage prog.bin --floor 95               exit code 7 below 95 %
    dais-verif coverage prog.bin -o out                   all bins that are open or unreachable; directed.csv

    A bin is one thing that should happen at least once: that bit 3 of an op is 1, that a relu's operand is exactly 0.
    Every bin is hit, shown to be unreachable, or open. The percentage is of those that are not unreachable.
    """
    request = CoverageRequest(output=output, **asked, command=common.reproduce())
    done = cover(request, progress=TerminalProgress())
    record = done.record
    if output is not None:
        common.tell_written(output, "the record, and the bins as CSV")
    code = common.show_record(record, as_json, lambda: print_coverage_record(record, done.program, common.console()))
    if html is not None:
        common.write_page(record, done.program, html, None if output is None else output / "coverage.json")
    return code
