"""Simulate a machine's RTL: each sequence from power-up, in a separate process, in every simulator."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor
from pathlib import Path

from dais_verif.base.errors import DaisError, SimulatorFailure, ToolError, ViolationError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import process, tools
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.record.simulation import Blame, SimulatorResult
from dais_verif.simulation import launch
from dais_verif.simulation.diagnosis.blame import blame_undriven
from dais_verif.simulation.judge import judge
from dais_verif.simulation.machines.expected import contradiction, describe, expect
from dais_verif.simulation.machines.replay import replay_mismatch
from dais_verif.simulation.simulate import SimulatorOutcome
from dais_verif.simulation.simulators.build import SIMULATORS, RtlDesign, build
from dais_verif.simulation.simulators.simulator import Simulation
from dais_verif.simulation.testbench.job import Answer
from dais_verif.simulation.testbench.sequence_job import MachineAnswer, MachineDifference, MachineJob, SequenceFiles
from dais_verif.simulation.verify import Finding
from dais_verif.spec.machine import Machine
from dais_verif.stimulus.machines import InputSequence

__all__ = ["simulate_machine"]

#: The simulator with a bulk path; and how many of its sequences the other simulators also run, each in a separate
#: process.
_WITH_BULK, _MOST_IN_PORTS = "verilator", 8


@dataclass(frozen=True)
class _Outcome:
    """The result of one simulator: the answers, by number of the sequence; seconds are wall time."""

    answers: Mapping[int, MachineAnswer]
    simulation: Simulation
    build_seconds: float
    run_seconds: float


@dataclass(frozen=True)
class _Runner:
    """Runs simulators. ``jobs``: the number of parallel processes, or of threads in one process."""

    interface: DesignInterface
    folder: Path
    seed: int
    waves: bool
    timeout: float | None
    jobs: int
    bulk: bool
    watch: Stopwatch

    def build(self, name: str, design: RtlDesign) -> tuple[Simulation, float]:
        begin = time.monotonic()
        place = self.folder / name / "build"
        built = build(name, design, place, waves=self.waves, timeout=self.timeout, watch=self.watch)
        return built, time.monotonic() - begin

    def in_bulk(self, name: str) -> bool:
        return name == _WITH_BULK and self.bulk and not self.waves

    def run(self, name: str, built: Future[tuple[Simulation, float]], files: Sequence[SequenceFiles]) -> _Outcome:
        """Run every sequence from power-up: each in a separate process, or all in one with a bulk path."""
        simulation, seconds = built.result()
        begin = time.monotonic()
        with self.watch.stage(f"{name} run"):
            if self.in_bulk(name):
                found = self.process(simulation, files)
            else:
                with process.workers(min(self.jobs, len(files))) as pool:
                    found = [answers[0] for answers in pool.map(lambda one: self.process(simulation, [one]), files)]
        answers = {one.number: answer for one, answer in zip(files, found, strict=False)}
        return _Outcome(answers, simulation, seconds, time.monotonic() - begin)

    def process(self, simulation: Simulation, files: Sequence[SequenceFiles]) -> list[MachineAnswer]:
        """Run a simulator once."""
        name = simulation.simulator
        folder = self.folder / name / f"run_{files[0].number}"
        shutil.rmtree(folder, ignore_errors=True)
        job = MachineJob(self.interface, tuple(files), min(self.jobs, len(files)) if self.in_bulk(name) else 0)
        options = {"seed": self.seed, "waves": self.waves, "timeout": self.timeout}
        answers, failed = launch.ask(simulation, "sequences", job, list[MachineAnswer], folder, **options)
        log = folder / "simulation.log"
        refused = any(answer.port_error for answer in answers)
        if not refused and [answer.cycles for answer in answers] != [asked.cycles for asked in files]:
            raise launch.StoppedRun(f"the {name} bench did not compare every cycle (full output: {log})")
        clean = not refused and all(answer.first is None for answer in answers)
        clean &= any(answer.bits for answer in answers)
        if clean == failed:
            raise SimulatorFailure(
                f"the verdict and the results of the {name} bench contradict each other (full output: {log})"
            )
        return answers


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
    jobs: int = 1,
    bulk: bool = True,
    watch: Stopwatch | None = None,
) -> Finding:
    """Give ``sequences`` to ``design`` with the ports ``interface``, and compare all outputs with those of ``machine``.

    ``check``: check promises of the machine, and simulate nothing if one is broken. ``bulk``: Verilator runs all
    sequences in one process; then the other simulators run only the first few, and the first that differs. ``folder``
    receives rows, builds, logs and waves. Failing tools and broken promises are findings.
    """
    watch = watch or Stopwatch()
    sequences = [sequence for sequence in sequences if sequence.cycles]
    if not sequences or not interface.output_bits:
        reason = "the machine has no output bits" if not interface.output_bits else "there was no cycle"
        return Finding(Verdict.NOT_RUN, f"nothing was compared: {reason}", [])
    runner = _Runner(interface, folder, seed, waves, timeout, jobs, bulk, watch)
    some = _MOST_IN_PORTS if any(runner.in_bulk(name) for name in simulators) else len(sequences)
    with process.workers(2 * len(simulators)) as pool:
        # The golden model computes while the simulators build.
        builds = {name: pool.submit(runner.build, name, design) for name in simulators}
        try:
            with watch.stage("golden model"):
                files = _prepare(machine, sequences, folder, check)
        except ViolationError as error:
            return Finding(Verdict.PROGRAM_INVALID, f"{error}; --unchecked carries on as hardware would", [])
        runs = {
            name: pool.submit(runner.run, name, built, files if runner.in_bulk(name) else files[:some])
            for name, built in builds.items()
        }
        outcomes = {name: _outcome(run) for name, run in runs.items()}
        differing = [first[0] for o in outcomes.values() if isinstance(o, _Outcome) and (first := _first(o))]
        if differing:
            outcomes = {
                name: _outcome(pool.submit(_also, runner, outcome, files[min(differing)]))
                for name, outcome in outcomes.items()
            }
    finding = _finding(machine, sequences, outcomes, check)
    return _explained(machine, sequences, runner, design, outcomes, finding)


def _explained(
    machine: Machine,
    sequences: Sequence[InputSequence],
    runner: _Runner,
    design: RtlDesign,
    outcomes: Mapping[str, _Outcome | ToolError],
    finding: Finding,
) -> Finding:
    """Replay the mismatch of ``finding``, in Icarus if it can run the design, and add the result."""
    mismatch = finding.first_mismatch
    if finding.verdict is Verdict.UNKNOWN or mismatch is None or mismatch.place is None:
        return finding
    outcome = outcomes[mismatch.simulator]
    assert isinstance(outcome, _Outcome)
    answer = outcome.answers[mismatch.place.sequence]
    difference = answer.first
    assert difference is not None
    if answer.filled and difference.unknown:  # a replay has one value for X, and shows nothing
        blame = blame_undriven(runner.folder / mismatch.simulator)
        return replace(finding, first_mismatch=replace(mismatch, blame=blame))
    name = mismatch.simulator
    if name in SIMULATORS:
        name = "icarus"
        if not tools.has_icarus():
            return finding
    place = runner.folder / f"replay_{name}"
    sequence = sequences[mismatch.place.sequence]
    try:
        with runner.watch.stage(f"{name} replay"):
            mismatch = replay_mismatch(
                machine, sequence, design, runner.interface, mismatch, difference, name, place, timeout=runner.timeout
            )
    except (DaisError, OSError) as error:
        blame = Blame("unknown", f"the replay failed: {error}", replayed_in=name)
        return replace(finding, first_mismatch=replace(mismatch, blame=blame))
    return replace(finding, first_mismatch=mismatch)


def _prepare(machine: Machine, sequences: Sequence[InputSequence], folder: Path, check: bool) -> list[SequenceFiles]:
    """Write inputs and expected outputs for the bench into ``folder``, and return the files."""
    files = []
    for number, rows in enumerate(expect(machine, sequences, check=check)):
        place = folder / f"sequence_{number}"
        rows.save(place)
        files.append(SequenceFiles(number, str(place.absolute()), len(rows.inputs)))
    return files


def _also(runner: _Runner, outcome: _Outcome | ToolError, files: SequenceFiles) -> _Outcome:
    """Return ``outcome`` with the answer for one more sequence, unless that sequence was already run."""
    if isinstance(outcome, ToolError):
        raise outcome
    if files.number in outcome.answers or any(answer.port_error for answer in outcome.answers.values()):
        return outcome
    (answer,) = runner.process(outcome.simulation, [files])
    return replace(outcome, answers={**outcome.answers, files.number: answer})


def _outcome(run: Future[_Outcome]) -> _Outcome | ToolError:
    try:
        return run.result()
    except ToolError as error:
        return error


def _finding(
    machine: Machine, sequences: Sequence[InputSequence], outcomes: Mapping[str, _Outcome | ToolError], check: bool
) -> Finding:
    """Return the verdict over all simulators, and the first difference."""
    results = [_result(name, outcome) for name, outcome in outcomes.items()]
    ran = [set(outcome.answers) for outcome in outcomes.values() if isinstance(outcome, _Outcome)]
    common = sorted(set.intersection(*ran)) if ran else []
    judged = {
        name: _judged(outcome, common) if isinstance(outcome, _Outcome) else outcome
        for name, outcome in outcomes.items()
    }
    verdict, text = judge(judged, min((result.bits_compared for result in results), default=0), "cycle")
    if verdict is Verdict.NOT_RUN:
        text = "nothing was compared: every output depends on registers that nothing initialises"
    elif verdict is Verdict.PASS:
        bits, cycles = (
            min(counts) for counts in zip(*((r.bits_compared, r.vectors_compared) for r in results), strict=True)
        )
        text = f"all {bits} known output bits of {cycles} cycles, before and after each edge, equal the golden model"
    firsts = {
        name: first
        for name, outcome in outcomes.items()
        if isinstance(outcome, _Outcome) and (first := _first(outcome)) is not None
    }
    if verdict not in (Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE, Verdict.RTL_MISMATCH) or not firsts:
        return Finding(verdict, text, results)
    unknown = {name: found for name, found in firsts.items() if found[1].unknown}
    shown = unknown if verdict is Verdict.X_IN_OUTPUT and unknown else firsts
    name, (number, difference) = next(iter(shown.items()))
    mismatch = describe(machine, sequences, name, number, difference)
    # Check the expectation before blaming the RTL.
    wrong_engine = contradiction(machine, sequences[number], difference, check=check)
    if wrong_engine is not None:
        blame = Blame("golden", wrong_engine)
        return Finding(Verdict.UNKNOWN, wrong_engine, results, replace(mismatch, blame=blame))
    return Finding(verdict, text, results, mismatch)


def _judged(outcome: _Outcome, common: Sequence[int]) -> SimulatorOutcome:
    """Return ``outcome`` as the judge takes it: digest and departures are those of the ``common`` sequences."""
    answers = outcome.answers
    departures, before = dict[str, str](), 0
    for number in common:
        departures |= {str(before + int(cycle)): bits for cycle, bits in answers[number].departures.items()}
        before += answers[number].cycles
    every = answers.values()
    whole = Answer(
        port_error=next((answer.port_error for answer in every if answer.port_error), None),
        rows=sum(answer.cycles for answer in every),
        bits=sum(answer.bits for answer in every),
        mismatching_rows=sum(answer.mismatching for answer in every),
        unknown_rows=sum(answer.unknown for answer in every),
        filled_rows=sum(answer.filled for answer in every),
        digest=f"{reduce(xor, (int(answers[number].digest or '0', 16) for number in common), 0):064x}",
        departures=departures,
    )
    return SimulatorOutcome(whole, outcome.simulation.version, outcome.build_seconds, outcome.run_seconds)


def _first(outcome: _Outcome) -> tuple[int, MachineDifference] | None:
    """Return the number of the first sequence that differs, and its difference."""
    found = ((number, answer.first) for number, answer in sorted(outcome.answers.items()))
    return next(((number, first) for number, first in found if first is not None), None)


def _digest(outcome: _Outcome) -> str | None:
    """Return the digest of all sequences; None if the design's ports do not match."""
    answers = outcome.answers.values()
    if any(answer.port_error for answer in answers):
        return None
    return f"{reduce(xor, (int(answer.digest, 16) for answer in answers)):064x}"


def _result(name: str, outcome: _Outcome | ToolError) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(
            name, failure=str(outcome), stopped=isinstance(outcome, launch.StoppedRun), code=outcome.code
        )
    answers = outcome.answers.values()
    return SimulatorResult(
        name,
        outcome.simulation.version,
        vectors_compared=sum(answer.cycles for answer in answers),
        bits_compared=sum(answer.bits for answer in answers),
        bulk_vectors=sum(answer.bulk for answer in answers),
        mismatches=sum(answer.mismatching for answer in answers),
        vectors_with_x=sum(answer.unknown for answer in answers),
        digest=_digest(outcome),
        cached=outcome.simulation.cached,
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=next((answer.port_error for answer in answers if answer.port_error), None),
    )
