"""``dais-verif check``: is it a valid program, what is in it, and can anything overflow?"""

from __future__ import annotations

import click

from dais_verif.doors.cli.common import console, json_option, program_argument, show_record
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.programs_text import print_check
from dais_verif.verbs.check import CheckRequest
from dais_verif.verbs.check import check as run_check


@click.command(cls=Verb)
@program_argument
@requested(CheckRequest)
@json_option
def check(request: CheckRequest, as_json: bool) -> int:
    """Read PROGRAM, check its structure, and report what interval analysis proves about overflow.

    \b
    For every op that promises not to change its value (add, sub, add_const, const, mul, lookup, bitwise):
      proved     no input can make it overflow or lose a fraction
      possible   intervals cannot exclude it: then a proof is tried, over the ops before it and down to the inputs
                 (at most 200 ops; --all: all of them)
      broken     the proof found an input that breaks it: PROGRAM_INVALID, exit code 2
      undecided  neither was shown: UNKNOWN, exit code 6; run and sim check such ops on every vector
      certain    every input breaks it: PROGRAM_INVALID, exit code 2
    With --no-proof, PASS covers the structure and overflow that is certain, but not possible overflow.
    """
    record = run_check(request, progress=TerminalProgress())
    return show_record(record, as_json, lambda: print_check(record, console(), everything=request.everything))
