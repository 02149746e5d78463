"""``dais-verif shrink``: the smallest case that still fails."""

from __future__ import annotations

from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.design import rtl_options
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.report.campaigns_text import print_shrinking
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.fuzzing.requests import seconds_from
from dais_verif.verbs.fuzzing.shrink import ShrinkRequest
from dais_verif.verbs.fuzzing.shrink import shrink as run_shrink


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@rtl_options()
@click.option("--command", help="The failing command (exit code not 0), with {program}, {inputs} and {rtl}.")
@common.vectors_option(100)
@common.seed_option
@common.inputs_option
@click.option(
    "--time",
    default="60s",
    show_default=True,
    callback=common.parsed_by(seconds_from),
    help="Time limit of the whole run: 90s, 10m.",
)
@click.option("--timeout", type=common.seconds, default=20.0, show_default=True, help="Seconds for each run.")
@click.option("-o", "--output", type=common.file_path, required=True, help="Folder for the case.")
@common.json_option
def shrink(dut: DesignRequest, as_json: bool, **asked: Any) -> int:
    """Shrink a failing case: PROGRAM and vectors on which a command or a built-in check fails (docs/mutation.md).

    \b
    dais-verif shrink prog.bin -o small                                      engines that disagree, a broken promise
    dais-verif shrink prog.bin --rtl a.v b.v --top model -o small            RTL with a mismatch in sim, also reduced
    dais-verif shrink prog.bin --command 'mytool {program} {inputs}' -o small
    dais-verif shrink prog.bin --command 'dais-verif sim {program}' --time 10m -o small
    """
    record = run_shrink(ShrinkRequest(design=dut, **asked, reproduce=common.reproduce()), progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_shrinking(record, common.console()))
