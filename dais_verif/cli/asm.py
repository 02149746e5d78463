"""``dais-verif asm``: text to binary."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import file_path, json_option, output_path, tell_written
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import Verb
from dais_verif.counts import counted
from dais_verif.flows.golden.assemble import AssemblyRequest, assemble
from dais_verif.program import LAYOUTS


@click.command(cls=Verb)
@click.argument("text", type=file_path)
@click.option("-o", "--output", type=output_path, required=True, help="Binary to write; JSON if the layout is alir.")
@click.option(
    "--layout", type=click.Choice((*LAYOUTS, "alir")), help="Layout to write instead of the one named in the text."
)
@json_option
def asm(text: Path, output: Path, layout: str | None, as_json: bool) -> None:
    """Assemble TEXT, as written by show or by hand, into a DAIS binary.

    \b
    layout v1
    input x, y
    a = s8.3 input x          ; signed, 8 bits of which 3 are fractional
    b = s8.3 input y
    sum = s10.3 a + b<<1      ; a + 2*b
    z = u6.2 relu(sum)        ; quantised to the type
    output z = -z

    An error names file:line:column (exit code 2). docs/text-form.md has a tutorial and the grammar. The other
    verbs read a text directly if its name ends in .dais.
    """
    record = assemble(AssemblyRequest(text=text, output=output, layout=layout), progress=TerminalProgress())
    if as_json:
        click.echo(record.to_json())
    else:
        what = "ALIR" if record.program.layout == "alir" else f"a binary, layout {record.program.layout}"
        tell_written(output, f"{what}, {counted(record.program.n_ops, 'op')}")
