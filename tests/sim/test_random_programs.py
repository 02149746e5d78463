"""The emitted Verilog equals the golden model: random programs of every opcode, all ops outputs, both simulators.

Promises may be broken (``check=False``); the outputs must be equal then, too.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter import module as cut
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.verify import SimulationOptions, verify
from dais_verif.spec.program import OPCODES, Program
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.model import Origin
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import Code, Data, Pattern
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

ROWS = 300


def with_all_outputs(program: Program, rng: random.Random) -> Program:
    """Return ``program`` with every op as an output, some of them shifted and negated."""
    n = program.n_ops
    changed = replace(
        program,
        origin=Origin(),
        out_idx=np.arange(n),
        out_shift=np.array([rng.choice((0, 0, -3, 2)) for _ in range(n)]),
        out_neg=np.array([rng.getrandbits(1) for _ in range(n)]),
    )
    validate(changed)
    return changed


def side_by_side(programs: Sequence[Program]) -> Program:
    """Return one program that computes all ``programs``, each from inputs of its own."""
    ops: list[tuple[int, int, int, int, tuple[int, int, int]]] = []
    inp_shift: list[int] = []
    tables: list[list[int]] = []
    terms: list[tuple[int, int, int]] = []
    for program in programs:
        first, first_input, first_table, first_term = len(ops), len(inp_shift), len(tables), len(terms)
        for op in program.ops:
            pattern, id0, id1, data = OPCODES[op.code].pattern, op.id0, op.id1, op.data
            id0 += {Pattern.INPUT: first_input, Pattern.TERMS: first_term, Pattern.NONE: 0}.get(pattern, first)
            id1 += first if pattern is Pattern.BINARY else 0
            data += {Data.MUX: first, Data.TABLE: first_table}.get(op.spec.data, 0)
            ops.append((op.code, id0, id1, data, op.type))
            terms += [(term.op + first if term.op >= 0 else -1, term.shift, term.negative) for term in op.terms]
        inp_shift += program.inp_shift.tolist()
        tables += [table.tolist() for table in program.tables]
    return Program.build(ops, [], inp_shift=inp_shift, tables=tables, terms=terms)


def check(
    seed: int, folder: Path, program: Program | None = None, simulators: tuple[str, ...] = ("icarus", "verilator")
) -> None:
    rng = random.Random(seed)
    program = with_all_outputs(program or random_program(rng, 300), rng)
    batch = Batch.concatenate(
        [Batch.of(random_rows(rng, program, 40), program.n_in), generate(program, ROWS - 40, seed)]
    )
    folder.mkdir(exist_ok=True)
    (folder / "model.v").write_text(emit_verilog(program))
    options = SimulationOptions(simulators, check=False)
    finding = verify(program, batch, RtlDesign((folder / "model.v",), "model"), folder, options)
    assert finding.verdict is Verdict.PASS, f"seed {seed}: {finding}"
    bits = ROWS * ports_of(program).output_bits
    assert [simulator.bits_compared for simulator in finding.simulators] == [bits] * len(simulators)


@pytest.mark.parametrize("seed", range(6))
def test_the_programs_hold_every_opcode(seed: int) -> None:
    of_dais = {int(code) for code, spec in OPCODES.items() if not spec.alir}
    assert set(random_program(random.Random(seed), 300).columns.code.tolist()) == of_dais


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_rtl_equals_golden_model(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_rtl_in_many_blocks_equals_golden_model(
    simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut, "MOST_SIGNALS", 20)
    check(1000, tmp_path, simulators=(simulator,))
    assert (tmp_path / "model.v").read_text().count("always @(") > 10


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_rtl_of_alir_programs_equals_golden_model(seed: int, tmp_path: Path) -> None:
    programs = [random_program(random.Random(10 * seed + n), 30, alir=True) for n in range(5)]
    together = side_by_side(programs)
    assert {Code.SUM, Code.SHIFT} <= set(together.columns.code.tolist())
    check(seed, tmp_path, together)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5000, 7000, 100))
def test_campaign_of_alir_programs(start: int, tmp_path: Path) -> None:
    """Two thousand programs are simulated in twenty simulations."""
    programs = [random_program(random.Random(seed), 20, alir=True) for seed in range(start, start + 100)]
    check(start, tmp_path, side_by_side(programs))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2000, 2200, 20))
def test_campaign(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 20):
        check(seed, tmp_path / str(seed))
