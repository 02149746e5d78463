"""The benchmark of machines: wrong results are not timed, its goal can be met and missed, its machines are right."""

from __future__ import annotations

import click
import numpy as np
import pytest

from bench.machines import Measured, dense, fir, inputs_of, markdown, measured
from dais_verif.golden.machine_batch import run_machine
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.alirfsm import machine_json

pytestmark = pytest.mark.slow  # about benchmarks, which users of the package do not run


@pytest.mark.parametrize(("theirs", "word"), [(1.1e-3, "met"), (0.9e-3, "NOT MET")])
def test_the_goal_can_be_met_and_missed(theirs: float, word: str) -> None:
    text = markdown([Measured("some", [theirs, 2e-3], [1e-6, 1e-6], [5e-7, 5e-7], 3)], 1024)
    assert text.splitlines()[-1].endswith(f"| {word} |")


@pytest.mark.parametrize("machine", [fir(5), dense(4)], ids=["fir", "dense"])
def test_what_is_timed_gives_the_same(machine: Machine) -> None:
    found = measured("some", machine, machine_json(machine), sequences=2, cycles=9, rounds=1)
    assert found.compared >= 9 and found.times.median > 0


def test_what_gives_something_else_is_not_timed() -> None:
    with pytest.raises(click.ClickException, match="y is not what alkaid's emulator gives"):
        measured("some", fir(5), machine_json(fir(6)), sequences=1, cycles=9, rounds=1)


def test_a_folded_layer_is_the_product_with_its_weights() -> None:
    machine, size = dense(4), 4
    inputs = {"rst": np.zeros((1, 5, 1)), "x": inputs_of(machine, 1, 1)["x"].repeat(5, axis=1)}
    weights = machine.signals["weights"].initial
    assert weights is not None
    exact = np.array(weights, dtype=float).reshape(size, size) @ inputs["x"][0, 0]
    y = run_machine(machine, inputs, engine="exact").outputs["y"][0]
    assert np.array_equal(y[size], np.floor(exact * 16) / 16) and not y[0].any()
