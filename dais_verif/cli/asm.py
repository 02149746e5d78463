"""``dais-verif asm``: text to binary."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dais_verif.cli.common import file_path, json_option, notices, output_path, tell_written
from dais_verif.cli.verb import Verb
from dais_verif.files import read_plain, write_atomically
from dais_verif.program import LAYOUTS, assemble, write_binary
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

_MOST_BYTES = 1 << 30


@click.command(cls=Verb)
@click.argument("text", type=file_path)
@click.option("-o", "--output", type=output_path, required=True, help="Binary to write.")
@click.option("--layout", type=click.Choice(LAYOUTS), help="Layout to write, instead of the one that the text names.")
@json_option
def asm(text: Path, output: Path, layout: str | None, as_json: bool) -> None:
    """Assemble TEXT, as show writes it or as you do, into a DAIS binary.

    \b
    layout v1
    input x, y
    a = s8.3 input x          ; signed, 8 bits of which 3 are fractional
    b = s8.3 input y
    sum = s10.3 a + b<<1      ; a + 2*b
    z = u6.2 relu(sum)        ; quantised to the type
    output z = -z

    What is wrong is named as file:line:column. docs/text-form.md has a tutorial and the grammar. The other
    verbs take a text as it is if its name ends in .dais.
    """
    source = read_plain(text, _MOST_BYTES, advice="give the path of a program's text")
    with notices().status("assembling"):
        program = assemble(source, str(text))
    layout = layout or program.origin.layout
    write_atomically(output, write_binary(program, layout))
    if not as_json:
        tell_written(output, f"a binary, layout {layout}, {program.n_ops} ops")
    if as_json:
        facts = {
            "schema": SCHEMA,
            "verdict": Verdict.PASS.value,
            "exit_code": 0,
            "program": {**ProgramInfo.of(program).__dict__, "path": str(text), "layout": layout},
            "output": str(output),
        }
        click.echo(json.dumps(facts, indent=2))
