"""Coverage of machine control equals a slow, obvious count; states shown to be unreachable never occur."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.machines import BIT, NIBBLE, block, connect, counter, machine, read_tree, signal
from support.places import FSM

from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.coverage.machines import MACHINE_GROUPS, control_of, measure_machine, reachable_states
from dais_verif.golden.machine import trace_machine
from dais_verif.record.coverage import Coverage
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.stimulus.generate_sequences import generate_sequences
from dais_verif.stimulus.machines import InputSequence
from dais_verif.verbs.cover import Covering
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest

COUNTER = read_tree(counter(rst_if=signal("rst", exposed=True), rst_to=[3]))


def rows(**inputs: list[int]) -> InputSequence:
    """Return one sequence of inputs that have one element each."""
    cycles = len(next(iter(inputs.values())))
    return InputSequence(cycles, {name: [[Fraction(v)] for v in values] for name, values in inputs.items()})


def counts(coverage: Coverage) -> dict[str, tuple[int, int, int]]:
    return {group.name: (group.bins, group.hit, group.unreachable) for group in coverage.groups}


def left(coverage: Coverage) -> list[str]:
    return [one.text for one in coverage.open]


def test_bits_enables_and_resets_are_counted_both_ways() -> None:
    coverage = measure_machine(COUNTER, [rows(en=[0, 0], rst=[0, 0])])
    assert counts(coverage) == {"register bit": (8, 4, 0), "enable": (2, 1, 0), "reset": (2, 1, 0)}
    assert "enable: en[0:1] of INTERNAL_inc_outp[0:1] -> n[0:1] is 1" in left(coverage)
    assert "reset: rst[0:1] of n is 1" in left(coverage) and "register bit: bit 2 of n[0] is 1" in left(coverage)
    assert coverage.percent == 50.0 and coverage.open_total == 6
    # The counter takes 3, 4, ..., 15, 0: every bit is 0 and 1; the value after the last edge belongs to no cycle.
    whole = measure_machine(COUNTER, [rows(en=[1] * 14, rst=[0] * 14), rows(en=[0], rst=[1])])
    assert whole.percent == 100.0 and not whole.open and whole.vectors == 15


def modulo(n: int) -> Machine:
    """Return a counter from 0 to ``n - 1``, and a memory of eight words written at the count where ``we`` is 1."""
    count = signal("count", [[False, 3, 0]], reg=True, rst_if=signal("rst", exposed=True), rst_to=[0])
    # The counter takes count + 1 while count - (n - 1) is negative, else 0.
    step = block(
        1,
        [5],
        [[], -1, [0], [0, 7, 1]],
        [[0], 4, [1, 0], [1, 8, 1]],
        [[0], 4, [1 - n, 0], [1 - n, 8 - n, 1]],
        [[], 5, [0], [0, 0, 1]],
        [[1, 3, 2], 6, [0], [0, 15, 1]],
        [[4], 3, [0], [0, 7, 1]],
    )
    inp, out = signal("INTERNAL_step_inp", [[False, 3, 0]]), signal("INTERNAL_step_outp", [[False, 3, 0]])
    word = signal(
        "m", NIBBLE * 8, reg=True, rst_to=[0] * 8, view=(0, 1), dynamic=(signal("count", [[False, 3, 0]], reg=True), 1)
    )
    return machine(
        {"step": step},
        [
            connect(count, inp),
            connect(out, count),
            connect(signal("d", NIBBLE, exposed=True), word, signal("we", [BIT], exposed=True)),
            connect(word, signal("y", NIBBLE, exposed=True)),
        ],
    )


@pytest.mark.parametrize("n", [3, 5])
def test_states_that_control_never_takes_are_shown_to_be_unreachable(n: int) -> None:
    of = modulo(n)
    control = control_of(of)
    assert [str(element) for element in control.elements] == ["count[0]"]
    reachable = reachable_states(of, control)
    assert reachable is not None and np.flatnonzero(reachable).tolist() == list(range(n))
    cycles = 2 * n
    quiet = {"rst": [0] * cycles, "we": [1] + [0] * (cycles - 1), "d": [1] * cycles}
    coverage = measure_machine(of, [rows(**quiet)])
    assert counts(coverage)["control state"] == (8, n, 8 - n)
    assert counts(coverage)["reset in state"] == (8, 0, 8 - n)
    assert counts(coverage)["word written"] == (8, 1, 0)
    assert counts(coverage)["word read"] == (8, n, 0)
    pulses = [rows(rst=[0] * k + [1], we=[1] * (k + 1), d=[0] * (k + 1)) for k in range(n)]
    more = measure_machine(of, pulses)
    assert counts(more)["reset in state"] == (8, n, 8 - n)
    assert counts(more)["word written"] == (8, n, 0)


def test_the_fifo_has_as_many_states_as_it_can_be_filled_and_turned() -> None:
    of = load_machine(FSM / "f04_fifo" / "fsm.json.gz")
    control = control_of(of)
    reachable = reachable_states(of, control)
    assert control.bits == 10 and reachable is not None and reachable.sum() == 8 * 9


def test_slots_of_schedules_are_counted_by_edges() -> None:
    of = load_machine(FSM / "f05_dense_folded" / "fsm.json.gz")
    sequence = generate_sequences(of, 10)[0]
    coverage = measure_machine(of, [sequence])
    # The first slot of the output is edge 8: after ten cycles, two of its eight slots have occurred.
    assert counts(coverage)["schedule slot"] == (24, 8 + 8 + 2, 0)
    assert "schedule slot: slot 2 of y, without data" in left(coverage)


def slow(of: Machine, sequences: list[InputSequence]) -> set[str]:
    """Return the texts of all hit bins of bits, enables, resets and words, found by the oracle one value at a time."""
    hit = set()
    for sequence in sequences:
        for cycle in trace_machine(of, sequence.rows, check=False, cycles=sequence.cycles):
            now: Any = cycle.before
            for register in of.registers:
                for place, (value, kind) in enumerate(zip(now[register.name], register.types, strict=True)):
                    if value is not None:
                        raw = int(value * Fraction(2) ** kind.f)
                        for bit in range(kind.width):
                            hit.add(f"register bit: bit {bit} of {register.name}[{place}] is {raw >> bit & 1}")
                if register.reset is not None:
                    on = now[register.reset.signal][register.reset.start]
                    hit.add(f"reset: {register.reset} of {register.name} is {on}")
            for c in of.connections:
                on = None if c.enable is None else now[c.enable.signal][c.enable.start]
                if c.enable is not None:
                    hit.add(f"enable: {c.enable} of {c} is {on}")
                takes = {"source": on in (None, 1), "alternative": on == 0, "target": True}
                if c.enable is not None:
                    takes |= {"source": on == 1, "target": on == 1 or c.alternative is not None}
                reset = of.signals[c.target.signal].reset
                if reset is not None and now[reset.signal][reset.start] != 0:
                    takes["target"] = False
                for field, taken in takes.items():
                    view = getattr(c, field)
                    if view is not None and view.index is not None and taken:
                        index = now[view.index.value.signal][view.index.value.start]
                        what = "written" if field == "target" else "read"
                        hit.add(f"word {what}: word {index} of {view} by {c}")
    return hit


@pytest.mark.parametrize("seed", range(8))
def test_random_machines_are_counted_as_by_hand(seed: int) -> None:
    """Counts are right also with unknown values and with indices outside their memories; no open bin is hit."""
    rng = random.Random(f"coverage {seed}")
    of = random_machine(rng, widest=rng.choice((4, 12, 70)), initialised=seed % 3 > 0, inside=seed % 2 > 0)
    arrays = random_inputs(rng, of, 2, 9)
    exact = {name: [[[Fraction(v) for v in row] for row in rows] for rows in a.tolist()] for name, a in arrays.items()}
    sequences = [InputSequence(9, {name: each[n] for name, each in exact.items()}) for n in range(2)]
    coverage = measure_machine(of, sequences, check=False)
    hit = slow(of, sequences)
    assert set(left(coverage)).isdisjoint(hit)
    found = counts(coverage)
    for name in ("register bit", "enable", "word written", "word read"):
        bins, number, _ = found.get(name, (0, 0, 0))
        lost = sum(text.startswith(f"{name}: ") for text in left(coverage))
        assert bins == number + lost, name


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 60))])
def test_no_state_that_is_called_unreachable_is_ever_seen(seed: int) -> None:
    """``measure_machine`` itself raises if a state shown to be unreachable occurs in many cycles of random inputs."""
    of = random_machine(random.Random(seed), widest=3, inside=True)
    measure_machine(of, generate_sequences(of, 600, seed), check=False)


def test_sim_records_coverage_of_a_machine() -> None:
    request = SimulationRequest(
        program=FSM / "f06_alt_src" / "fsm.json.gz", simulator="icarus", vectors=300, covering=Covering(coverage=True)
    )
    coverage = simulate(request).record.coverage
    assert coverage is not None and coverage.percent == 100.0 and coverage.vectors == 300
    assert [group.name for group in coverage.groups] == [n for n in MACHINE_GROUPS if n in counts(coverage)]
