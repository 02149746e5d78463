"""What comes out of a machine as a stream: the data of the cycles in which its valid bit is 1, by the oracle.

A stream has no time: that a cycle has no input must change nothing but when things come out. Of a machine for which it
does, nobody can say what its stream is.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.golden.machine import Values, trace_machine
from dais_verif.machine import Machine, Signal
from dais_verif.machine.streams import MachineStream
from dais_verif.program import FixedType
from dais_verif.simulation.machines.rows import bits_of_value
from dais_verif.simulation.testbench.machine_job import UNKNOWN

__all__ = ["OutputBeat", "beat_bits", "oracle_stream", "random_beats", "require_elastic"]

#: The values of all elements of the signals that are data, in order.
InputBeat = Sequence[Fraction]

#: Cycles without an input after which a machine that still gives beats is taken to give them for ever.
_FIRST_DRAIN, _LONGEST_DRAIN = 64, 4096
#: How likely a cycle has no input.
_GAPS = (0.2, 0.5, 0.8)
_EXTREME = 0.25


class OutputBeat(NamedTuple):
    """The bits of a beat, most significant first, and the cycle of the machine that gave it."""

    cycle: int
    data: str


def random_beats(stream: MachineStream, count: int, seed: int) -> list[InputBeat]:
    """``count`` beats: all 0, all at their greatest and least values, then at random and at the extremes."""
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
    """The bits of a beat that goes in, most significant first."""
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
) -> list[OutputBeat]:
    """All that comes out of ``beats`` from power-up, with so many ``gaps`` of all cycles, in which inputs are anything.

    Raises ``InputError`` for a machine that does not end, or of which something is unknown, and ``ViolationError`` for
    the first broken promise if ``check``.
    """
    chance = chance or random.Random(0)
    order: list[int | None] = []
    for number in range(len(beats)):
        while gaps and chance.random() < gaps:
            order.append(None)
        order.append(number)
    drain = _FIRST_DRAIN
    while True:
        found = _traced(machine, stream, beats, [*order, *[None] * drain], check, chance if gaps else None)
        if not found or found[-1].cycle < len(order) + drain // 2:
            return found
        if drain >= _LONGEST_DRAIN:
            raise InputError(f"the machine gives beats {drain} cycles after its last input, and so perhaps for ever")
        drain *= 8


def _traced(
    machine: Machine,
    stream: MachineStream,
    beats: Sequence[InputBeat],
    order: Sequence[int | None],
    check: bool,
    chance: random.Random | None,
) -> list[OutputBeat]:
    pins = stream.pins
    rows: dict[str, list[Sequence[Fraction]]] = {signal.name: [] for signal in machine.inputs}
    kinds = [kind for signal in stream.inputs for kind in signal.types]
    nothing = [Fraction(0)] * len(kinds)
    for number in order:
        beat = beats[number] if number is not None else nothing if chance is None else [_any(k, chance) for k in kinds]
        place = 0
        for signal in stream.inputs:
            rows[signal.name].append(beat[place : place + len(signal.types)])
            place += len(signal.types)
        rows[pins.valid_in].append([Fraction(number is not None)])
        rows[pins.enable].append([Fraction(1)])
        if pins.reset is not None:
            rows[pins.reset].append([Fraction(0)])
    found = []
    for cycle, traced in enumerate(trace_machine(machine, rows, check=check)):
        (valid,) = traced.before[pins.valid_out]
        if valid is None:
            raise InputError(f"{pins.valid_out} is unknown in cycle {cycle}: it depends on what nothing initialises")
        if valid:
            data = _data(stream.outputs, traced.before)
            if UNKNOWN in data:
                raise InputError(f"data is unknown in cycle {cycle}, in which {pins.valid_out} is 1")
            found.append(OutputBeat(cycle, data))
    return found


def _data(signals: Sequence[Signal], values: Values) -> str:
    elements = [
        bits_of_value(value, kind)
        for signal in signals
        for value, kind in zip(values[signal.name], signal.types, strict=True)
    ]
    return "".join(reversed(elements))


def require_elastic(
    machine: Machine, stream: MachineStream, beats: Sequence[InputBeat], expected: Sequence[OutputBeat], seed: int
) -> None:
    """Raise ``InputError`` if what comes out of ``beats`` is not as ``expected`` where some cycles have no input."""
    wanted = [beat.data for beat in expected]
    for gaps in _GAPS:
        chance = random.Random(f"{seed} {gaps}")
        found = [beat.data for beat in oracle_stream(machine, stream, beats, check=False, gaps=gaps, chance=chance)]
        if found != wanted:
            pairs = enumerate(zip(found, wanted, strict=False))
            place = next((k for k, (a, b) in pairs if a != b), min(len(found), len(wanted)))
            raise InputError(
                f"the machine is no stream: beat {place} that comes out is another one where cycles without an input,"
                f" {stream.pins.valid_in} 0, lie between its inputs"
            )
