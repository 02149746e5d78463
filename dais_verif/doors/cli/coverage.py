"""``dais-verif coverage``: functional coverage of a program by vectors, and vectors for open bins."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.programs_text import print_coverage_record
from dais_verif.verbs.cover import CoverageRequest, cover


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(CoverageRequest)
@common.html_option
@common.json_option
def coverage(request: CoverageRequest, html: Path | None, as_json: bool) -> int:
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
    done = cover(request, progress=TerminalProgress())
    record, output = done.record, request.output
    if output is not None:
        common.tell_written(output, "the record, and the bins as CSV")
    code = common.show_record(record, as_json, lambda: print_coverage_record(record, done.program, common.console()))
    if html is not None:
        common.write_page(record, done.program, html, None if output is None else output / "coverage.json")
    return code
