"""The output stream of a machine equals sums computed by hand; machines whose behaviour is not a stream are refused."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from support.said import raises
from support.stream_machines import PINS, delay, mac, moving_sum

from dais_verif.base.errors import InputError
from dais_verif.simulation.machines.axis import OutputStream, oracle_stream, random_beats, require_elastic
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.streams import MachineStream, StreamPins, stream_of


def streamed(machine: Machine, count: int, gaps: float = 0.0) -> tuple[MachineStream, list[list[int]], OutputStream]:
    stream = stream_of(machine, StreamPins(**PINS))
    beats = random_beats(stream, count, 3)
    found = oracle_stream(machine, stream, beats, check=True, gaps=gaps, chance=random.Random(5))
    return stream, [[int(value) for value in beat] for beat in beats], found


def signed(bits: str) -> int:
    return int(bits, 2) - (int(bits[0]) << len(bits))


@pytest.mark.parametrize("gaps", [0.0, 0.5])
def test_a_filter_gives_what_its_formula_says(gaps: float) -> None:
    _, beats, found = streamed(moving_sum(), 20, gaps)
    x = [0, 0, *(beat[0] for beat in beats)]
    assert [signed(beat.data) for beat in found.beats] == [3 * x[n + 2] - 2 * x[n + 1] + x[n] for n in range(20)]


@pytest.mark.parametrize("gaps", [0.0, 0.5])
def test_a_beat_for_every_four(gaps: float) -> None:
    """The machine gives one beat per four inputs; an incomplete last group gives none."""
    _, beats, found = streamed(mac(), 18, gaps)
    sums = [sum(a * b for a, b in beats[n : n + 4]) for n in range(0, 16, 4)]
    assert [signed(beat.data) for beat in found.beats] == sums


@pytest.mark.parametrize("edges", [1, 100])
def test_nothing_is_cut_off_that_comes_late(edges: int) -> None:
    _, beats, found = streamed(delay(edges), 3)
    assert [signed(beat.data) for beat in found.beats] == [beat[0] for beat in beats]
    assert [beat.cycle for beat in found.beats] == [edges, edges + 1, edges + 2]


def test_a_machine_that_never_stops_giving_has_no_stream() -> None:
    with raises(InputError):
        streamed(delay(3, endless=True), 5)


def test_a_machine_that_does_not_come_to_rest_may_still_give_something() -> None:
    with raises(InputError):
        streamed(delay(3, counting=True), 5)


def test_pauses_must_change_nothing_but_the_time() -> None:
    for machine, elastic in ((moving_sum(), True), (mac(), True), (moving_sum(elastic=False), False)):
        stream = stream_of(machine, StreamPins(**PINS))
        beats = random_beats(stream, 20, 0)
        if elastic:
            require_elastic(machine, stream, beats, beats[:8], 0)
        else:
            with raises(InputError):
                require_elastic(machine, stream, beats, beats[:8], 0)


def test_beats_begin_with_corners() -> None:
    stream = stream_of(mac(), StreamPins(**PINS))
    beats = random_beats(stream, 4, 0)
    assert beats[:3] == [[Fraction(0)] * 2, [Fraction(127), Fraction(31)], [Fraction(-128), Fraction(0)]]
