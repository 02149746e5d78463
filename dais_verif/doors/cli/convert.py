"""``dais-verif convert``: a program in another form, ALIR, DAIS or text; or a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.base.text import counted
from dais_verif.doors.cli.common import (
    json_option,
    output_path,
    program_argument,
    reproduce,
    tell_written,
)
from dais_verif.doors.cli.declared import declared_options
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.verbs.convert import ConversionRequest
from dais_verif.verbs.convert import convert as run_convert
from dais_verif.verbs.options import build


@click.command(cls=Verb)
@program_argument
@click.argument("file", metavar="[OUTPUT]", required=False, type=output_path)
@click.option("-o", "--output", type=output_path, help="The same as OUTPUT.")
@declared_options(ConversionRequest)
@json_option
def convert(program: Path, file: Path | None, output: Path | None, as_json: bool, **asked: Any) -> None:
    """Write PROGRAM into OUTPUT in another form; it computes the same for every input.

    \b
    dais-verif convert prog.bin prog.json           DAIS to ALIR, for alkaid 0.8
    dais-verif convert prog.json.gz prog.bin        ALIR to DAIS
    dais-verif convert old.json new.json            ALIR of spec 2 or 3 to spec 4
    dais-verif convert prog.json da4ml.json --to json         for da4ml 0.6
    dais-verif convert prog.json prog.dais          as text
    dais-verif convert prog.dais -o prog.bin        text, of show or your own, to the binary (docs/programs.md)

    \b
    alir        ALIR of spec 4: .json, .alir
    v1          a binary: .bin; of a text, in the layout that it names; if an ALIR file was made of a binary,
                that binary, byte for byte
    published, headerless     binaries of the older layouts
    json        da4ml's JSON
    dais        the text form: .dais
    alirfsm, mach             of a machine: alkaid's JSON: .json, and text: .mach (docs/machines.md)

    What the target cannot express is an error that names the op (exit code 2). docs/programs.md explains each op.
    """
    if (written := file or output) is None or (file and output):
        raise click.UsageError("Give one file to write, as OUTPUT or with -o.")
    request = build(ConversionRequest, asked, program=program, output=written, command=reproduce())
    record = run_convert(request, progress=TerminalProgress())
    if as_json:
        click.echo(record.to_json())
    else:
        ops = counted(record.written.n_ops, "op")
        tell_written(written, f"{record.target}, {ops}, of {record.program.n_ops} that were read")
