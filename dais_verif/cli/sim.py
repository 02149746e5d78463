"""``dais-verif sim``: RTL against the golden model in Icarus and Verilator, or in GHDL."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from dais_verif.cli import common
from dais_verif.cli.grouped import GroupedCommand, Option
from dais_verif.cli.options.bundles import bundled
from dais_verif.cli.options.design import design_options
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.flows.covering import Covering
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.recognition import ALL
from dais_verif.flows.simulate import Simulated, simulate
from dais_verif.flows.simulation_request import (
    LEAST_IN_ICARUS,
    MAX_BITS,
    SIMULATORS,
    VHDL_SIMULATORS,
    SimulationRequest,
    vectors_in_icarus,
)
from dais_verif.stopwatch import Stopwatch, process_started

_covering_options = bundled(
    "covering",
    lambda coverage, rtl_coverage: Covering(coverage, rtl_coverage),
    click.option("--coverage", is_flag=True, help="Measure functional coverage, and add vectors for open bins."),
    click.option("--rtl-coverage", is_flag=True, help="Measure line and toggle coverage of the RTL in Verilator."),
)


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@click.option(
    "--sim",
    "simulator",
    type=click.Choice((*SIMULATORS, "both", *VHDL_SIMULATORS)),
    help="Simulator. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
)
@click.option(
    "--icarus-vectors",
    metavar="N|all",
    callback=common.parsed_by(vectors_in_icarus),
    help="Number of vectors that Icarus also compares if both simulators run. Default: as many as it can while "
    "Verilator runs,"
    f" at least {LEAST_IN_ICARUS}.",
)
@common.vectors_option(1000)
@common.seed_option
@common.inputs_option
@design_options(*ALL)
@_covering_options
@common.unchecked_option
@click.option("--printf", is_flag=True, help="Also compare the messages that members of a kernel print.")
@click.option("--out-of-range", is_flag=True, help="Also generate inputs beyond intervals that da4ml's JSON declares.")
@click.option("--waves", is_flag=True, help="Record waves (Icarus FST, others VCD); needs -o or uses dais-verif-out.")
@click.option(
    "--bulk/--no-bulk",
    default=True,
    show_default=True,
    help="Run vectors outside cocotb if the simulator can; the first 256 go through the ports in any case.",
)
@click.option(
    "--conditions/--no-conditions",
    default=True,
    show_default=True,
    help="Add vectors for both sides of the conditions in user RTL, found in at most about 2 s.",
)
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Check every output that depends on few enough input bits exhaustively, however long it takes.",
)
@click.option(
    "--exhaustive-bits",
    type=click.IntRange(0, MAX_BITS),
    default=24,
    show_default=True,
    help="Largest number of input bits to exhaust; 0: sample only.",
)
@common.jobs_option
@common.sandbox_option
@click.option("--profile", cls=Option, rare=True, is_flag=True, help="Show where the time was spent.")
@click.option("--timeout", type=common.seconds, help="Time limit for each build and each run, in seconds.")
@click.option("-o", "--output", type=common.file_path, help="Folder to keep: result.json, RTL, vectors, logs, waves.")
@common.html_option
@common.json_option
def sim(
    dut: DesignRequest, waves: bool, output: Path | None, profile: bool, html: Path | None, as_json: bool, **asked: Any
) -> int:
    """Simulate the Verilog of PROGRAM and compare every output bit of every vector with the golden model.

    \b
    dais-verif sim prog.bin                                   emitted RTL, both simulators
    dais-verif sim prog.bin --vectors 10000 --seed 7 --sim verilator
    dais-verif sim prog.bin --inputs x.npy                    your vectors, then generated ones
    dais-verif sim prog.bin --rtl model.v lib.v --top model   your RTL
    dais-verif sim DIR                                        a project folder of alkaid or da4ml
    dais-verif sim prog.bin --rtl model.vhd lib.vhd           the same in VHDL, in GHDL
    dais-verif sim prog.bin --rtl DIR                         what `synth`, `build` or `emit --wrap axis` wrote
    dais-verif sim prog.bin --rtl model.v --ports ports.toml  with other ports (docs/any-dut.md)
    dais-verif sim prog.bin --rtl model.v --clock clk         pipelined; its latency is detected
    dais-verif sim prog.bin --stages 4                        emitted RTL, pipelined, with all its pins
    dais-verif sim m.fsm.json --inputs x.npz                  a machine: its sequences, before and after every edge
    dais-verif sim prog.bin --waves -o out                    waves in out/icarus, out/verilator
    dais-verif sim prog.bin --coverage                        functional coverage, and vectors for open bins
    dais-verif sim prog.bin --html report.html                the record as a page with a view of the program

    A mismatch is shown with its vector and the first op whose value diverges. Exit code 0: PASS; 1: RTL_MISMATCH;
    others in docs/troubleshooting.md#exit-codes.
    """
    watch = Stopwatch(started=process_started())
    watch.add("set-up", watch.started, time.monotonic())
    context = click.get_current_context()
    request = SimulationRequest(
        design=dut,
        waves=waves,
        output=Path("dais-verif-out") if waves and output is None else output,
        command=lambda more: common.reproduce(context.obj, more),
        **asked,
    )
    if "requests" in context.meta:  # only collect the request: many runs share a build
        context.meta["requests"].append(request)
        return 0
    done = simulate(request, progress=TerminalProgress(), watch=watch)
    return common.show_run(done, as_json, html, lambda: _print(done, profile))


def _print(done: Simulated, profile: bool) -> None:
    from dais_verif.report.console import print_record  # imported late, since simulators are started first

    print_record(done.record, common.console(), profile=profile)


@click.command(hidden=True)
@click.argument("runs")
def jointly(runs: str) -> int:
    """Simulate RUNS, a JSON list of command lines, in one build, for `regress`; write records of those that pass."""
    from dais_verif.flows.simulate_jointly import simulate_jointly

    simulate_jointly([_request_of(words) for words in json.loads(runs)])
    return 0


def _request_of(words: list[str]) -> SimulationRequest:
    """Return the request of ``sim`` for the command line ``words``, which begins with ``sim``. Raises its errors."""
    requests: list[SimulationRequest] = []
    with sim.make_context("sim", words[1:], obj=words) as context:
        context.meta["requests"] = requests
        sim.invoke(context)
    return requests[0]
