"""``dais-verif mutate``: how good is a verification? Mutants of the RTL, and which judges kill them."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.campaigns_text import print_mutation
from dais_verif.verbs.mutation.mutate import mutate as run_mutate
from dais_verif.verbs.mutation.requests import MutationRequest


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(MutationRequest)
@common.json_option
def mutate(request: MutationRequest, as_json: bool) -> int:
    """Change the RTL of PROGRAM in many places, one at a time: is each change detected (docs/mutation.md)?

    \b
    dais-verif mutate prog.bin --count 1000 -o mutation          emitted RTL
    dais-verif mutate prog.bin --rtl model.v --judge sim         your RTL, by simulation only
    dais-verif mutate prog.bin --add-vectors more.csv            vectors that kill mutants which random ones miss
    dais-verif mutate m.mach                                     the RTL of a machine, from power-up

    Exit code 0 if all mutants were judged and --floor, --most-unknown and --expected are met, 7 if not, 8 if a mutant
    was proved although a simulator shows that it differs from the program.
    """
    record = run_mutate(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_mutation(record, common.console()))
