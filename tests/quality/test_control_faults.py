"""Generated sequences find every visible control fault in each real machine within 2,000 cycles.

A faulty machine is itself a machine: the fast engine shows how it differs, and simulators run its Verilog as
third-party RTL.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.places import FSM

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_machines import random_machine
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.simulation.machines.expected import expect
from dais_verif.spec.machine import Machine, Role, load_machine
from dais_verif.spec.machine.faults import Fault, control_faults
from dais_verif.stimulus.generate_sequences import generate_sequences
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest

CYCLES = 2000
REAL = sorted(path.name for path in FSM.glob("f*"))

#: Faults that no sequence shows: rounding hides them, or the register is written before it is read.
EQUAL = {
    "f03_fir7": ("wrong initial value: taps[6]: 1/4 ",),
    "f05_dense_folded": ("wrong initial value: xreg[",),
}
#: Faults that show only if the FIFO runs empty at a word before it was ever written; half of the seeds show them.
SELDOM = {"f04_fifo": tuple(f"wrong initial value: mem[{word}]" for word in (2, 4, 6))}


def machine(name: str) -> Machine:
    return load_machine(FSM / name / "fsm.json.gz")


def hidden(name: str, fault: Fault) -> bool:
    return str(fault).startswith(EQUAL.get(name, ()) + SELDOM.get(name, ()))


def is_found(of: Machine, fault: Fault, cycles: int = CYCLES, seed: int = 0) -> bool:
    """Return whether an output of the faulty machine ever differs."""
    sequences = generate_sequences(of, cycles, seed)
    right, wrong = (expect(each, sequences, check=False) for each in (of, fault.machine))
    return any(not np.array_equal(a.expected, b.expected) for a, b in zip(right, wrong, strict=True))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("f01_counter", "f06_alt_src") else pytest.mark.slow) for name in REAL],
)
def test_every_fault_that_can_be_seen_is_found_by_generated_sequences(name: str) -> None:
    of = machine(name)
    faults = control_faults(of)
    assert len(faults) >= 10
    missed = [str(fault) for fault in faults if not hidden(name, fault) and not is_found(of, fault)]
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EQUAL))
def test_what_is_called_equal_is_found_by_no_seed(name: str) -> None:
    of = machine(name)
    equal = [fault for fault in control_faults(of) if str(fault).startswith(EQUAL[name])]
    assert equal
    for fault in equal:
        assert not any(is_found(of, fault, seed=seed) for seed in range(5)), str(fault)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_fault_that_can_be_seen_is_found_by_sim(name: str, tmp_path: Path) -> None:
    missed = []
    for fault in control_faults(machine(name)):
        source = tmp_path / "design.v"
        source.write_text(emit_machine(fault.machine))
        request = SimulationRequest(
            program=FSM / name / "fsm.json.gz",
            design=DesignRequest(rtl=(source,), top="model"),
            simulator="icarus",
            vectors=CYCLES,
        )
        record = simulate(request).record
        if record.verdict not in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT) and not hidden(name, fault):
            missed.append(f"{fault}: {record.verdict}")
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({**EQUAL, **SELDOM}))
def test_what_sim_may_miss_is_proved_to_be_equal_or_refuted(name: str, tmp_path: Path) -> None:
    """Every control fault in the real machines is found, or has no effect."""
    for fault in control_faults(machine(name)):
        if hidden(name, fault):
            source = tmp_path / "design.v"
            source.write_text(emit_machine(fault.machine))
            record = dais_verif.prove(FSM / name / "fsm.json.gz", rtl=[source], top="model")
            wanted = Verdict.PASS if name in EQUAL else Verdict.RTL_MISMATCH
            assert record.verdict is wanted, f"{fault}: {record.message}"


def with_registers_seen(of: Machine) -> Machine:
    """Return ``of`` with all registers as outputs, since the outputs of random machines show little."""
    signals = {s.name: replace(s, role=Role.OUTPUT) if s.register else s for s in of.signals.values()}
    return replace(of, signals=signals)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_no_fault_that_shows_is_proved_to_be_equal(seed: int, tmp_path: Path) -> None:
    """A fault in a random machine that 600 cycles show is never proved to be equal; others may have any verdict."""
    rng = random.Random(f"faults {seed}")
    of = with_registers_seen(random_machine(rng, widest=rng.choice((3, 6, 10)), inside=True))
    faults = control_faults(of)
    for fault in rng.sample(faults, min(3, len(faults))):
        source = tmp_path / "design.v"
        source.write_text(emit_machine(fault.machine))
        verdict = dais_verif.prove(of, rtl=[source], top="model").verdict
        if is_found(of, fault, 600, seed):
            assert verdict in (Verdict.RTL_MISMATCH, Verdict.UNKNOWN), str(fault)
        else:
            assert verdict in (Verdict.PASS, Verdict.RTL_MISMATCH, Verdict.UNKNOWN), str(fault)
