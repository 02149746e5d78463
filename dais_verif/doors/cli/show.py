"""``dais-verif show``: the program as text, a machine as a table and a diagram, a bitstream as a floor plan."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.doors.cli.common import (
    ShownWarnings,
    layout_option,
    output_path,
    page_path,
    program_argument,
    tell_written,
)
from dais_verif.doors.cli.verb import Verb
from dais_verif.verbs.show import Listing, ListingRequest
from dais_verif.verbs.show import show as run_show


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--vm", is_flag=True, help="The instructions that the golden model's machine runs, and their pullback.")
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given.")
@click.option("--html", type=page_path, help="For a machine or bitstream: also write an HTML page with a picture.")
def show(program: Path, layout: str | None, vm: bool, output: Path | None, html: Path | None) -> None:
    """Write PROGRAM as text: layout, inputs, tables, ops, outputs; a machine or a bitstream as a list of its parts.

    \b
    s8.3, u8.3   a type: signed or unsigned, 8 bits of which 3 are fractional
    %5           the value of op 5
    %4 - %2>>1   op 4 minus half of op 2: a shift acts on the operand before it and loses nothing
    ; ...        a comment

    convert turns the text into the identical binary. docs/programs.md has a tutorial and the grammar; docs/vm.md
    explains what --vm shows.
    """
    request = ListingRequest(program=program, layout=layout, vm=vm, output=output)
    listing = run_show(request, progress=ShownWarnings())
    if html is not None:
        _write_page(listing, html)
    if output is not None:
        tell_written(output, f"{'instructions' if vm else 'text'} of a {listing.kind}")
    else:
        click.echo(listing.text, nl=False)


def _write_page(listing: Listing, page: Path) -> None:
    from dais_verif.report.html.listed import write_listed_page

    write_listed_page(listing.machine or listing.floor_plan, page)
    tell_written(page, "the picture as a page")
