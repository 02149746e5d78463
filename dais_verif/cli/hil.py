"""``dais-verif hil``: a board against the golden model."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import click

from dais_verif import __version__
from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    inputs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    reproduce,
    seconds,
    seed_option,
    tell_written,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.display import Display
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.errors import InputError
from dais_verif.flows.work_folder import work_folder
from dais_verif.hil.emulator import emulated_link
from dais_verif.hil.identity import Identity, require_fits
from dais_verif.hil.journal import Journal
from dais_verif.hil.link import Link, Target, open_link, parse_target
from dais_verif.hil.session import Session
from dais_verif.hil.verify import BOARD, Run
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.report.console import print_record
from dais_verif.report.record import BoardInfo, ProgramInfo, Record
from dais_verif.sim.task import Watcher
from dais_verif.sim.verify import Finding
from dais_verif.stimulus import Generated, Stimulus, read_batch
from dais_verif.verdict import Verdict


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@click.option(
    "--target",
    required=True,
    help="The board: serial:///dev/ttyUSB0?baud=115200, tcp://host:port; sim://uart or sim://fifo simulates one.",
)
@vectors_option(1000)
@seed_option
@inputs_option
@unchecked_option
@click.option(
    "--timeout",
    type=seconds,
    default=10.0,
    show_default=True,
    help="Seconds without any answer after which the board is given up.",
)
@click.option("--resume", is_flag=True, help="Go on with a run that was broken off in the folder of -o.")
@click.option("-o", "--output", type=file_path, help="Folder to keep: result.json, and how far a run came.")
@html_option
@json_option
def hil(
    program: Path,
    layout: str | None,
    target: str,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    unchecked: bool,
    timeout: float,
    resume: bool,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Run vectors of PROGRAM on a board and compare every output bit with the golden model.

    \b
    dais-verif emit prog.bin --wrap uart -o rtl               what to synthesise for the board
    dais-verif hil prog.bin --target serial:///dev/ttyUSB0
    dais-verif hil prog.bin --target "serial:///dev/ttyUSB0?baud=921600" --vectors 100000 -o out
    dais-verif hil prog.bin --target tcp://lab7:2000 --inputs x.npy
    dais-verif hil prog.bin --target sim://uart               the same RTL in simulation, to try it
    dais-verif hil prog.bin --target ... -o out --resume      after Ctrl-C or a pulled cable

    The board says which program it runs before anything is sent. What the link loses is sent again; a mismatch is sent
    again too, to see whether the board repeats it. The exit code is the verdict's.
    """
    if resume and output is None:
        raise click.UsageError("--resume needs the folder of the run that was broken off: -o DIR.")
    board = parse_target(target)
    loaded, warnings = load_program(program, layout)
    given = [read_batch(path, loaded.n_in) for path in inputs]
    stimulus = Stimulus([*given, Generated([loaded], vectors, seed)])
    with work_folder(output) as folder:
        journal = Journal(folder.path, _what(loaded, inputs, vectors, seed, unchecked), resume=resume)
        with Display(notices()) as display, _link(board, loaded, folder.path, timeout, display) as link:
            session = Session(link, timeout)
            display.notice(f"asking {target} what it runs")
            identity = session.identify()
            require_fits(identity, loaded, ports_of(loaded), target)
            display.notice(f"running {stimulus.rows - journal.rows} vectors on {target}")
            run = Run(loaded, stimulus, session, identity, journal, folder.path, display, check=not unchecked)
            finding = _find(run, output, display)
        record = Record(
            verdict=finding.verdict,
            message=finding.message,
            program=ProgramInfo.of(loaded),
            seed=seed,
            vectors=stimulus.rows,
            reproduce=reproduce(),
            rtl={"top": None, "emitted": False, "files": [], "sha256": []},
            tools={
                "dais-verif": __version__,
                "python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "pyserial")},
            },
            simulators=finding.simulators,
            first_mismatch=finding.first_mismatch,
            outputs=finding.outputs,
            unchecked=unchecked,
            warnings=warnings,
            board=_board(
                target, identity, session, journal, _replay(program, layout, inputs, vectors, seed, unchecked)
            ),
        )
        if finding.verdict not in (Verdict.TOOL_FAILURE, Verdict.INTERRUPTED):
            journal.close()
        folder.keep(record)
    if as_json:
        click.echo(record.to_json())
    else:
        print_record(record, console())
        if folder.kept:
            console().print(f"files      {folder.path}", markup=False)
        if output is not None and journal.exists():
            console().print("resume     the same command with --resume goes on from there", markup=False)
    if html is not None:
        from dais_verif.report.html import Source, write_report

        write_report([Source(record, folder.path / "result.json" if folder.kept else None)], loaded, html)
        tell_written(html, "the record as a page")
    return record.verdict.exit_code


def _find(run: Run, output: Path | None, watcher: Watcher) -> Finding:
    try:
        return run.finding()
    except KeyboardInterrupt:
        if output is not None:
            watcher.notice(
                f"{run.journal.kept} vectors are compared; the same command with --resume goes on from there"
            )
        raise


@contextmanager
def _link(target: Target, program: Program, folder: Path, timeout: float, watcher: Watcher) -> Iterator[Link]:
    if target.scheme == "sim":
        watcher.notice("building a board in simulation")
        with emulated_link(program, target.place, folder / BOARD) as link:
            yield link
    else:
        with open_link(target, timeout) as link:
            yield link


def _what(program: Program, inputs: Sequence[Path], vectors: int, seed: int, unchecked: bool) -> dict[str, str]:
    """What the vectors of a run, and what is expected of them, depend on."""
    try:
        files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs]
    except OSError as error:
        raise InputError(f"cannot read {error.filename!r}: {error.strerror}") from None
    return {
        "version": __version__,
        "program": program.hash,
        "inputs": ",".join(files) or "none",
        "vectors": str(vectors),
        "seed": str(seed),
        "unchecked": str(unchecked),
    }


def _replay(program: Path, layout: str | None, inputs: Sequence[Path], vectors: int, seed: int, unchecked: bool) -> str:
    """The command that runs the same vectors in the simulators."""
    words = ["sim", str(program), *(["--layout", layout] if layout else [])]
    words += ["--vectors", str(vectors), "--seed", str(seed)]
    for path in inputs:
        words += ["--inputs", str(path)]
    return reproduce([*words, *(["--unchecked"] if unchecked else [])])


def _board(target: str, identity: Identity, session: Session, journal: Journal, replay: str) -> BoardInfo:
    traffic = session.traffic
    return BoardInfo(
        target=target,
        program=identity.program,
        protocol=identity.protocol,
        latency=identity.latency,
        buffer=identity.buffer,
        batches=traffic.sent,
        repeated=traffic.repeated,
        damaged_there=traffic.damaged_there,
        damaged_here=traffic.damaged_here,
        unexpected=traffic.unexpected,
        resumed_from=journal.rows,
        replay=replay,
    )
