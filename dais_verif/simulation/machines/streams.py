"""The output of a machine as a stream: the data of the cycles in which its valid bit is 1, by the oracle.

A stream has no time: that a cycle has no input must change nothing but when things come out. Of a machine for which it
does, its stream is not defined.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.golden.machine import Value, Values, trace_machine
from dais_verif.machine import Machine, Signal
from dais_verif.machine.streams import MachineStream
from dais_verif.program import FixedType
from dais_verif.simulation.machines.rows import bits_of_value
from dais_verif.simulation.testbench.machine_job import UNKNOWN

__all__ = ["InputBeat", "OutputBeat", "OutputStream", "beat_bits", "oracle_stream", "random_beats", "require_elastic"]

#: The values of all elements of the signals that are data, in order.
InputBeat = Sequence[Fraction]

#: Cycles without an input in which a machine comes to rest: to a state that it was in before.
_LONGEST_DRAIN = 4096
#: The probability of a cycle without input, and the number of beats concerned.
_GAPS, _ELASTIC = (0.2, 0.8), 256
_EXTREME = 0.25


class OutputBeat(NamedTuple):
    """The bits of a beat, most significant first, and the cycle of the machine that gave it."""

    cycle: int
    data: str


class ExpectedStream(NamedTuple):
    """Possible outputs: the first ``least`` of ``data`` in any case, and the others if the machine holds none back.

    ``last``: the cycle of the machine that gives the last one, if no cycle is without an input while there are some.
    """

    data: list[str]
    least: int
    last: int


class OutputStream(NamedTuple):
    """All that comes out, and after how many cycles the machine is at rest."""

    beats: list[OutputBeat]
    cycles: int


def random_beats(stream: MachineStream, count: int, seed: int) -> list[InputBeat]:
    """Return ``count`` beats: all 0, all at their greatest and least values, then at random and at the extremes."""
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
    """Return the bits of a beat that goes in, most significant first."""
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
    """All that comes out of ``beats`` from power-up, with so many ``gaps`` of all cycles, in which inputs are anything.

    ``halting``: before so many of the last beats is a cycle without an input.
    Raises ``InputError`` for a machine that does not come to rest, or of which something is unknown, and
    ``ViolationError`` for the first broken promise if ``check``.
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
                raise InputError("the machine keeps giving beats without any input")
            return OutputStream(found, cycle + 1)
    raise InputError(f"the machine is still active after {_LONGEST_DRAIN} cycles without an input")


def _rows(
    machine: Machine, stream: MachineStream, order: Sequence[tuple[bool, InputBeat]]
) -> dict[str, list[Sequence[Fraction]]]:
    """Rows of all inputs for cycles of which each says whether its data is valid."""
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
        raise InputError(f"{stream.pins.valid_out} is unknown in cycle {cycle}: it depends on what nothing initialises")
    if not valid:
        return []
    data = _data(stream.outputs, values)
    if UNKNOWN in data:
        raise InputError(f"data is unknown in cycle {cycle}, in which {stream.pins.valid_out} is 1")
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
    """Return all possible outputs for ``beats``, which might be followed by ``more`` that never go in.

    A machine may hold beats back until more go in, or a cycle without an input comes early enough, as a window that is
    at the end of an image, and already has some of the next one. What it holds back is known by what comes out with
    more. As many beats are ``more`` as the machine may hold back. ``wanted``: what comes out of ``beats``, if that is
    known. Raises as ``oracle_stream`` does, and ``InputError`` if cycles without an input change more than that.
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
    """Raise ``InputError`` if what comes out of the first of ``beats`` is another where some cycles have no input.

    ``more``: beats that might follow, if those are all.
    """
    beats, more = beats[:_ELASTIC], [*beats[_ELASTIC:], *more][: len(more)]
    wanted = expected_stream(machine, stream, beats, more, check=False)
    for gaps in _GAPS:
        chance = random.Random(f"{seed} {gaps}")
        given = oracle_stream(machine, stream, beats, check=False, gaps=gaps, chance=chance)
        _require_same(stream, wanted.data, [beat.data for beat in given.beats], wanted.least)


def _require_same(stream: MachineStream, wanted: Sequence[str], found: Sequence[str], least: int) -> None:
    """Raise ``InputError`` unless ``found`` is a begin of ``wanted``, of no fewer than ``least`` beats."""
    if least <= len(found) <= len(wanted) and all(a == b for a, b in zip(found, wanted, strict=False)):
        return
    pairs = enumerate(zip(found, wanted, strict=False))
    place = next((k for k, (a, b) in pairs if a != b), min(len(found), len(wanted)))
    raise InputError(
        f"the machine is no stream: beat {place} that comes out is another one where cycles without an input,"
        f" {stream.pins.valid_in} 0, lie between its inputs"
    )
