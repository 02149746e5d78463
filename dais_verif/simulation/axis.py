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
from dais_verif.simulation.judge import AxisOutcome, is_whole, judge_streams
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.axis_job import QUIET, SCENARIOS, AxisAnswer, AxisJob, Scenario, VectorBeats
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

__all__ = ["AxisFinding", "run_streams", "simulate_axis", "stream_interface"]


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
        vectors=VectorBeats(str(folder / "inputs.bin"), str(folder / "expected.bin"), batch.rows, latency),
        machine=None,
        input_bits=ports.input_bits,
        output_bits=ports.output_bits,
        user_bits=user_bits,
        seed=seed,
        # A core without input bits must ignore its input: run each scenario twice, with either value in each beat.
        scenarios=tuple(one for one in scenarios for _ in range(1 if ports.input_bits else 2)),
    )

    dut = Dut(stream_interface(job), ports, program.output_types)
    outcomes = run_streams(replace(design, dut=dut), job, folder, simulators=simulators, waves=waves, timeout=timeout)
    nothing = "there was no vector" if not batch.rows else "" if job.output_bits else "the program has no output bits"
    return AxisFinding(*judge_streams(outcomes, job, nothing), outcomes)


def stream_interface(job: AxisJob) -> DesignInterface:
    """Return the ports as builds need them: the bench reads no more, so a simulator need not preserve anything else."""
    quiet = QUIET if job.vectors else ()
    others = tuple((name, 0) for name in (*job.widths, *quiet) if not name.endswith("tdata"))
    wires = (Wire("s_axis_tdata", 0, job.input_bits),), (Wire("m_axis_tdata", 0, job.output_bits),)
    return DesignInterface(*wires, ties=others)


def run_streams(
    design: RtlDesign,
    job: AxisJob,
    folder: Path,
    *,
    simulators: Sequence[str],
    waves: bool = False,
    timeout: float | None = None,
) -> dict[str, AxisOutcome | ToolError]:
    """Run ``job`` in all ``simulators`` in parallel; ``folder`` receives builds and logs."""

    def one(simulator: str) -> AxisOutcome | ToolError:
        try:
            return _simulate(simulator, design, job, folder / simulator, waves=waves, timeout=timeout)
        except ToolError as error:
            return error

    with process.workers(max(len(simulators), 1)) as pool:
        return dict(zip(simulators, pool.map(one, simulators), strict=True))


def _simulate(
    simulator: str, design: RtlDesign, job: AxisJob, folder: Path, *, waves: bool, timeout: float | None
) -> AxisOutcome:
    started = time.monotonic()
    simulation = build(simulator, design, folder / "build", waves=waves, timeout=timeout)
    built = time.monotonic()
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    answer, failed = launch.ask(
        simulation, "streams", job, AxisAnswer, run, seed=job.seed, waves=waves, timeout=timeout, ones_for_x=True
    )
    if is_whole(answer, job) == failed:
        log = run / "simulation.log"
        raise SimulatorFailure(
            f"the verdict and the results of the {simulator} bench contradict each other (full output: {log})"
        )
    return AxisOutcome(answer, simulation.version, built - started, time.monotonic() - built, simulation.cached)
