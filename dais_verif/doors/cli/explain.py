"""``dais-verif explain``: every value of a program for one input vector, or of a machine in one cycle."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.verbs.explain import ExplanationRequest
from dais_verif.verbs.explain import explain as run_explain


@click.command(cls=Verb)
@common.program_argument
@requested(ExplanationRequest)
def explain(request: ExplanationRequest) -> None:
    """Show what each op of PROGRAM computes for one input vector: type, opcode, real value, raw integer, bits.

    \b
    dais-verif explain prog.bin --inputs v.npy --row 3
    dais-verif explain prog.bin --row 17 --only-cone 2        vector 17 of sim, only ops that output 2 depends on
    dais-verif explain prog.bin --row 17 --json               one object per line
    dais-verif explain m.fsm.json --inputs x.npz --cycle 5    every signal of a machine, and next values of registers

    Vectors and their numbers are those of sim with the same --inputs, --vectors and --seed. An op that breaks a promise
    is marked with an exclamation mark; the run then ends with PROGRAM_INVALID (exit code 2), unless --unchecked is
    given. The last line counts promises: made, proved for all inputs, checked.
    """
    done = run_explain(request, progress=TerminalProgress())
    if request.output is None:
        click.echo(done.text, nl=False)
    if not request.unchecked:
        done.raise_for_violation()
