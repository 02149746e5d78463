"""``dais-verif diff``: do two programs compute the same, and if not, where do they first differ?"""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.report.programs_text import print_diff
from dais_verif.verbs.diff import DiffRequest
from dais_verif.verbs.diff import diff as run_diff


@click.command(cls=GroupedCommand)
@click.argument("a", type=common.file_path)
@click.argument("b", type=common.file_path)
@requested(DiffRequest)
@common.json_option
def diff(request: DiffRequest, as_json: bool) -> int:
    """Evaluate the programs A and B on the same vectors and compare their outputs as exact real numbers.

    \b
    dais-verif diff a.bin b.bin
    dais-verif diff a.bin b.json --vectors 100000 --seed 7
    dais-verif diff a.bin b.bin --inputs x.npy --vectors 0 -o witness.npy
    dais-verif diff a.bin b.bin --prove
    dais-verif diff machine.fsm.json b.bin --frame frame.toml --prove

    Both must have the same numbers of inputs and outputs; types and ops may differ. Generated vectors include the
    corners of the input types of both.

    \b
    PASS              no difference on these vectors, which does not prove that there is none
    PROGRAMS_DIFFER   exit code 1; the first vector and output that differ, a simplified input vector that shows it,
                      and the first op that differs
    PROGRAM_INVALID   exit code 2; A or B breaks a promise on a vector (--unchecked continues)
    UNKNOWN           exit code 6; with --prove: the named outputs are neither proved nor refuted

    --prove compares what hardware computes, for all inputs: values that break a promise are quantised, in A and B
    alike.
    """
    record = run_diff(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_diff(record, common.console()))
