"""Faults are found deep in a network, after the ops, without op names, as unknown values, and in one simulator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.door import mutant, run_sim
from support.programs import dense_network, every_opcode
from support.said import as_recorded

from dais_verif.hardware.emitter import emit_verilog

EVERY = every_opcode()
DENSE = dense_network()
VECTORS = ("--vectors", 400)

MISMATCH = ("RTL_MISMATCH", 1)
X_IN_OUTPUT = ("X_IN_OUTPUT", 4)
DISAGREE = ("SIMULATORS_DISAGREE", 5)


def deep(code: int, share: float, old: str, new: str) -> tuple[int, str]:
    """Return an op of ``code`` at ``share`` of the depth of the dense network, and the Verilog with a fault in it."""
    text = emit_verilog(DENSE)
    lines = {int(m[1]): m[0] for m in re.finditer(r"\n *op_(\d+) = .*;", text)}
    fitting = [op.index for op in DENSE.ops if op.code == code and re.search(old, lines[op.index])]
    index = fitting[int(share * len(fitting))]
    return index, text.replace(lines[index], re.sub(old, new, lines[index], count=1))


@pytest.mark.parametrize(
    ("code", "share", "old", "new"),
    [
        (0, 0.5, r"\+", "-"),
        pytest.param(0, 0.9, r"<<< (\d+)", r"<<< (\1 + 1)", marks=pytest.mark.slow),
        pytest.param(1, 0.99, r"-", "+", marks=pytest.mark.slow),
        (2, 0.5, r"1'sb0 :", "1'sb1 :"),
        pytest.param(2, 0.9, r"& \d+'sh[0-9a-f]+", "", marks=pytest.mark.slow),
    ],
    ids=["sum", "shift", "difference", "relu", "wrap"],
)
def test_a_bug_deep_in_a_network(code: int, share: float, old: str, new: str, tmp_path: Path) -> None:
    index, rtl = deep(code, share, old, new)
    run = run_sim(DENSE, tmp_path, *VECTORS, rtl=rtl)
    assert run.ending == MISMATCH
    assert (run.blame["kind"], run.blame["op"]) == ("op", index), run.blame


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("output", "line", "old", "new"),
    [
        (0, "wire [11:0] out_0 =", "-op_4", "op_4"),
        pytest.param(3, "wire [8:0] out_3 =", "op_15[8:0]", "{op_15[7:0], 1'b0}", marks=pytest.mark.slow),
        pytest.param(4, "out_18, out_17", "out_6, out_4", "out_4, out_6", marks=pytest.mark.slow),
        (9, "out_18, out_17", "out_10, out_9", "out_9, out_10"),
        (13, "wire [6:0] out_13 =", "op_25", "op_13"),
    ],
    ids=["negation-dropped", "shift-applied", "swapped", "two-bits-swapped", "another-op"],
)
def test_a_bug_behind_the_ops_is_blamed_on_the_output(
    output: int, line: str, old: str, new: str, tmp_path: Path
) -> None:
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=mutant(EVERY, line, old, new))
    assert run.ending == MISMATCH
    assert (run.blame["kind"], run.blame["op"]) == ("output", None), run.blame
    assert run.record["first_mismatch"]["output"] == output
    assert f"output {output} " in run.blame["text"]


def test_rtl_without_op_names_gets_the_cone(tmp_path: Path) -> None:
    rtl = re.sub(r"\bop_(\d+)", r"n\1", mutant(EVERY, "op_26 =", "4'sd5", "4'sd4"))
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=rtl)
    assert run.ending == MISMATCH
    assert (run.blame["kind"], run.record["first_mismatch"]["output"]) == ("cone", 14)
    # op 27 reads 26, 20, 8, 4 and both inputs.
    assert all(part in run.blame["text"] for part in ("14", "7 ops", "inputs 0, 1"))


def test_a_nameless_op_is_passed_over_and_counted(tmp_path: Path) -> None:
    rtl = re.sub(r"\bop_20\b", "n20", mutant(EVERY, "op_26 =", "4'sd5", "4'sd4"))
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=rtl)
    assert (run.blame["kind"], run.blame["op"]) == ("op", 26)
    as_recorded(run.blame["text"])


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("op", "line", "old", "new"),
    [
        (12, "op_12 =", "op_12 =", "op_13 ="),
        (16, "op_16_index =", "5'sd8", "5'sd9"),
        (25, "op_25 =", "| op_13", "| 8'bz"),
        (4, "op_4 =", "<<< 3", "<<< 1'bx"),
    ],
    ids=["never-driven", "outside-the-table", "z", "shift-by-x"],
)
def test_an_unknown_value_is_no_mismatch_and_no_pass(op: int, line: str, old: str, new: str, tmp_path: Path) -> None:
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=mutant(EVERY, line, old, new))
    assert run.ending == X_IN_OUTPUT
    assert (run.blame["kind"], run.blame["op"]) == ("op", op), run.blame
    assert set(run.blame["found"]["bits"]) & set("XZ")
    assert run.blame["found"]["raw"] is None
    assert run.record["simulators"][0]["vectors_with_x"] > 0


def test_x_is_found_in_verilator_by_other_values_for_it(tmp_path: Path) -> None:
    # The operand that is X is 0 in the right design, as Verilator reads it at first.
    rtl = mutant(EVERY, "op_29 =", "(op_28 <<< 3)", "nowhere").replace("  always @", "  reg nowhere;\n  always @", 1)
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=rtl, simulator="both")
    assert run.ending == X_IN_OUTPUT
    assert [(s["name"], s["vectors_with_x"] > 0) for s in run.record["simulators"]] == [
        ("icarus", True),
        ("verilator", True),
    ]
    assert run_sim(EVERY, tmp_path / "alone", *VECTORS, rtl=rtl, simulator="verilator").ending == X_IN_OUTPUT


@pytest.mark.parametrize(
    ("simulator", "op", "wrong"),
    [
        ("verilator", 4, "\n`ifdef VERILATOR\n op_0 - (op_1 <<< 3)\n`else\n op_0 + (op_1 <<< 3)\n`endif\n"),
        pytest.param(
            "icarus",
            4,
            "\n`ifdef __ICARUS__\n op_0 - (op_1 <<< 3)\n`else\n op_0 + (op_1 <<< 3)\n`endif\n",
            marks=pytest.mark.slow,
        ),
        ("icarus", 4, "unknown === 1'bx ? op_0 - (op_1 <<< 3) : op_0 + (op_1 <<< 3)"),
        pytest.param(
            "verilator",
            4,
            "unknown === 1'bx ? op_0 + (op_1 <<< 3) : op_0 - (op_1 <<< 3)",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["ifdef-verilator", "ifdef-icarus", "x-seen-by-icarus", "x-seen-by-icarus-only"],
)
def test_a_bug_in_one_simulator_only(simulator: str, op: int, wrong: str, tmp_path: Path) -> None:
    rtl = mutant(EVERY, "op_4 =", "op_0 + (op_1 <<< 3)", wrong).replace("  always @", "  reg unknown;\n  always @", 1)
    run = run_sim(EVERY, tmp_path, *VECTORS, rtl=rtl, simulator="both")
    assert run.ending == DISAGREE
    assert run.record["first_mismatch"]["simulator"] == simulator
    assert (run.blame["kind"], run.blame["op"], run.blame["replayed_in"]) == ("op", op, simulator)
