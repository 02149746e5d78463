"""Our own RTL is proved: real programs, all opcodes, and programs of odd shapes."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import mutant, run_prove
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode, overflowing
from support.said import as_recorded

from dais_verif.spec.program import Program, load
from dais_verif.spec.program.graph import cone

CORPUS = [
    "p01_addsub_tiny",
    "p03_fir16",
    "p04_sort8",
    "p05_softmax_lut",
    "p06_matmul_2in",
    "p10_bitops",
    "p11_cmvm_raw",
    "p12_quant_modes",
    "p14_v041_minmaxmul",
]
LARGE = ["p02_mlp_jet", "p07_dct8x8", "p08_conv_tiny", "p09_dense64", "p13_hgq_jet"]


def all_proved(program: Program, folder: Path, *options: object) -> None:
    run = run_prove(program, folder, *options)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert set(run.statuses("op").values()) <= {"PROVED"}
    assert set(run.statuses("op")) == set(range(program.n_ops)), "every op is a cut point of its own"
    assert set(run.statuses("output").values()) == {"PROVED"}
    with_bits = [j for j, kind in enumerate(program.output_types) if kind.width]
    assert list(run.statuses("output")) == with_bits
    assert not run.tree["conditional"], "what our RTL does where promises break is proved too"


@pytest.mark.parametrize("program", [every_opcode(), dense_network()], ids=["every-opcode", "dense-network"])
def test_every_op_is_proved(program: Program, tmp_path: Path) -> None:
    all_proved(program, tmp_path)


def test_wrapping_where_a_promise_breaks_is_proved(tmp_path: Path) -> None:
    all_proved(overflowing(), tmp_path)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [n for n in ODD_PROGRAMS if any(t.width for t in ODD_PROGRAMS[n].output_types)])
def test_programs_of_odd_shapes(name: str, tmp_path: Path) -> None:
    all_proved(ODD_PROGRAMS[name], tmp_path)


@pytest.mark.parametrize("name", [n for n in ODD_PROGRAMS if not any(t.width for t in ODD_PROGRAMS[n].output_types)])
def test_nothing_to_prove_is_no_pass(name: str, tmp_path: Path) -> None:
    assert run_prove(ODD_PROGRAMS[name], tmp_path).ending == ("NOT_RUN", 6)


@pytest.mark.parametrize("name", [*CORPUS, *(pytest.param(n, marks=pytest.mark.slow) for n in LARGE)])
def test_real_programs(name: str, corpus: Path, tmp_path: Path) -> None:
    all_proved(load(corpus / name / "prog.v1.bin"), tmp_path, "--unchecked")


def test_the_tree_says_what_was_done(tmp_path: Path) -> None:
    run = run_prove(every_opcode(), tmp_path)
    claims = run.tree["claims"]
    assert claims["PROVED"] == {"ops": 32, "outputs": 17}
    assert claims["REFUTED"] == claims["UNKNOWN"] == {"ops": 0, "outputs": 0}
    assert sum(run.tree["methods"].values()) == 49
    assert {"identical", "exhaustive"} <= set(run.tree["methods"])
    assert run.tree["counterexample"] is None


def test_outputs_that_rest_on_proved_ops_stay_proved_beside_a_wrong_one(tmp_path: Path) -> None:
    program, page = every_opcode(), tmp_path / "proof.html"
    run = run_prove(program, tmp_path, "--html", page, rtl=mutant(program, "op_4 =", "+", "-"))
    assert run.ending == ("RTL_MISMATCH", 1) and run.refuted == [4]
    apart = [j for j, (op, _, _) in enumerate(program.outputs) if op < 0 or 4 not in cone(program, [op])]
    proved = [j for j in apart if program.output_types[j].width]
    assert run.tree["proved_outputs"] == proved and 0 < len(proved) < len(run.tree["outputs"])
    assert f"<strong>{len(proved)} proved</strong>" in page.read_text("utf-8")


def test_html_is_the_page_of_the_proof(tmp_path: Path) -> None:
    page = tmp_path / "proof.html"
    assert run_prove(every_opcode(), tmp_path, "--html", page, "-o", tmp_path / "out").ending == ("PASS", 0)
    text = page.read_text("utf-8")
    assert "PASS</h1>" in text and all(part in text for part in ("17 outputs", "inputs"))
    assert 'href="out/result.json"' in text or 'href="./out/result.json"' in text


def test_every_output_that_the_vector_shows_to_be_wrong_is_refuted(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0), (0, 0, 0), (0, 0, 0)], inp_shift=[0])
    text = "module model (input [3:0] model_inp, output [11:0] model_out);\n"
    text += "  assign model_out = {model_inp, ~model_inp, model_inp ^ 4'd1};\nendmodule\n"
    run = run_prove(program, tmp_path, rtl=text)
    assert run.ending == ("RTL_MISMATCH", 1)
    assert run.statuses("output") == {0: "REFUTED", 1: "REFUTED", 2: "PROVED"}


def test_one_output_is_no_plural(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    as_recorded(run_prove(program, tmp_path).tree["message"])
