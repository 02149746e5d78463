"""A whole proof is reused for the same question only, and only if its entry in the cache is unchanged."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from prove.door import Run, mutant, run_prove
from support.programs import EVERY_OPCODE, OUTPUTS, SINE_LIKE, STEPS, every_opcode, overflowing

import dais_verif
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.prover import proof_cache
from dais_verif.spec.program import Program

EVERY = every_opcode()
RTL = emit_verilog(EVERY)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "proofs" / "proofs.sqlite"


def proved(folder: Path, *options: object, program: Program = EVERY, rtl: str | None = RTL) -> Run:
    return run_prove(program, folder, *options, rtl=rtl, cache=True)


def recalled(run: Run) -> bool:
    """Return whether the proof was reused; if so, the RTL was not even read."""
    return "elaborate" not in run.tree["seconds"]


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_the_same_question_has_the_same_answer(tmp_path: Path) -> None:
    first, second = proved(tmp_path), proved(tmp_path, "--timeout", 9)
    assert (recalled(first), recalled(second)) == (False, True)
    assert first.ending == second.ending == ("PASS", 0)
    assert second.tree["cached_claims"] == 49
    for field in ("message", "claims", "methods", "ops", "outputs", "timing", "conditional", "obligations", "rtl"):
        assert first.tree[field] == second.tree[field], field


def test_a_pipeline_is_recalled_with_its_timing(tmp_path: Path) -> None:
    first, second = (run_prove(EVERY, tmp_path, "--stages", 2, cache=True) for _ in range(2))
    assert recalled(second) and first.tree["timing"] == second.tree["timing"] is not None
    assert not recalled(run_prove(EVERY, tmp_path, "--stages", 3, cache=True))


def test_what_else_was_asked_is_proved_anew(tmp_path: Path) -> None:
    proved(tmp_path)
    assert not recalled(proved(tmp_path, "--unchecked"))
    assert not recalled(proved(tmp_path, rtl=RTL + "\n"))
    assert not recalled(proved(tmp_path, "--top", "other", rtl=RTL.replace("module model", "module other")))
    more = [*EVERY_OPCODE, (5, -1, -1, 3, (0, 2, 0))]
    longer = Program.build(more, OUTPUTS, inp_shift=[0, 1, 0], tables=[SINE_LIKE, STEPS])
    assert not recalled(proved(tmp_path, program=longer)), "another program, though its outputs are the same"
    assert recalled(proved(tmp_path))


def test_a_memory_file_is_part_of_the_question(tmp_path: Path) -> None:
    program = Program.build(
        [(-1, 0, -1, 0, (0, 2, 0)), (8, 0, -1, 0, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0], tables=[[9, 3, 12, 5]]
    )
    rtl = re.sub(r"initial begin.*?end", 'initial $readmemh("words.mem", table_0);', emit_verilog(program), flags=re.S)
    (tmp_path / "words.mem").write_text("9 3 c 5\n")
    assert [recalled(proved(tmp_path, program=program, rtl=rtl)) for _ in range(2)] == [False, True]
    (tmp_path / "words.mem").write_text("9 3 c 4\n")
    assert proved(tmp_path, program=program, rtl=rtl).ending == ("RTL_MISMATCH", 1)


def test_rtl_that_includes_files_is_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "said.v").write_text("// nothing\n")
    rtl = '`include "said.v"\n' + RTL
    assert [recalled(proved(tmp_path, rtl=rtl)) for _ in range(2)] == [False, False]


def test_only_what_was_proved_is_kept(tmp_path: Path, home: Path) -> None:
    wrong = mutant(EVERY, "op_26 =", "4'sd5", "4'sd4")
    misnamed = re.sub(r"\bop_(4|30)\b", lambda m: {"4": "op_30", "30": "op_4"}[m[1]], RTL)
    for rtl, ending in ((wrong, ("RTL_MISMATCH", 1)), (misnamed, ("PASS", 0))):
        runs = [proved(tmp_path / str(n), rtl=rtl) for n in range(2)]
        assert [(run.ending, recalled(run)) for run in runs] == [(ending, False)] * 2


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET seal = ''",
        "UPDATE runs SET seal = NULL, proof = NULL",
        "UPDATE runs SET proof = x'00'",
        "UPDATE runs SET key = key || 'x'",
        "DROP TABLE runs",
    ],
)
def test_a_damaged_proof_is_not_believed(damage: str, tmp_path: Path, home: Path) -> None:
    proved(tmp_path)
    change(home, damage)
    again = proved(tmp_path)
    assert again.ending == ("PASS", 0) and not recalled(again)


def test_a_proof_that_was_moved_to_another_question_is_not_believed(tmp_path: Path, home: Path) -> None:
    wrong = mutant(EVERY, "op_26 =", "4'sd5", "4'sd4")
    proved(tmp_path)
    seen: list[str] = []
    remember = proof_cache.proof_key
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof_cache, "proof_key", lambda *args: seen.append(str(remember(*args))) or seen[-1])
        proved(tmp_path, rtl=wrong)
    change(home, f"UPDATE runs SET key = '{seen[0]}'")
    assert proved(tmp_path, rtl=wrong).ending == ("RTL_MISMATCH", 1)


def test_another_version_proves_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proved(tmp_path)
    monkeypatch.setattr(proof_cache, "_tools", lambda: "other code")
    assert not recalled(proved(tmp_path))


def test_the_oldest_proofs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_cache, "_KEPT", 2)
    program = overflowing()
    for seed in range(3):
        run_prove(program, tmp_path, "--seed", seed, cache=True)
    assert [recalled(run_prove(program, tmp_path, "--seed", seed, cache=True)) for seed in (2, 1)] == [True, True]
    assert not recalled(run_prove(program, tmp_path, "--seed", 0, cache=True))


def test_the_seal_takes_in_the_code_of_every_proof() -> None:
    """Each folder in the seal exists; otherwise its code would be left out, and proofs of older code reused."""
    root = Path(str(dais_verif.__file__)).parent
    for folder in proof_cache._FOLDERS:
        assert any((root / folder).rglob("*.py")), folder


def test_a_proof_depends_on_code_and_on_packages_of_vhdl() -> None:
    files = {file.name for file in proof_cache._code(Path(proof_cache.__file__).parent.parent)}
    assert {"proof_cache.py", "dais_numeric_std.vhd", "ghdl_verilog.py"} <= files
