"""Faults in the control of example machines: a machine that is proved equal shows no wrong frame, even with stalls."""

from __future__ import annotations

import importlib.util
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dais_verif
from dais_verif.base.errors import InputError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.golden.unroll import Frame
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.faults import control_faults
from dais_verif.spec.program import Program
from dais_verif.verbs.machines.frame import read_frame

SCRIPT = Path(__file__).parents[2] / "examples" / "make_machines.py"

spec = importlib.util.spec_from_file_location("make_machines", SCRIPT)
assert spec is not None and spec.loader is not None
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

FRAMES, SEQUENCES = 5, 12


def seen_wrong(machine: Machine, program: Program, frame: Frame, seed: int) -> bool:
    """Return whether a frame differs from the program, for random inputs and random stalls from power-up."""
    rng = np.random.default_rng(seed)
    for _ in range(SEQUENCES):
        going = rng.random(int(frame.cycles * (FRAMES + 1) * 1.5) + 4) < rng.choice([1.0, 0.7])
        when = np.flatnonzero(going)
        inputs = {}
        for signal in machine.inputs:
            types = signal.types
            inputs[signal.name] = np.stack(
                [rng.integers(kind.raw_min, kind.raw_max + 1, size=len(going)) for kind in types], axis=1
            )
        inputs["en"] = going[:, None].astype(np.int64)
        outputs = dais_verif.run_machine(machine, inputs, check=False).outputs
        for first in range(0, min(FRAMES, len(when) // frame.cycles - 1) * frame.cycles, frame.cycles):
            given = [int(inputs[port.signal][when[first + port.cycle], port.place]) for port in frame.inputs]
            wanted = dais_verif.run(program, [given])[0]
            found = [outputs[port.signal][0, when[first + port.cycle], port.place] for port in frame.outputs]
            if not np.array_equal(wanted, found):
                return True
    return False


def judged(name: str, machine: Machine, program: Program, path: Path) -> Counter[str]:
    frame = read_frame(path, machine).frame
    assert all(values == (Fraction(1),) * frame.cycles for values in frame.held.values())
    found: Counter[str] = Counter()
    for number, fault in enumerate(control_faults(machine)):
        wrong = seen_wrong(fault.machine, program, frame, number)
        try:
            record = dais_verif.diff(fault.machine, program, frame=path, prove=True, timeout=2, vectors=100)
        except (InputError, ViolationError) as error:
            found[f"{type(error).__name__}, {'wrong' if wrong else 'not seen'}"] += 1
            continue
        assert not (wrong and record.verdict is Verdict.PASS), (name, number, fault)
        found[f"{record.verdict.value}, {'wrong' if wrong else 'not seen'}"] += 1
    return found


@pytest.mark.parametrize(
    "name", ["serial_dot", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dense", "convolution"))]
)
def test_no_fault_that_is_seen_passes(name: str) -> None:
    machine, program = next((right, program) for which, right, _, program in module.MACHINES if which == name)
    assert not seen_wrong(machine, program, read_frame(SCRIPT.with_name(f"{name}.toml"), machine).frame, 0)
    found = judged(name, machine, program, SCRIPT.with_name(f"{name}.toml"))
    print(found)
    assert found["PROGRAMS_DIFFER, wrong"] >= 4
