"""Faults seeded in one line of the Verilog are found, and blamed on the op that has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.door import mutant, run_sim
from support.programs import dense_network, every_opcode, sums_and_shifts
from support.rtl_bugs import ALIR_BUGS, ALIR_VARIANTS, BUGS, VARIANTS, Bug

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program

EVERY = every_opcode()
DENSE = dense_network()
SUMS = sums_and_shifts()
VECTORS = ("--vectors", 400)

MISMATCH = ("RTL_MISMATCH", 1)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, id=bug.name.replace(" ", "-"), marks=[pytest.mark.slow] if bug in VARIANTS else [])
        for bug in [*BUGS, *VARIANTS]
    ],
)
def test_a_bug_in_an_op_is_found_and_the_op_named(bug: Bug, tmp_path: Path) -> None:
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=mutant(EVERY, bug.line, bug.old, bug.new))
    assert run.ending == MISMATCH
    assert (run.blame["kind"], run.blame["op"]) == ("op", bug.op), run.blame
    assert run.blame["mnemonic"] == EVERY.ops[bug.op].spec.mnemonic
    assert run.blame["expected"] != run.blame["found"]


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, id=bug.name.replace(" ", "-"), marks=[pytest.mark.slow] if bug in ALIR_VARIANTS else [])
        for bug in [*ALIR_BUGS, *ALIR_VARIANTS]
    ],
)
def test_a_bug_in_an_op_of_alir_is_found_and_the_op_named(bug: Bug, tmp_path: Path) -> None:
    run = run_sim(SUMS, tmp_path, *VECTORS, rtl=mutant(SUMS, bug.line, bug.old, bug.new))
    assert run.ending == MISMATCH
    assert (run.blame["kind"], run.blame["op"]) == ("op", bug.op), run.blame
    assert run.blame["mnemonic"] == SUMS.ops[bug.op].spec.mnemonic
    assert f"op {bug.op} ({run.blame['mnemonic']})" in run.blame["text"]
    assert run.record["program"]["layout"] == "alir"


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
@pytest.mark.parametrize("program", [EVERY, DENSE, SUMS], ids=["every-opcode", "dense-network", "sums-and-shifts"])
def test_the_same_programs_without_a_bug_pass(program: Program, simulator: str, tmp_path: Path) -> None:
    run = run_sim(program, tmp_path, *VECTORS, rtl=emit_verilog(program), simulator=simulator)
    assert run.ending == ("PASS", 0)
    bits = 400 * sum(kind.width for kind in program.output_types)
    assert [s["bits_compared"] for s in run.record["simulators"]] == [bits]


def test_verilator_alone_blames_as_icarus_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Icarus, Verilator also runs the replay, and the blame is the same."""
    bug = next(bug for bug in BUGS if bug.name == "wrap of an unsigned value dropped")
    rtl = mutant(EVERY, bug.line, bug.old, bug.new)
    with monkeypatch.context() as without:
        without.setenv("DAIS_VERIF_IVERILOG", "/nonexistent")
        alone = run_sim(EVERY, tmp_path / "verilator", *VECTORS, rtl=rtl, simulator="verilator")
    other = run_sim(EVERY, tmp_path / "icarus", *VECTORS, rtl=rtl)
    assert alone.ending == other.ending == MISMATCH
    assert alone.blame.pop("replayed_in") == "verilator"
    assert other.blame.pop("replayed_in") == "icarus"
    (one,), (two,) = alone.blame.pop("lines"), other.blame.pop("lines")
    assert one.pop("line").endswith("verilator/design.v:82") and two.pop("line").endswith("icarus/design.v:82")
    assert one == two and alone.blame == other.blame
