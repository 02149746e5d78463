"""Simulation of a machine wrapped in AXI4-Stream: pauses, resets, and every output beat against the oracle."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorError, SimulatorFailure, ToolError, ViolationError
from dais_verif.base.toolchain import process
from dais_verif.base.verdict import Verdict
from dais_verif.golden.machine import Value, Values, trace_machine
from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation import launch
from dais_verif.simulation.machines.rows import bits_of_value
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.axis_job import SCENARIOS, AxisAnswer, Scenario
from dais_verif.simulation.testbench.machine_axis_job import MACHINE_AXIS_JOB_VARIABLE, MachineAxisJob, Stretch
from dais_verif.simulation.testbench.machine_job import UNKNOWN
from dais_verif.simulation.verify import Finding
from dais_verif.spec.machine import Machine, Signal
from dais_verif.spec.machine.streams import MachineStream
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.ports import Ports

__all__ = [
    "InputBeat",
    "OutputBeat",
    "OutputStream",
    "beat_bits",
    "oracle_stream",
    "random_beats",
    "require_elastic",
    "simulate_machine_axis",
]


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


# Compute the output of a machine as a stream, with the oracle: the data of the cycles in which its valid bit is 1.
#
# A stream has no timing: a cycle without input may delay output beats, but must not change their data. If it changes
# anything else, the stream of the machine is not defined.


#: The values of all elements of the data signals, in order.
InputBeat = Sequence[Fraction]

#: The maximum number of cycles without input until a machine comes to rest, which means that it repeats a state.
_LONGEST_DRAIN = 4096
#: The probabilities of a cycle without input that are tried, and the number of beats in each try.
_GAPS, _ELASTIC = (0.2, 0.8), 256
_EXTREME = 0.25


class OutputBeat(NamedTuple):
    """The bits of a beat, most significant first, and the cycle in which the machine returned it."""

    cycle: int
    data: str


class ExpectedStream(NamedTuple):
    """Possible outputs: the first ``least`` of ``data`` always, and the others unless the machine holds them back.

    ``last``: the cycle of the last output, if every cycle has an input until all inputs are used.
    """

    data: list[str]
    least: int
    last: int


class OutputStream(NamedTuple):
    """All output beats, and the number of cycles after which the machine is at rest."""

    beats: list[OutputBeat]
    cycles: int


def random_beats(stream: MachineStream, count: int, seed: int) -> list[InputBeat]:
    """Return ``count`` beats: all 0, all at the greatest and least values, then random values and extremes."""
    chance = random.Random(f"{seed} {count}")
    kinds = [kind for signal in stream.inputs for kind in signal.types]
    found: list[InputBeat] = [[Fraction(0) for _ in kinds]]
    found += [[_real(kind.raw_max, kind) for kind in kinds], [_real(kind.raw_min, kind) for kind in kinds]]
    while len(found) < count:
        found.append([_any(kind, chance) for kind in kinds])
    return found[:count]


def _any(kind: FixedType, chance: random.Random) -> Fraction:
    if chance.random() < _EXTREME:
        return _real(chance.choice((kind.raw_min, kind.raw_max)), kind)
    return _real(chance.randint(kind.raw_min, kind.raw_max), kind)


def _real(raw: int, kind: FixedType) -> Fraction:
    return raw * Fraction(2) ** -kind.f


def beat_bits(stream: MachineStream, beat: InputBeat) -> str:
    """Return the bits of an input beat, most significant first."""
    kinds = [kind for signal in stream.inputs for kind in signal.types]
    return "".join(reversed([bits_of_value(value, kind) for value, kind in zip(beat, kinds, strict=True)]))


def oracle_stream(
    machine: Machine,
    stream: MachineStream,
    beats: Sequence[InputBeat],
    *,
    check: bool,
    gaps: float = 0.0,
    chance: random.Random | None = None,
    halting: int = 0,
) -> OutputStream:
    """Return all outputs for ``beats`` from power-up; ``gaps``: the share of cycles with random data that is not valid.

    ``halting``: before each of this many last beats comes a cycle without input. Raises ``InputError`` for a machine
    that does not come to rest or returns unknown values, and ``ViolationError`` for the first broken promise if
    ``check``.
    """
    chance = chance or random.Random(0)
    kinds = [kind for signal in stream.inputs for kind in signal.types]
    order: list[tuple[bool, InputBeat]] = []
    for number, beat in enumerate(beats):
        if number >= len(beats) - halting:
            order.append((False, [_any(kind, chance) for kind in kinds]))
        while gaps and chance.random() < gaps:
            order.append((False, [_any(kind, chance) for kind in kinds]))
        order.append((True, beat))
    nothing = [Fraction(0)] * len(kinds)
    rows = _rows(machine, stream, [*order, *[(False, nothing)] * _LONGEST_DRAIN])
    found: list[OutputBeat] = []
    seen: dict[tuple[tuple[Value, ...], ...], int] = {}
    for cycle, traced in enumerate(trace_machine(machine, rows, check=check)):
        found += _given(stream, cycle, traced.before)
        if cycle + 1 < len(order):
            continue
        state = tuple(traced.after[signal.name] for signal in machine.registers)
        before = seen.setdefault(state, cycle)
        if before < cycle:
            if found and found[-1].cycle > before:
                raise SimulatorError("the machine keeps sending beats without any input")
            return OutputStream(found, cycle + 1)
    raise SimulatorError(f"the machine is still active after {_LONGEST_DRAIN} cycles without an input")


def _rows(
    machine: Machine, stream: MachineStream, order: Sequence[tuple[bool, InputBeat]]
) -> dict[str, list[Sequence[Fraction]]]:
    """Return the rows of all inputs for the cycles in ``order``, each given by whether data is valid, and the beat."""
    pins = stream.pins
    rows: dict[str, list[Sequence[Fraction]]] = {signal.name: [] for signal in machine.inputs}
    for valid, beat in order:
        place = 0
        for signal in stream.inputs:
            rows[signal.name].append(beat[place : place + len(signal.types)])
            place += len(signal.types)
        rows[pins.valid_in].append([Fraction(valid)])
        rows[pins.enable].append([Fraction(1)])
        if pins.reset is not None:
            rows[pins.reset].append([Fraction(0)])
    return rows


def _given(stream: MachineStream, cycle: int, values: Values) -> list[OutputBeat]:
    """Return the output of a cycle: a beat or none."""
    (valid,) = values[stream.pins.valid_out]
    if valid is None:
        raise SimulatorError(
            f"{stream.pins.valid_out} is unknown in cycle {cycle}: it depends on uninitialised registers"
        )
    if not valid:
        return []
    data = _data(stream.outputs, values)
    if UNKNOWN in data:
        raise SimulatorError(f"data is unknown in cycle {cycle}, in which {stream.pins.valid_out} is 1")
    return [OutputBeat(cycle, data)]


def _data(signals: Sequence[Signal], values: Values) -> str:
    elements = [
        bits_of_value(value, kind)
        for signal in signals
        for value, kind in zip(values[signal.name], signal.types, strict=True)
    ]
    return "".join(reversed(elements))


def expected_stream(
    machine: Machine,
    stream: MachineStream,
    beats: Sequence[InputBeat],
    more: Sequence[InputBeat],
    *,
    check: bool,
    wanted: OutputStream | None = None,
) -> ExpectedStream:
    """Return all possible outputs for ``beats`` alone; ``more`` are beats that could follow, but do not.

    A machine may hold beats back until more input arrives, or until a cycle without input comes early enough. An
    example is a window at the end of an image that already contains data of the next image. The outputs with ``more``
    show which beats it holds back; ``more`` has as many beats as the machine may hold back. ``wanted``: the outputs for
    ``beats``, if known. Raises as ``oracle_stream`` does, and ``InputError`` if cycles without input change anything
    else.
    """
    found = (oracle_stream(machine, stream, beats, check=check) if wanted is None else wanted).beats
    data, last = [beat.data for beat in found], found[-1].cycle if found else 0
    halting = oracle_stream(machine, stream, beats, check=False, halting=len(more)).beats
    if [beat.data for beat in halting] == data:
        return ExpectedStream(data, len(data), last)
    longer = [beat.data for beat in oracle_stream(machine, stream, [*beats, *more], check=False).beats]
    _require_same(stream, longer, data, len(data))
    _require_same(stream, longer, [beat.data for beat in halting], len(data))
    return ExpectedStream(longer, len(data), last)


def require_elastic(
    machine: Machine, stream: MachineStream, beats: Sequence[InputBeat], more: Sequence[InputBeat], seed: int
) -> None:
    """Raise ``InputError`` if cycles without input change the outputs for the first of ``beats``.

    ``more``: beats that could follow all of ``beats``.
    """
    beats, more = beats[:_ELASTIC], [*beats[_ELASTIC:], *more][: len(more)]
    wanted = expected_stream(machine, stream, beats, more, check=False)
    for gaps in _GAPS:
        chance = random.Random(f"{seed} {gaps}")
        given = oracle_stream(machine, stream, beats, check=False, gaps=gaps, chance=chance)
        _require_same(stream, wanted.data, [beat.data for beat in given.beats], wanted.least)


def _require_same(stream: MachineStream, wanted: Sequence[str], found: Sequence[str], least: int) -> None:
    """Raise ``InputError`` unless ``found`` is a prefix of ``wanted`` of at least ``least`` beats."""
    if least <= len(found) <= len(wanted) and all(a == b for a, b in zip(found, wanted, strict=False)):
        return
    pairs = enumerate(zip(found, wanted, strict=False))
    place = next((k for k, (a, b) in pairs if a != b), min(len(found), len(wanted)))
    raise SimulatorError(
        f"the machine is not a stream: output beat {place} changes if there are cycles without an input"
        f" ({stream.pins.valid_in} = 0) between its inputs"
    )
