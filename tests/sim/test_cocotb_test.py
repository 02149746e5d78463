"""Our bench runs under cocotb-test, for users who run their benches with it from pytest.

The bench is a plain cocotb module, and its job is a file that an environment variable names; any runner can run it.
``sim`` itself starts the simulators on its own (``dais_verif.simulation.launch``): it needs time limits and a process
group that can be killed, separate logs and results for every run, paths with spaces, many runs of one build, and a
failing bench as a result to judge rather than an exception.

Icarus only: for Verilator, cocotb-test compiles Verilator's whole runtime with every design, which takes 40 s and
more, and makes every signal public.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.door import mutant
from support.programs import every_opcode

from dais_verif.golden import run_raw
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.interface import packed
from dais_verif.simulation.testbench.exchange import JOB_VARIABLE, read, write
from dais_verif.simulation.testbench.job import Answer, Job, chunk_name
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

simulator = pytest.importorskip("cocotb_test.simulator")

EVERY = every_opcode()
ROWS = 1500


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Restore the signal handlers, which cocotb-test does not restore if a run fails."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    ports, batch = ports_of(EVERY), generate(EVERY, ROWS, 0)
    inputs, outputs = pack_inputs(batch, ports), pack_outputs(run_raw(EVERY, batch), ports, ROWS)
    (tmp_path / chunk_name(0)).write_bytes(inputs.tobytes() + outputs.tobytes())
    job = Job(
        chunks=str(tmp_path),
        starts=[0, ROWS],
        progress=str(tmp_path / "progress"),
        interface=packed(EVERY).interface,
    )
    write(tmp_path / "job.json", job)
    return job


def run_bench(verilog: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "model.v").write_text(verilog)
    monkeypatch.setenv("SIM", "icarus")
    simulator.run(
        toplevel="model",
        module="dais_verif.simulation.testbench.bench",
        verilog_sources=[str(folder / "model.v")],
        sim_build=str(folder / "sim_build"),
        extra_env={JOB_VARIABLE: str(folder / "job.json")},
        timescale="1ns/1ps",
        force_compile=True,
    )


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="no iverilog on PATH")
class TestCocotbTest:
    def test_our_verilog_passes(self, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run_bench(emit_verilog(EVERY), tmp_path, monkeypatch)
        answer = read(tmp_path / "answer.json", Answer)
        assert (answer.rows, answer.bits) == (ROWS, ROWS * job.output_bits)
        assert answer.mismatching_rows == answer.unknown_rows == 0

    def test_a_bug_fails(self, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises((SystemExit, AssertionError)):
            run_bench(mutant(EVERY, "op_4 =", "+", "-"), tmp_path, monkeypatch)
        answer = read(tmp_path / "answer.json", Answer)
        assert answer.rows == ROWS
        assert answer.mismatching_rows > 0
