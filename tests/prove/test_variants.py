"""Mutants that are proved relative to a proved design get the same verdicts as in whole proofs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.adder import ADDER

from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.sites import all_mutants, drawn
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.interface import packed
from dais_verif.prover.random_simulation import random_vectors, trace
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.prover.variants import Proved, proved_design, stretched_vectors
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.ports import ports_of
from dais_verif.verbs.mutation.proofs import Prover, Question, ToProve

_CORPUS = Path(__file__).parents[1] / "corpus"
_OPTIONS = ProofOptions(timeout=5.0, jobs=1, sample=0)

#: The sum of twelve signed numbers of four bits, cut to seven bits; random vectors do not reach its extreme values.
LONG_SUM = Program.build(
    [
        *((-1, j, -1, 0, (1, 3, 0)) for j in range(12)),
        (0, 0, 1, 0, (1, 4, 0)),
        *((0, 10 + n, n, 0, (1, 7, 0)) for n in range(2, 12)),
        (3, 22, -1, 0, (0, 7, 0)),
    ],
    [(23, 0, 0)],
    inp_shift=[0] * 12,
)


def of_text(program: Program, text: str, folder: Path) -> Proved:
    found = proved_design(program, read(text, folder), packed(program), _OPTIONS)
    assert found is not None
    return found


def read(text: str, folder: Path):  # type: ignore[no-untyped-def]
    (folder / "model.v").write_text(text)
    return elaborate([folder / "model.v"], "model")


def compared(program: Program, folder: Path, count: int, seed: int) -> Counter[str]:
    """Return the number of mutants with each verdict, after checking each verdict against a whole proof."""
    files = {"model.v": emit_verilog(program)}
    question = Question(program, files, "model", packed(program), (), True, False, 0)
    quick, whole = Prover(question, folder), Prover(question, folder)
    assert quick._base is not None
    whole.__dict__["_base"] = None
    found: Counter[str] = Counter()
    for number, mutant in enumerate(drawn(all_mutants(files), count, seed), start=1):
        one, other = (prover.answer(ToProve(number, mutant, 60.0)) for prover in (quick, whole))
        assert one.verdict is other.verdict, (mutant, one, other)
        found["refused" if one.verdict is None else one.verdict.value] += 1
        if one.verdict is Verdict.PASS:
            assert quick.answer(ToProve(number, mutant, 60.0, quick=True)).verdict in (Verdict.PASS, Verdict.UNKNOWN)
        else:
            assert quick.answer(ToProve(number, mutant, 60.0, quick=True)).verdict is not Verdict.PASS
    return found


def test_mutants_of_a_small_program_have_the_verdicts_of_whole_proofs(tmp_path: Path) -> None:
    found = compared(load(_CORPUS / "p01_addsub_tiny" / "prog.v1.bin"), tmp_path, 20, 1)
    assert found["RTL_MISMATCH"] > found["PASS"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["p03_fir16", "p04_sort8", "p05_softmax_lut", "p10_bitops", "p12_quant_modes", "p14_v041_minmaxmul"]
)
def test_mutants_of_the_corpus_have_the_verdicts_of_whole_proofs(name: str, tmp_path: Path) -> None:
    found = compared(load(_CORPUS / name / "prog.v1.bin"), tmp_path, 40, 2)
    assert found["RTL_MISMATCH"] > 0
    assert found["PASS"] > 0


def test_a_wrong_design_beside_a_proved_one_is_refuted_with_a_vector(tmp_path: Path) -> None:
    text = emit_verilog(ADDER)
    base = of_text(ADDER, text, tmp_path)
    same = base.of(read(text, tmp_path), 5.0)
    assert same is not None
    assert same.verdict is Verdict.PASS
    wrong = base.of(read(text.replace(" + ", " - "), tmp_path), 5.0)
    assert wrong is not None
    assert wrong.verdict is Verdict.RTL_MISMATCH
    assert wrong.vector is not None
    quick = base.of(read(text.replace(" + ", " - "), tmp_path), 5.0, quick=True)
    assert quick is not None
    assert quick.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("suspect", [None, 0, 2, 99])
def test_the_op_that_is_looked_at_first_does_not_change_what_is_said(suspect: int | None, tmp_path: Path) -> None:
    text = emit_verilog(ADDER)
    base = of_text(ADDER, text, tmp_path)
    for changed, verdict in (
        (text, Verdict.PASS),
        (text.replace("op_0 + op_1", "op_1 + op_0"), Verdict.PASS),
        (text.replace(" + ", " - "), Verdict.UNKNOWN),
    ):
        answer = base.of(read(changed, tmp_path), 5.0, quick=True, suspect=suspect)
        assert answer is not None
        assert answer.verdict is verdict


def test_a_design_with_other_signals_takes_a_whole_proof(tmp_path: Path) -> None:
    text = emit_verilog(ADDER)
    base = of_text(ADDER, text, tmp_path)
    assert base.of(read(text.replace("op_2", "sum"), tmp_path), 5.0) is None


def test_a_wrong_design_is_nothing_to_build_on(tmp_path: Path) -> None:
    netlist = read(emit_verilog(ADDER).replace(" + ", " - "), tmp_path)
    assert proved_design(ADDER, netlist, packed(ADDER), _OPTIONS) is None


def test_stretched_vectors_reach_what_random_ones_do_not() -> None:
    elements = ports_of(LONG_SUM).inputs
    found = trace(LONG_SUM, elements, [column[5:] for column in random_vectors(elements, 205, 0)], 200)
    valid = np.ones(200, dtype=bool)
    columns, rows = stretched_vectors(LONG_SUM, elements, found, valid, [22], 0)
    reached = trace(LONG_SUM, elements, columns, rows).values[22]
    assert {12 * 7, 256 - 12 * 8} <= {int(value) for value in reached}
    assert not {12 * 7, 256 - 12 * 8} & {int(value) for value in found.values[22]}
