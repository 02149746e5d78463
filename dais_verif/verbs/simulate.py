"""Simulate RTL against the golden model: every output bit of every vector, in one simulator or several."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import RequestError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain.rtl_files import mentioned, never_read
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.simulation.simulate import begin
from dais_verif.simulation.simulators.build import RtlDesign, simulators_for
from dais_verif.spec.program import Program
from dais_verif.stimulus import Stimulus, read_batch
from dais_verif.stimulus.pseudo_exhaustive.vectors import MAX_BITS
from dais_verif.subject import open_for
from dais_verif.verbs.common_options import require_program_rtl
from dais_verif.verbs.design_rtl import design_of, told_apart, with_netlist
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import Opened, open_projects
from dais_verif.verbs.simulation_record import begun_record, finished_record, given_vectors, with_share_of_icarus
from dais_verif.verbs.simulation_request import ALL, SimulationRequest
from dais_verif.verbs.tensors.opening import source_of
from dais_verif.verbs.vectors import WithBoundaries
from dais_verif.verbs.work_folder import WatchedFiles, work_folder
from dais_verif.verbs.wrapper import verify_wrapper

if TYPE_CHECKING:
    from dais_verif.simulation.verify import Finding, SimulationOptions

__all__ = [
    "BegunRun",
    "OpenedRequest",
    "Simulated",
    "begun_run",
    "ended_run",
    "opened_request",
    "simulate",
    "simulation_options",
    "with_rtl_conditions",
]

#: The number of ops evaluated in about a second: outside cocotb, in Icarus, and in GHDL, which has one instance per op.
_BULK_BUDGET, _PORT_BUDGET, _GHDL_BUDGET = 1_000_000_000, 2_000_000, 30_000

#: Programs with more ops are not searched for outputs to test exhaustively: the search alone would take seconds.
_LARGE = 20_000


@dataclass(frozen=True)
class Simulated:
    """The result of ``simulate``: its record, the program (None for other designs), and the folder that was kept."""

    record: SimulationRecord
    program: Program | None
    folder: Path | None


def simulate(request: SimulationRequest, *, progress: Progress = SILENT, watch: Stopwatch | None = None) -> Simulated:
    """Compare every output bit of the design with the golden model, on every vector of ``request``.

    Tool failures and broken promises are verdicts of the record. Raises ``InputError``, ``ProgramError`` or
    ``RequestError`` for an unusable request, ``ToolError`` if the run cannot start.
    """
    watch = watch or Stopwatch()
    with watch.stage("read"):
        subject = open_for("sim", request.program, request.layout)
    source = source_of(subject)
    require_program_rtl(request.suggest, source is None and subject.machine is None)
    if source is not None:
        from dais_verif.verbs.tensors.simulate import simulate_tensors

        return Simulated(*simulate_tensors(source, request, progress, watch))
    if request.printf:
        raise RequestError.of("{printf} is for kernels: name a folder of `kernel build`.")
    if subject.machine is not None:
        from dais_verif.verbs.machines.simulate import simulate_machine

        return Simulated(*simulate_machine(subject.machine, request, progress, watch))
    given = opened_request(request, watch, progress)
    with work_folder(request.output) as folder:
        begun = begun_run(given, folder.path, watch, progress)
        folder.begin(begun.record)
        stimulus, record = request.covering.directed(
            given.stimulated, given.stimulus, begun.record, folder.path, watch, jobs=request.jobs, progress=progress
        )
        begun = replace(begun, record=record)
        if begun.asked.wrapped is not None:
            with progress.working("simulating streams"):
                finding = verify_wrapper(
                    given.program,
                    stimulus.slice(0, stimulus.rows),
                    begun.asked.wrapped,
                    folder.path,
                    simulators=given.simulators,
                    check=not request.unchecked,
                    seed=request.seed,
                    waves=request.waves,
                    timeout=request.timeout,
                )
        else:
            begun, finding = _verified(given, begun, stimulus, folder.path, progress, watch)
        record = ended_run(given, begun, finding, watch, progress)
        record = request.covering.of_rtl(record, folder.path)
        folder.keep(record)
        return Simulated(record, given.program, folder.path if folder.kept else None)


@dataclass(frozen=True)
class OpenedRequest:
    """A request for a program, and its data. ``stimulated``: the program whose intervals limit generated inputs."""

    request: SimulationRequest
    opened: Opened
    simulators: tuple[str, ...]
    program: Program
    stimulated: Program
    stimulus: Stimulus
    classes: list[StimulusClass]
    warnings: list[str]

    @property
    def paired(self) -> bool:
        """True if Icarus runs in addition to Verilator."""
        return len(self.simulators) > 1 and self.opened.design.wrapped is None


@dataclass(frozen=True)
class BegunRun:
    """A run before the simulators report their findings."""

    asked: DesignRequest
    design: RtlDesign
    watched: WatchedFiles
    record: SimulationRecord


def opened_request(request: SimulationRequest, watch: Stopwatch, progress: Progress) -> OpenedRequest:
    """Read the files of ``request``, which is for a program. Raises ``DaisError`` if they cannot be used."""
    with watch.stage("read"):
        opened = open_projects(request.program, request.design)
    require_program_rtl(request.suggest, bool(opened.design.rtl))
    simulators = simulators_for(request.simulator, opened.design.rtl)
    if request.icarus_vectors not in (None, ALL) and (len(simulators) == 1 or opened.design.wrapped is not None):
        raise RequestError.of("{icarus_vectors} is for runs in both simulators; one alone compares all vectors.")
    request.covering.check(simulators, opened.design.wrapped is not None)
    with watch.stage("read"):
        program, warnings = read_program(opened.program, request.layout, progress)
        opened.require_dialect(program)
        given = [read_batch(path, program.n_in) for path in request.inputs]
        classes = [given_vectors(path, batch.rows) for path, batch in zip(request.inputs, given, strict=True)]
        stimulated = replace(program, intervals=None) if request.out_of_range else program
        classes += [StimulusClass("generated", request.vectors)] if request.vectors else []
        generated = WithBoundaries(stimulated, request.vectors, request.seed, check=not request.unchecked)
        stimulus = Stimulus([*given, generated])
    return OpenedRequest(request, opened, simulators, program, stimulated, stimulus, classes, warnings)


def begun_run(given: OpenedRequest, folder: Path, watch: Stopwatch, progress: Progress) -> BegunRun:
    """Write or find the design, and return the run with its record while simulators run."""
    request, program, warnings = given.request, given.program, list(given.warnings)
    with watch.stage("emit"), _working(progress, program, "writing Verilog"):
        asked = with_netlist(given.opened.design, folder)
        design = design_of(program, asked, folder)
        if not asked.of_bits and asked.wrapped is None:
            warnings += told_apart(design, asked, progress)
        watched = WatchedFiles.of(design, asked.bitstream_facts)
    record = begun_record(
        request, program, watched, asked, warnings, given.classes, given.simulators, given.opened.project
    )
    return BegunRun(asked, design, watched, record)


def ended_run(
    given: OpenedRequest, begun: BegunRun, finding: Finding, watch: Stopwatch, progress: Progress
) -> SimulationRecord:
    """Return the record of a run that found ``finding``. Raises ``InputError`` if the RTL was changed meanwhile."""
    begun.watched.require_unchanged("simulated")
    if begun.asked.rtl and not begun.asked.of_bits and begun.asked.wrapped is None:
        finding = _with_lines(given, begun.design, finding, watch, progress)
    record = begun.record
    if finding.verdict is not Verdict.PASS:
        record = replace(record, warnings=[*record.warnings, *_data_not_found(begun.design, progress)])
    record = finished_record(record, finding, watch)
    if given.paired and given.request.icarus_vectors is None:
        record = with_share_of_icarus(record, given.request)
    return record


def _with_lines(
    given: OpenedRequest, design: RtlDesign, finding: Finding, watch: Stopwatch, progress: Progress
) -> Finding:
    """Return ``finding`` with the lines of user RTL at which values go wrong."""
    if finding.verdict is not Verdict.RTL_MISMATCH or finding.first_mismatch is None:
        return finding
    from dais_verif.verbs.wrong_lines import with_lines

    with watch.stage("lines"), progress.working("looking for the lines that are wrong"):
        return with_lines(given.program, design, finding, progress, given.request.suggest)


def with_rtl_conditions(
    given: OpenedRequest, begun: BegunRun, stimulus: Stimulus, watch: Stopwatch, progress: Progress
) -> tuple[BegunRun, Stimulus]:
    """Return the run and its stimulus with vectors for the conditions of the RTL, if it is the user's.

    A request for vectors of files only gets no others.
    """
    request = given.request
    if not (request.conditions and request.vectors and begun.asked.rtl) or begun.asked.of_bits:
        return begun, stimulus
    # Imported while the simulators start, since it loads the prover.
    from dais_verif.verbs.conditions import with_conditions

    with watch.stage("conditions"), progress.working("finding vectors for the conditions of the RTL"):
        stimulus, record = with_conditions(given.stimulated, begun.design, stimulus, begun.record)
    return replace(begun, record=record), stimulus


def _verified(
    given: OpenedRequest, run: BegunRun, stimulus: Stimulus, folder: Path, progress: Progress, watch: Stopwatch
) -> tuple[BegunRun, Finding]:
    """Simulate ``stimulus``, and then vectors for conditions, which are found while the simulators build the design."""
    request, design = given.request, run.design
    with begin(
        given.simulators,
        design,
        folder,
        seed=request.seed,
        waves=request.waves,
        coverage=request.covering.rtl_coverage,
        timeout=request.timeout,
        watch=watch,
    ) as begun:
        # Imported while the simulators start: loading it takes as long as simulating a small design.
        from dais_verif.simulation.verify import verify

        run, stimulus = with_rtl_conditions(given, run, stimulus, watch, progress)
        options = simulation_options(given, stimulus.rows)
        with progress.simulators():
            watch.listen(progress.stage)
            return run, verify(given.program, stimulus, design, folder, options, progress, watch, begun)


def simulation_options(given: OpenedRequest, rows: int) -> SimulationOptions:
    """Return the options to simulate ``rows`` vectors."""
    from dais_verif.golden.fast import threads
    from dais_verif.simulation.verify import SimulationOptions

    request = given.request
    return SimulationOptions(
        given.simulators,
        check=not request.unchecked,
        waves=request.waves,
        seed=request.seed,
        timeout=request.timeout,
        jobs=threads(request.jobs),
        bulk=request.bulk,
        keep=request.output is not None,
        exhaustive_rows=_exhaustive_rows(request, given.program, given.simulators, rows),
        exhaustive_bits=request.exhaustive_bits,
        declared=not request.out_of_range,
        icarus_rows=request.icarus_vectors,
    )


def _exhaustive_rows(request: SimulationRequest, program: Program, simulators: Sequence[str], sampled: int) -> int:
    """Return how many vectors exhaustive tests of outputs may use: about a second's worth.

    If exhaustive tests are required, they may use all that they need; otherwise none if no vectors were requested.
    """
    if not request.exhaustive_bits:
        return 0
    if request.exhaustive:
        return len(program.outputs) << MAX_BITS
    if program.n_ops > _LARGE or not sampled:
        return 0
    if "ghdl" in simulators:
        return _GHDL_BUDGET // (program.n_ops + 10)
    if request.bulk and not request.waves and "verilator" in simulators:
        return _BULK_BUDGET // (program.n_ops + 50 * (program.n_in + program.n_out) + 200)
    return _PORT_BUDGET // (program.n_ops + 1000)


def _data_not_found(design: RtlDesign, progress: Progress) -> list[str]:
    """Warn about data files that the RTL mentions but were not found. Only called for runs that did not pass."""
    there = [file.name for file in design.data]
    defaults = never_read(design.sources)
    lost = [name for name in mentioned(design.sources) if name not in there and name not in defaults]
    text = "the RTL mentions the file {!r}, which is not next to it; if it reads the file, give it with --data"
    found = [text.format(name) for name in lost]
    for line in found:
        progress.warning(line)
    return found


def _working(progress: Progress, program: Program, what: str) -> AbstractContextManager[object]:
    """Show ``what`` if the program is so large that the step takes noticeable time."""
    return progress.working(what) if program.n_ops > _LARGE else nullcontext()
