"""``dais-verif emit``: the program as Verilog."""

from __future__ import annotations

import click

from dais_verif.base.text import counted
from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.hardware_text import print_folded, print_pipeline, wrapper_line
from dais_verif.verbs.emit import EmitRequest
from dais_verif.verbs.emit import emit as run_emit


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(EmitRequest)
@common.json_option
def emit(request: EmitRequest, as_json: bool) -> None:
    """Write PROGRAM as one synthesizable Verilog-2005 module.

    This is the RTL that sim simulates. Inputs are packed in model_inp, outputs in model_out, element 0
    in the least significant bits; op N of the program is the signal op_N.

    With --stages or --max-depth the module is pipelined: it has a clock clk, takes a vector at every
    edge, and has registers after every stage including the outputs; its latency in edges is the number of stages.

    --wrap axis adds an AXI4-Stream wrapper; --wrap uart, spi or fifo also adds the link over which `dais-verif hil`
    talks to the board. -o then names a folder, which receives everything that synthesis needs: RTL, file lists,
    constraints, a README. A folder that was edited since an earlier call is never replaced.

    PROGRAM may be a machine (ALIRFSM): its ports are its signals, clk first if it has registers. For --wrap axis,
    --stream names its valid signals; on a board, a vector is --cycles cycles after a reset (docs/machines.md).

    PROGRAM may be a network (ONNX). With --form memory it becomes a machine with memories; -o names a folder, which
    `run`, `sim`, `prove`, `synth` and `signoff` accept to verify that it computes the network (docs/networks.md).

    \b
    dais-verif emit prog.bin -o model.v
    dais-verif emit prog.bin --stages 4 --enable -o model.v
    dais-verif emit net.onnx --form memory -o folded
    dais-verif emit prog.bin --wrap axis --stages 4 --axil -o model_axis
    """
    record = run_emit(request, progress=common.ShownWarnings())
    if as_json:
        click.echo(record.to_json())
        return
    if record.folded is not None:
        print_folded(record.folded, common.console())
    elif record.wrapped is not None:
        common.console().print(wrapper_line(record.wrapped))
    elif request.output is not None:
        common.tell_written(
            request.output, f"module {request.top}, {counted(record.verilog.count(chr(10)), 'line')} of Verilog"
        )
    else:
        click.echo(record.verilog, nl=False)
    if record.pipeline is not None:
        print_pipeline(record.pipeline, common.notices())
