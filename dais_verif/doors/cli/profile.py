"""``dais-verif run --profile``: where the golden model spends its time."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.base.files import write_atomically
from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.verbs.profile import ProfileRequest
from dais_verif.verbs.profile import profile as run_profile


@click.command(cls=GroupedCommand)
@common.output_option(
    "--profile",
    is_flag=True,
    expose_value=False,
    help="Time the golden model, one instruction at a time.",
)
@common.program_argument
@requested(ProfileRequest)
@common.output_option("-o", "--output", type=common.output_path, help="File to write; stdout if not given.")
@common.json_option
def profile(request: ProfileRequest, output: Path | None, as_json: bool) -> None:
    """Time PROGRAM on the golden model, one instruction at a time: in order, then the kinds that take longest.

    \b
    dais-verif run --profile prog.bin
    dais-verif run --profile prog.bin --samples 100 --ignore-first --top-k 3
    dais-verif run --profile prog.bin --inputs x.npy --vectors 0 --pullback --json

    An asterisk marks instructions above the average. The fast engine computes most sums as part of the op that reads
    them, and renames bits at no cost: such instructions take no time of their own. The numpy engine runs every
    instruction as listed.
    """
    done = run_profile(request, progress=TerminalProgress())
    answer = done.record.to_json() + "\n" if as_json else done.text
    if output is not None:
        write_atomically(output, answer.encode())
    else:
        click.echo(answer, nl=False)
