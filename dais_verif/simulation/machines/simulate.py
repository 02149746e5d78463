"""A machine and its RTL, simulated: each sequence from power-up, in a process of its own, in every simulator."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.dut.interface import DesignInterface
from dais_verif.errors import ToolError, ViolationError
from dais_verif.machine import Machine
from dais_verif.record.simulation import Blame, SimulatorResult
from dais_verif.simulation import launch
from dais_verif.simulation.machines.expected import contradiction, expect
from dais_verif.simulation.machines.mismatch import describe
from dais_verif.simulation.machines.rows import input_row
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.simulation import Simulation
from dais_verif.simulation.testbench.machine_job import (
    MACHINE_JOB_VARIABLE,
    MachineAnswer,
    MachineDifference,
    MachineJob,
    write_rows,
)
from dais_verif.simulation.verify import Finding
from dais_verif.stimulus.machines import InputSequence
from dais_verif.stopwatch import Stopwatch
from dais_verif.toolchain import process
from dais_verif.verdict import Verdict

__all__ = ["simulate_machine"]

_BENCH = "dais_verif.simulation.testbench.machine_bench"


@dataclass(frozen=True)
class _Outcome:
    """What one simulator showed of each sequence; seconds are wall time."""

    answers: list[MachineAnswer]
    simulation: Simulation
    build_seconds: float
    run_seconds: float


def simulate_machine(
    machine: Machine,
    sequences: Sequence[InputSequence],
    design: RtlDesign,
    interface: DesignInterface,
    folder: Path,
    *,
    simulators: Sequence[str],
    check: bool = True,
    seed: int = 0,
    waves: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
) -> Finding:
    """Give ``sequences`` to ``design``, whose ports are ``interface``, and compare all that ``machine`` makes of them.

    ``check``: promises of the machine are checked, and nothing is simulated where one is broken. ``folder`` receives
    rows, builds, logs and waves. Failing tools and broken promises are findings.
    """
    watch = watch or Stopwatch()
    cycles = [sequence.cycles for sequence in sequences]
    reason = "the machine has no output bits" if not interface.output_bits else "there was no cycle"
    if not sum(cycles) or not interface.output_bits:
        return Finding(Verdict.NOT_RUN, f"nothing was compared: {reason}", [])
    with process.workers(2 * len(simulators)) as pool:
        # While the simulators build, the oracle computes.
        builds = {
            name: pool.submit(_build, name, design, folder / name / "build", waves, timeout, watch)
            for name in simulators
        }
        try:
            with watch.stage("golden model"):
                for number, sequence in enumerate(sequences):
                    _prepare(machine, sequence, folder / f"sequence_{number}", check)
        except ViolationError as error:
            where = f"sequence {number}, {error}" if len(sequences) > 1 else str(error)
            return Finding(Verdict.PROGRAM_INVALID, f"{where}; --unchecked carries on as hardware would", [])
        jobs = [
            MachineJob(interface, str(place / "inputs.txt"), str(place / "expected.txt"), "", count)
            for place, count in ((folder / f"sequence_{number}", count) for number, count in enumerate(cycles))
        ]
        runs = {
            name: pool.submit(_run_all, name, built, jobs, folder / name, seed, waves, timeout, watch)
            for name, built in builds.items()
        }
        outcomes = {name: _outcome(run) for name, run in runs.items()}
    return _finding(machine, sequences, outcomes, check)


def _prepare(machine: Machine, sequence: InputSequence, folder: Path, check: bool) -> None:
    """What the bench gives and expects, in files of ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (input_row(machine, sequence, cycle) for cycle in range(sequence.cycles))
    write_rows(folder / "inputs.txt", rows)
    write_rows(folder / "expected.txt", expect(machine, sequence, check=check))


def _build(
    name: str, design: RtlDesign, folder: Path, waves: bool, timeout: float | None, watch: Stopwatch
) -> tuple[Simulation, float]:
    begin = time.monotonic()
    return build(name, design, folder, waves=waves, timeout=timeout, watch=watch), time.monotonic() - begin


def _run_all(
    name: str,
    built: Future[tuple[Simulation, float]],
    jobs: Sequence[MachineJob],
    folder: Path,
    seed: int,
    waves: bool,
    timeout: float | None,
    watch: Stopwatch,
) -> _Outcome:
    """Every sequence in a process of its own: registers have their initial values at power-up only."""
    simulation, seconds = built.result()
    begin = time.monotonic()
    with watch.stage(f"{name} run"):
        answers = [
            _run(simulation, job, folder / f"run_{number}", seed, waves, timeout) for number, job in enumerate(jobs)
        ]
    return _Outcome(answers, simulation, seconds, time.monotonic() - begin)


