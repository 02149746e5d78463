"""The AXI4-Lite block in simulation: registers, counters, and signatures that the golden model predicts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.axis_designs import mutant_in_wrapper, wrapped
from support.builds import every_name
from support.door import mutant
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode
from support.said import raises

from dais_verif.base.errors import InputError, SimulatorError
from dais_verif.base.verdict import Verdict
from dais_verif.golden import run_raw
from dais_verif.hardware.emitter.register_map import MAGIC, REGISTERS, VERSION
from dais_verif.simulation import launch
from dais_verif.simulation.axis import simulate_axis
from dais_verif.simulation.selfcheck import selfcheck_signatures, stimulus_words
from dais_verif.simulation.simulators.build import build
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

EVERY = every_opcode()
BEATS = (1, 2, 16, 100)
SIGNATURE_TEST = "signatures_are_those_of_the_golden_model"


def failing(
    program: Program,
    folder: Path,
    *,
    simulator: str = "icarus",
    latency: int = 0,
    bug: tuple[str, str] | None = None,
    only: str = "",
) -> tuple[list[str], str]:
    """Return the failing tests of the bench and the log; ``only`` selects a single test."""
    ports = ports_of(program)
    design = wrapped(program, folder, latency=latency, user_bits=2, axil=True, bug=bug)
    facts = {
        "MAGIC": MAGIC,
        "VERSION": VERSION,
        "N_IN": program.n_in,
        "N_OUT": program.n_out,
        "IN_BITS": ports.input_bits,
        "OUT_BITS": ports.output_bits,
        "LATENCY": latency,
        "USER_BITS": 2,
        "HASH": int(program.hash, 16),
        "CHECK_BEATS": 0,
        "STATUS": 0,
        **dict.fromkeys(("BEATS_IN", "BEATS_OUT", "STALLS_IN", "STALLS_OUT", "PACKETS"), 0),
    }
    job = {
        "registers": {register.name: (register.offset, register.bits // 32) for register in REGISTERS},
        "facts": facts,
        "signatures": selfcheck_signatures(program, BEATS),
        # For the cycles that fill the pipeline and fold the outputs, and for those that polling adds.
        "overhead": latency + -(-ports.output_bits // 32) + 20,
    }
    (folder / "job.json").write_text(json.dumps(job))
    simulation = build(simulator, design, folder / "build", signals=every_name(*design.sources), timeout=200)
    env = {"PYTHONPATH": str(Path(__file__).parent), "AXIL_JOB": str(folder / "job.json"), "COCOTB_TEST_FILTER": only}
    results = launch.run(simulation, "axil_bench", folder, env=env, timeout=200)
    failed = [name.rpartition(".")[2] for name in launch.failed_tests(results)]
    return failed, (folder / "simulation.log").read_text()


@pytest.mark.few(2)
@pytest.mark.parametrize(("simulator", "latency"), [("icarus", 0), ("icarus", 3), ("verilator", 1)])
def test_the_block_does_what_its_page_says(simulator: str, latency: int, tmp_path: Path) -> None:
    failed, log = failing(EVERY, tmp_path, simulator=simulator, latency=latency)
    assert failed == [], log


def test_streams_pass_the_switch_unharmed(tmp_path: Path) -> None:
    design = wrapped(EVERY, tmp_path, latency=1, axil=True)
    finding = simulate_axis(
        EVERY, generate(EVERY, 100, 1), design, tmp_path, latency=1, user_bits=3, simulators=("icarus",), check=False
    )
    assert finding.verdict is Verdict.PASS, finding.message


BUGS = {
    "the core computes something else": (
        ("model.v", mutant(EVERY, "op_4 =", "+", "-")),
        SIGNATURE_TEST,
    ),
    "a lane of the outputs is not folded": (
        mutant_in_wrapper("dais_selfcheck.v", "^ found[32*i +: 32];", "^ (i == 1 ? 32'd0 : found[32*i +: 32]);"),
        SIGNATURE_TEST,
    ),
    "a beat too few": (
        mutant_in_wrapper("dais_selfcheck.v", "to_come == 32'd1", "to_come <= 32'd2"),
        SIGNATURE_TEST,
    ),
    "beats of the check leave": (
        mutant_in_wrapper("dais_selfcheck.v", "assign m_axis_tvalid = !checking && from_tvalid;",
                         "assign m_axis_tvalid = from_tvalid;"),
        SIGNATURE_TEST,
    ),
    "the check does not wait": (
        mutant_in_wrapper("dais_selfcheck.v", "DRAIN: if (in_flight == 32'd0)", "DRAIN: if (1'b1)"),
        "the_stream_waits_for_the_check_and_the_check_for_the_stream",
    ),
    "a counter counts stalls of the other side": (
        mutant_in_wrapper("dais_axil.v", "s_axis_tvalid && !s_axis_tready", "m_axis_tvalid && !m_axis_tready && 1'b1"),
        "counters_count",
    ),
    "the hash is upside down": (
        mutant_in_wrapper("dais_axil.v", "HASH[{~word[2:0], 5'd0} +: 32]", "HASH[{word[2:0], 5'd0} +: 32]"),
        "identification",
    ),
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_found(name: str, tmp_path: Path) -> None:
    bug, test = BUGS[name]
    failed, log = failing(EVERY, tmp_path, bug=bug)
    assert test in failed, log


def reference(program: Program, beats: int) -> int:
    """Return the signature, computed with Python integers from the description in rtl/dais_selfcheck.v alone."""

    def step(x: int) -> int:
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        return x ^ (x << 5 & 0xFFFFFFFF)

    ports = ports_of(program)
    stimulus = [(k + 1) * 0x9E3779B9 % 2**32 for k in range(-(-ports.input_bits // 32))]
    lanes = [2**32 - 1] * -(-ports.output_bits // 32)
    for _ in range(beats):
        word = sum(lane << 32 * k for k, lane in enumerate(stimulus))
        columns = [Column(np.array([word >> e.offset & (1 << e.width) - 1], dtype=object), e.lo) for e in ports.inputs]
        batch = Batch(1, tuple(columns))
        packed = pack_outputs(run_raw(program, batch, engine="exact", check=False), ports, 1)
        out = int(bits_of_row(packed, 0, ports.output_bits), 2)
        lanes = [step(lanes[k - 1]) ^ (out >> 32 * k & 0xFFFFFFFF) for k in range(len(lanes))]
        stimulus = [step(lane) for lane in stimulus]
    signature = 0
    for lane in lanes:
        signature = step(signature) ^ lane
    return signature


@pytest.mark.parametrize("name", ["every opcode", "wide", "inputs not read", "one bit", "far points"])
def test_signatures_follow_the_written_rule(name: str) -> None:
    program = EVERY if name == "every opcode" else ODD_PROGRAMS[name]
    assert selfcheck_signatures(program, [3, 12]) == {3: reference(program, 3), 12: reference(program, 12)}


def test_nothing_is_foretold_of_a_program_without_output_bits() -> None:
    blind = next(program for program in ODD_PROGRAMS.values() if not ports_of(program).output_bits)
    with raises(SimulatorError, match=r"self-check.*compare"):
        selfcheck_signatures(blind, [5])


def test_a_check_of_wide_ports(tmp_path: Path) -> None:
    failed, log = failing(ODD_PROGRAMS["wide"], tmp_path, only=SIGNATURE_TEST)
    assert failed == [] and "PASS=1 " in log, log


def test_stimulus_packs_to_itself() -> None:
    """The golden model gets exactly the bits that the core gets."""
    ports = ports_of(EVERY)
    (words,) = stimulus_words(ports, 50)
    columns = []
    for element in ports.inputs:
        whole = [int.from_bytes(row.tobytes(), "little") for row in words]
        values = [value >> element.offset & (1 << element.width) - 1 for value in whole]
        columns.append(Column(np.array(values, dtype=np.int64), element.lo))
    assert np.array_equal(pack_inputs(Batch(50, tuple(columns)), ports), words)


@pytest.mark.parametrize("beats", [[], [0], [1, 1 << 21], [-1]])
def test_beats_out_of_range_are_refused(beats: list[int]) -> None:
    with pytest.raises(InputError, match="1 to 1048576 beats"):
        selfcheck_signatures(EVERY, beats)
