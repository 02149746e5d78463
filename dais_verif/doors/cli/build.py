"""``dais-verif build``: the bitstream of a program or a machine, for an FPGA."""

from __future__ import annotations

from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.common import file_path, json_option, layout_option, program_argument, seconds
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.pipelines import pipeline_options
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.report.hardware_text import print_build
from dais_verif.verbs.bitstream.build import BUILD_WRAPS, DEVICES, BuildRequest
from dais_verif.verbs.bitstream.build import build as run_build


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@click.option("--device", type=click.Choice(tuple(DEVICES)), required=True, help="The FPGA, and its package.")
@pipeline_options
@click.option(
    "--wrap",
    type=click.Choice(BUILD_WRAPS),
    help="Connect pins to ports of the core (none), or to a link for hil. Default: none if there are enough pins, "
    "else uart.",
)
@click.option("--cycles", type=int, help="With --wrap: cycles of a machine per vector. Default: 32.")
@click.option(
    "--pins",
    type=file_path,
    help="File with `set_io NAME PIN` for each bit of each port. Default: pins are assigned automatically.",
)
@click.option(
    "--clock", type=float, help="Clock frequency that timing must meet, in MHz. Default: 12 for clocked designs."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the placement.")
@click.option(
    "--bram/--no-bram",
    default=None,
    help="Put tables in block RAMs. Default: not for a bare program, so that it can be proved.",
)
@click.option("--dsp", is_flag=True, help="Put products in DSPs (UP5K only).")
@click.option("--timeout", type=seconds, default=1800, show_default=True, help="Time limit for each tool, in seconds.")
@click.option(
    "--memory", type=int, default=8192, show_default=True, help="Memory limit for each process, in megabytes."
)
@click.option("-o", "--output", type=file_path, required=True, help="Folder: model.bin, pins.pcf, RTL, netlist, logs.")
@json_option
def build(as_json: bool, **asked: Any) -> int:
    """Build the bitstream of PROGRAM, or of a machine: Yosys, nextpnr, icepack; and report its maximum clock.

    \b
    dais-verif build prog.bin --device ice40-hx8k-ct256 -o out
    dais-verif build prog.bin --device ice40-hx8k-ct256 --stages 4 --clock 100 --pins board.pcf -o out
    dais-verif build prog.bin --device ice40-up5k-sg48 --wrap uart -o out

    The same input gives the same bitstream. A design that does not fit or is too slow is refused, with the numbers. A
    folder that was edited since an earlier build is never replaced. Exit code 0; 2: refused; 3: a tool is missing or
    failed.
    """
    record = run_build(BuildRequest(**asked), progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_build(record, common.console()))
