"""``dais-verif prove``: RTL proved to compute the program for all inputs, op by op."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import msgspec

from dais_verif.cli.common import (
    PROOF_STORE,
    console,
    file_path,
    html_option,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    program_argument,
    reproduce,
    sandbox_option,
    seconds,
    seed_option,
    tell_written,
    unchecked_option,
)
from dais_verif.cli.confirming import proved_and_confirmed
from dais_verif.cli.counterexample import judged, out_of_step, played, replayable, replayed, simulate_command
from dais_verif.cli.dut import rtl_options
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.netlists import netlist_options
from dais_verif.cli.proof_text import print_proof, proof_tree
from dais_verif.cli.proving import proved, stated
from dais_verif.cli.reading import Reader, front_end_option
from dais_verif.cli.smt_folder import empty_folder, write_contradicted, write_statements
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import FiniteRange
from dais_verif.dut.interface import packed
from dais_verif.errors import InputError
from dais_verif.files import write_atomically
from dais_verif.flows.designs import DesignRequest, emitted, given, told_apart, with_netlist
from dais_verif.flows.work_folder import work_folder
from dais_verif.golden.fast import threads
from dais_verif.record.program import ProgramInfo
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.stopwatch import Stopwatch
from dais_verif.toolchain.sources import digests
from dais_verif.toolchain.tools import cache_dir


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@rtl_options
@netlist_options
@front_end_option
@unchecked_option
@click.option("--out-of-range", is_flag=True, help="Prove also beyond the intervals that da4ml's JSON declares.")
@click.option(
    "--timeout",
    type=seconds,
    default=20.0,
    show_default=True,
    help="Seconds for each obligation.",
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
    help="Put so many of the obligations, but at least 8, to the solver once more as they are written; 0: none.",
)
@click.option("--dump-smt", type=file_path, metavar="DIR", help="Write all that is to be shown there, as SMT-LIB 2.")
@click.option("--cache/--no-cache", default=True, show_default=True, help="Use and keep proofs of earlier runs.")
@click.option(
    "--confirm/--no-confirm",
    "confirming",
    default=True,
    show_default=True,
    help="Simulate RTL that is not ours once it is proved: what no simulator shares with the prover cannot err alike.",
)
@seed_option
@jobs_option
@sandbox_option
@click.option("-o", "--output", type=file_path, help="Folder to keep: result.json, RTL, counterexample, its replay.")
@html_option
@json_option
def prove(
    program: Path,
    layout: str | None,
    dut: DesignRequest,
    front_end: str,
    unchecked: bool,
    out_of_range: bool,
    timeout: float,
    simulator: str | None,
    sample: float,
    dump_smt: Path | None,
    cache: bool,
    confirming: bool,
    seed: int,
    jobs: int | None,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Prove for all inputs that RTL of PROGRAM, combinational or a pipeline, computes it.

    \b
    dais-verif prove prog.bin                                   our RTL
    dais-verif prove prog.bin --stages 4                        our RTL, pipelined
    dais-verif prove prog.bin --rtl model.v lib.v --top model   somebody else's
    dais-verif prove prog.bin --rtl core.v --ports ports.toml   with other ports
    dais-verif prove prog.bin --netlist net                     a netlist of `synth -o net`
    dais-verif prove prog.bin --front-end both                  read by slang and by Yosys, which must agree
    dais-verif prove prog.bin --unchecked                       also where promises are broken
    dais-verif prove prog.bin --dump-smt obligations            for other solvers to check

    Signals named op_N (or vN, as da4ml calls them) are proved one by one; each takes the earlier ones for granted,
    and so the whole follows. Where the RTL is wrong, an input vector is found, and a simulator replays it. RTL that is
    not ours is also simulated before it passes: should a simulator disagree, the answer is UNKNOWN.

    \b
    PROVED    for all inputs
    REFUTED   on the input vector that is shown; exit code 1
    UNKNOWN   neither within the time: exit code 6; try a longer --timeout, or sim
    """
    watch = Stopwatch()
    statements = None if dump_smt is None else empty_folder(dump_smt)
    with watch.stage("read"):
        loaded, warnings = load_program(program, layout)
    with work_folder(output) as folder:
        with watch.stage("emit"):
            netlist, dut = dut.netlist, with_netlist(dut, folder.path)
            design, said = given(dut, folder.path) if dut.rtl else (emitted(loaded, dut, folder.path), None)
            readings = [] if netlist else told_apart(design, dut, TerminalProgress())
            warnings += readings
            hashes = [digest.hex() for digest in digests([*design.sources, *(file.path for file in design.data)])]
        options = {
            "timeout": timeout,
            "check": not unchecked,
            "jobs": threads(jobs),
            "store": cache_dir() / PROOF_STORE if cache else None,
            "seed": seed,
            "declared": not out_of_range,
            "bits": netlist is not None,
            "sample": sample,
        }
        reader = Reader(front_end, folder.path / "yosys", netlist is not None, bool(dut.rtl))
        finding, confirmation = None, None
        try:
            if dut.rtl and confirming:
                proof, found, confirmation = proved_and_confirmed(
                    loaded, design, said, reader, options, watch, folder.path / "confirmation", readings
                )
            else:
                proof, found = proved(loaded, design, said, reader, options, watch)
        except InputError as error:
            with watch.stage("replay"):
                shown = out_of_step(loaded, error, dut, said, folder, seed, not unchecked)
            if shown is None:
                raise
            proof, design, finding = shown
            found = design.dut or packed(loaded)
            folder.kept = True
        dumped = None
        if statements is not None and proof.bits:
            raise InputError("a netlist is proved bit by bit: there are no obligations of ops for --dump-smt to write")
        if statements is not None and proof.outputs:
            dumped = write_statements(
                statements, ProgramInfo.of(loaded), *stated(loaded, design, found, proof, reader, options, watch)
            )
        if proof.counterexample is not None:
            design = replace(design, dut=replayable(found, proof))
            with watch.stage("replay"):
                finding = replayed(loaded, proof, design, folder, simulator, not unchecked)
            proof = judged(proof, finding, readings)
        elif proof.handshake is not None and proof.handshake.trace:
            with watch.stage("replay"):
                proof = played(proof, found, reader.in_verilog(design), folder)
            folder.kept = True
        if confirmation is not None and confirmation.contradicts:
            folder.kept = True
        if proof.sample is not None and proof.sample.contradicted:
            folder.kept = True
            write_contradicted(folder.path / "disagreement", proof.sample)
        tree = {
            **proof_tree(loaded, proof, finding, confirmation, watch),
            "program": ProgramInfo.of(loaded).__dict__,
            "rtl": {
                "top": design.top,
                "emitted": not dut.rtl,
                "files": [str(source) for source in design.sources],
                "widths": found.how,
                "front_end": front_end,
                "front_ends": [name for name in reader.names if name not in proof.unread],
                "unread": dict(proof.unread),
                "readers": list(reader.what_reads(design)[1:]),
                "sha256": hashes[: len(design.sources)],
                "data": dict(zip((file.name for file in design.data), hashes[len(design.sources) :], strict=True)),
            },
            "obligations_written": dumped,
            "unchecked": unchecked,
            "timeout": timeout,
            "warnings": warnings,
            "reproduce": reproduce(),
            "simulate": None
            if proof.counterexample is None
            else simulate_command(program, layout, design, dut.data, dut.ports, folder),
        }
        data = msgspec.json.encode(tree)  # many thousand claims
        text = msgspec.json.format(data, indent=2).decode()
        if folder.kept or proof.counterexample is not None or output is not None:
            folder.kept = True
            write_atomically(folder.path / "result.json", text.encode())
        if as_json:
            click.echo(text)
        else:
            print_proof(ProgramInfo.of(loaded), tree, proof, finding, console())
            if folder.kept:
                console().print(f"files      {folder.path}", markup=False)
        if html is not None:
            from dais_verif.report.html import source_of, write_report

            write_report([source_of(data, folder.path / "result.json" if folder.kept else None)], loaded, html)
            tell_written(html, "the record as a page")
    return proof.verdict.exit_code
