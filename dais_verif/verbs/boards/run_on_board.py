"""Run vectors on a board and compare every output bit with the golden model."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import BoardError, RequestError
from dais_verif.base.own_command import own_command
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION
from dais_verif.hardware.emitter.machines.board import board_bits, board_hash
from dais_verif.record.program import BitstreamFacts, ProgramInfo, RtlFacts
from dais_verif.record.simulation import BoardInfo, SimulationRecord, SimulatorResults
from dais_verif.simulation.boards.compare import Run
from dais_verif.simulation.boards.identity import Identity, require_fits, require_fits_machine
from dais_verif.simulation.boards.link import Target, parse_target
from dais_verif.simulation.boards.machine_run import MachineRun
from dais_verif.simulation.boards.session import Journal, Session
from dais_verif.simulation.verify import Finding
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.restart import restart_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Stimulus, read_batch
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram, path_of
from dais_verif.verbs import common_options as common
from dais_verif.verbs.boards.links import board_link
from dais_verif.verbs.boards.taps import TapsSearch
from dais_verif.verbs.machines.boards import BoardSequences, board_decisions, keep_sequence, require_whole
from dais_verif.verbs.options import REQUIRED, Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program, require_no_rtl
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import WithBoundaries
from dais_verif.verbs.work_folder import work_folder

__all__ = ["BoardRequest", "BoardRun", "run_on_board"]

#: The sequence of a machine that failed, in the folder of the run.
_SEQUENCE = "mismatch.npz"


@dataclass(frozen=True, kw_only=True)
class BoardRequest(Request):
    """A board, and the program to run on it.

    ``target``: also ``sim://uart?cycles=160``, the cycles per vector of a machine, and
    ``sim://bitstream?file=model.bin&pins=pins.pcf`` for a device simulated with this bitstream.
    """

    verb: ClassVar[str] = "hil"

    program: AnyProgram
    layout: str | None = common.layout()
    target: str = option(
        REQUIRED,
        "The board: serial:///dev/ttyUSB0?baud=115200, tcp://host:port; sim://uart, spi or fifo simulates one.",
        group="Design",
    )
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    unchecked: bool = common.unchecked()
    timeout: float = common.timeout(10.0, "Seconds without an answer before the run is aborted.")
    resume: bool = option(False, "Continue an interrupted run in the folder of -o.", group="Runs")
    blame: Path | None = option(
        None, "Folder of the build on the board: taps find out which op is wrong.", group="Diagnosis"
    )
    load: str | None = option(
        None, "With --blame: the command that loads a bitstream, such as 'iceprog {bitstream}'.", group="Diagnosis"
    )
    output: Path | None = common.output("Folder for result.json and the progress of the run.")

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        if self.resume and self.output is None:
            raise RequestError.of("{resume} needs the folder of the interrupted run: {output} DIR.")
        if self.load is not None and self.blame is None:
            raise RequestError.of("{load} loads bitstreams with taps: name the build on the board with {blame} DIR.")
        require_no_loss(self.output, ("result.json", _SEQUENCE), program=self.program, inputs=self.inputs)

    def replay_words(self, only: Path | None = None) -> list[str]:
        """Return the arguments that run the same vectors in the simulators; ``only``: a file with other vectors."""
        return ["sim", *(self._vectors() if only is None else self._vectors((only,), 0))]

    def _vectors(self, inputs: Sequence[Path] | None = None, vectors: int | None = None) -> list[str]:
        words = [path_of(self.program), *(["--layout", self.layout] if self.layout else [])]
        words += ["--vectors", str(self.vectors if vectors is None else vectors), "--seed", str(self.seed)]
        words += [word for path in (self.inputs if inputs is None else inputs) for word in ("--inputs", str(path))]
        return [*words, *(["--unchecked"] if self.unchecked else [])]


@dataclass(frozen=True)
class BoardRun:
    """The result of ``run_on_board``: record, design, the folder that was kept, and whether the run can be resumed."""

    record: SimulationRecord
    program: Program | Machine
    folder: Path | None
    resumable: bool


def run_on_board(request: BoardRequest, *, progress: Progress = SILENT) -> BoardRun:
    """Compare every output bit of every vector on a board, which must identify itself as running this program.

    Vectors lost on the link are sent again; a wrong vector is sent again, too, to see if the board repeats it. Raises
    ``InputError`` if the board runs another program, ``ToolError`` if no board answers.
    """
    board = parse_target(request.target)
    if board.scheme == "sim" and board.bitstream is None:
        require_no_rtl(request.program, f"{board.text} is a board simulated with RTL that dais-verif emits")
    machine = open_for("hil", request.program, request.layout).machine
    if machine is not None:
        return _run_machine(machine, board, request, progress)
    if board.cycles is not None:
        raise BoardError.of("{target} {text!r}: cycles are for machines, but this is a program", text=board.text)
    program, warnings = read_program(request.program, request.layout, progress)
    given = [read_batch(path, program.n_in) for path in request.inputs]
    stimulus = Stimulus([*given, WithBoundaries(program, request.vectors, request.seed, check=not request.unchecked)])
    with work_folder(request.output) as folder:
        search = _search(request, program, stimulus, board, folder.path, progress)
        journal = Journal(folder.path, _what(program, request), resume=request.resume)
        with progress.simulators(), board_link(board, program, folder.path, request.timeout, progress) as (link, facts):
            session = Session(link, request.timeout)
            progress.notice(f"identifying the hardware on {request.target}")
            identity = session.identify()
            require_fits(identity, program, ports_of(program), request.target)
            progress.notice(f"running {counted(stimulus.rows - journal.rows, 'vector')} on {request.target}")
            check = not request.unchecked
            run = Run(program, stimulus, session, identity, journal, folder.path, progress, check=check)
            finding = _find(run, request, progress)
        replay = own_command(request.replay_words())
        info = _board(request, identity, session, replay, resumed_from=journal.rows)
        found = finding.first_mismatch
        if search is not None and found is not None and finding.verdict is Verdict.RTL_MISMATCH:
            finding = replace(finding, first_mismatch=replace(found, blame=search.blame(found)))
            info = replace(info, taps=search.reads)
        record = _record(request, ProgramInfo.of(program), stimulus.rows, _with_advice(finding, board), info, facts)
        record = replace(record, warnings=warnings)
        if finding.verdict not in (Verdict.TOOL_FAILURE, Verdict.INTERRUPTED):
            journal.close()
        folder.keep(record)
        resumable = request.output is not None and journal.exists()
        return BoardRun(record, program, folder.path if folder.kept else None, resumable)


def _search(
    request: BoardRequest, program: Program, stimulus: Stimulus, board: Target, folder: Path, progress: Progress
) -> TapsSearch | None:
    """Return the search for the wrong op, if requested."""
    if request.blame is None:
        return None
    return TapsSearch.of(program, stimulus, board, request.blame, request.load, request.timeout, folder, progress)


def _run_machine(machine: Machine, board: Target, request: BoardRequest, progress: Progress) -> BoardRun:
    """Run a machine on a board: a vector is a number of cycles after a reset; the board reports this number."""
    require_whole(layout=request.layout, resume=request.resume, blame=request.blame)
    restart = restart_of(machine)
    with work_folder(request.output) as folder:
        path = folder.path / _SEQUENCE
        path.unlink(missing_ok=True)
        with progress.simulators(), board_link(board, machine, folder.path, request.timeout, progress) as (link, facts):
            session = Session(link, request.timeout)
            progress.notice(f"identifying the hardware on {request.target}")
            identity = session.identify()
            require_fits_machine(identity, board_hash(machine), board_bits(machine), request.target)
            given = BoardSequences.of(machine, request.inputs, request.vectors, request.seed, identity.latency)
            cycles = sum(one.vectors for one in given.classes)
            progress.notice(
                f"running {cycles} cycles in {counted(len(given.sequences), 'sequence')} on {request.target}"
            )
            check = not request.unchecked
            finding = MachineRun(
                machine, restart.begun, given.sequences, session, identity, progress, check=check
            ).finding()
        info = _board(request, identity, session, own_command(request.replay_words()), cycles=identity.latency)
        place = None if finding.first_mismatch is None else finding.first_mismatch.place
        if place is not None and keep_sequence(path, machine, given.sequences[place.sequence]):
            info = replace(info, replay=own_command(request.replay_words(path)))
        record = _record(request, ProgramInfo.of_machine(machine), cycles, _with_advice(finding, board), info, facts)
        decisions = board_decisions(restart, identity.latency)
        record = replace(record, stimulus=given.classes, decisions=decisions)
        folder.keep(record)
        return BoardRun(record, machine, folder.path if folder.kept else None, resumable=False)


def _with_advice(finding: Finding, board: Target) -> Finding:
    """Add to ``finding`` the possible causes of an error if the logic of the bitstream is right."""
    if board.bitstream is None or finding.verdict is not Verdict.PASS:
        return finding
    return replace(
        finding,
        message=f"{finding.message}; the logic is right: if a board with this bitstream fails, the cause is electrical"
        " or timing: supply, levels, cable, clock",
    )


def _record(
    request: BoardRequest,
    program: ProgramInfo,
    vectors: int,
    finding: Finding,
    board: BoardInfo,
    bitstream: BitstreamFacts | None,
) -> SimulationRecord:
    return SimulationRecord(
        verdict=finding.verdict,
        message=finding.message,
        program=program,
        seed=request.seed,
        vectors=vectors,
        reproduce=request.reproduce(),
        rtl=RtlFacts(bitstream=bitstream),
        tools={
            "dais-verif": VERSION,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "pyserial")},
        },
        simulators=SimulatorResults(finding.simulators),
        first_mismatch=finding.first_mismatch,
        outputs=finding.outputs,
        unchecked=request.unchecked,
        board=board,
    )


def _find(run: Run, request: BoardRequest, progress: Progress) -> Finding:
    try:
        return run.finding()
    except KeyboardInterrupt:
        if request.output is not None:
            again = "to continue, run the same command with --resume"
            progress.notice(f"{run.journal.kept} vectors were compared; {again}")
        raise


def _what(program: Program, request: BoardRequest) -> dict[str, str]:
    """Return all inputs that determine the vectors of a run and their expected outputs."""
    try:
        files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in request.inputs]
    except OSError as error:
        raise BoardError(f"cannot read {error.filename!r}: {error.strerror}") from None
    return {
        "version": VERSION,
        "program": program.hash,
        "inputs": ",".join(files) or "none",
        "vectors": str(request.vectors),
        "seed": str(request.seed),
        "unchecked": str(request.unchecked),
    }


def _board(
    request: BoardRequest,
    identity: Identity,
    session: Session,
    replay: str,
    *,
    resumed_from: int = 0,
    cycles: int | None = None,
) -> BoardInfo:
    traffic = session.traffic
    return BoardInfo(
        target=request.target,
        program=identity.program,
        protocol=identity.protocol,
        latency=identity.latency,
        buffer=identity.buffer,
        batches=traffic.sent,
        repeated=traffic.repeated,
        damaged_there=traffic.damaged_there,
        damaged_here=traffic.damaged_here,
        unexpected=traffic.unexpected,
        resumed_from=resumed_from,
        replay=replay,
        cycles=cycles,
    )
