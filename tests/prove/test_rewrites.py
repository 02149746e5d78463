"""Equal RTL in another style is proved; RTL without names of ops, or with wrong ones, is judged by its outputs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prove.door import mutant, run_prove
from support.programs import dense_network, every_opcode, unproved
from support.said import as_recorded

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program

EVERY = every_opcode()


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("op_4 =", "(op_1 <<< 3)", "(op_1 + op_1 + op_1 + op_1 + (op_1 <<< 2))"),
        ("op_4 =", "(op_1 <<< 3)", "op_1 * 8"),
        ("op_5 =", "(op_2 <<< 5) - op_0", "(op_2 <<< 5) + ~op_0 + 1"),
        ("op_6 =", "(op_4[10] ? 1'sb0 : (op_4 >>> 2))", "((op_4 < 0 ? 11'sd0 : op_4) >>> 2)"),
        ("op_9_exact =", "-op_5", "~op_5 + 12'sd1"),
        ("op_13 =", "op_0[7] ? (op_6 <<< 1) : op_1", "(op_0 >= 0) ? op_1 : op_6 * 2"),
        ("op_15 =", "op_3 * op_2", "(op_2 <<< 2) * (op_3 >>> 2) + op_2 * $signed({1'b0, op_3[1:0]})"),
        ("op_16 =", "table_0[op_16_index]", "table_0[{!op_8[3], op_8[2:0]}]"),
        ("op_20 =", "|op_8", "op_8 != 0"),
        ("op_23 =", "op_0 ^ (op_1 <<< 3)", "(op_0 | (op_1 <<< 3)) & ~(op_0 & (op_1 <<< 3))"),
        ("op_26 =", "op_20 + 4'sd5", "op_20[0] ? 6 : 5"),
        ("op_31 =", "(op_6 <<< 1) + op_7", "op_7 - (-op_6) - (-op_6)"),
    ],
)
def test_an_equal_expression_is_proved(line: str, old: str, new: str, tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=mutant(EVERY, line, old, new))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert set(run.statuses("op").values()) == {"PROVED"}


def renamed(text: str, pattern: str = r"\bop_(\d+)\b") -> str:
    return re.sub(pattern, r"n\1", text)


def test_renamed_helpers(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=emit_verilog(EVERY).replace("_exact", "_full").replace("_index", "_at"))
    assert run.ending == ("PASS", 0)


def test_some_ops_without_names(tmp_path: Path) -> None:
    rtl = renamed(emit_verilog(EVERY), r"\bop_(4|9|14|26)\b")
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert (run.tree["signals_matched_by_value"], run.tree["ops_without_signal"]) == (4, [])


def test_no_names_at_all(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=renamed(emit_verilog(EVERY)))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["signals_matched_by_value"] == len(run.tree["ops"]) > 25
    assert set(run.statuses("op").values()) | set(run.statuses("output").values()) == {"PROVED"}


def test_no_names_and_a_bug(tmp_path: Path) -> None:
    rtl = renamed(mutant(EVERY, "op_26 =", "4'sd5", "4'sd4"))
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("RTL_MISMATCH", 1)
    found = run.tree["counterexample"]
    assert (found["output"], found["replay"]["verdict"]) == (14, "RTL_MISMATCH")


def test_da4ml_names(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=re.sub(r"\bop_(\d+)\b", r"v\1", emit_verilog(EVERY)))
    assert run.ending == ("PASS", 0)
    assert len(run.tree["ops"]) == EVERY.n_ops


def test_names_that_mean_something_else_do_not_matter(tmp_path: Path) -> None:
    """RTL in which ops 4 and 30 swap names is proved: the signals hold other values, but the outputs are right."""
    text = re.sub(r"\bop_(4|30)\b", lambda m: {"4": "op_30", "30": "op_4"}[m[1]], emit_verilog(EVERY))
    run = run_prove(EVERY, tmp_path, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    failed = {op for op, status in run.statuses("op").items() if status != "PROVED"}
    assert {4, 30} <= failed
    assert all(part in run.tree["message"] for part in (f"{len(failed)} signals", "ops"))


def test_a_wrong_signal_that_nobody_sees(tmp_path: Path) -> None:
    """The outputs are proved although op 3 is inverted, since the ops that read it invert it again."""
    rtl = mutant(EVERY, "op_3 =", "model_inp[5:2]", "~model_inp[5:2]")
    rtl = rtl.replace("op_15 = op_3 * op_2", "op_15 = (~op_3) * op_2").replace("op_19 = op_3 -", "op_19 = (~op_3) -")
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert 3 in run.refuted


def wide_sum(type_of_sum: tuple[int, int, int]) -> Program:
    """Return a program for x - max(x, 0), which stays in -128..0; only both operands together show this."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (2, 0, -1, 0, (0, 7, 0)), (1, 0, 1, 0, type_of_sum)]
    return Program.build(rows, [(2, 0, 0)], inp_shift=[0])


