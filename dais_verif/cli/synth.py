"""``dais-verif synth``: what a program costs on an FPGA, and a netlist that ``sim`` can verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.status import Status
from rich.table import Table

from dais_verif.cli.common import (
    console,
    file_path,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    reproduce,
    top_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.netlists import target_option
from dais_verif.cli.pipelines import asked_pipeline, control_options, stage_options
from dais_verif.cli.verb import FiniteRange
from dais_verif.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.errors import InputError, ToolError
from dais_verif.files import require_plain, write_atomically
from dais_verif.flows.work_folder import work_folder
from dais_verif.program import Program
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo
from dais_verif.report.console import program_line
from dais_verif.synthesis.netlist import RECORD
from dais_verif.synthesis.pnr import place
from dais_verif.synthesis.targets import KINDS, TARGETS
from dais_verif.synthesis.yosys import Synthesis, synthesize
from dais_verif.toolchain import tools
from dais_verif.toolchain.limits import Limits
from dais_verif.toolchain.sources import MOST_RTL_BYTES
from dais_verif.verdict import Verdict


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@target_option(targets=TARGETS, required=True, help="FPGA family; generic: gates of no technology.")
@click.option("--rtl", type=file_path, multiple=True, help="Synthesize this RTL instead of our own; may be repeated.")
@top_option
@stage_options
@control_options
@click.option(
    "--alumacc/--no-alumacc",
    default=False,
    show_default=True,
    help="Let Yosys merge chains of sums; its pass that does so miscompiles a - (-x) (docs/netlists.md).",
)
@click.option(
    "--bram/--no-bram", default=True, show_default=True, help="Let Yosys put tables of pipelines into block RAMs."
)
@click.option("--pnr", is_flag=True, help="Also place and route with nextpnr, for the clock that it allows.")
@click.option("--clock", default="clk", show_default=True, help="With --pnr: the clock, of RTL that has one.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True, max=1e9),
    default=1800,
    show_default=True,
    help="Seconds for Yosys, and again for nextpnr.",
)
@click.option(
    "--memory",
    type=click.IntRange(64, 1 << 30),
    default=8192,
    show_default=True,
    help="Megabytes for each process: Yosys, ABC that it starts, nextpnr.",
)
@click.option("-o", "--output", type=file_path, help="Folder to keep: netlist.v, synth.json, RTL, script, log.")
@json_option
@click.argument("more_rtl", nargs=-1, type=file_path)
def synth(
    program: Path,
    layout: str | None,
    target: str,
    rtl: tuple[Path, ...],
    top: str,
    alumacc: bool,
    bram: bool,
    pnr: bool,
    clock: str,
    timeout: float,
    memory: int,
    output: Path | None,
    as_json: bool,
    more_rtl: tuple[Path, ...],
    **asked: Any,
) -> int:
    """Synthesize the Verilog of PROGRAM with Yosys: LUTs, flip-flops, carries, DSPs, block RAMs, logic depth.

    \b
    dais-verif synth prog.bin --target ice40             what it costs
    dais-verif synth prog.bin --target xilinx -o net     keep the netlist ...
    dais-verif sim prog.bin --netlist net                ... and verify it
    dais-verif synth prog.bin --target ecp5 --stages 4   as a pipeline
    dais-verif synth prog.bin --target generic --rtl theirs.v --top theirs

    dais-verif synth prog.bin --target ice40 --pnr       and the clock that it allows, by nextpnr

    Counts are those after mapping, before place and route. Exit code 6: --pnr was asked for and could not run.
    """
    options = asked_pipeline(**asked)
    if more_rtl and not rtl:
        raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
    if rtl and options:
        raise click.UsageError("--stages and --max-depth are for the RTL that we write, --rtl names another.")
    loaded, _ = load_program(program, layout)
    if pnr and TARGETS[target].board is None:
        able = ", ".join(name for name, other in TARGETS.items() if other.board)
        raise click.UsageError(f"--pnr: no free tool places and routes {target}; there is one for {able}.")
    tools.yosys()  # before anything is written
    with work_folder(output) as folder:
        # However this run ends, the netlist of an earlier one is not its netlist.
        (folder.path / RECORD).unlink(missing_ok=True)
        with notices().status("writing Verilog"):
            sources = _sources(loaded, (*rtl, *more_rtl), top, options, folder.path)
        limits = Limits(timeout, memory)
        try:
            with notices().status(f"yosys: {target}") as status:
                done = synthesize(
                    sources,
                    top,
                    target,
                    folder.path,
                    limits,
                    alumacc=alumacc,
                    bram=bram,
                    tell=lambda step: status.update(f"yosys: {target}: {step}"),
                )
                placed = _placed(done, clock, limits, status) if pnr else None
        except ToolError:
            folder.kept = True  # its log is there
            raise
        if placed and placed["verdict"] == Verdict.TOOL_FAILURE.value:
            folder.kept = True
        facts = _facts(loaded, done, sources, emitted=not rtl, kept=output is not None)
        facts |= {"verify": _verify(loaded, output, top, options) if output else None, "pnr": placed}
        text = json.dumps(facts, indent=2)
        write_atomically(folder.path / RECORD, text.encode())
    if as_json:
        click.echo(text)
    else:
        _show(console(), loaded, done, facts)
    return Verdict[placed["verdict"]].exit_code if placed and placed["verdict"] else 0


def _placed(done: Synthesis, clock: str, limits: Limits, status: Status) -> dict[str, Any]:
    """What place and route found. ``verdict``: None if it did; why not, else: the counts stand all the same."""
    if not done.costs.cells:
        return {"verdict": Verdict.NOT_RUN.value, "message": "there are no cells, and so no path, to place"}
    try:
        tools.nextpnr(done.target)
    except ToolError as error:
        return {"verdict": Verdict.NOT_RUN.value, "message": str(error)}
    try:
        placed = place(done, clock, limits, tell=lambda step: status.update(f"place and route: {step}"))
    except ToolError as error:
        return {"verdict": Verdict.TOOL_FAILURE.value, "message": str(error)}
    return {"verdict": None, "message": None, **placed._asdict(), "seconds": round(placed.seconds, 1)}


def _sources(
    program: Program, rtl: tuple[Path, ...], top: str, options: PipelineOptions | None, folder: Path
) -> tuple[Path, ...]:
    for source in rtl:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "does not exist"
            raise InputError(f"RTL file {str(source)!r} {problem}; give the Verilog files of module {top}")
        require_plain(source, MOST_RTL_BYTES, "RTL file")
        if source.suffix.lower() in (".vhd", ".vhdl"):
            raise InputError(f"RTL file {str(source)!r}: Yosys reads Verilog only; give the Verilog of module {top}")
    if rtl:
        return tuple(source.absolute() for source in rtl)
    text = emit_pipeline(program, top, options).text if options else emit_verilog(program, top)
    source = folder / "rtl.v"
    write_atomically(source, text.encode())
    return (source,)


def _facts(
    program: Program, done: Synthesis, sources: tuple[Path, ...], *, emitted: bool, kept: bool
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "program": ProgramInfo.of(program).__dict__,
        "rtl": {"top": done.top, "emitted": emitted, "files": [str(source) for source in sources]},
        "target": done.target,
        "top": done.top,
        "tools": {"yosys": done.version},
        "alumacc": done.alumacc,
        "counts": done.costs.kinds,
        "cells": done.costs.cells,
        "depth": {"cells": done.depth.cells, "kinds": done.depth.kinds},
        "seconds": round(done.seconds, 1),
        "netlist": str(done.netlist) if kept else None,
    }


def _show(out: Console, program: Program, done: Synthesis, facts: dict[str, Any]) -> None:
    out.print(f"program    {program_line(ProgramInfo.of(program))}", markup=False)
    rtl = facts["rtl"]
    source = "emitted from the program" if rtl["emitted"] else ", ".join(rtl["files"])
    out.print(f"rtl        module {done.top}, {source}", markup=False)
    out.print(f"target     {TARGETS[done.target].title}", markup=False)
    sums = "merged by alumacc, which is known to be wrong at times" if done.alumacc else "each its own adder"
    out.print(f"yosys      {done.version}, {done.seconds:.1f} s; sums: {sums}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("kind")
    table.add_column("cells", justify="right")
    table.add_column("of which")
    for kind in KINDS:
        cells = {cell: n for cell, n in done.costs.cells.items() if TARGETS[done.target].kind_of(cell) == kind}
        if cells:
            which = ", ".join(f"{number} {cell}" for cell, number in sorted(cells.items()))
            table.add_row(kind, str(done.costs.kinds[kind]), which)
    out.print(table if done.costs.cells else "no cells: outputs are inputs or constants")
    path = ", ".join(f"{number} {kind}" for kind, number in done.depth.kinds.items())
    out.print(f"depth      {done.depth.cells} cells" + (f" ({path})" if path else ""), markup=False)
    if placed := facts["pnr"]:
        for line in _placed_lines(placed):
            out.print(line, markup=False)
    if facts["netlist"]:
        out.print(f"netlist    {facts['netlist']}", markup=False)
        out.print(f"verify     {facts['verify']}", markup=False)


def _verify(program: Program, output: Path, top: str, options: PipelineOptions | None) -> str:
    """The command that verifies the netlist, to copy."""
    words = ["sim", str(program.origin.path), "--netlist", str(output)]
    if top != "model":
        words += ["--top", top]
    if options:
        words += ["--clock", "clk"]
        words += ["--reset", "rst"] * options.reset + ["--enable", "en"] * options.enable
        words += ["--valid-in", "in_valid", "--valid-out", "out_valid"] * options.valid
    return reproduce(words)


def _placed_lines(placed: dict[str, Any]) -> list[str]:
    if placed["verdict"]:
        return [f"Fmax       {placed['verdict']}: {placed['message']}"]
    used = ", ".join(f"{used} of {available} {name}" for name, (used, available) in placed["used"].items())
    return [
        f"Fmax       {placed['fmax']:.1f} MHz, estimated on {placed['device']}, register to register",
        f"used       {used} (the registers around it included)",
    ]
