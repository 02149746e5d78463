"""``dais-verif emit``: the program as Verilog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import (
    file_path,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    top_option,
)
from dais_verif.cli.pipelines import asked_pipeline, control_options, facts, show, stage_options
from dais_verif.emit import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.emit.wrap import WRAPS, Wrapped, wrap
from dais_verif.errors import InputError
from dais_verif.files import make_folder, write_atomically
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.report.record import SCHEMA, ProgramInfo


@click.command()
@program_argument
@layout_option
@top_option
@click.option(
    "--wrap", "kind", type=click.Choice(WRAPS), help="Write it with what an FPGA needs around it; -o names a folder."
)
@click.option("-o", "--output", type=file_path, help="File to write; stdout if not given.")
@stage_options
@control_options
@json_option
def emit(
    program: Path, layout: str | None, top: str, kind: str | None, output: Path | None, as_json: bool, **asked: Any
) -> None:
    """Write PROGRAM as one synthesizable Verilog-2005 module.

    The text is the same one that sim simulates. Inputs are packed in model_inp, outputs in model_out, element 0
    in the least significant bits; op N of the program is the signal op_N.

    With --stages or --max-depth the module is pipelined: a clock clk, a vector every edge, registers after every
    stage, outputs registered, as many edges of latency as stages.

    --wrap axis puts it behind AXI4-Stream, --wrap uart or fifo also behind bytes of a link on which
    `dais-verif hil` talks to the board. -o then names a folder, which receives all that synthesis needs.
    """
    import json

    loaded, _ = load_program(program, layout)
    options = asked_pipeline(**asked)
    if kind is not None:
        options = _for_wrapping(options, output)
    pipeline = emit_pipeline(loaded, top, options) if options else None
    text = pipeline.text if pipeline else emit_verilog(loaded, top)
    wrapped = _wrap(kind, loaded, top, text, pipeline.latency if pipeline else 0) if kind is not None else None
    if wrapped is not None and output is not None:
        make_folder(output)
        for name, part in wrapped.files.items():
            write_atomically(output / name, part.encode())
        if not as_json:
            click.echo(f"top module {wrapped.top}, in {output}: {' '.join(wrapped.files)}")
    elif output is not None:
        write_atomically(output, text.encode())
    elif not as_json:
        click.echo(text, nl=False)
    if pipeline and not as_json:
        show(notices(), pipeline)
    if as_json:
        ports = ports_of(loaded)
        tree = {
            "schema": SCHEMA,
            "program": ProgramInfo.of(loaded).__dict__,
            "top": top,
            "output": str(output) if output else None,
            "ports": {
                "model_inp": [element._asdict() for element in ports.inputs],
                "model_out": [element._asdict() for element in ports.outputs],
            },
            "pipeline": facts(pipeline) if pipeline else None,
            "wrapped": {"kind": kind, "top": wrapped.top, "files": list(wrapped.files)} if wrapped else None,
        }
        click.echo(json.dumps(tree, indent=2))


def _for_wrapping(options: PipelineOptions | None, output: Path | None) -> PipelineOptions | None:
    """A pipeline as the shell wants it: it can be held, and what is valid is known outside."""
    if output is None:
        raise InputError("--wrap writes several files; name a folder for them with -o")
    if options is None:
        return None
    if options.reset or options.valid:
        raise InputError("--reset and --valid cannot be wrapped: the shell itself knows what is valid; leave them out")
    return replace(options, enable=True)


def _wrap(kind: str, program: Program, top: str, text: str, latency: int) -> Wrapped:
    ports = ports_of(program)
    input_bits, output_bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    return wrap(kind, top, text, program.hash, input_bits=input_bits, output_bits=output_bits, latency=latency)
