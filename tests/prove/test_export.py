"""z3 gives each SMT-LIB file that a proof exports the answer that the index records."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import z3
from prove.door import Run, mutant, run_prove
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.spec.program import Program, load

EVERY = every_opcode()


def dumped(program: Program, folder: Path, *options: object, rtl: str | None = None) -> tuple[Run, dict[str, Any]]:
    """Run with ``--dump-smt``, and return the run and the index that it wrote."""
    run = run_prove(program, folder, "--dump-smt", folder / "smt", *options, rtl=rtl)
    return run, json.loads((folder / "smt" / "index.json").read_text())


def answer(file: Path) -> str:
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(z3.parse_smt2_string(file.read_text()))
    return str(solver.check())


def answered(folder: Path, index: dict[str, Any], share: float = 1.0) -> dict[str, str]:
    """Return z3's answers for a share of the files, and check them against the index."""
    files = index["statements"]
    found = {}
    for statement in random.Random(0).sample(files, max(1, int(share * len(files)))):
        found[statement["file"]] = answer(folder / "smt" / statement["file"])
        if statement["answer"] != "unknown":
            assert found[statement["file"]] == statement["answer"], statement
    return found


def test_every_op_and_output_has_its_statement(tmp_path: Path) -> None:
    run, index = dumped(EVERY, tmp_path)
    assert run.ending == ("PASS", 0)
    files = {statement["file"] for statement in index["statements"]}
    assert files == {path.name for path in (tmp_path / "smt").glob("*.smt2")}
    claims = [claim for statement in index["statements"] for claim in statement["claims"]]
    assert sorted(claim["op"] for claim in claims if "op" in claim) == list(range(EVERY.n_ops))
    assert sorted(claim["output"] for claim in claims if "output" in claim) == list(run.statuses("output"))
    assert index["answers"] == {"unsat": len(files)} and index["not_stated"] == []
    assert run.tree["obligations_written"]["files"] == len(files) > 30
    assert set(answered(tmp_path, index, 0.5).values()) == {"unsat"}


def test_a_statement_holds_the_rtl_as_it_was_written(tmp_path: Path) -> None:
    """A product by 8 equals a shift by 3 in normal form, but the files contain both as they were written."""
    run, index = dumped(EVERY, tmp_path, rtl=mutant(EVERY, "op_4 =", "(op_1 <<< 3)", "op_1 * 8"))
    assert run.tree["ops"][4]["method"] == "identical" and index["terms"] == "as written"
    text = (tmp_path / "smt" / "op_4.smt2").read_text()
    assert "bvmul" in text and "concat" in text
    assert answer(tmp_path / "smt" / "op_4.smt2") == "unsat"


def test_what_is_refuted_is_satisfiable(tmp_path: Path) -> None:
    run, index = dumped(EVERY, tmp_path, rtl=mutant(EVERY, "op_26 =", "4'sd5", "4'sd4"))
    assert run.ending == ("RTL_MISMATCH", 1)
    (wrong,) = (statement for statement in index["statements"] if statement["answer"] == "sat")
    assert [claim["op"] for claim in wrong["claims"]] == [26]
    assert answered(tmp_path, index, 0.2) and answer(tmp_path / "smt" / wrong["file"]) == "sat"


def wide_sum() -> Program:
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (2, 0, -1, 0, (0, 7, 0)), (1, 0, 1, 0, (1, 8, 0))]
    return Program.build(rows, [(2, 0, 0)], inp_shift=[0])


def saturating() -> Program:
    return Program.build([(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 1, (1, 7, 0))], [(1, 0, 0)], inp_shift=[0])


@pytest.mark.parametrize(
    ("program", "line", "old", "new", "op", "how"),
    [
        (EVERY, "op_27_index =", "op_26 - 4'sd4", "op_26 - 4'sd4 + (op_26 < 5)", 27, "ranges"),
        (wide_sum(), "op_2 =", "op_0 - op_1", "(op_0 - op_1 > 0) ? 9'sd77 : op_0 - op_1", 2, "1 level of ops"),
        (saturating(), "op_1 =", "op_0 + 2'sd1", "(op_0 == 127) ? 8'sd127 : op_0 + 2'sd1", 1, "promises"),
    ],
    ids=["ranges", "levels", "promises"],
)
def test_what_was_needed_beyond_the_plain_statement_is_in_the_file(
    program: Program, line: str, old: str, new: str, op: int, how: str, tmp_path: Path
) -> None:
    run, index = dumped(program, tmp_path, rtl=mutant(program, line, old, new))
    assert run.ending == ("PASS", 0)
    assert run.tree["ops"][op]["how"] == how
    (statement,) = (s for s in index["statements"] if {"op": op}.items() <= s["claims"][0].items())
    assert statement["claims"][0]["how"] == how
    text = (tmp_path / "smt" / statement["file"]).read_text()
    assert ("; assumed" in text) == (how != "1 level of ops")
    assert answer(tmp_path / "smt" / statement["file"]) == "unsat"
    ranges = [s for s in index["statements"] if "range of op" in s["claims"][0]]
    assert bool(ranges) == (how == "ranges")
    assert all(answer(tmp_path / "smt" / s["file"]) == "unsat" for s in ranges)
    if how != "1 level of ops":  # without the assumption the statement would be wrong
        plain = "".join(x for x in text.splitlines(keepends=True) if "; assumed" not in x)
        (tmp_path / "plain.smt2").write_text(plain)
        assert answer(tmp_path / "plain.smt2") == "sat"


def test_signals_that_are_not_what_they_are_called(tmp_path: Path) -> None:
    """If ops 4 and 30 swap names, the outputs are proved without these cut points, and the files state that proof."""
    from re import sub

    from dais_verif.hardware.emitter import emit_verilog

    rtl = sub(r"\bop_(4|30)\b", lambda m: {"4": "op_30", "30": "op_4"}[m[1]], emit_verilog(EVERY))
    run, index = dumped(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0)
    of_output = {s["file"]: s for s in index["statements"] if any("output" in claim for claim in s["claims"])}
    assert {s["answer"] for s in of_output.values()} == {"unsat"}
    assert all(answer(tmp_path / "smt" / file) == "unsat" for file in list(of_output)[:6])


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from dais_verif.doors.cli import main

    (tmp_path / "smt").mkdir()
    (tmp_path / "smt" / "old.smt2").write_text("(check-sat)")
    code = main._run(["prove", "examples/quantised_mac.bin", "--dump-smt", str(tmp_path / "smt")])
    assert code == 2
    as_recorded(capfd.readouterr().err)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["p02_mlp_jet", "p05_softmax_lut", "p10_bitops"])
def test_z3_decides_everything_of_a_real_program(name: str, corpus: Path, tmp_path: Path) -> None:
    run, index = dumped(load(corpus / name / "prog.v1.bin"), tmp_path)
    assert run.ending == ("PASS", 0) and index["terms"] == "as written"
    assert set(answered(tmp_path, index).values()) == {"unsat"}
