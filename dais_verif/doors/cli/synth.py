"""``dais-verif synth``: what a program costs on an FPGA, and a netlist that ``sim`` can verify."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.hardware_text import print_synthesis
from dais_verif.verbs.synthesize import SynthesisRequest, synthesize


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(SynthesisRequest)
@common.json_option
def synth(request: SynthesisRequest, as_json: bool) -> int:
    """Synthesize the Verilog of PROGRAM with Yosys: LUTs, flip-flops, carries, DSPs, block RAMs, logic depth.

    \b
    dais-verif synth prog.bin --target ice40             what it costs
    dais-verif synth prog.bin --target xilinx -o net     keep the netlist ...
    dais-verif sim prog.bin --rtl net                    ... and verify it
    dais-verif synth prog.bin --target ecp5 --stages 4   as a pipeline
    dais-verif synth prog.bin --target generic --rtl theirs.v --top theirs
    dais-verif synth prog.bin --target ice40 --pnr       also the maximum clock frequency, by nextpnr

    Counts are those after mapping, before place and route. Exit code 0; 3: a tool is missing or failed; 6: --pnr was
    requested and could not run.
    """
    record = synthesize(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_synthesis(record, common.console()))