def test_what_only_the_ops_before_show_is_proved_with_them(tmp_path: Path) -> None:
    """RTL that relies on a difference never being positive is proved with the ops before it."""
    program = wide_sum((1, 8, 0))
    rtl = mutant(program, "op_2 =", "op_0 - op_1", "(op_0 - op_1 > 0) ? 9'sd77 : op_0 - op_1")
    run = run_prove(program, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["ops"][2]["how"].startswith("1 level of ops")


def test_what_ranges_show_is_proved_with_ranges(tmp_path: Path) -> None:
    """RTL that is wrong only for values other than 5 and 6, which do not occur, is proved with ranges."""
    rtl = mutant(EVERY, "op_27_index =", "op_26 - 4'sd4", "op_26 - 4'sd4 + (op_26 < 5)")
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["ops"][27]["how"] == "ranges"


def test_a_promise_is_taken_for_granted_only_where_it_is_needed(tmp_path: Path) -> None:
    """A sum that saturates where the program breaks its promise is proved, but refuted with ``--unchecked``."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 1, (1, 7, 0))]
    program = Program.build(rows, [(1, 0, 0)], inp_shift=[0])
    rtl = mutant(program, "op_1 =", "op_0 + 2'sd1", "(op_0 == 127) ? 8'sd127 : op_0 + 2'sd1")
    run = run_prove(program, tmp_path, rtl=rtl)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["conditional"]
    as_recorded(run.tree["message"])
    unchecked = run_prove(program, tmp_path / "unchecked", "--unchecked", rtl=rtl)
    assert unchecked.ending == ("RTL_MISMATCH", 1)
    assert unchecked.tree["counterexample"]["inputs"] == ["127"]


def test_a_dense_network_without_names_is_proved_by_its_values(tmp_path: Path) -> None:
    program = dense_network()
    run = run_prove(program, tmp_path, rtl=renamed(emit_verilog(program)))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert run.tree["signals_matched_by_value"] > 0.9 * program.n_ops


def test_time_that_is_up_is_unknown(tmp_path: Path) -> None:
    """A 40-bit product that is computed in two parts is UNKNOWN, since no solver decides it within the time limit."""
    rows = [(-1, 0, -1, 0, (1, 39, 0)), (-1, 1, -1, 0, (1, 39, 0)), (7, 0, 1, 0, (1, 79, 0))]
    program = Program.build(rows, [(2, 0, 0)], inp_shift=[0, 0])
    parts = "(((op_0 >>> 20) * op_1) <<< 20) + $signed({1'b0, op_0[19:0]}) * op_1"
    run = run_prove(program, tmp_path, "--timeout", 0.2, rtl=mutant(program, "op_2 =", "op_0 * op_1", parts))
    assert run.ending == ("UNKNOWN", 6)
    assert run.statuses("output") == {0: "UNKNOWN"}


def test_a_promise_that_intervals_do_not_show(tmp_path: Path) -> None:
    assert run_prove(unproved(), tmp_path).ending == ("PASS", 0)
