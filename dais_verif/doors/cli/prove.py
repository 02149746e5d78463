"""``dais-verif prove``: RTL proved to compute the program for all inputs, op by op."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.verbs.prove import Proved, ProveRequest
from dais_verif.verbs.prove import prove as run_prove


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(ProveRequest)
@common.sandbox_option
@common.html_option
@common.json_option
def prove(request: ProveRequest, html: Path | None, as_json: bool) -> int:
    """Prove for all inputs that RTL of PROGRAM, combinational or a pipeline, computes it.

    \b
    dais-verif prove prog.bin                                   emitted RTL
    dais-verif prove prog.bin --stages 4                        emitted RTL, pipelined
    dais-verif prove prog.bin --rtl model.v lib.v --top model   your RTL
    dais-verif prove DIR                                        a project folder of alkaid or da4ml
    dais-verif prove prog.bin --rtl core.v --ports ports.toml   with other ports
    dais-verif prove prog.bin --rtl net                         a netlist of `synth -o net`
    dais-verif prove prog.bin --front-end both                  read by slang and by Yosys, which must agree
    dais-verif prove prog.bin --unchecked                       also where promises are broken
    dais-verif prove prog.bin --dump-smt obligations            for other solvers to check

    Signals named op_N (or vN, as da4ml calls them) are proved one by one; each proof may use those before it,
    so that all of them hold. Where the RTL is wrong, an input vector is found, and a simulator replays it. User RTL is
    also simulated before it passes: if a simulator disagrees, the verdict is UNKNOWN.

    \b
    PROVED    for all inputs
    REFUTED   on the input vector that is shown; exit code 1
    UNKNOWN   neither within the time limit; exit code 6: try a longer --timeout, or sim
    """
    done = run_prove(request, progress=TerminalProgress())
    return common.show_run(done, as_json, html, lambda: _print(done))


def _print(done: Proved) -> None:
    from dais_verif.report.proof_text import print_proof

    print_proof(done.record, common.console(), bitwise=done.bitwise, mismatch=done.mismatch)
