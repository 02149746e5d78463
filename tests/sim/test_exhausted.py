"""Outputs that depend on few input bits are checked on all their values; only these are called exhausted."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.door import mutant, run_sim
from support.said import as_recorded

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program


def reading(bits: int) -> Program:
    """Return a program whose output 0 reads ``bits`` bits of the first input, and output 1 two inputs of 600 bits."""
    return Program.build(
        [
            (-1, 0, -1, 0, (1, bits - 1, 0)),
            (3, 0, -1, 0, (1, bits, 3)),
            (-1, 1, -1, 0, (0, 600, 0)),
            (-1, 2, -1, 0, (0, 600, 0)),
            (10, 2, 3, 0, (0, 600, 0)),
        ],
        [(1, 0, 0), (4, 0, 0)],
        inp_shift=[0, 0, 0],
    )


#: One program whose passes take no time in the bulk path, and one whose passes also run through the ports.
WIDE, NARROW = reading(15), reading(10)
ONE_IN_1024 = mutant(NARROW, "op_1 =", "op_0", "(op_0 == 10'sd345 ? 10'sd0 : op_0)")
ONE_IN_32768 = mutant(WIDE, "op_1 =", "op_0", "(op_0 == 15'sd12345 ? 15'sd0 : op_0)")


def test_the_one_input_of_many_that_shows_a_bug_is_found(tmp_path: Path) -> None:
    sampled = run_sim(WIDE, tmp_path / "sampled", rtl=ONE_IN_32768, simulator="verilator")
    assert sampled.ending == ("PASS", 0), "choose another input: the sampled vectors met this one"
    run = run_sim(WIDE, tmp_path, "--exhaustive-bits", 15, rtl=ONE_IN_32768, simulator="verilator")
    assert run.ending == ("RTL_MISMATCH", 1)
    as_recorded(run.record["message"])
    mismatch = run.record["first_mismatch"]
    assert (mismatch["output"], mismatch["inputs"][0]["real"], mismatch["blame"]["op"]) == (0, "12345", 1)
    assert run.record["evidence"] is None


@pytest.mark.parametrize("simulator", ["icarus", "verilator", "both"])
def test_evidence_of_each_output(simulator: str, tmp_path: Path) -> None:
    """If Verilator runs the exhaustive vectors, Icarus does not; Icarus alone does not run so many by itself."""
    run = run_sim(WIDE, tmp_path, "--exhaustive-bits", 24, "--vectors", 50, simulator=simulator)
    assert run.ending == ("PASS", 0)
    compared = {one["name"]: one["vectors_compared"] for one in run.record["simulators"]}
    if simulator == "icarus":
        assert run.record["evidence"] == {"exhausted": [], "sampled": [0, 1], "could": {"0": 32768}}
        assert (compared, run.record["exhaustive_vectors"]) == ({"icarus": 50}, 0)
    else:
        assert run.record["evidence"] == {"exhausted": [0], "sampled": [1], "could": {}}
        assert run.record["exhaustive_vectors"] == 32768
        assert compared.pop("verilator") == 50 + 32768
        assert compared == ({"icarus": 50} if simulator == "both" else {})
    assert run.record["vectors"] == 50


@pytest.mark.few(1)
@pytest.mark.parametrize("option", ["--no-bulk", pytest.param("--waves", marks=pytest.mark.slow)])
def test_what_nobody_ran_is_not_claimed(option: str, tmp_path: Path) -> None:
    """Without the bulk path, Verilator runs the exhaustive vectors through the ports."""
    run = run_sim(NARROW, tmp_path, option, "--exhaustive", "--vectors", 1, simulator="verilator")
    assert run.ending == ("PASS", 0)
    assert run.record["evidence"]["exhausted"] == [0]
    assert [one["vectors_compared"] for one in run.record["simulators"]] == [1025]
    bad = run_sim(NARROW, tmp_path, option, "--exhaustive", "--vectors", 1, rtl=ONE_IN_1024, simulator="verilator")
    assert bad.record["verdict"] == "RTL_MISMATCH"


def test_forced(tmp_path: Path) -> None:
    run = run_sim(NARROW, tmp_path, "--exhaustive", "--vectors", 1, simulator="icarus")
    assert run.ending == ("PASS", 0)
    assert run.record["evidence"] == {"exhausted": [0], "sampled": [1], "could": {}}
    assert run.record["simulators"][0]["vectors_compared"] == 1025


def test_no_vectors_are_no_vectors(tmp_path: Path) -> None:
    run = run_sim(WIDE, tmp_path, "--exhaustive-bits", 24, "--vectors", 0, simulator="verilator")
    assert run.ending == ("NOT_RUN", 6)
    assert run.record["evidence"] is None


def test_x_that_only_one_combination_shows(tmp_path: Path) -> None:
    rtl = emit_verilog(NARROW).replace("  assign model_out", "  wire odd = op_0 == 345;\n  assign model_out", 1)
    rtl = rtl.replace("model_out = {out_1, out_0}", "model_out = {out_1, odd ? 14'bx : out_0}")
    assert "14'bx" in rtl
    run = run_sim(NARROW, tmp_path, "--exhaustive", "--vectors", 1, rtl=rtl, simulator="icarus")
    assert run.ending == ("X_IN_OUTPUT", 4)
    assert run.record["message"].startswith("1 of 1025 vectors")
