"""``dais-verif sensitivity``: where a wrong bit would hurt, and which bits never matter."""

from __future__ import annotations

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.programs_text import print_sensitivity
from dais_verif.verbs.rank_sensitivity import SensitivityRequest, rank_sensitivity


@click.command(cls=Verb)
@common.program_argument
@requested(SensitivityRequest)
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="How many ops the table shows.")
@common.json_option
def sensitivity(request: SensitivityRequest, top: int, as_json: bool) -> int:
    """Flip bits of the values in PROGRAM and rank the ops by the resulting changes at the outputs.

    The last bit of every op is inverted, one unit of 2^-f up or down, in every vector, and all ops that depend on it
    are evaluated again, with values that wrap as in hardware. The effect in a vector is the largest change of any
    output, as an exact real value; ops are ranked by their worst vector.

    \b
    dais-verif sensitivity prog.bin                     the last bit of every op
    dais-verif sensitivity prog.bin --bits --top 5      every bit, and which of them never matter
    dais-verif sensitivity prog.bin --vectors 0 --inputs x.npy -o effects.csv

    \b
    A bit that changes no output in any vector is
      silent     here; another vector may show it
      dead       if no output depends on it, whatever the vectors: it is floored away or cut off by a narrower
                 type, or nothing reads the op. Such bits are not flipped.
    """
    record = rank_sensitivity(request, progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_sensitivity(record, common.console(), top=top))
