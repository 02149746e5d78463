"""``dais-verif run --profile``: where the golden model spends its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.base.files import write_atomically
from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.verbs.profile import ENGINES, ProfileRequest
from dais_verif.verbs.profile import profile as run_profile


@click.command(cls=GroupedCommand)
@click.option("--profile", is_flag=True, expose_value=False, help="Time the golden model, one instruction at a time.")
@common.program_argument
@common.layout_option
@common.inputs_option
@common.vectors_option(2048)
@common.seed_option
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="Engine to time.")
@click.option("--samples", type=click.IntRange(1), default=10, show_default=True, help="Number of calls to average.")
@click.option("--ignore-first", is_flag=True, help="Do not count the first call.")
@click.option(
    "--top-k", type=click.IntRange(1), default=10, show_default=True, help="Number of instruction kinds to list."
)
@click.option("--pullback", is_flag=True, help="Time the pullback too.")
@click.option("-o", "--output", type=common.output_path, help="File to write; stdout if not given.")
@common.json_option
def profile(output: Path | None, as_json: bool, **asked: Any) -> None:
    """Time PROGRAM on the golden model, one instruction at a time: in order, then the kinds that take longest.

    \b
    dais-verif run --profile prog.bin
    dais-verif run --profile prog.bin --samples 100 --ignore-first --top-k 3
    dais-verif run --profile prog.bin --inputs x.npy --vectors 0 --pullback --json

    An asterisk marks instructions above the average. The fast engine computes most sums as part of the op that reads
    them, and renames bits at no cost: such instructions take no time of their own. The numpy engine runs every
    instruction as listed.
    """
    done = run_profile(ProfileRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    answer = done.record.to_json() + "\n" if as_json else done.text
    if output is not None:
        write_atomically(output, answer.encode())
    else:
        click.echo(answer, nl=False)
