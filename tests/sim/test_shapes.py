"""Networks in the shape of convolutions and of attention, split into many parts, pass in simulators and prover."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.door import mutant, run_sim
from support.places import LARGE

from bench.shapes import attention, convolution
from dais_verif.hardware.emitter import module as cut
from dais_verif.spec.program import Program, load

#: The convolution has 96 inputs and 1,192 ops, attention 16 and 376.
SMALL = {"convolution": convolution(4, ops=250), "attention": attention(4, 4)}
STAGES = ("--stages", 3)
BOTH_FORMS = [pytest.param((), id="combinational"), pytest.param(STAGES, id="pipelined", marks=pytest.mark.slow)]


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split even small programs into many parts, as programs of 100,000 ops are split."""
    monkeypatch.setattr(cut, "MOST_SIGNALS", 60)
    monkeypatch.setattr(cut, "MOST_NAMES", 20)


@pytest.mark.parametrize("stages", BOTH_FORMS)
@pytest.mark.parametrize("name", SMALL)
def test_pass_in_icarus(name: str, stages: tuple[object, ...], tmp_path: Path, many_parts: None) -> None:
    run = run_sim(SMALL[name], tmp_path, "--vectors", 100, *stages, simulator="icarus")
    assert run.ending == ("PASS", 0)
    assert run.record["simulators"][0]["vectors_compared"] == 100


@pytest.mark.parametrize("name", ["attention", pytest.param("convolution", marks=pytest.mark.slow)])
def test_pass_in_verilator(name: str, tmp_path: Path, many_parts: None) -> None:
    assert run_sim(SMALL[name], tmp_path, "--vectors", 100, simulator="verilator").ending == ("PASS", 0)


def test_a_wrong_op_in_a_part_is_named(tmp_path: Path, many_parts: None) -> None:
    program = SMALL["convolution"]
    index = program.outputs[0][0]
    rtl = mutant(program, f"op_{index} =", ";", " + 1;")
    run = run_sim(program, tmp_path, "--vectors", 50, rtl=rtl, simulator="icarus")
    assert run.ending == ("RTL_MISMATCH", 1)
    assert run.record["first_mismatch"]["blame"]["op"] == index


@pytest.mark.few(2)
@pytest.mark.parametrize("stages", [(), STAGES], ids=["combinational", "pipelined"])
@pytest.mark.parametrize("name", SMALL)
def test_are_proved(name: str, stages: tuple[object, ...], tmp_path: Path, many_parts: None) -> None:
    run = run_prove(SMALL[name], tmp_path, *stages)
    assert run.ending == ("PASS", 0)
    assert set(run.statuses("op").values()) == {"PROVED"}


def p15() -> Program:
    return load(LARGE / "p15_conv_58k" / "prog.v1.bin.gz")


@pytest.mark.slow
@pytest.mark.parametrize("make", [p15, convolution, lambda: attention(24, 24)], ids=["p15", "convolution", "attention"])
def test_of_real_size_pass_in_both_simulators(make: object, tmp_path: Path) -> None:
    program = make()  # type: ignore[operator]
    run = run_sim(program, tmp_path, "--vectors", 1000, simulator="both")
    assert run.ending == ("PASS", 0)
    assert [found["vectors_compared"] for found in run.record["simulators"]] == [1000, 1000]
    assert run_prove(program, tmp_path / "proof").ending == ("PASS", 0)
