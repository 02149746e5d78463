"""``dais-verif hil``: a board against the golden model."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.console import print_record
from dais_verif.verbs.boards.run_on_board import BoardRequest, run_on_board


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(BoardRequest)
@common.html_option
@common.json_option
def hil(request: BoardRequest, html: Path | None, as_json: bool) -> int:
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
    done = run_on_board(request, progress=TerminalProgress())
    code = common.show_run(done, as_json, html, lambda: print_record(done.record, common.console()))
    if done.resumable and not as_json:
        common.console().print("resume     run the same command with --resume to continue", markup=False)
    return code
