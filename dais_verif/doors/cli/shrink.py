"""``dais-verif shrink``: the smallest case that still fails."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.campaigns_text import print_shrinking
from dais_verif.verbs.fuzzing.shrink import ShrinkRequest
from dais_verif.verbs.fuzzing.shrink import shrink as run_shrink


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(ShrinkRequest)
@common.json_option
def shrink(request: ShrinkRequest, as_json: bool) -> int:
    """Shrink a failing case: PROGRAM and vectors on which a command or a built-in check fails (docs/mutation.md).

    \b
    dais-verif shrink prog.bin -o small                                      engines that disagree, a broken promise
    dais-verif shrink prog.bin --rtl a.v b.v --top model -o small            RTL with a mismatch in sim, also reduced
    dais-verif shrink prog.bin --command 'mytool {program} {inputs}' -o small
    dais-verif shrink prog.bin --command 'dais-verif sim {program}' --time 10m -o small
    """
    record = run_shrink(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_shrinking(record, common.console()))
