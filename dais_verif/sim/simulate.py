"""One simulator, one design, one batch: build, run the bench, read its answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import ToolError
from dais_verif.sim import icarus, launch, verilator
from dais_verif.sim.job import JOB_VARIABLE, Answer, Job, Probe
from dais_verif.sim.simulation import Simulation

__all__ = ["SIMULATORS", "Design", "build", "probe", "simulate"]

SIMULATORS = ("icarus", "verilator")


@dataclass(frozen=True)
class Design:
    """The RTL under test."""

    sources: tuple[Path, ...]
    top: str


@dataclass(frozen=True)
class Outcome:
    """A bench's answer and what it took; seconds are wall time."""

    answer: Answer
    version: str
    build_seconds: float
    run_seconds: float


def build(
    simulator: str,
    design: Design,
    folder: Path,
    *,
    signals: bool = False,
    waves: bool = False,
    timeout: float | None = None,
) -> Simulation:
    """Compile ``design``; raises ``ToolError``."""
    if simulator == "icarus":
        return icarus.build(design.sources, design.top, folder, signals=signals, waves=waves, timeout=timeout)
    return verilator.build(design.sources, design.top, folder, signals=signals, waves=waves, timeout=timeout)


def simulate(
    simulator: str,
    design: Design,
    job: Job,
    folder: Path,
    *,
    seed: int,
    waves: bool = False,
    timeout: float | None = None,
) -> Outcome:
    """Build and run the bench on ``job`` in ``folder``. Raises ``ToolError`` unless the bench gave a whole answer."""
    started = time.monotonic()
    simulation = build(simulator, design, folder / "build", waves=waves, timeout=timeout)
    built = time.monotonic()
    answer_path = Path(job.answer)
    answer_path.unlink(missing_ok=True)
    job_path = folder / "job.json"
    job.save(job_path)
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
        raise ToolError(f"the {simulator} bench gave no answer (full output: {folder / 'simulation.log'})")
    answer = Answer.load(answer_path)
    _cross_check(simulator, answer, job, bool(launch.failed_tests(results)), folder)
    return Outcome(answer, simulation.version, built - started, time.monotonic() - built)


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


def probe(
    simulator: str,
    design: Design,
    vector: str,
    signals: Sequence[str],
    folder: Path,
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """The bits of ``signals`` for one input vector (bits, most significant first); missing signals are left out."""
    import json

    simulation = build(simulator, design, folder / "build", signals=True, timeout=timeout)
    answer = folder / "signals.json"
    answer.unlink(missing_ok=True)
    probe_path = folder / "probe.json"
    Probe(vector, list(signals), str(answer)).save(probe_path)
    launch.run(simulation, "dais_verif.sim.probe", folder, env={JOB_VARIABLE: str(probe_path)}, timeout=timeout)
    if not answer.is_file():
        raise ToolError(f"the {simulator} replay gave no answer (full output: {folder / 'simulation.log'})")
    bits: dict[str, str] = json.loads(answer.read_text())
    return bits
