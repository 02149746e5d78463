"""``dais-verif fuzz``: random programs through everything that must agree, or through your own tool."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.campaigns_text import print_fuzzing
from dais_verif.verbs.fuzzing.fuzz import fuzz as run_fuzz
from dais_verif.verbs.fuzzing.requests import FuzzRequest


@click.command(cls=GroupedCommand)
@requested(FuzzRequest)
@common.json_option
def fuzz(request: FuzzRequest, as_json: bool) -> int:
    """Run random programs through implementations that must agree; keep one small case per cause (docs/mutation.md).

    \b
    dais-verif fuzz --time 10m                                            engines, forms, claims and proofs
    dais-verif fuzz --kind machine --pair engines --pair icarus           machines, cycle by cycle
    dais-verif fuzz --against 'mytool {program} {inputs} {outputs}'       your own interpreter
    dais-verif fuzz --rtl-from 'mytool {program} -o {folder}' --top top   your own RTL generator
    dais-verif fuzz --replay crashers                                     all kept cases again, as a test

    Exit code 0 if all agree, 1 if a case is kept.
    """
    record = run_fuzz(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_fuzzing(record, common.console()))