def _run(
    simulation: Simulation, job: MachineJob, folder: Path, seed: int, waves: bool, timeout: float | None
) -> MachineAnswer:
    shutil.rmtree(folder, ignore_errors=True)  # nothing that an earlier run answered may be taken for this run's
    folder.mkdir(parents=True)
    answer_path, job_path, log = folder / "answer.json", folder / "job.json", folder / "simulation.log"
    job = MachineJob(job.interface, job.inputs, job.expected, str(answer_path), job.cycles)
    job.save(job_path)
    env = {MACHINE_JOB_VARIABLE: str(job_path)}
    results = launch.run(simulation, _BENCH, folder, env=env, seed=seed, waves=waves, timeout=timeout)
    name = simulation.simulator
    if not answer_path.is_file():
        raise ToolError(f"the {name} bench gave no answer: {launch.cause(simulation, log)} (full output: {log})")
    answer = MachineAnswer.load(answer_path)
    clean = answer.cycles == job.cycles > 0 and answer.first is None and not answer.port_error and answer.bits > 0
    if clean == bool(launch.failed_tests(results)):
        raise ToolError(f"the {name} bench and its answer tell different stories (full output: {log})")
    return answer


def _outcome(run: Future[_Outcome]) -> _Outcome | ToolError:
    try:
        return run.result()
    except ToolError as error:
        return error


def _finding(
    machine: Machine, sequences: Sequence[InputSequence], outcomes: Mapping[str, _Outcome | ToolError], check: bool
) -> Finding:
    """The verdict over all simulators, and the first difference."""
    results = [_result(name, outcome) for name, outcome in outcomes.items()]
    failed = [f"{name}: {outcome}" for name, outcome in outcomes.items() if isinstance(outcome, ToolError)]
    if failed:
        return Finding(Verdict.TOOL_FAILURE, "; ".join(failed), results)
    for result in results:
        if result.failure is not None:
            return Finding(Verdict.INVALID_INPUT, result.failure, results)
    firsts = {
        name: first
        for name, outcome in outcomes.items()
        if isinstance(outcome, _Outcome) and (first := _first(outcome.answers)) is not None
    }
    if not firsts:
        bits, cycles = (
            min(counts) for counts in zip(*((r.bits_compared, r.vectors_compared) for r in results), strict=True)
        )
        if not bits:
            why = "nothing was compared: every output depends on registers that nothing initialises"
            return Finding(Verdict.NOT_RUN, why, results)
        text = f"all {bits} known output bits of {cycles} cycles, before and after each edge, equal the golden model"
        return Finding(Verdict.PASS, text, results)
    # X is what one simulator may show and another hide; any other difference both must show.
    unknown = {name: found for name, found in firsts.items() if found[1].unknown}
    name, (number, difference) = next(iter((unknown or firsts).items()))
    mismatch = describe(machine, sequences, name, number, difference)
    # Before the RTL is blamed: an expectation that was itself wrong says nothing of it.
    wrong_engine = contradiction(machine, sequences[number], difference, check=check)
    if wrong_engine is not None:
        blame = Blame("golden", wrong_engine)
        return Finding(Verdict.UNKNOWN, wrong_engine, results, replace(mismatch, blame=blame))
    wrong = next(result for result in results if result.name == name)
    if unknown:
        counted, verdict = f"{wrong.vectors_with_x} of {wrong.vectors_compared} cycles have X or Z", Verdict.X_IN_OUTPUT
        text = f"{counted} in an output that is known ({name})"
    elif len(firsts) < len(outcomes):
        others = ", ".join(other for other in outcomes if other not in firsts)
        verdict, text = Verdict.SIMULATORS_DISAGREE, f"{name} differs from the golden model, {others} does not"
    else:
        verdict = Verdict.RTL_MISMATCH
        text = f"{wrong.mismatches} of {wrong.vectors_compared} cycles differ from the golden model"
    return Finding(verdict, text, results, mismatch)


def _first(answers: Sequence[MachineAnswer]) -> tuple[int, MachineDifference] | None:
    """The first difference, and the number of its sequence."""
    return next(((number, a.first) for number, a in enumerate(answers) if a.first is not None), None)


def _result(name: str, outcome: _Outcome | ToolError) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(name, failure=str(outcome))
    answers = outcome.answers
    return SimulatorResult(
        name,
        outcome.simulation.version,
        vectors_compared=sum(answer.cycles for answer in answers),
        bits_compared=sum(answer.bits for answer in answers),
        mismatches=sum(answer.mismatching for answer in answers),
        vectors_with_x=sum(answer.unknown for answer in answers),
        cached=outcome.simulation.cached,
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=next((answer.port_error for answer in answers if answer.port_error), None),
    )
