"""``dais-verif sim``: RTL against the golden model in Icarus and Verilator, or in GHDL."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import click

from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    inputs_option,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    sandbox_option,
    seconds,
    seed_option,
    tell_written,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.covering import Covering, covering_options
from dais_verif.cli.dut import DutOptions, design_of, dut_options, told_apart
from dais_verif.cli.folder import work_folder
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.netlists import netlist_options, with_netlist
from dais_verif.cli.recording import Asked, begun_record, finished_record, given_vectors, with_share_of_icarus
from dais_verif.cli.wrapped import verify_wrapped
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.report.record import StimulusClass
from dais_verif.sim.build import SIMULATORS, VHDL_SIMULATORS, Design, simulators_for
from dais_verif.sim.datafiles import mentioned, never_read
from dais_verif.sim.job import LEAST_IN_ICARUS
from dais_verif.sim.simulate import begin
from dais_verif.sim.sources import digests
from dais_verif.stimulus import Generated, Stimulus, read_batch
from dais_verif.stimulus.counters import MAX_BITS
from dais_verif.stopwatch import Stopwatch
from dais_verif.synth.netlist import Netlist
from dais_verif.verdict import Verdict

#: Ops evaluated in about a second: outside cocotb, in Icarus, and in GHDL where an op is an instance.
_BULK_BUDGET, _PORT_BUDGET, _GHDL_BUDGET = 1_000_000_000, 2_000_000, 30_000

#: In a program of more ops, only to look for outputs that could be exhausted takes seconds.
_LARGE = 20_000


def _icarus_vectors(context: click.Context, option: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    if value == "all":
        return sys.maxsize
    if not (value.isascii() and value.isdigit() and 0 < int(value[:18]) == int(value)):
        raise click.BadParameter(f"{value!r} must be a number of vectors, 1 or more, or all.")
    return int(value)


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@click.option(
    "--sim",
    "simulator",
    type=click.Choice((*SIMULATORS, "both", *VHDL_SIMULATORS)),
    help="Simulator. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
)
@click.option(
    "--icarus-vectors",
    metavar="N|all",
    callback=_icarus_vectors,
    help="Vectors of a run in both simulators that Icarus compares, too. Default: as many as it can until Verilator has"
    f" run all, {LEAST_IN_ICARUS} at least.",
)
@vectors_option(1000)
@seed_option
@inputs_option
@dut_options
@netlist_options
@covering_options
@unchecked_option
@click.option("--out-of-range", is_flag=True, help="Give inputs also beyond the intervals that da4ml's JSON declares.")
@click.option("--waves", is_flag=True, help="Record waves (Icarus FST, others VCD); needs -o or uses dais-verif-out.")
@click.option(
    "--bulk/--no-bulk",
    default=True,
    show_default=True,
    help="Run vectors outside cocotb where the simulator can; the first 256 go through the ports all the same.",
)
@click.option(
    "--exhaustive", is_flag=True, help="Check every output that few enough inputs reach on all of them, however long."
)
@click.option(
    "--exhaustive-bits",
    type=click.IntRange(0, MAX_BITS),
    default=24,
    show_default=True,
    help="Input bits that are few enough; 0: sample only.",
)
@jobs_option
@sandbox_option
@click.option("--profile", is_flag=True, help="Show where the time went.")
@click.option("--timeout", type=seconds, help="Seconds for each build and each run.")
@click.option("-o", "--output", type=file_path, help="Folder to keep: result.json, RTL, vectors, logs, waves.")
@html_option
@json_option
def sim(
    program: Path,
    layout: str | None,
    simulator: str | None,
    icarus_vectors: int | None,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    dut: DutOptions,
    netlist: Netlist | None,
    covering: Covering,
    unchecked: bool,
    out_of_range: bool,
    waves: bool,
    bulk: bool,
    exhaustive: bool,
    exhaustive_bits: int,
    jobs: int | None,
    profile: bool,
    timeout: float | None,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Simulate the Verilog of PROGRAM and compare every output bit of every vector with the golden model.

    \b
    dais-verif sim prog.bin                                   our RTL, both simulators
    dais-verif sim prog.bin --vectors 10000 --seed 7 --sim verilator
    dais-verif sim prog.bin --inputs x.npy                    your vectors, then generated ones
    dais-verif sim prog.bin --rtl model.v lib.v --top model   somebody else's RTL
    dais-verif sim prog.bin --rtl model.vhd lib.vhd           the same in VHDL, in GHDL
    dais-verif sim prog.bin --netlist DIR                     what `synth -o DIR` made of it
    dais-verif sim prog.bin --rtl model.v --ports ports.toml  with other ports (docs/any-dut.md)
    dais-verif sim prog.bin --rtl model.v --clock clk         pipelined, its latency found out
    dais-verif sim prog.bin --stages 4                        our RTL, pipelined, with all its pins
    dais-verif sim prog.bin --wrapped DIR                     what `emit --wrap axis -o DIR` wrote, through its streams
    dais-verif sim prog.bin --waves -o out                    waves in out/icarus, out/verilator
    dais-verif sim prog.bin --coverage                        what the vectors make it do, and vectors for the rest
    dais-verif sim prog.bin --html report.html                the record as a page with a view of the program

    A mismatch is shown with its vector and the first op whose value diverges. The exit code is the verdict's.
    """
    if dut.wrapped is not None and exhaustive:
        raise click.UsageError("--exhaustive is not for --wrapped: exhaust the core, which sim verifies without it.")
    simulators = simulators_for(simulator, dut.rtl)
    paired = len(simulators) > 1 and dut.wrapped is None
    if icarus_vectors not in (None, sys.maxsize) and not paired:
        raise click.UsageError("--icarus-vectors is for runs in both simulators; one alone compares all vectors.")
    covering.check(simulators, dut.wrapped is not None)
    watch = Stopwatch(started=_process_started())
    watch.add("set-up", watch.started, time.monotonic())
    with watch.stage("read"):
        loaded, warnings = load_program(program, layout)
        given = [read_batch(path, loaded.n_in) for path in inputs]
        classes = [given_vectors(path, batch.rows) for path, batch in zip(inputs, given, strict=True)]
        classes += [StimulusClass("generated", vectors)] if vectors else []
        stimulated = replace(loaded, intervals=None) if out_of_range else loaded
        stimulus = Stimulus([*given, Generated([stimulated], vectors, seed)])
    if waves and output is None:
        output = Path("dais-verif-out")
    with work_folder(output) as folder:
        with watch.stage("emit"), _status(loaded, "writing Verilog"):
            dut = replace(dut, rtl=with_netlist(dut.rtl, netlist, folder.path))
            design = design_of(loaded, dut, folder.path)
            warnings += told_apart(design, dut) if netlist is None and dut.wrapped is None else []
            watched = [*design.sources, *(file.path for file in design.data)]
            hashes = [digest.hex() for digest in digests(watched)]
        asked = Asked(layout, seed, classes, unchecked, out_of_range, simulators)
        record = begun_record(loaded, design, dut, hashes, warnings, asked)
        folder.begin(record)
        stimulus, record = covering.directed(stimulated, stimulus, record, folder.path, watch, jobs=jobs)
        if dut.wrapped is not None:
            with notices().status("simulating streams"):
                finding = verify_wrapped(
                    loaded,
                    stimulus.slice(0, stimulus.rows),
                    dut.wrapped,
                    folder.path,
                    simulators=simulators,
                    check=not unchecked,
                    seed=seed,
                    waves=waves,
                    timeout=timeout,
                )
        else:
            with begin(
                simulators,
                design,
                folder.path,
                seed=seed,
                waves=waves,
                coverage=covering.rtl,
                timeout=timeout,
                watch=watch,
            ) as begun:
                # Only now, while the simulators start: to load all this takes as long as to simulate a small design.
                from dais_verif.cli.display import Display
                from dais_verif.golden.fast import threads
                from dais_verif.sim.verify import Options, verify

                options = Options(
                    simulators,
                    check=not unchecked,
                    waves=waves,
                    seed=seed,
                    timeout=timeout,
                    jobs=threads(jobs),
                    bulk=bulk,
                    keep=output is not None,
                    exhaustive_rows=_exhaustive_rows(loaded, simulators, bulk and not waves, stimulus.rows, exhaustive)
                    if exhaustive_bits
                    else 0,
                    exhaustive_bits=exhaustive_bits,
                    declared=not out_of_range,
                    icarus_rows=icarus_vectors,
                )
                with Display(notices()) as display:
                    watch.listen(display.stage)
                    finding = verify(loaded, stimulus, design, folder.path, options, display, watch, begun)
        for source, before, after in zip(watched, hashes, digests(watched), strict=True):
            if before != after.hex():
                raise InputError(f"RTL file {str(source)!r} was changed while it was simulated; run again")
        if finding.verdict is not Verdict.PASS:
            record = replace(record, warnings=[*warnings, *_data_not_found(design)])
        record = finished_record(record, finding, watch)
        if paired and icarus_vectors is None:
            record = with_share_of_icarus(record)
        record = covering.of_rtl(record, folder.path)
        folder.keep(record)
    if as_json:
        click.echo(record.to_json())
    else:
        from dais_verif.report.console import print_record

        print_record(record, console(), profile=profile)
        if folder.kept:
            console().print(f"files      {folder.path}", markup=False)
    if html is not None:
        from dais_verif.report.html import Source, write_report

        write_report([Source(record, folder.path / "result.json" if folder.kept else None)], loaded, html)
        tell_written(html, "the record as a page")
    return record.verdict.exit_code


