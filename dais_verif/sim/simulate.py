"""One simulator, one design: build, run the bench on all its chunks, gather its answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.errors import ToolError
from dais_verif.sim import launch, process
from dais_verif.sim.build import Design, build
from dais_verif.sim.job import JOB_VARIABLE, Answer, Job, merged
from dais_verif.sim.simulation import Simulation
from dais_verif.stopwatch import Stopwatch

__all__ = ["Outcome", "simulate"]


@dataclass(frozen=True)
class Outcome:
    """A bench's answer and what it took; seconds are wall time."""

    answer: Answer
    version: str
    build_seconds: float
    run_seconds: float
    cached: bool = False


def simulate(
    simulator: str,
    design: Design,
    jobs: Sequence[Job],
    folder: Path,
    *,
    seed: int,
    waves: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
) -> Outcome:
    """Build once and run the bench on each of ``jobs``, all at once. Raises ``ToolError`` unless all gave an answer."""
    watch = watch or Stopwatch()
    started = time.monotonic()
    simulation = build(simulator, design, folder / "build", waves=waves, timeout=timeout, watch=watch)
    built = time.monotonic()

    def one(job: Job) -> Answer:
        own = folder if job.share == 0 else folder / f"share_{job.share}"
        return _run(simulation, job, own, seed=seed, waves=waves, timeout=timeout)

    with watch.stage(f"{simulator} run"), process.workers(len(jobs)) as pool:
        answers = list(pool.map(one, jobs))
    answer = merged(answers)
    ended = time.monotonic()
    watch.add(f"{simulator} compare", built, ended, answer.seconds.get("compare", 0.0))
    return Outcome(answer, simulation.version, built - started, ended - built, simulation.cached)


def _run(simulation: Simulation, job: Job, folder: Path, *, seed: int, waves: bool, timeout: float | None) -> Answer:
    folder.mkdir(parents=True, exist_ok=True)
    answer_path = folder / "answer.json"
    answer_path.unlink(missing_ok=True)
    job_path = folder / "job.json"
    replace(job, answer=str(answer_path)).save(job_path)
    results = launch.run(
        simulation,
        "dais_verif.sim.bench",
        folder,
        env={JOB_VARIABLE: str(job_path)},
        seed=seed,
        waves=waves,
        timeout=timeout,
    )
    if not answer_path.is_file():
        raise ToolError(f"the {simulation.simulator} bench gave no answer (full output: {folder / 'simulation.log'})")
    answer = Answer.load(answer_path)
    _cross_check(simulation.simulator, answer, job, bool(launch.failed_tests(results)), folder)
    return answer


def _cross_check(simulator: str, answer: Answer, job: Job, failed: bool, folder: Path) -> None:
    """The bench's numbers and cocotb's own verdict must tell the same story."""
    clean = answer.rows == job.rows > 0 and answer.bits == job.rows * job.output_bits
    clean = clean and not (answer.mismatching_rows or answer.unknown_rows or answer.port_error)
    if clean == failed:
        told = "failed" if failed else "passed"
        raise ToolError(
            f"the {simulator} bench {told} but compared {answer.rows} of {job.rows} vectors with "
            f"{answer.mismatching_rows} mismatches (full output: {folder / 'simulation.log'})"
        )
