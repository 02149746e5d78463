"""``dais-verif sensitivity``: its table, bit patterns, files, and exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import as_recorded

from dais_verif.doors.cli import main
from dais_verif.spec.program import Program, write_binary

S4 = (1, 3, 0)
#: x; x with one fractional bit; the same without its two lowest bits; max(x, 0); two ops that no op reads.
PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, S4),
        (3, 0, -1, 0, (1, 3, 1)),
        (3, 1, -1, 0, (1, 3, -1)),
        (2, 0, -1, 0, (0, 3, 0)),
        (4, 0, -1, 1, (1, 4, 0)),
        (3, 0, -1, 0, (0, 0, 0)),
    ],
    [(2, 0, 0), (3, 2, 0)],
    inp_shift=[0],
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.bin").write_bytes(write_binary(PROGRAM, "v1"))
    (tmp_path / "x.csv").write_text("-8\n-3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main._run(["sensitivity", *arguments])


def tree_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(*arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("p.bin", "--inputs", "x.csv", "--vectors", "0") == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0] == "program    p.bin  v1, 1 input, 2 outputs, 6 ops"
    as_recorded(lines[2:4])
    assert [line.split() for line in lines[5:-3]] == [
        ["3", "relu", "u3.0", "4", "1", "0", "4", "2"],
        ["2", "quant", "s3.-1", "2", "0", "0", "2", "2"],
        ["0", "input", "s4.0", "0", "-", "-", "0", "0"],
    ]
    as_recorded(lines[-3:])


def test_bits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Op 1 has two dead bits, and op 0 has one bit that is silent in these vectors."""
    assert run("p.bin", "--bits", "--inputs", "x.csv", "--vectors", "0", "--top", "3") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    as_recorded(lines[3])
    assert [line.split() for line in lines[5:8]] == [
        ["0", "input", "s4.0", "###.", "3", "20", "1", "1", "14", "2"],
        ["3", "relu", "u3.0", "###", "2", "16", "1", "0", "16", "2"],
        ["1", "quant", "s5.1", "###--", "4", "8", "0", "0", "8", "2"],
    ]
    as_recorded(lines[8:10])
    assert lines[-2].endswith("(op 0 bit 0)")
    assert lines[-1].startswith("dead       7: ") and "(op 1 bit 0, op 1 bit 1, op 4 bit 0, " in lines[-1]


def test_json_holds_everything_ranked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, tree = tree_of(capsys, "p.bin", "--bits", "--inputs", "x.csv", "--vectors", "0", "--top", "1")
    assert (code, tree["verdict"], tree["exit_code"], tree["vectors"], tree["bits"]) == (0, "PASS", 0, 2, True)
    assert tree["count"] == {"matter": 12, "silent": 1, "dead": 7}
    assert len(tree["effects"]) == 13 and len(tree["dead"]) == 7
    assert tree["effects"][0] == {
        "op": 0,
        "mnemonic": "input",
        "type": "s4.0",
        "bit": 3,
        "worst": "20",
        "mean": "14",
        "changed": 2,
        "output": 1,
        "vector": 1,
    }
    assert tree["dead"][0] == {"op": 1, "mnemonic": "quant", "type": "s5.1", "bit": 0}


def test_files_hold_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, tree = tree_of(capsys, "p.bin", "--bits", "-o", "effects.json")
    assert json.loads((folder / "effects.json").read_text()) == tree
    assert run("p.bin", "--bits", "--top", "0", "-o", "effects.csv") == 0
    rows = list(csv.DictReader((folder / "effects.csv").read_text().splitlines()))
    assert len(rows) == sum(tree["count"].values())
    assert {kind: sum(row["kind"] == kind for row in rows) for kind in ("matters", "silent", "dead")} == {
        "matters": tree["count"]["matter"],
        "silent": tree["count"]["silent"],
        "dead": tree["count"]["dead"],
    }
    assert [row["worst"] for row in rows[: len(tree["effects"])]] == [effect["worst"] for effect in tree["effects"]]


def test_vectors_and_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    effects = [tree_of(capsys, "p.bin", "--vectors", "200", "--seed", seed)[1]["effects"] for seed in ("1", "1", "2")]
    assert effects[0] == effects[1] != effects[2]
    np.save("x.npy", np.zeros((3, 1)))
    _, tree = tree_of(capsys, "p.bin", "--inputs", "x.npy", "--inputs", "x.csv", "--vectors", "4")
    assert tree["vectors"] == 9


@pytest.mark.parametrize(
    ("program", "vectors"),
    [
        (PROGRAM, "0"),
        (Program.build([(5, -1, -1, 1, S4)], [(-1, 0, 0)]), "5"),
        (Program.build([], []), "5"),
    ],
)
def test_nothing_flipped_is_not_run(
    folder: Path, capsys: pytest.CaptureFixture[str], program: Program, vectors: str
) -> None:
    Path("p.bin").write_bytes(write_binary(program, "v1"))
    code, tree = tree_of(capsys, "p.bin", "--vectors", vectors)
    assert (code, tree["verdict"]) == (6, "NOT_RUN")
    assert ("vectors" in tree["message"]) == (vectors == "0")
    as_recorded(tree["message"])
    assert run("p.bin", "--vectors", vectors) == 6
    assert capsys.readouterr().out.splitlines()[-1] == f"NOT_RUN  {tree['message']}"


def test_what_time_left_out_is_said_and_is_no_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, tree = tree_of(capsys, "p.bin", "--vectors", "1000", "--timeout", "1e-9")
    as_recorded(tree["message"])
    assert (code, tree["verdict"]) == (6, "UNKNOWN")
    assert tree["left_out"]["vectors"] == 1000 - tree["vectors"] > 0
    assert run("p.bin", "--vectors", "1000", "--timeout", "1e-9") == 6
    assert capsys.readouterr().out.splitlines()[-1].startswith("UNKNOWN  ")


def test_a_broken_promise_ends_the_run_unless_unchecked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    narrow = Program.build([(-1, 0, -1, 0, S4), (4, 0, -1, 1, S4)], [(1, 0, 0)], inp_shift=[0])
    Path("p.bin").write_bytes(write_binary(narrow, "v1"))
    assert run("p.bin") == 2
    as_recorded(capsys.readouterr().err)
    assert run("p.bin", "--unchecked") == 0
    assert "64 vectors, seed 0, overflow unchecked" in capsys.readouterr().out


def test_values_beyond_floats_are_shown_exactly(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = Program.build([(-1, 0, -1, 0, S4)], [(0, 2000, 0), (0, -2000, 0)], inp_shift=[0])
    Path("p.bin").write_bytes(write_binary(wide, "v1"))
    assert run("p.bin", "--vectors", "3") == 0
    assert capsys.readouterr().out.count(str(1 << 2000)) == 2, "worst and mean"
