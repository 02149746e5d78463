"""Simulate a core in its AXI4-Stream wrapper: pauses, resets, packets; compare every beat with the golden model.

The bench uses the stream ports only, so it accepts any design with these ports: ours, a synthesised one, a bridge.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.base.errors import SimulatorError, SimulatorFailure, ToolError
from dais_verif.base.toolchain import process
from dais_verif.base.verdict import Verdict
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire
from dais_verif.simulation import launch
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.axis_job import (
    AXIS_JOB_VARIABLE,
    QUIET,
    SCENARIOS,
    AxisAnswer,
    AxisJob,
    Scenario,
)
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

__all__ = ["AxisFinding", "AxisOutcome", "simulate_axis"]

_BENCH = "dais_verif.simulation.testbench.axis_bench"


@dataclass(frozen=True)
class AxisOutcome:
    """The result of one simulator; seconds are wall time."""

    answer: AxisAnswer
    version: str
    build_seconds: float
    run_seconds: float
    cached: bool = False


@dataclass(frozen=True)
class AxisFinding:
    """The verdict, its reason, and for each simulator its outcome, or the error with which it failed."""

    verdict: Verdict
    message: str
    outcomes: Mapping[str, AxisOutcome | ToolError]


def simulate_axis(
    program: Program,
    batch: Batch,
    design: RtlDesign,
    folder: str | Path,
    *,
    latency: int = 0,
    user_bits: int = 1,
    simulators: Sequence[str] = ("icarus", "verilator"),
    scenarios: Sequence[Scenario] = SCENARIOS,
    check: bool = True,
    seed: int = 0,
    waves: bool = False,
    timeout: float | None = None,
) -> AxisFinding:
    """Send ``batch`` through ``design``, with the ports of ``rtl/dais_axis.v``, once per scenario and simulator.

    ``latency``: the latency of the core alone in clocks, which is also the value of the wrapper's parameter.
    ``user_bits``: width of TUSER. ``check``: check promises of ``program`` beforehand. ``folder`` receives builds and
    logs. Failing tools and designs are findings; raises ``ViolationError`` for a broken promise and ``InputError`` for
    unusable options.
    """
    if latency < 0 or user_bits < 0:
        raise SimulatorError(f"latency {latency} and user_bits {user_bits} must both be at least 0")
    ports = ports_of(program)
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    expected = pack_outputs(Golden(program).run_raw(batch, check=check), ports, batch.rows)
    files = {"inputs": pack_inputs(batch, ports), "expected": expected}
    for name, words in files.items():
        (folder / f"{name}.bin").write_bytes(words.tobytes())
    job = AxisJob(
        inputs=str(folder / "inputs.bin"),
        expected=str(folder / "expected.bin"),
        answer="",
        rows=batch.rows,
        input_bits=ports.input_bits,
        output_bits=ports.output_bits,
        user_bits=user_bits,
        latency=latency,
        seed=seed,
        # A core without input bits must ignore its input: run each scenario twice, with either value in each beat.
        scenarios=tuple(one for one in scenarios for _ in range(1 if ports.input_bits else 2)),
    )

    # The bench reads the ports only, so the simulator need not preserve anything else.
    others = tuple((name, 0) for name in (*job.widths, *QUIET) if not name.endswith("tdata"))
    wires = (Wire("s_axis_tdata", 0, ports.input_bits),), (Wire("m_axis_tdata", 0, ports.output_bits),)
    design = replace(design, dut=Dut(DesignInterface(*wires, ties=others), ports, program.output_types))

    def one(simulator: str) -> AxisOutcome | ToolError:
        try:
            return _simulate(simulator, design, job, folder / simulator, seed=seed, waves=waves, timeout=timeout)
        except ToolError as error:
            return error

    with process.workers(max(len(simulators), 1)) as pool:
        outcomes = dict(zip(simulators, pool.map(one, simulators), strict=True))
    verdict, message = _judge(outcomes, job)
    return AxisFinding(verdict, message, outcomes)


def _simulate(
    simulator: str, design: RtlDesign, job: AxisJob, folder: Path, *, seed: int, waves: bool, timeout: float | None
) -> AxisOutcome:
    started = time.monotonic()
    simulation = build(simulator, design, folder / "build", waves=waves, timeout=timeout)
    built = time.monotonic()
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    answer_path, job_path = run / "answer.json", run / "job.json"
    replace(job, answer=str(answer_path)).save(job_path)
    env = {AXIS_JOB_VARIABLE: str(job_path)}
    results = launch.run(simulation, _BENCH, run, env=env, seed=seed, waves=waves, timeout=timeout, ones_for_x=True)
    log = run / "simulation.log"
    if not answer_path.is_file():
        raise SimulatorFailure(
            f"the {simulator} bench gave no result: {launch.cause(simulation, log)} (full output: {log})"
        )
    answer = AxisAnswer.load(answer_path)
    if _whole(answer, job) == bool(launch.failed_tests(results)):
        raise SimulatorFailure(
            f"the verdict and the results of the {simulator} bench contradict each other (full output: {log})"
        )
    return AxisOutcome(answer, simulation.version, built - started, time.monotonic() - built, simulation.cached)


def _whole(answer: AxisAnswer, job: AxisJob) -> bool:
    """Return True if every scenario ran without a problem and every beat was compared, or dropped by a reset."""
    return (
        answer.port_error is None
        and [one.scenario for one in answer.heard] == [one.name for one in job.scenarios]
        and all(
            one.total_problems == 0 and one.compared > 0 and one.compared + one.dropped == one.sent == job.rows
            for one in answer.heard
        )
    )


def _judge(outcomes: Mapping[str, AxisOutcome | ToolError], job: AxisJob) -> tuple[Verdict, str]:
    """Return the verdict over all simulators and the reason in one line."""
    if not outcomes or not job.scenarios or not job.rows or not job.output_bits:
        what = next(
            text
            for text, there in (
                ("no simulator was selected", outcomes),
                ("there was no scenario", job.scenarios),
                ("there was no vector", job.rows),
                ("the program has no output bits", job.output_bits),
            )
            if not there
        )
        return Verdict.NOT_RUN, f"nothing was compared: {what}"
    for name, outcome in outcomes.items():
        if isinstance(outcome, ToolError):
            return Verdict.TOOL_FAILURE, f"{name}: {outcome}"
    answers = {name: outcome.answer for name, outcome in outcomes.items() if isinstance(outcome, AxisOutcome)}
    for name, answer in answers.items():
        if answer.port_error:
            return Verdict.INVALID_INPUT, f"the design is not an AXI4-Stream wrapper: {answer.port_error}"
        for one in answer.heard:
            if one.problems:
                verdict = Verdict.X_IN_OUTPUT if one.unknown else Verdict.RTL_MISMATCH
                return verdict, f"{one.scenario} ({name}, {one.total_problems} problems): {one.problems[0]}"
        dropped = next((one.scenario for one in answer.heard if not one.compared and one.dropped == job.rows), None)
        if dropped is not None:
            text = f"scenario '{dropped}' dropped all {job.rows} vectors and compared none; give more vectors"
            return Verdict.NOT_RUN, text
        if not _whole(answer, job):
            return Verdict.TOOL_FAILURE, f"{name}: the bench did not compare every beat"
    heard = next(iter(answers.values())).heard
    beats = sum(one.compared for one in heard)
    return (
        Verdict.PASS,
        f"all {beats} beats of {len(heard)} scenarios equal the golden model ({beats * job.output_bits} output bits)",
    )
