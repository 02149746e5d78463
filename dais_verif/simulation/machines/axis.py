"""Simulation of a machine wrapped in AXI4-Stream: pauses, resets, and every output beat against the oracle."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorError, ToolError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.golden.machine import Value, Values, trace_machine
from dais_verif.hardware.ports.interface import Dut
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation import launch
from dais_verif.simulation.axis import run_streams, stream_interface
from dais_verif.simulation.judge import AxisOutcome, judge_streams
from dais_verif.simulation.machines.rows import bits_of_value
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.axis_job import SCENARIOS, AxisJob, MachineBeats, Stretch
from dais_verif.simulation.testbench.sequence_job import UNKNOWN
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
    job = AxisJob(
        vectors=None,
        machine=MachineBeats([beat_bits(stream, beat) for beat in beats], stretches, depth),
        input_bits=stream.input_bits,
        output_bits=stream.output_bits,
        seed=seed,
    )
    dut = Dut(stream_interface(job), Ports((), ()), (), "the machine's types")
    outcomes = run_streams(replace(design, dut=dut), job, folder, simulators=simulators, waves=waves, timeout=timeout)
    (every,) = stretches["0"] if beats else [None]
    nothing = "nothing went in" if every is None else "nothing comes out" if len(every.expected) <= every.spare else ""
    verdict, message = judge_streams(outcomes, job, nothing)
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


def _result(name: str, outcome: AxisOutcome | ToolError, job: AxisJob) -> SimulatorResult:
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
