"""``dais-verif synth``: what a program costs on an FPGA, and a netlist that ``sim`` can verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.design import target_option
from dais_verif.doors.cli.options.pipelines import pipeline_options
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import FiniteRange
from dais_verif.report.hardware_text import print_synthesis
from dais_verif.verbs.synthesize import TARGETS, SynthesisRequest, synthesize


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@target_option(targets=TARGETS, required=True, help="FPGA family; generic: technology-independent gates.")
@click.option(
    "--rtl",
    type=common.file_path,
    multiple=True,
    help="Synthesize this RTL or project folder; may be repeated.",
)
@common.theirs_option
@pipeline_options
@click.option(
    "--alumacc/--no-alumacc",
    default=False,
    show_default=True,
    help="Let Yosys merge chains of sums; the pass that does this miscompiles a - (-x) (docs/netlists.md).",
)
@click.option(
    "--bram/--no-bram", default=True, show_default=True, help="Let Yosys put tables of pipelines in block RAMs."
)
@click.option("--pnr", is_flag=True, help="Also place and route with nextpnr, to find the maximum clock frequency.")
@click.option("--clock", default="clk", show_default=True, help="With --pnr: the clock of clocked RTL.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True, max=1e9),
    default=1800,
    show_default=True,
    help="Time limit for Yosys and for nextpnr, in seconds each.",
)
@click.option(
    "--memory",
    type=click.IntRange(64, 1 << 30),
    default=8192,
    show_default=True,
    help="Memory limit for each process (Yosys, its ABC, nextpnr), in megabytes.",
)
@click.option("-o", "--output", type=common.file_path, help="Folder to keep: netlist.v, synth.json, RTL, script, log.")
@common.json_option
@click.argument("more_rtl", nargs=-1, type=common.file_path)
def synth(rtl: tuple[Path, ...], more_rtl: tuple[Path, ...], as_json: bool, **asked: Any) -> int:
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
    if more_rtl and not rtl:
        raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
    record = synthesize(SynthesisRequest(rtl=(*rtl, *more_rtl), **asked), progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_synthesis(record, common.console()))
