"""Run one simulator on one design: build, run the bench on all its chunks, collect its answers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.base.errors import MissingTool, SimulatorFailure
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import process, sandbox
from dais_verif.simulation import launch
from dais_verif.simulation.rtl_coverage import COVERAGE_FILES
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.simulator import Simulation
from dais_verif.simulation.testbench import exchange
from dais_verif.simulation.testbench.job import Answer, Job, merged

__all__ = ["PendingRun", "UnfinishedBuild", "SimulatorOutcome", "begin", "is_clean"]


@dataclass(frozen=True)
class SimulatorOutcome:
    """A bench's answer, and the duration of build and run in seconds of wall time."""

    answer: Answer
    version: str
    build_seconds: float
    run_seconds: float
    cached: bool = False
    also_read: tuple[Path, ...] = ()


class UnfinishedBuild(SimulatorFailure):
    """A build was ended because another simulator cannot build the design."""


@contextmanager
def begin(
    simulators: Sequence[str],
    design: RtlDesign,
    folder: Path,
    *,
    seed: int,
    waves: bool = False,
    coverage: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
) -> Iterator[dict[str, PendingRun]]:
    """Start every simulator, each in a folder of its name below ``folder``.

    Leaving the block kills running simulators. If one fails to build, the verdict is known, and the caller does not
    wait for the builds of the others.
    """

    def run(one: PendingRun) -> None:
        if not one.run():
            for other in begun.values():
                other.end_build(one.simulator)

    with process.workers(len(simulators)) as pool:
        begun = {
            name: PendingRun(
                name, design, folder / name, seed=seed, waves=waves, coverage=coverage, timeout=timeout, watch=watch
            )
            for name in simulators
        }
        for one in begun.values():
            pool.submit(run, one)
        yield begun


class PendingRun:
    """A simulator that builds a design and starts it before its task is known.

    If nothing must be built, loading Python, cocotb and numpy takes most of the time. Therefore this happens while the
    job is still being planned, and the bench waits for the job.
    """

    def __init__(
        self,
        simulator: str,
        design: RtlDesign,
        folder: Path,
        *,
        seed: int,
        waves: bool = False,
        coverage: bool = False,
        timeout: float | None = None,
        watch: Stopwatch | None = None,
    ) -> None:
        self.simulator = simulator
        self._design, self._folder = design, folder
        self._seed, self._waves, self._coverage, self._timeout = seed, waves, coverage, timeout
        self._watch = watch or Stopwatch()
        self._started = time.monotonic()
        self._built: Future[tuple[Simulation, float]] = Future()
        self._done: Future[launch.BenchRun] = Future()
        self._unwanted, self._culprit = threading.Event(), ""
        _clear(folder)

    def run(self) -> bool:
        """Build, and run the bench on the job with share 0, which may arrive later; to be called in a separate thread.

        Return True if the simulation was built; otherwise ``simulate`` raises the error.
        """
        try:
            with process.ended_by(self._unwanted):
                simulation = build(
                    self.simulator,
                    self._design,
                    self._folder / "build",
                    waves=self._waves,
                    coverage=self._coverage,
                    timeout=self._timeout,
                    watch=self._watch,
                )
        except BaseException as error:
            why = f"NOT RUN: its build was ended, because {self._culprit} failed to build the design"
            # Report all missing tools at once.
            ended = self._unwanted.is_set() and not isinstance(error, MissingTool)
            self._built.set_exception(UnfinishedBuild(why) if ended else error)
            return False
        self._built.set_result((simulation, time.monotonic()))
        try:
            self._done.set_result(self._run(simulation, self._folder))
        except BaseException as error:
            self._done.set_exception(error)
        return True

    @property
    def cannot_build(self) -> bool:
        """True if the build has failed for a reason other than its time limit."""
        error = self._built.exception() if self._built.done() else None
        return error is not None and not isinstance(error, process.TimeLimitError)

    def end_build(self, culprit: str) -> None:
        """End the build if it is still under way, because ``culprit`` failed to build."""
        self._culprit = culprit
        self._unwanted.set()

    def simulate(self, jobs: Sequence[Job]) -> SimulatorOutcome:
        """Run the bench on all of ``jobs`` in parallel. Raises ``ToolError`` unless all answered."""
        simulation, built = process.result_of(self._built, self.simulator)
        given = time.monotonic()
        self._watch.add(f"{self.simulator} start", built, max(built, given))

        def one(job: Job) -> Answer:
            return self._answer(simulation, job)

        with self._watch.stage(f"{self.simulator} run"), process.workers(len(jobs)) as pool:
            answers = list(pool.map(one, jobs))
        answer = merged(answers)
        ended = time.monotonic()
        self._watch.add(f"{self.simulator} compare", given, ended, answer.seconds.get("compare", 0.0))
        return SimulatorOutcome(
            answer, simulation.version, built - self._started, ended - built, simulation.cached, simulation.also_read
        )

    def _answer(self, simulation: Simulation, job: Job) -> Answer:
        folder = self._folder if job.share == 0 else self._folder / f"share_{job.share}"
        if job.share != 0:
            _clear(folder)
        exchange.write(folder / exchange.JOB, job)
        if job.share == 0:
            done = process.result_of(self._done, f"the {self.simulator} simulation")
        else:
            done = self._run(simulation, folder)
        answer = launch.answer_of(simulation, done, Answer)
        _cross_check(self.simulator, answer, job.closed(), bool(launch.failed_tests(done.results)), folder)
        return replace(answer, complaint=launch.complaint(folder / "simulation.log", answer.begins))

    def _run(self, simulation: Simulation, folder: Path) -> launch.BenchRun:
        return launch.run_bench(
            simulation,
            "vectors",
            folder,
            env=self._maker(),
            seed=self._seed,
            waves=self._waves,
            timeout=self._timeout,
            writable=(self._folder.parent,),  # the bench removes compared vectors
        )

    def _maker(self) -> dict[str, str]:
        """Return the settings that end a simulation when this process ends; a sandbox needs none."""
        return {} if sandbox.wanted() else {exchange.MAKER_VARIABLE: str(os.getpid())}


def _clear(folder: Path) -> None:
    """Remove jobs and answers of an earlier run, which must not count for this run."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / exchange.JOB, folder / exchange.ANSWER, *folder.glob(COVERAGE_FILES)):
        path.unlink(missing_ok=True)


def is_clean(answer: Answer, job: Job) -> bool:
    """Return True if all of ``job`` was compared and no problem was found."""
    whole = answer.rows == job.rows > 0 and answer.bits == job.rows * job.output_bits
    return whole and not (answer.mismatching_rows or answer.unknown_rows or answer.port_error or answer.protocol_error)


def _cross_check(simulator: str, answer: Answer, job: Job, failed: bool, folder: Path) -> None:
    """Raise ``StoppedRun`` if the bench's numbers and cocotb's own verdict differ."""
    if is_clean(answer, job) == failed:
        told = "failed" if failed else "passed"
        raise launch.StoppedRun(
            f"the {simulator} bench {told} but compared {answer.rows} of {job.rows} vectors with "
            f"{answer.mismatching_rows} mismatches (full output: {folder / 'simulation.log'})"
        )
