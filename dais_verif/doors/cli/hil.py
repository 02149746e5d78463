"""``dais-verif hil``: a board against the golden model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.report.console import print_record
from dais_verif.verbs.boards.run_on_board import BoardRequest, run_on_board


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@click.option(
    "--target",
    required=True,
    help="The board: serial:///dev/ttyUSB0?baud=115200, tcp://host:port; sim://uart, spi or fifo simulates one.",
)
@common.vectors_option(1000)
@common.seed_option
@common.inputs_option
@common.unchecked_option
@click.option(
    "--timeout",
    type=common.seconds,
    default=10.0,
    show_default=True,
    help="Seconds without an answer before the run is aborted.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run in the folder of -o.")
@click.option(
    "--blame", type=common.file_path, help="Folder of the build on the board: taps find out which op is wrong."
)
@click.option("--load", help="With --blame: the command that loads a bitstream, such as 'iceprog {bitstream}'.")
@click.option("-o", "--output", type=common.file_path, help="Folder for result.json and the progress of the run.")
@common.html_option
@common.json_option
def hil(html: Path | None, as_json: bool, **asked: Any) -> int:
    """Run vectors of PROGRAM on a board and compare every output bit with the golden model.

    \b
    dais-verif emit prog.bin --wrap uart -o rtl               what to synthesise for the board
    dais-verif hil prog.bin --target serial:///dev/ttyUSB0
    dais-verif hil prog.bin --target "serial:///dev/ttyUSB0?baud=921600" --vectors 100000 -o out
    dais-verif hil prog.bin --target tcp://lab7:2000 --inputs x.npy
    dais-verif hil prog.bin --target sim://uart               the same RTL in simulation, to try it out
    dais-verif hil prog.bin --target ... -o out --resume      after Ctrl-C or a pulled cable
    dais-verif hil prog.bin --target ... --blame built --load 'iceprog {bitstream}'

    PROGRAM may be a machine: vectors are its cycles, in short sequences that start with a reset (docs/machines.md).

    The board first identifies its program. Data lost on the link is sent again; so is a vector with a mismatch, to
    see whether the board repeats it. Exit code 0: PASS; 1: a mismatch; others in docs/troubleshooting.md#exit-codes.
    """
    done = run_on_board(BoardRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    code = common.show_run(done, as_json, html, lambda: print_record(done.record, common.console()))
    if done.resumable and not as_json:
        common.console().print("resume     run the same command with --resume to continue", markup=False)
    return code
