"""``dais-verif run``: the golden model on vectors from a file."""

from __future__ import annotations

import click

from dais_verif.base.text import counted
from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import TwoForms
from dais_verif.verbs.evaluate import EvaluationRequest, evaluate


@click.command(cls=TwoForms, flag="--profile", other="profile:profile")
@common.program_argument
@requested(EvaluationRequest)
@common.json_option
def run(request: EvaluationRequest, as_json: bool) -> None:
    """Compute the exact outputs of PROGRAM for the input vectors of a file, with the golden model.

    \b
    dais-verif run prog.bin --inputs x.csv             CSV on stdout: one row per vector, one column per output
    dais-verif run prog.bin --inputs x.npy -o y.npy    float64, (vectors, outputs)
    dais-verif run --profile prog.bin                  where does the golden model spend its time?

    Exit code 0, or 2 (PROGRAM_INVALID) with row and op if an op breaks its promise not to change a value.

    PROGRAM may be a machine (ALIRFSM). Then --inputs is an .npz file with an array for each input signal, of shape
    (cycles, elements) or (sequences, cycles, elements). Every sequence begins at power-up, and -o writes .npz or CSV;
    NaN marks a value that depends on an uninitialised register.
    """
    done = evaluate(request, progress=TerminalProgress())
    if as_json:
        click.echo(done.record.to_json())
    elif request.output is not None:
        form = "raw integers" if request.raw else "real numbers"
        of = done.record
        rows = counted(of.rows, "row") if of.cycles is None else f"{of.sequences} sequences of {of.cycles} cycles"
        click.echo(done.text() if request.printf else "", nl=False)
        common.tell_written(request.output, f"{rows} of {counted(of.program.n_out, 'output')}, {form}")
    else:
        click.echo(done.text(), nl=False)
