"""``dais-verif show``: the program as text."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import file_path, layout_option, load_program, program_argument
from dais_verif.files import write_atomically
from dais_verif.program.listing import listing


@click.command()
@program_argument
@layout_option
@click.option("-o", "--output", type=file_path, help="File to write; stdout if not given.")
def show(program: Path, layout: str | None, output: Path | None) -> None:
    """List PROGRAM: inputs, tables, one line an op, outputs.

    \b
    Types are written sW.F or uW.F: signed or unsigned, W bits of which F are fractional.
    %N is the value of op N.
    """
    loaded, _ = load_program(program, layout)
    text = listing(loaded)
    if output is not None:
        write_atomically(output, text.encode())
    else:
        click.echo(text, nl=False)
