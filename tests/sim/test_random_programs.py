"""Our Verilog equals the golden model: random programs of every opcode, all ops outputs, in both simulators.

Promises are broken at will (``check=False``): then too both must compute the same.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.strategies import random_program, random_rows

from dais_verif.emitter import cut, emit_verilog
from dais_verif.program import OPCODES, Program, read_binary, write_binary
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import ports_of
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.verify import SimulationOptions, verify
from dais_verif.stimulus import generate
from dais_verif.verdict import Verdict

ROWS = 300


def with_all_outputs(program: Program, rng: random.Random) -> Program:
    """``program`` with every op an output, some of them shifted and negated; the last is negated too."""
    n = program.n_ops
    changed = replace(
        program,
        out_idx=np.arange(n),
        out_shift=np.array([rng.choice((0, 0, -3, 2)) for _ in range(n)]),
        out_neg=np.array([rng.getrandbits(1) for _ in range(n)]),
    )
    return read_binary(write_binary(changed, "v1"), "v1")  # checked, as a file would be


def check(seed: int, folder: Path, n_ops: int = 300) -> None:
    rng = random.Random(seed)
    program = with_all_outputs(random_program(rng, n_ops), rng)
    batch = Batch.concatenate(
        [Batch.of(random_rows(rng, program, 40), program.n_in), generate(program, ROWS - 40, seed)]
    )
    folder.mkdir(exist_ok=True)
    (folder / "model.v").write_text(emit_verilog(program))
    finding = verify(program, batch, RtlDesign((folder / "model.v",), "model"), folder, SimulationOptions(check=False))
    assert finding.verdict is Verdict.PASS, f"seed {seed}: {finding}"
    bits = ROWS * ports_of(program).output_bits
    assert [simulator.bits_compared for simulator in finding.simulators] == [bits, bits]


@pytest.mark.parametrize("seed", range(6))
def test_the_programs_hold_every_opcode(seed: int) -> None:
    assert set(random_program(random.Random(seed), 300).columns.code.tolist()) == set(OPCODES)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_rtl_equals_golden_model(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


def test_rtl_in_many_blocks_equals_golden_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "MOST_SIGNALS", 20)
    check(1000, tmp_path)
    assert (tmp_path / "model.v").read_text().count("always @(") > 10


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2000, 2200, 20))
def test_campaign(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 20):
        check(seed, tmp_path / str(seed))
