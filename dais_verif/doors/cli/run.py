"""``dais-verif run``: the golden model on vectors from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.base.text import counted
from dais_verif.doors.cli import common
from dais_verif.doors.cli.forms import TwoForms
from dais_verif.doors.cli.grouped import Option
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.verbs.evaluate import ENGINES, EvaluationRequest, evaluate


@click.command(cls=TwoForms, flag="--profile", other="profile")
@common.program_argument
@common.layout_option
@click.option(
    "--inputs",
    type=common.file_path,
    required=True,
    help="Vectors (.npy, CSV): one row per vector, one column per input.",
)
@click.option("--raw-inputs", is_flag=True, help="Inputs are raw integers, in units of the port element's last bit.")
@click.option(
    "-o", "--output", type=common.output_path, help="File to write: .npy, else CSV; without it CSV on stdout."
)
@click.option("--raw", is_flag=True, help="Write raw integers, in units of each output's 2**-f, not real values.")
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="Golden engine.")
@click.option(
    "--sample",
    cls=Option,
    group="Vectors",
    type=click.Choice(["before", "after"]),
    default="before",
    show_default=True,
    help="For a machine: sample outputs before the edge of each cycle, or after it with the same inputs.",
)
@click.option("--config", metavar="NAME", help="For a network as a machine: the configuration. Default: the first.")
@click.option("--printf", is_flag=True, help="Print what members of a kernel print, instead of the outputs.")
@common.jobs_option
@common.unchecked_option
@common.json_option
def run(output: Path | None, raw: bool, as_json: bool, **asked: Any) -> None:
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
    done = evaluate(EvaluationRequest(output=output, raw=raw, **asked), progress=TerminalProgress())
    if as_json:
        click.echo(done.record.to_json())
    elif output is not None:
        form = "raw integers" if raw else "real numbers"
        of = done.record
        rows = counted(of.rows, "row") if of.cycles is None else f"{of.sequences} sequences of {of.cycles} cycles"
        click.echo(done.text() if asked["printf"] else "", nl=False)
        common.tell_written(output, f"{rows} of {counted(of.program.n_out, 'output')}, {form}")
    else:
        click.echo(done.text(), nl=False)
