"""Generated machines of any size: they are as large as asked for, and run time grows with their size alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.big_machines import big_machine
from support.counting import growth

from dais_verif.golden.machine_batch import run_machine
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.spec.machine import Machine, validate
from dais_verif.spec.machine.step import conflict_of, step_of
from dais_verif.spec.program.ranges import PromiseStatus, analyse


def elements(of: Machine) -> int:
    return sum(len(signal.types) for signal in of.registers)


@pytest.mark.parametrize(("ops", "registers"), [(200, 60), (3000, 300)])
def test_it_is_as_large_as_asked_and_safe(ops: int, registers: int) -> None:
    of = big_machine(ops, registers, seed=3)
    assert elements(of) == registers
    assert abs(sum(block.program.n_ops for block in of.blocks.values()) - ops) < ops / 10 + 20
    step = step_of(of)
    assert not step.indexed and conflict_of(of) is None
    analysis = analyse(step.program)
    assert not analysis.promises(PromiseStatus.POSSIBLE) and not analysis.promises(PromiseStatus.CERTAIN)


def test_both_engines_run_it() -> None:
    of, rng = big_machine(400, 100), np.random.default_rng(0)
    shape = (3, 12)
    inputs = {
        "rst": (rng.random((*shape, 1)) < 0.1).astype(float),
        "en": (rng.random((*shape, 1)) < 0.8).astype(float),
        "x": rng.integers(-128, 128, (*shape, len(of.signals["x"].types))) / 16,
    }
    found, exact = (run_machine(of, inputs, engine=engine).outputs for engine in ("fast", "exact"))
    assert all(np.array_equal(found[name], exact[name]) for name in exact)
    assert len(np.unique(found["y"])) > 10


def emitted(of: Machine) -> str:
    return emit_machine(of, "model")


@pytest.mark.few(2)
@pytest.mark.parametrize("work", [validate, step_of, conflict_of, emitted])
def test_cost_grows_with_size_alone(work: Callable[[Machine], object]) -> None:
    def sized(registers: int) -> Callable[[], object]:
        of = big_machine(10 * registers, registers)
        return lambda: work(of)

    assert growth(sized, 400, 1600) < 1.3
