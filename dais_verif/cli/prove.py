"""``dais-verif prove``: RTL proved to compute the program for all inputs, op by op."""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
import numpy as np

from dais_verif.cli.common import (
    PROOF_STORE,
    console,
    file_path,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    reproduce,
    seed_option,
    top_option,
    unchecked_option,
)
from dais_verif.cli.folder import WorkFolder, work_folder
from dais_verif.cli.pipelines import asked_pipeline, control_options, stage_options
from dais_verif.cli.proof_text import print_proof, proof_tree
from dais_verif.cli.vectors import decimal, real_inputs, signed_inputs
from dais_verif.emit import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.errors import InputError, ToolError
from dais_verif.files import write_atomically
from dais_verif.golden.fast import threads
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import ports_of
from dais_verif.report.record import ProgramInfo
from dais_verif.sim.datafiles import DataFile, data_files
from dais_verif.sim.tools import cache_dir
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.prove.ages import Timing
    from dais_verif.prove.results import Proof
    from dais_verif.sim.verify import Finding

_SIMULATORS = ("icarus", "verilator")

#: Pins of a pipeline that carry no data, as our own has them.
_PINS = ("rst", "in_valid", "out_valid")

#: What a simulator may say of a vector that the proof found to be wrong.
_CONFIRMED = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE)

#: Designs whose signals have no names are followed from the outputs down to the inputs, calls within calls.
_STACK_BYTES, _DEPTH = 512 << 20, 1_000_000

_T = TypeVar("_T")


class _Rtl(NamedTuple):
    """What is proved: a ``Design``, before simulators come into it."""

    sources: tuple[Path, ...]
    top: str
    data: tuple[DataFile, ...]


@click.command()
@program_argument
@layout_option
@click.option("--rtl", type=file_path, multiple=True, help="Prove this RTL instead of our own; may be repeated.")
@click.option("--data", type=file_path, multiple=True, help="What the RTL reads with $readmemh, if not found unasked.")
@top_option
@control_options
@stage_options
@unchecked_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    help="Seconds for each obligation.",
)
@click.option(
    "--sim",
    "simulator",
    type=click.Choice((*_SIMULATORS, "both")),
    default="icarus",
    show_default=True,
    help="Simulator that replays a counterexample.",
)
@click.option("--cache/--no-cache", default=True, show_default=True, help="Use and keep proofs of earlier runs.")
@seed_option
@jobs_option
@click.option("-o", "--output", type=file_path, help="Folder to keep: result.json, RTL, counterexample, its replay.")
@json_option
@click.argument("more_rtl", nargs=-1, type=file_path)
def prove(
    program: Path,
    layout: str | None,
    rtl: tuple[Path, ...],
    data: tuple[Path, ...],
    top: str,
    stages: int | None,
    max_depth: float | None,
    delay_model: Path | None,
    reset: bool,
    enable: bool,
    valid: bool,
    unchecked: bool,
    timeout: float,
    simulator: str,
    cache: bool,
    seed: int,
    jobs: int | None,
    output: Path | None,
    as_json: bool,
    more_rtl: tuple[Path, ...],
) -> int:
    """Prove for all inputs that the Verilog of PROGRAM, combinational or a pipeline, computes it.

    \b
    dais-verif prove prog.bin                                   our RTL
    dais-verif prove prog.bin --stages 4                        our RTL, pipelined
    dais-verif prove prog.bin --rtl model.v lib.v --top model   somebody else's
    dais-verif prove prog.bin --unchecked                       also where promises are broken

    Signals named op_N (or vN, as da4ml calls them) are proved one by one; each takes the earlier ones for granted,
    and so the whole follows. Where the RTL is wrong, an input vector is found, and a simulator replays it.

    \b
    PROVED    for all inputs
    REFUTED   on the input vector that is shown; exit code 1
    UNKNOWN   neither within the time: exit code 6; try a longer --timeout, or sim
    """
    if more_rtl and not rtl:
        raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
    if data and not rtl:
        raise click.UsageError("--data is for RTL that reads files; give the RTL with --rtl.")
    pipeline = asked_pipeline(stages, max_depth, delay_model, reset=reset, enable=enable, valid=valid)
    if pipeline is not None and rtl:
        raise click.UsageError("--stages and --max-depth are for our own RTL; leave them out with --rtl.")
    watch = Stopwatch()
    with watch.stage("read"):
        loaded, warnings = load_program(program, layout)
    with work_folder(output) as folder:
        with watch.stage("emit"):
            design = _rtl(loaded, (*rtl, *more_rtl), data, top, folder, pipeline)
        options = {
            "timeout": timeout,
            "check": not unchecked,
            "jobs": threads(jobs),
            "store": cache_dir() / PROOF_STORE if cache else None,
            "seed": seed,
        }
        proof = _deep(lambda: _proved(loaded, design, options, watch))
        finding = None
        if proof.counterexample is not None:
            with watch.stage("replay"):
                finding = _replayed(loaded, proof, design, folder, simulator, not unchecked)
            proof = _judged(proof, finding)
        tree = proof_tree(loaded, proof, finding, watch)
        tree = {
            **tree,
            "program": ProgramInfo.of(loaded).__dict__,
            "rtl": {"top": top, "emitted": not rtl, "files": [str(source) for source in design.sources]},
            "unchecked": unchecked,
            "timeout": timeout,
            "warnings": warnings,
            "reproduce": reproduce(),
            "simulate": None if finding is None else _simulate(program, layout, design, proof.timing, folder),
        }
        if proof.counterexample is not None or output is not None:
            folder.kept = True
            write_atomically(folder.path / "result.json", json.dumps(tree, indent=2).encode())
        if as_json:
            click.echo(json.dumps(tree, indent=2))
        else:
            print_proof(ProgramInfo.of(loaded), tree, proof, finding, console())
            if folder.kept:
                console().print(f"files      {folder.path}", markup=False)
    return proof.verdict.exit_code


