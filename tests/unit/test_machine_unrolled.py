"""Programs of unrolled cycles of random machines give what the oracle gives, cycle by cycle."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.golden import oracle
from dais_verif.golden.machine import trace_machine
from dais_verif.golden.oracle import quantise
from dais_verif.golden.unroll import Frame, Port, lost_of, stall_of, unroll
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Element

CYCLES = 3


def a_frame(rng: random.Random, machine: Machine) -> Frame:
    """Return a frame in which some inputs are held, some are frame inputs in some cycles, and the rest is free."""
    held: dict[Element, tuple[Fraction, ...]] = {}
    ports = []
    for signal in machine.inputs:
        for place, kind in enumerate(signal.types):
            if rng.random() < 0.4:
                values = [rng.randint(kind.raw_min, kind.raw_max) * Fraction(2) ** -kind.f for _ in range(CYCLES)]
                held[Element(signal.name, place)] = tuple(values)
            else:
                ports += [Port(signal.name, place, t) for t in range(CYCLES) if rng.random() < 0.7]
    outputs = [
        Port(signal.name, place, rng.randint(0, CYCLES + 1))
        for signal in machine.outputs
        for place in range(len(signal.types))
    ]
    rng.shuffle(ports)
    return Frame(CYCLES, tuple(ports), tuple(outputs), held)


def a_run(rng: random.Random, machine: Machine, frame: Frame, cycles: int) -> dict[str, list[list[Fraction]]]:
    """Return random inputs of ``cycles`` cycles, in which the held inputs have their values."""
    arrays = random_inputs(rng, machine, 1, cycles)
    rows = {name: [[Fraction(v) for v in row] for row in array[0].tolist()] for name, array in arrays.items()}
    for (name, place), values in frame.held.items():
        for t in range(cycles):
            rows[name][t][place] = values[t % CYCLES]
    return rows


def compared(seed: int) -> str:
    """Compare an unrolled random machine with the oracle, from power-up or any state; return the kind of outcome."""
    rng = random.Random(seed)
    machine = random_machine(rng, inside=rng.random() < 0.7)
    frame = a_frame(rng, machine)
    after = rng.choice((None, 0, 1, 2))
    try:
        unrolled = unroll(machine, frame, after=after)
    except (InputError, ViolationError) as error:
        return type(error).__name__
    first = CYCLES * (rng.randint(0, 2) if after is None else after)
    rows = a_run(rng, machine, frame, first + CYCLES + 2)
    cycles = list(trace_machine(machine, rows, check=False))
    begin: dict[Any, Any] = {s.name: s.initial for s in machine.registers}
    if first and after is None:
        begin = {name: cycles[first - 1].after[name] for name in begin}
    for element, value in unrolled.known.items():
        assert begin[element.signal][element.place] == value, (seed, element)
    vector = []
    for what in (*frame.inputs, *unrolled.free):
        if isinstance(what, Port):
            kind = machine.signals[what.signal].types[what.place]
            vector.append(quantise(rows[what.signal][first + what.cycle][what.place], kind))
        elif begin[what.signal] is None or begin[what.signal][what.place] is None:
            return "unknown"
        else:
            vector.append(begin[what.signal][what.place])
    values = oracle.trace(unrolled.program, vector, violations=[])
    for port, value in zip(frame.outputs, oracle.outputs_of(unrolled.program, values), strict=True):
        known = cycles[first + port.cycle].before[port.signal][port.place]
        assert known is None or known == value, (seed, port)
    return "any state" if after is None else "power-up"


@pytest.mark.parametrize(
    ("first", "count"), [(0, 150), pytest.param(1000, 3000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_frame_is_what_the_oracle_computes(first: int, count: int) -> None:
    found = [compared(seed) for seed in range(first, first + count)]
    assert found.count("any state") > count // 20 and found.count("power-up") > count // 4


@pytest.mark.parametrize("seed", range(40))
def test_a_stall_is_what_the_oracle_computes(seed: int) -> None:
    """Registers that ``stall_of`` does not name hold in the stall; the others change as its programs compute."""
    rng = random.Random(seed)
    machine = random_machine(rng, inside=True)
    frame = a_frame(rng, machine)
    stall = {element: values[0] for element, values in frame.held.items()}
    try:
        found = stall_of(machine, frame, stall)
    except (InputError, ViolationError):
        return
    named = {(port.signal, port.place) for port in found.registers}
    rows = a_run(rng, machine, frame, 5)
    for (name, place), value in stall.items():
        rows[name][4][place] = value
    before, last = list(trace_machine(machine, rows, check=False))[3:]
    for signal in machine.registers:
        for place in range(len(signal.types)):
            if (signal.name, place) not in named:
                assert last.after[signal.name][place] == before.after[signal.name][place], (seed, signal.name, place)
    vector = [
        quantise(rows[what.signal][4][what.place], machine.signals[what.signal].types[what.place])
        if isinstance(what, Port)
        else before.after[what.signal][what.place]
        for what in found.free
    ]
    given = [Fraction(0)] * len(frame.inputs) + vector
    for program, cycle in ((found.after, last), (found.before, before)):
        values = oracle.outputs_of(program, oracle.trace(program, given, violations=[]))
        assert values == [cycle.after[port.signal][port.place] for port in found.registers], seed


@pytest.mark.parametrize("seed", range(30))
def test_what_no_frame_restores_is_explained(seed: int) -> None:
    rng = random.Random(seed)
    machine = random_machine(rng, inside=True)
    frame = a_frame(rng, machine)
    try:
        unrolled = unroll(machine, frame)
    except (InputError, ViolationError):
        return
    lost = lost_of(machine, frame, unrolled)
    assert set(lost) == {e for e in unrolled.free if isinstance(e, Element) and machine.signals[e.signal].initial}
    assert not set(lost) & set(unrolled.known)
