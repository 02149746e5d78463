"""The wrapper works with cocotbext-axi, whose models of AXI4-Stream and AXI4-Lite are independent of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.axis_designs import mutant_in_wrapper, wrapped
from support.builds import every_name
from support.programs import every_opcode

from dais_verif.golden import run_raw
from dais_verif.simulation import launch
from dais_verif.simulation.selfcheck import selfcheck_signatures
from dais_verif.simulation.simulators.build import build
from dais_verif.simulation.testbench.packed_rows import Words, bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

pytest.importorskip("cocotbext.axi")

EVERY = every_opcode()
ROWS = 150


def failing(
    folder: Path, simulator: str, latency: int, *, axil: bool = False, bug: tuple[str, str] | None = None
) -> tuple[list[str], str]:
    """Run ``axis_models`` on a wrapped program; return the tests that fail, and the log."""
    ports, batch = ports_of(EVERY), generate(EVERY, ROWS, 5)
    design = wrapped(EVERY, folder, latency=latency, user_bits=3, axil=axil, bug=bug)
    signatures = selfcheck_signatures(EVERY, [1, 50]) if axil else {}
    job = {
        "inputs": hexadecimal(pack_inputs(batch, ports), ports.input_bits),
        "expected": hexadecimal(pack_outputs(run_raw(EVERY, batch, check=False), ports, ROWS), ports.output_bits),
        "user_bits": 3,
        "hash": EVERY.hash,
        "signatures": {str(beats): f"{value:08x}" for beats, value in signatures.items()},
    }
    (folder / "job.json").write_text(json.dumps(job))
    simulation = build(simulator, design, folder / "build", signals=every_name(*design.sources), timeout=300)
    env = {"PYTHONPATH": str(Path(__file__).parent), "AXIS_MODELS_JOB": str(folder / "job.json")}
    results = launch.run(simulation, "axis_models", folder, env=env, timeout=300)
    failed = [name.rpartition(".")[2] for name in launch.failed_tests(results)]
    return failed, (folder / "simulation.log").read_text()


def hexadecimal(words: Words, bits: int) -> list[str]:
    """Return each row in hexadecimal, as whole bytes."""
    return [f"{int(bits_of_row(words, row, bits), 2):0{2 * -(-bits // 8)}x}" for row in range(len(words))]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("simulator", "latency", "axil"),
    [
        ("icarus", 0, False),
        ("icarus", 3, True),
        ("verilator", 0, True),
        pytest.param("verilator", 2, False, marks=pytest.mark.slow),
    ],
)
def test_models_of_others_see_no_difference(simulator: str, latency: int, axil: bool, tmp_path: Path) -> None:
    failed, log = failing(tmp_path, simulator, latency, axil=axil)
    assert failed == [], log
    assert "PASS=4" in log if axil else "PASS=3" in log


BUGS = {
    "a beat is dropped": mutant_in_wrapper("dais_skid.v", "full    <= full || accept;", "full    <= full;"),
    "TLAST is that of another beat": mutant_in_wrapper(
        "dais_axis.v", "assign m_axis_tlast  = side_out[0];", "assign m_axis_tlast  = side_in[0];"
    ),
    "the spare is corrupt": mutant_in_wrapper("dais_skid.v", "spare <= s_data;", "spare <= ~s_data;"),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", BUGS)
def test_models_of_others_see_a_bug(name: str, tmp_path: Path) -> None:
    failed, log = failing(tmp_path, "icarus", 0, bug=BUGS[name])
    assert "both_pause" in failed, log
