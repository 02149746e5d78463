"""``dais-verif show``: the program as text."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import ShownWarnings, layout_option, output_path, program_argument, tell_written
from dais_verif.cli.verb import Verb
from dais_verif.flows.golden.show import ListingRequest
from dais_verif.flows.golden.show import show as run_show


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--vm", is_flag=True, help="The instructions that the golden model's machine runs, and their pullback.")
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given.")
def show(program: Path, layout: str | None, vm: bool, output: Path | None) -> None:
    """Write PROGRAM as text: layout, inputs, tables, one line an op, outputs.

    \b
    s8.3, u8.3   a type: signed or unsigned, 8 bits of which 3 are fractional
    %5           the value of op 5
    %4 - %2>>1   op 4 minus half of op 2: a shift acts on the operand before it and loses nothing
    ; ...        a comment

    asm turns the text into the identical binary. docs/text-form.md has a tutorial and the grammar; docs/vm.md
    explains what --vm shows.
    """
    request = ListingRequest(program=program, layout=layout, vm=vm, output=output)
    listing = run_show(request, progress=ShownWarnings())
    if output is not None:
        tell_written(output, f"{'instructions' if vm else 'text'} of a program of {listing.ops} ops")
    else:
        click.echo(listing.text, nl=False)
