"""``dais-verif prove``: RTL proved to compute the program for all inputs, op by op."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.cli import common
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.options.design import design_options
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import FiniteRange
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.proof.reading import FRONT_ENDS
from dais_verif.flows.prove import Proved, ProveRequest
from dais_verif.flows.prove import prove as run_prove
from dais_verif.flows.recognition import Sort
from dais_verif.flows.simulation_request import SIMULATORS


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@design_options(Sort.NETLIST, Sort.BITSTREAM)
@click.option(
    "--front-end",
    type=click.Choice(tuple(FRONT_ENDS)),
    default="slang",
    show_default=True,
    help="Front end of the RTL; both: slang and Yosys must agree on every signal, and both readings are proved;"
    " available: both if Yosys is installed and can read the RTL, else slang.",
)
@common.unchecked_option
@click.option("--out-of-range", is_flag=True, help="Prove also beyond the intervals that da4ml's JSON declares.")
@click.option(
    "--timeout",
    type=common.seconds,
    default=20.0,
    show_default=True,
    help="Time limit for each obligation, in seconds.",
)
@click.option(
    "--sim",
    "simulator",
    type=click.Choice((*SIMULATORS, "both")),
    help="Simulator that replays a counterexample. Default: Icarus, and Verilator where that cannot build the RTL.",
)
@click.option(
    "--sample",
    type=FiniteRange(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Prove this share of the obligations, at least 8, a second time by the solver without rewriting; 0: none.",
)
@click.option(
    "--dump-smt", type=common.file_path, metavar="DIR", help="Write all obligations to this folder, as SMT-LIB 2."
)
@click.option(
    "--cache/--no-cache", default=True, show_default=True, help="Reuse proofs of earlier runs, and store new ones."
)
@click.option(
    "--confirm/--no-confirm",
    default=True,
    show_default=True,
    help="After a proof of user RTL, also simulate it, since simulators share no code with the prover.",
)
@click.option("--period", type=float, help="Clock period of a bitstream behind a link, in ns. Default: that of 12 MHz.")
@common.seed_option
@common.jobs_option
@common.sandbox_option
@click.option("-o", "--output", type=common.file_path, help="Folder to keep: result.json, RTL, counterexample, replay.")
@common.html_option
@common.json_option
def prove(dut: DesignRequest, html: Path | None, as_json: bool, **asked: Any) -> int:
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
    request = ProveRequest(design=dut, command=lambda more: common.reproduce(more=more), **asked)
    done = run_prove(request, progress=TerminalProgress())
    return common.show_run(done, as_json, html, lambda: _print(done))


def _print(done: Proved) -> None:
    from dais_verif.report.proof_text import print_proof

    print_proof(done.record, common.console(), bitwise=done.bitwise, mismatch=done.mismatch)
