"""Each seeded fault is refuted, with the faulty op and a vector that a simulator confirms."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from prove.door import mutant, run_prove
from support.door import command
from support.programs import dense_network, every_opcode
from support.rtl_bugs import BUGS, VARIANTS, Bug

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program

EVERY = every_opcode()
DENSE = dense_network()
MISMATCH = ("RTL_MISMATCH", 1)

#: Faults of widths, signs, shifts and rare values, in addition to those of the simulation's tests.
MORE = [
    Bug("sum cut by one bit", 10, "reg signed [4:0] op_10;", "[4:0]", "[3:0]"),
    Bug("operand lost its sign", 4, "op_4 =", "op_0 +", "$unsigned(op_0) +"),
    Bug("an unsigned literal makes all unsigned", 10, "op_10 =", "3'sd3", "3'd3"),
    Bug("shift count off by one", 13, "op_13 =", "<<< 1", "<<< 2"),
    Bug("shift the other way", 12, "op_12 =", "<<<", ">>>"),
    Bug("floored after the sum", 5, "op_5 =", "(op_2 <<< 5) - op_0", "((op_2 <<< 6) - (op_0 <<< 1) - 1) >>> 1"),
    Bug(
        "wrong for one value of two operands", 15, "op_15 =", "op_3 * op_2", "op_3 * op_2 - (op_3 == 7 && op_2 == -16)"
    ),
    Bug("wrong only at a product's corner", 15, "op_15 =", "op_3 * op_2", "(op_3 * op_2 == 128) ? 127 : op_3 * op_2"),
    Bug("carry dropped", 31, "op_31 =", "(op_6 <<< 1) + op_7", "(op_6 <<< 1) | op_7"),
    Bug("table index wraps early", 16, "op_16_index =", "op_8 + 5'sd8", "(op_8 + 5'sd8) & 5'sd7"),
    Bug("two bits swapped", 30, "op_30 =", "op_4 >>> 3", "{op_4[10:5], op_4[3], op_4[4]}"),
]


def refuted(bug: Bug, folder: Path) -> None:
    run = run_prove(EVERY, folder, rtl=mutant(EVERY, bug.line, bug.old, bug.new), diagnose=True)
    assert run.ending == MISMATCH, (run.tree["message"], run.stderr)
    found = run.tree["counterexample"]
    assert (found["op"], found["mnemonic"]) == (bug.op, EVERY.ops[bug.op].spec.mnemonic)
    assert run.refuted == [bug.op], "no other op is accused"
    replay = found["replay"]
    assert replay["verdict"] == "RTL_MISMATCH"
    assert [(s["name"], s["vectors_compared"], s["mismatches"]) for s in replay["simulators"]] == [("icarus", 1, 1)]
    assert replay["first_mismatch"]["blame"]["op"] == bug.op


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, id=bug.name.replace(" ", "-"), marks=[] if n % 11 == 0 else [pytest.mark.slow])
        for n, bug in enumerate([*BUGS, *VARIANTS])
    ],
)
def test_a_bug_that_simulation_finds(bug: Bug, tmp_path: Path) -> None:
    refuted(bug, tmp_path)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, id=bug.name.replace(" ", "-"), marks=[] if n % 3 == 0 else [pytest.mark.slow])
        for n, bug in enumerate(MORE)
    ],
)
def test_a_bug_of_width_sign_or_shift(bug: Bug, tmp_path: Path) -> None:
    refuted(bug, tmp_path)


@pytest.mark.parametrize(
    ("output", "line", "old", "new"),
    [
        (0, "wire [11:0] out_0 =", "-op_4", "op_4"),
        pytest.param(3, "wire [8:0] out_3 =", "op_15[8:0]", "{op_15[7:0], 1'b0}", marks=pytest.mark.slow),
        (9, "out_18, out_17", "out_10, out_9", "out_9, out_10"),
        pytest.param(13, "wire [6:0] out_13 =", "op_25", "op_13", marks=pytest.mark.slow),
    ],
    ids=["negation-dropped", "shift-applied", "swapped", "another-op"],
)
def test_a_bug_behind_the_ops_is_the_outputs(output: int, line: str, old: str, new: str, tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=mutant(EVERY, line, old, new))
    assert run.ending == MISMATCH
    assert set(run.statuses("op").values()) == {"PROVED"}
    assert (run.tree["counterexample"]["op"], run.tree["counterexample"]["output"]) == (None, output)
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


@pytest.mark.parametrize(("code", "share", "old", "new"), [(0, 0.5, r"\+", "-"), (2, 0.9, r"1'sb0 :", "1'sb1 :")])
def test_a_bug_deep_in_a_network(code: int, share: float, old: str, new: str, tmp_path: Path) -> None:
    text = emit_verilog(DENSE)
    lines = {int(m[1]): m[0] for m in re.finditer(r"\n *op_(\d+) = .*;", text)}
    fitting = [op.index for op in DENSE.ops if op.code == code and re.search(old, lines[op.index])]
    index = fitting[int(share * len(fitting))]
    rtl = text.replace(lines[index], re.sub(old, new, lines[index], count=1))
    run = run_prove(DENSE, tmp_path, rtl=rtl)
    assert run.ending == MISMATCH
    assert run.tree["counterexample"]["op"] == index
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


def test_one_value_in_two_to_the_thirty_is_found(tmp_path: Path) -> None:
    """A fault at one of 2^30 values, which random vectors would not meet, is found."""
    rows = [(-1, 0, -1, 0, (1, 15, 0)), (-1, 1, -1, 0, (1, 13, 0)), (0, 0, 1, 0, (1, 16, 0)), (3, 2, -1, 0, (1, 16, 0))]
    program = Program.build(rows, [(3, 0, 0)], inp_shift=[0, 0])
    rtl = mutant(program, "op_2 =", "op_0 + op_1", "op_0 + op_1 + (seldom ? 17'sd1 : 17'sd0)")
    wire = "  wire seldom = op_0 == 16'sd12345 && op_1 == -14'sd4321;\n"
    rtl = rtl.replace("  always @(model_inp)", f"{wire}  always @(model_inp or seldom)")
    run = run_prove(program, tmp_path, rtl=rtl)
    assert run.ending == MISMATCH
    assert run.tree["counterexample"]["inputs"] == ["12345", str((1 << 14) - 4321)]
    assert run.tree["counterexample"]["op"] == 2


def test_a_signal_declared_unsigned_is_the_fault_of_its_reader(tmp_path: Path) -> None:
    rtl = mutant(EVERY, "reg signed [3:0] op_8;", "reg signed", "reg")
    run = run_prove(EVERY, tmp_path, rtl=rtl)
    assert run.exit_code in (1, 4)
    assert run.statuses("op")[8] == "PROVED", "its bits are right"
    assert run.tree["counterexample"]["op"] == 10


def test_an_undefined_word_is_refuted_and_seen_as_x(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=mutant(EVERY, "op_16_index =", "5'sd8", "5'sd9"))
    assert run.ending in (("X_IN_OUTPUT", 4), MISMATCH)
    assert run.tree["counterexample"]["op"] == 16


def test_the_line_to_copy_runs_the_counterexample(tmp_path: Path) -> None:
    run = run_prove(EVERY, tmp_path, rtl=mutant(EVERY, "op_26 =", "4'sd5", "4'sd4"))
    words = shlex.split(run.tree["simulate"])
    done = command(*words[words.index("sim") :], "--sim", "icarus", "--json", "-o", tmp_path / "again")
    assert done.returncode == 1, done.stderr
    record = json.loads(done.stdout)
    assert (record["verdict"], record["vectors"]) == ("RTL_MISMATCH", 1)
    assert record["first_mismatch"]["blame"]["op"] == 26
