"""``dais-verif sim``: RTL against the golden model in Icarus and Verilator, or in GHDL."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import click

from dais_verif.base.stopwatch import Stopwatch, process_started
from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.verbs.options import from_keywords
from dais_verif.verbs.simulate import Simulated, simulate
from dais_verif.verbs.simulation_request import SimulationRequest


@click.command(cls=GroupedCommand)
@common.program_argument
@requested(SimulationRequest)
@common.sandbox_option
@common.output_option("--profile", rare=True, is_flag=True, help="Show where the time was spent.")
@common.html_option
@common.json_option
def sim(request: SimulationRequest, profile: bool, html: Path | None, as_json: bool) -> int:
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
    if request.waves and request.output is None:
        request = replace(request, output=Path("dais-verif-out"))
    done = _simulated(request)
    return common.show_run(done, as_json, html, lambda: _print(done, profile))


def _simulated(request: SimulationRequest) -> Simulated:
    watch = Stopwatch(started=process_started())
    watch.add("set-up", watch.started, time.monotonic())
    return simulate(request, progress=TerminalProgress(), watch=watch)


def _print(done: Simulated, profile: bool) -> None:
    from dais_verif.report.console import print_record  # imported late, since simulators are started first

    print_record(done.record, common.console(), profile=profile)


@click.command(hidden=True)
@click.argument("runs")
@click.option("--json", "as_json", is_flag=True)
def jobs(runs: str, as_json: bool) -> int:
    """Simulate RUNS, a JSON list of options, for `regress`; many share a build, and those that pass have records."""
    asked = json.loads(runs)
    if [one for one in asked if one.pop("sandbox", False)]:
        from dais_verif.verbs.sandbox import confine_tools

        confine_tools()
    requests = [from_keywords(SimulationRequest, one) for one in asked]
    if len(requests) == 1:
        return common.show_run(_simulated(requests[0]), as_json, None, lambda: None)
    from dais_verif.verbs.simulate_jointly import simulate_jointly

    simulate_jointly(requests)
    return 0