def _rtl(
    program: Program,
    rtl: Sequence[Path],
    data: Sequence[Path],
    top: str,
    folder: WorkFolder,
    pipeline: PipelineOptions | None,
) -> _Rtl:
    if not rtl:
        source = folder.path / f"{top}.v"
        text = emit_verilog(program, top) if pipeline is None else emit_pipeline(program, top, pipeline).text
        write_atomically(source, text.encode())
        return _Rtl((source,), top, ())
    for source in rtl:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "does not exist"
            raise InputError(f"RTL file {str(source)!r} {problem}; give the files of module {top}")
    sources = tuple(source.absolute() for source in rtl)
    return _Rtl(sources, top, data_files(sources, data))


def _proved(program: Program, rtl: _Rtl, options: dict[str, Any], watch: Stopwatch) -> Proof:
    try:
        from dais_verif.prove.proof import prove as prove_design
        from dais_verif.prove.results import Options, Watcher
        from dais_verif.prove.slang import elaborate
    except ImportError as error:
        raise ToolError(
            f"the Python package {error.name!r}, which a proof needs, cannot be imported ({error});"
            " run: pip install pyslang bitwuzla"
        ) from None

    with watch.stage("elaborate"):
        netlist = elaborate(rtl.sources, rtl.top, {file.name: file.path for file in rtl.data})
    with watch.stage("prove"), notices().status("proving") as status:

        class Shown(Watcher):
            def progress(self, what: str, done: int, total: int) -> None:
                status.update(f"proving: {done} of {total} {what}")

        return prove_design(program, netlist, Options(**options), Shown())


def _deep(work: Callable[[], _T]) -> _T:
    """``work`` on a stack that is as deep as any design."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_DEPTH)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():  # wakes for Ctrl-C
            thread.join(0.1)
    except KeyboardInterrupt:
        atexit.register(_leave)  # the thread cannot be stopped, and what it holds must not be taken apart under it
        raise
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]


def _leave() -> None:
    for child in multiprocessing.active_children():
        child.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Verdict.INTERRUPTED.exit_code)


# a counterexample in a simulator


def _replayed(program: Program, proof: Proof, rtl: _Rtl, folder: WorkFolder, simulator: str, check: bool) -> Finding:
    """The counterexample, judged by golden model and simulator."""
    # Only imported now: a proof that succeeds needs no simulator.
    from dais_verif.dut.face import Clocking, packed
    from dais_verif.sim.build import Design
    from dais_verif.sim.verify import Options as SimOptions
    from dais_verif.sim.verify import verify
    from dais_verif.stimulus import batch_of_raw

    assert proof.counterexample is not None
    vector = proof.counterexample.vector
    row = np.array([signed_inputs(program, vector)], dtype=object).reshape(1, program.n_in)
    batch = batch_of_raw(Batch.of(row, program.n_in), ports_of(program))
    cells = map(decimal, real_inputs(program, vector))
    write_atomically(folder.path / "counterexample.csv", (",".join(cells) + "\n").encode())
    simulators = _SIMULATORS if simulator == "both" else (simulator,)
    with notices().status("replaying the counterexample"):
        dut = None
        if proof.timing is not None:
            pins = proof.timing
            reset, valid_in, valid_out = (name if name in proof.pins else None for name in _PINS)
            clocking = Clocking(pins.clock, pins.latency, reset, False, pins.enable, valid_in, valid_out)
            dut = packed(program, clocking)
        return verify(program, batch, Design(*rtl, dut=dut), folder.path, SimOptions(simulators, check=check))


def _simulate(program: Path, layout: str | None, rtl: _Rtl, timing: Timing | None, folder: WorkFolder) -> str:
    """The command that runs the counterexample, to copy."""
    arguments = ["sim", str(program), *(["--layout", layout] if layout else [])]
    if timing is not None:
        arguments += ["--clock", timing.clock, "--latency", str(timing.latency)]
        arguments += ["--enable", timing.enable] if timing.enable else []
    arguments += ["--top", rtl.top, *(part for source in rtl.sources for part in ("--rtl", str(source)))]
    return reproduce([*arguments, "--inputs", str(folder.path / "counterexample.csv"), "--vectors", "0"])


def _judged(proof: Proof, finding: Finding) -> Proof:
    """The proof in the light of the replay: what simulators and golden model say of the vector is the last word."""
    if finding.verdict in _CONFIRMED:
        return replace(proof, verdict=finding.verdict)
    if finding.verdict is Verdict.TOOL_FAILURE:
        return replace(proof, message=f"{proof.message}; not replayed: {finding.message}")
    return replace(
        proof,
        verdict=Verdict.UNKNOWN,
        message=f"the proof found a counterexample that the simulation does not confirm ({finding.verdict.value}:"
        f" {finding.message}); please report this",
    )
