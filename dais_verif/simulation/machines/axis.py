"""Simulation of a machine wrapped in AXI4-Stream: pauses, resets, and every output beat against the oracle."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from dais_verif.dut.interface import DesignInterface, Wire
from dais_verif.dut.placement import Dut
from dais_verif.errors import SimulatorFailure, ToolError, ViolationError
from dais_verif.machine import Machine
from dais_verif.machine.streams import MachineStream
from dais_verif.program.ports import Ports
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation import launch
from dais_verif.simulation.machines.streams import (
    OutputStream,
    beat_bits,
    expected_stream,
    oracle_stream,
    random_beats,
    require_elastic,
)
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.axis_job import SCENARIOS, AxisAnswer, Scenario
from dais_verif.simulation.testbench.machine_axis_job import MACHINE_AXIS_JOB_VARIABLE, MachineAxisJob, Stretch
from dais_verif.simulation.verify import Finding
from dais_verif.toolchain import process
from dais_verif.verdict import Verdict

__all__ = ["simulate_machine_axis"]

_BENCH = "dais_verif.simulation.testbench.machine_axis_bench"


@dataclass(frozen=True)
class _Outcome:
    answer: AxisAnswer
    version: str
    build_seconds: float
    run_seconds: float
    cached: bool


def simulate_machine_axis(
    machine: Machine,
    stream: MachineStream,
    count: int,
    design: RtlDesign,
    folder: Path,
    *,
    simulators: Sequence[str],
    check: bool = True,
    seed: int = 0,
    waves: bool = False,
    timeout: float | None = None,
) -> Finding:
    """Send ``count`` generated beats through ``design``, once per scenario and simulator.

    ``check``: check promises of the machine beforehand. ``folder`` receives builds and logs. Failing tools and
    broken promises are findings. Raises ``InputError`` if the machine is not a stream.
    """
    beats = random_beats(stream, count, seed)
    try:
        whole = oracle_stream(machine, stream, beats, check=check)
        depth = _depth(whole, len(beats))
        more = random_beats(stream, depth, seed)
        require_elastic(machine, stream, beats, more, seed)

        def stretch(start: int, stop: int) -> Stretch:
            known = whole if stop - start == len(beats) else None
            behind = [*beats[stop:], *more][:depth]
            found = expected_stream(machine, stream, beats[start:stop], behind, check=check, wanted=known)
            return Stretch(start, stop, found.data, found.last, len(found.data) - found.least)

        stretches = {
            str(resets): [stretch(start, stop) for start, stop in _cut(len(beats), resets)]
            for resets in sorted({scenario.resets for scenario in SCENARIOS})
        }
    except ViolationError as error:
        return Finding(Verdict.PROGRAM_INVALID, f"{error}; --unchecked continues with the quantised value", [])
    job = MachineAxisJob(
        answer="",
        inputs=[beat_bits(stream, beat) for beat in beats],
        stretches=stretches,
        input_bits=stream.input_bits,
        output_bits=stream.output_bits,
        depth=depth,
        seed=seed,
    )
    others = tuple((name, 0) for name in job.widths if not name.endswith("tdata"))
    wires = (Wire("s_axis_tdata", 0, job.input_bits),), (Wire("m_axis_tdata", 0, job.output_bits),)
    design = replace(design, dut=Dut(DesignInterface(*wires, ties=others), Ports((), ()), (), "the machine's types"))

    def one(simulator: str) -> _Outcome | ToolError:
        try:
            return _simulate(simulator, design, job, folder / simulator, seed=seed, waves=waves, timeout=timeout)
        except ToolError as error:
            return error

    with process.workers(max(len(simulators), 1)) as pool:
        outcomes = dict(zip(simulators, pool.map(one, simulators), strict=True))
    verdict, message = _judge(outcomes, job)
    return Finding(verdict, message, [_result(name, outcome, job) for name, outcome in outcomes.items()])


def _cut(count: int, resets: int) -> list[tuple[int, int]]:
    """Return the ranges of beats between ``resets`` resets."""
    ends = sorted({count * k // (resets + 1) for k in range(resets + 2)})
    return list(pairwise(ends))


def _depth(found: OutputStream, inputs: int) -> int:
    """Return the number of clocks within which a machine without stalls outputs its next beat, if there is one."""
    cycles = [-1, *(beat.cycle for beat in found.beats)]
    longest = max((b - a for a, b in pairwise(cycles)), default=0)
    return max(longest, found.cycles - inputs) + 8


def _simulate(
    simulator: str,
    design: RtlDesign,
    job: MachineAxisJob,
    folder: Path,
    *,
    seed: int,
    waves: bool,
    timeout: float | None,
) -> _Outcome:
    started = time.monotonic()
    simulation = build(simulator, design, folder / "build", waves=waves, timeout=timeout)
    built = time.monotonic()
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    answer_path, job_path = run / "answer.json", run / "job.json"
    replace(job, answer=str(answer_path)).save(job_path)
    env = {MACHINE_AXIS_JOB_VARIABLE: str(job_path)}
    results = launch.run(simulation, _BENCH, run, env=env, seed=seed, waves=waves, timeout=timeout, ones_for_x=True)
    log = run / "simulation.log"
    if not answer_path.is_file():
        why = launch.cause(simulation, log)
        raise launch.StoppedRun(f"the {simulator} bench gave no result: {why} (full output: {log})")
    answer = AxisAnswer.load(answer_path)
    if _whole(answer, job) == bool(launch.failed_tests(results)):
        raise SimulatorFailure(
            f"the verdict and the results of the {simulator} bench contradict each other (full output: {log})"
        )
    return _Outcome(answer, simulation.version, built - started, time.monotonic() - built, simulation.cached)


def _whole(answer: AxisAnswer, job: MachineAxisJob) -> bool:
    """Return True if all scenarios ran without a problem, and each due beat came out or was dropped by a reset."""

    def wanted(scenario: Scenario) -> int:
        return sum(len(stretch.expected) for stretch in job.of(scenario))

    return (
        answer.port_error is None
        and [one.scenario for one in answer.heard] == [one.name for one in job.scenarios]
        and all(
            one.total_problems == 0 and one.compared + one.dropped == wanted(asked) and one.sent == len(job.inputs)
            for one, asked in zip(answer.heard, job.scenarios, strict=True)
        )
    )


def _judge(outcomes: Mapping[str, _Outcome | ToolError], job: MachineAxisJob) -> tuple[Verdict, str]:
    """Return the verdict over all simulators and the reason in one line."""
    (whole,) = job.stretches["0"] if job.inputs else [None]
    if not outcomes or whole is None or len(whole.expected) <= whole.spare:
        what = (
            "no simulator was selected" if not outcomes else "nothing went in" if whole is None else "nothing comes out"
        )
        return Verdict.NOT_RUN, f"nothing was compared: {what}"
    for name, outcome in outcomes.items():
        if isinstance(outcome, ToolError):
            return Verdict.TOOL_FAILURE, f"{name}: {outcome}"
    answers = {name: outcome.answer for name, outcome in outcomes.items() if isinstance(outcome, _Outcome)}
    for name, answer in answers.items():
        if answer.port_error:
            return Verdict.INVALID_INPUT, f"the design is not a machine behind AXI4-Stream: {answer.port_error}"
        for one in answer.heard:
            if one.problems:
                verdict = Verdict.X_IN_OUTPUT if one.unknown else Verdict.RTL_MISMATCH
                return verdict, f"{one.scenario} ({name}, {one.total_problems} problems): {one.problems[0]}"
        if not _whole(answer, job):
            return Verdict.TOOL_FAILURE, f"{name}: the bench did not compare every beat"
    heard = next(iter(answers.values())).heard
    beats = sum(one.compared for one in heard)
    return (
        Verdict.PASS,
        f"all {beats} beats that came out of {len(heard)} scenarios equal the golden model "
        f"({beats * job.output_bits} output bits)",
    )


def _result(name: str, outcome: _Outcome | ToolError, job: MachineAxisJob) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(
            name, failure=str(outcome), stopped=isinstance(outcome, launch.StoppedRun), code=outcome.code
        )
    heard = outcome.answer.heard
    beats = sum(one.compared for one in heard)
    return SimulatorResult(
        name,
        outcome.version,
        vectors_compared=beats,
        bits_compared=beats * job.output_bits,
        mismatches=sum(one.total_problems for one in heard),
        vectors_with_x=sum(one.unknown for one in heard),
        cached=outcome.cached,
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=outcome.answer.port_error,
    )
