"""The Verilog of random machines agrees with the oracle in simulators, in every known bit."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.ports.interface import Dut
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.simulation.machines.simulate import simulate_machine
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus.machines import InputSequence


def check(seed: int, folder: Path, simulator: str) -> SimulatorResult | None:
    """Simulate one machine with two sequences from power-up; return None if none of its bits is known."""
    rng = random.Random(f"machine {seed}")
    of = random_machine(rng, widest=rng.choice((4, 12, 40)), initialised=rng.random() < 0.7, inside=rng.random() < 0.5)
    source = folder / "model.v"
    source.write_text(emit_machine(of))
    arrays = random_inputs(rng, of, 2, 40)
    exact = {name: [[[Fraction(v) for v in row] for row in rows] for rows in a.tolist()] for name, a in arrays.items()}
    sequences = [InputSequence(40, {name: rows[number] for name, rows in exact.items()}) for number in range(2)]
    interface = interface_of(of, CLOCK)
    design = RtlDesign((source,), "model", dut=Dut(interface, Ports((), ()), ()))
    found = simulate_machine(of, sequences, design, interface, folder, simulators=(simulator,), check=False)
    assert found.verdict in (Verdict.PASS, Verdict.NOT_RUN), f"machine {seed}: {found.message} {found.first_mismatch}"
    return found.simulators[0] if found.verdict is Verdict.PASS else None


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_a_random_machine_in_icarus(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path, "icarus")


@pytest.mark.parametrize("seed", [8])
def test_a_random_machine_in_verilator(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path, "verilator")


@pytest.mark.slow
@pytest.mark.parametrize(("simulator", "count"), [("icarus", 200), ("verilator", 200)])
def test_random_machines(simulator: str, count: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(1000, 1000 + count):
        (tmp_path / str(seed)).mkdir()
        compared += check(seed, tmp_path / str(seed), simulator) is not None
    assert compared > count // 2
