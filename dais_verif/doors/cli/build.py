"""``dais-verif build``: the bitstream of a program or a machine, for an FPGA."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.hardware_text import print_build
from dais_verif.verbs.bitstream.build import BuildRequest
from dais_verif.verbs.bitstream.build import build as run_build


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(BuildRequest)
@common.json_option
def build(request: BuildRequest, as_json: bool) -> int:
    """Build the bitstream of PROGRAM, or of a machine: Yosys, nextpnr, icepack; and report its maximum clock.

    \b
    dais-verif build prog.bin --device ice40-hx8k-ct256 -o out
    dais-verif build prog.bin --device ice40-hx8k-ct256 --stages 4 --clock 100 --pins board.pcf -o out
    dais-verif build prog.bin --device ice40-up5k-sg48 --wrap uart -o out

    The same input gives the same bitstream. A design that does not fit or is too slow is refused, with the numbers. A
    folder that was edited since an earlier build is never replaced. Exit code 0; 2: refused; 3: a tool is missing or
    failed.
    """
    record = run_build(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_build(record, common.console()))