def _exhaustive_rows(program: Program, simulators: Sequence[str], bulk: bool, sampled: int, forced: bool) -> int:
    """Vectors that may be spent on outputs that can be exhausted: a second's worth, unless it is forced.

    Whoever asks for no vectors gets none.
    """
    if forced:
        return len(program.outputs) << MAX_BITS
    if program.n_ops > _LARGE or not sampled:
        return 0
    if "ghdl" in simulators:
        return _GHDL_BUDGET // (program.n_ops + 10)
    if bulk and "verilator" in simulators:
        return _BULK_BUDGET // (program.n_ops + 50 * (program.n_in + program.n_out) + 200)
    return _PORT_BUDGET // (program.n_ops + 1000)


def _process_started() -> float:
    """When this process began, as a time of ``time.monotonic()``."""
    now = time.monotonic()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return min(now, now - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return now


def _data_not_found(design: Design) -> list[str]:
    """Warn of files that the RTL mentions and that are not there: only where a run did not go well they may matter."""
    there = [file.name for file in design.data]
    defaults = never_read(design.sources)
    lost = [name for name in mentioned(design.sources) if name not in there and name not in defaults]
    text = "the RTL mentions a file {!r}, which is not beside it; if it reads that, give it with --data"
    found = [text.format(name) for name in lost]
    for line in found:
        notices().print(f"warning: {line}", markup=False)
    return found


def _status(program: Program, what: str) -> AbstractContextManager[object]:
    """A line on the terminal while ``what`` is done, if it takes long enough to be read."""
    return notices().status(what) if program.n_ops > _LARGE else nullcontext()
