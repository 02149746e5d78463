"""On every vector, the bulk path agrees with the path through the ports, and blames mismatches in the same way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.door import mutant, run_sim
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode
from support.said import as_recorded, raises
from support.strategies import programs
from support.tier import examples

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.interface import DesignInterface, Wire
from dais_verif.simulation.scoreboard import Chunk, Scoreboard
from dais_verif.simulation.simulators import icarus
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench import vectors
from dais_verif.simulation.testbench.job import Job, chunk_name
from dais_verif.simulation.testbench.packed_rows import Words
from dais_verif.simulation.verify import Finding, SimulationOptions, verify
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

EVERY = every_opcode()
ROWS = 3000
BULK, PORTS = (SimulationOptions(("verilator",), check=False, bulk=bulk) for bulk in (True, False))
WITH_OUTPUT = [name for name, program in ODD_PROGRAMS.items() if ports_of(program).output_bits and name != "large"]


def found(
    program: Program, folder: Path, options: SimulationOptions, rtl: str | None = None, rows: int = ROWS
) -> Finding:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.v").write_text(rtl or emit_verilog(program))
    return verify(program, generate(program, rows, 3), RtlDesign((folder / "model.v",), "model"), folder, options)


def both_ways(program: Program, folder: Path, rtl: str | None = None, rows: int = ROWS) -> tuple[Finding, Finding]:
    return found(program, folder / "bulk", BULK, rtl, rows), found(program, folder / "ports", PORTS, rtl, rows)


#: Programs of the fast suite; the others are similar to these.
ODD = ("every opcode", "constants only", "wide")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in ODD)) for name in ("every opcode", *WITH_OUTPUT)],
)
def test_both_paths_give_the_same_outputs(name: str, tmp_path: Path) -> None:
    bulk, ports = both_ways(EVERY if name == "every opcode" else ODD_PROGRAMS[name], tmp_path)
    assert bulk.verdict is ports.verdict is Verdict.PASS, (bulk, ports)
    assert bulk.simulators[0].digest == ports.simulators[0].digest
    assert (bulk.simulators[0].bulk_vectors, ports.simulators[0].bulk_vectors) == (ROWS, 0)
    assert bulk.simulators[0].bits_compared == ports.simulators[0].bits_compared > 0


@pytest.mark.slow
def test_on_random_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(drawn=programs(), number=st.integers(0, 1 << 30))
    def same(drawn: tuple[Program, Any], number: int) -> None:
        program, _ = drawn
        assume(ports_of(program).output_bits > 0)
        bulk, ports = both_ways(program, tmp_path_factory.mktemp(f"random_{number}"), rows=600)
        assert bulk.verdict is ports.verdict is Verdict.PASS
        assert bulk.simulators[0].digest == ports.simulators[0].digest

    same()


def test_a_bug_is_found_and_blamed_alike(tmp_path: Path) -> None:
    bulk, ports = both_ways(EVERY, tmp_path, mutant(EVERY, "op_4 =", "+", "-"))
    assert bulk.verdict is ports.verdict is Verdict.RTL_MISMATCH
    assert bulk.message == ports.message
    assert bulk.simulators[0].digest == ports.simulators[0].digest
    assert bulk.first_mismatch is not None and ports.first_mismatch is not None
    assert bulk.first_mismatch.row == ports.first_mismatch.row
    assert bulk.first_mismatch.blame == ports.first_mismatch.blame
    assert bulk.first_mismatch.blame is not None and bulk.first_mismatch.blame.op == 4


def test_a_bug_beyond_the_first_vectors_is_found_with_the_op_named(tmp_path: Path) -> None:
    """A bug that shows in a vector that only the bulk path runs is found, and its op is named."""
    wrong = mutant(
        EVERY, "op_2 =", "model_inp[18:14]", "(model_inp == 19'h2AAAB ? ~model_inp[18:14] : model_inp[18:14])"
    )
    port = 0x2AAAB
    width = ports_of(EVERY).inputs
    assert sum(element.width for element in width) == 19
    raws = [(port >> e.offset) & ((1 << e.width) - 1) for e in width]
    rows = np.zeros((1001, 3))
    rows[1000] = [raw * 2.0**e.lo for raw, e in zip(raws, width, strict=True)]
    np.save(tmp_path / "x.npy", rows)
    run = run_sim(EVERY, tmp_path, "--inputs", tmp_path / "x.npy", "--vectors", 0, rtl=wrong, simulator="verilator")
    assert run.ending == ("RTL_MISMATCH", 1)
    as_recorded(run.record["message"])
    assert (run.record["first_mismatch"]["row"], run.blame["op"]) == (1000, 2)
    assert run.record["simulators"][0]["bulk_vectors"] == 1001


def test_paths_that_differ_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error is raised if the bulk path is wrong about the last of the vectors that both paths run."""
    rows = np.arange(300, dtype="<u8").reshape(-1, 1)
    job = Job(
        chunks=str(tmp_path),
        starts=[0, 300],
        progress=str(tmp_path / "progress"),
        interface=DesignInterface((Wire("model_inp", 0, 16),), (Wire("model_out", 0, 16),)),
        threads=1,
    )

    def run(wrong_row: int) -> None:
        (tmp_path / chunk_name(0)).write_bytes(rows.tobytes() * 2)

        class Ports:
            async def run(self, inputs: Words, **_: bool) -> Any:
                return inputs, {}

        def evaluate(inputs: Words, _: int) -> Words:
            return np.where(inputs == wrong_row, inputs + 1, inputs)

        chunk = Chunk.wait(job, 0)
        ports: Any = Ports()
        asyncio.run(vectors._in_bulk(job, chunk, [[evaluate], [evaluate]], ports, Scoreboard(job)))

    run(wrong_row=vectors.SMOKE)
    with raises(RuntimeError, "vector 255 "):
        run(wrong_row=vectors.SMOKE - 1)


def test_threads_and_chunks_do_not_change_the_answer(tmp_path: Path) -> None:
    digests = set()
    for jobs in (1, 2, 3):
        finding = found(
            EVERY, tmp_path / str(jobs), SimulationOptions(("verilator",), check=False, jobs=jobs), rows=20_000
        )
        assert finding.verdict is Verdict.PASS
        digests.add(finding.simulators[0].digest)
    assert len(digests) == 1


def test_shares_of_icarus_together_run_every_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = found(EVERY, tmp_path / "one", SimulationOptions(("icarus",), check=False, jobs=3))
    monkeypatch.setattr(icarus, "SHARE_BUDGET", 20_000)
    three = found(EVERY, tmp_path / "three", SimulationOptions(("icarus",), check=False, jobs=3))
    assert (tmp_path / "three" / "icarus" / "share_2" / "answer.json").exists()
    assert not (tmp_path / "one" / "icarus" / "share_1").exists()
    for finding in (one, three):
        assert finding.verdict is Verdict.PASS
        assert finding.simulators[0].vectors_compared == ROWS
    assert one.simulators[0].digest == three.simulators[0].digest
