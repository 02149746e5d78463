"""``dais-verif emit``: the program as Verilog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import (
    console,
    json_option,
    layout_option,
    load_program,
    notices,
    output_path,
    program_argument,
    tell_written,
    top_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.pipelines import asked_pipeline, control_options, facts, show, stage_options
from dais_verif.cli.wrapping import asked_wrapping, enabled, wrap_options, write_wrapped
from dais_verif.emitter import emit_pipeline, emit_verilog
from dais_verif.errors import InputError
from dais_verif.files import write_atomically
from dais_verif.program.ports import ports_of
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@top_option
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given. With --wrap: folder.")
@stage_options
@control_options
@wrap_options
@json_option
def emit(
    program: Path,
    layout: str | None,
    top: str,
    output: Path | None,
    as_json: bool,
    wrap: str | None,
    axil: bool,
    user_bits: int | None,
    check_beats: int | None,
    period: float | None,
    **asked: Any,
) -> None:
    """Write PROGRAM as one synthesizable Verilog-2005 module.

    The text is the same one that sim simulates. Inputs are packed in model_inp, outputs in model_out, element 0
    in the least significant bits; op N of the program is the signal op_N.

    With --stages or --max-depth the module is pipelined: a clock clk, a vector every edge, registers after every
    stage, outputs registered, as many edges of latency as stages.

    --wrap axis puts it behind AXI4-Stream, --wrap uart or fifo also behind bytes of a link on which
    `dais-verif hil` talks to the board. -o then names a folder, which receives all that synthesis needs: RTL, file
    lists, constraints, a README. A folder that is not as an earlier call left it is never replaced.

    \b
    dais-verif emit prog.bin -o model.v
    dais-verif emit prog.bin --stages 4 --enable -o model.v
    dais-verif emit prog.bin --wrap axis --stages 4 --axil -o model_axis
    """
    import json

    wrapping = asked_wrapping(wrap, axil, user_bits, check_beats, period)
    if wrapping and output is None:
        raise InputError("--wrap writes several files; name a folder for them with -o")
    loaded, _ = load_program(program, layout)
    options = asked_pipeline(**asked)
    if wrapping:
        options = enabled(options)
    pipeline = emit_pipeline(loaded, top, options) if options else None
    text = pipeline.text if pipeline else emit_verilog(loaded, top)
    wrapped = None
    if wrapping and output is not None:
        wrapped = write_wrapped(loaded, top, text, pipeline, wrapping, output)
        if not as_json:
            line = f"top module {wrapped['top']}, in {output}: {len(wrapped['files'])} files, which README.md explains"
            console().print(line)
    elif output is not None:
        write_atomically(output, text.encode())
        if not as_json:
            tell_written(output, f"module {top}, {text.count(chr(10))} lines of Verilog")
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
            "wrapped": wrapped,
        }
        click.echo(json.dumps(tree, indent=2))
