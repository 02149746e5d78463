"""Real programs with known results: the golden model reproduces them, and their RTL passes in both simulators.

In the fast suite, some programs run in both simulators and most in Icarus alone, which needs no compiler; in the
whole suite, all run in both.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.places import CORPUS

import dais_verif
from dais_verif.doors.cli.main import _run as command
from dais_verif.golden import run
from dais_verif.hardware.emitter import emit_verilog

PROGRAMS = sorted(CORPUS.glob("p*")) if CORPUS.is_dir() else []


def files_of(program: Path) -> list[Path]:
    return sorted([*program.glob("prog.*.bin"), *program.glob("da4ml.json*")])


FILES = [pytest.param(file, id=f"{file.parent.name}/{file.name}") for program in PROGRAMS for file in files_of(program)]
by_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
#: A network, bitwise ops and all kinds of rounding: these programs cover all that the others have.
TO_BOTH = [program for program in PROGRAMS if program.name.startswith(("p02", "p10", "p12"))]
by_file = pytest.mark.parametrize("file", FILES)


def test_the_corpus_is_there(corpus: Path) -> None:
    assert len(PROGRAMS) > 0, f"no program in {corpus}"
    assert len(FILES) >= 2 * len(PROGRAMS)


@by_file
def test_golden_model_reproduces_the_expected_outputs(file: Path) -> None:
    inputs, expected = np.load(file.parent / "inputs.npy"), np.load(file.parent / "expected.npy")
    program = dais_verif.load(file)
    assert not program.origin.assumed
    np.testing.assert_array_equal(run(program, inputs), expected)
    few = slice(0, max(1, 8_000 // program.n_ops))
    np.testing.assert_array_equal(run(program, inputs[few], engine="exact"), expected[few])


@pytest.mark.few(6)
@by_program
def test_every_file_of_a_program_means_the_same_and_gives_the_same_rtl(program: Path) -> None:
    loaded = [dais_verif.load(file) for file in files_of(program)]
    assert len({one.hash for one in loaded}) == 1
    assert len({emit_verilog(one) for one in loaded}) == 1


def simulate(file: Path, vectors: int, capsys: pytest.CaptureFixture[str], *simulators: str) -> None:
    given = file.parent / "inputs.npy"
    which = "both" if len(simulators) == 2 else simulators[0]
    code = command(
        [
            "sim",
            str(file),
            "--inputs",
            str(given),
            "--vectors",
            str(vectors),
            "--sim",
            which,
            "--json",
            "--icarus-vectors",
            "all",
        ]
    )
    result = json.loads(capsys.readouterr().out)
    assert (code, result["verdict"]) == (0, "PASS"), result
    assert [simulator["name"] for simulator in result["simulators"]] == [*simulators]
    bits = sum(kind.width for kind in dais_verif.load(file).output_types)
    for simulator in result["simulators"]:
        more = result["exhaustive_vectors"] if simulator["name"] == simulators[-1] else 0  # only Verilator runs them
        assert simulator["vectors_compared"] == len(np.load(given)) + vectors + more
        assert simulator["bits_compared"] == simulator["vectors_compared"] * bits > 0


@pytest.mark.few(2)
@pytest.mark.parametrize("program", TO_BOTH, ids=lambda path: path.name)
def test_rtl_equals_golden_model_in_both_simulators(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(files_of(program)[-1], 1000, capsys, "icarus", "verilator")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "program",
    [
        # The large layers of other programs are enough for the fast suite.
        pytest.param(program, marks=[pytest.mark.slow] * program.name.startswith("p09"), id=program.name)
        for program in PROGRAMS
        if program not in TO_BOTH
    ],
)
def test_rtl_equals_golden_model_in_icarus(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(files_of(program)[-1], 1000, capsys, "icarus")


@pytest.mark.slow
@by_file
def test_rtl_equals_golden_model_from_every_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(file, 1000, capsys, "icarus", "verilator")
