"""``dais-verif emit``: the program as Verilog."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import (
    file_path,
    json_option,
    layout_option,
    load_program,
    program_argument,
    top_option,
)
from dais_verif.emit import emit_verilog
from dais_verif.files import write_atomically
from dais_verif.program.ports import ports_of
from dais_verif.report.record import SCHEMA, ProgramInfo


@click.command()
@program_argument
@layout_option
@top_option
@click.option("-o", "--output", type=file_path, help="File to write; stdout if not given.")
@json_option
def emit(program: Path, layout: str | None, top: str, output: Path | None, as_json: bool) -> None:
    """Write PROGRAM as one synthesizable Verilog-2005 module.

    The text is the same one that sim simulates. Inputs are packed in model_inp, outputs in model_out, element 0
    in the least significant bits; op N of the program is the signal op_N.
    """
    import json

    loaded, _ = load_program(program, layout)
    text = emit_verilog(loaded, top)
    if output is not None:
        write_atomically(output, text.encode())
    elif not as_json:
        click.echo(text, nl=False)
    if as_json:
        ports = ports_of(loaded)
        facts = {
            "schema": SCHEMA,
            "program": ProgramInfo.of(loaded).__dict__,
            "top": top,
            "output": str(output) if output else None,
            "ports": {
                "model_inp": [element._asdict() for element in ports.inputs],
                "model_out": [element._asdict() for element in ports.outputs],
            },
        }
        click.echo(json.dumps(facts, indent=2))
