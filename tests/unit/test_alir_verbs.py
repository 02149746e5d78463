"""Verbs report on ALIR programs in ALIR's terms: the op indices, opcode numbers and opcode names of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.places import ALIR
from support.said import as_recorded

import dais_verif
from dais_verif.doors.cli import main

INTERVAL = [-64, 63.75, 0.25]

#: Ops 1 to 5: -x; x * 4 wrapped into 5 bits; op 2 / 8; op 3 + 3/16; x - op 1 + op 2 / 4 + 2 * x.
OPS: list[Any] = [
    [[], -1, [0], [-4, 3.5, 0.5], 0, 0],
    [[0], -2, [], [-3.5, 4, 0.5], 0, 0],
    [[0], 3, [2], [-8, 7.5, 0.5], 0, 0],
    [[2], 3, [-3], [-1, 0.9375, 0.0625], 0, 0],
    [[3], 4, [3, 4], [-1, 1.5, 0.0625], 0, 0],
    [[0, 1, 2, 0], 11, [1, 0, 0, 0, 1, -2, 1, 1], INTERVAL, 0, 0],
]


def model(*ops: Any, outputs: int = 1) -> dict[str, Any]:
    n = len(ops)
    parts = [[1, outputs], [0], [n - 1] * outputs, [0] * outputs, [False] * outputs, list(ops), -1, -1]
    return {"meta": "ALIRModel", "spec_version": 4, "model": parts}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.json").write_text(json.dumps(model(*OPS)))
    narrow = [*OPS[:5], [*OPS[5][:3], [-8, 7.75, 0.25], 0, 0]]
    (tmp_path / "narrow.json").write_text(json.dumps(model(*narrow)))
    other = [*OPS[:5], [[0, 1, 2, 0], 11, [1, 0, 0, 0, 1, -2, 0, 1], INTERVAL, 0, 0]]
    (tmp_path / "other.json").write_text(json.dumps(model(*other)))
    np.save(tmp_path / "x.npy", [[3.5], [-4]])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """Run the command line and return the exit code, the lines of stdout, and stderr."""
    code = main._run(list(arguments))
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def test_check_counts_opcodes_by_number_and_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = dais_verif.check("m.json")
    assert record.opcodes == {"-2 neg": 1, "-1 input": 1, "3 quant_shift": 2, "4 add_const": 1, "11 sum": 1}
    assert (record.program.layout, record.spec_version) == ("alir", 4)
    code, lines, _ = run(capsys, "check", "m.json")
    told = {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines if "  " in line}
    assert code == 0
    assert told["layout"] == "alir, spec 4"
    text = " ".join(" ".join(lines).split())
    assert "neg (-2) 1, input (-1) 1, quant_shift (3) 2, add_const (4) 1, sum (11) 1" in text
    assert all(part in text for part in ("overflow 3 ops proved", "inputs"))


@pytest.mark.parametrize("spec", [2, 3])
def test_check_tells_older_specs(spec: int, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "check", str(ALIR / "legacy" / f"v{spec}.json.gz"), "--json")
    record = json.loads("\n".join(lines))
    assert (code, record["spec_version"], record["opcodes"]["-2 neg"]) == (0, spec, 66)


@pytest.mark.parametrize("name", ["a01", "a02", "a03", "a08", "a09"])
def test_check_decides_all_promises_of_real_models(name: str) -> None:
    """The promises are decided although each sum is a single op: nothing within an op can overflow."""
    record = dais_verif.check(next(ALIR.glob(f"{name}_*/alir.json*")))
    assert record.verdict is dais_verif.Verdict.PASS
    assert not record.overflow.undecided and not record.overflow.broken
    if name != "a08":
        assert not record.overflow.possible, "no solver is needed"


def test_a_broken_promise_names_the_op_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken promise names the op of the file, with the exact result 3.5 + 3.5 - 2 / 4 + 2 * 3.5 = 13.5.

    If the file were read as DAIS, op 1 would be a relu.
    """
    for engine in ("auto", "numpy", "exact"):
        code, _, err = run(capsys, "run", "narrow.json", "--inputs", "x.npy", "--engine", engine)
        assert code == 2, engine
        as_recorded(err)
    assert run(capsys, "run", "m.json", "--inputs", "x.npy")[:2] == (0, ["out_0", "13.5", "-16.0"])


def test_explain_has_numbers_and_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "explain", "m.json", "--inputs", "x.npy", "--row", "0")
    assert code == 0
    told = [line.split()[:5] for line in sorted(lines[:-1]) if line.startswith("  %")]
    assert told == [
        ["%0", "s4.1", "-1", "input", "3.5"],
        ["%1", "s5.1", "-2", "neg", "-3.5"],
        ["%2", "s5.1", "3", "quant_shift", "-2"],
        ["%3", "s5.4", "3", "quant_shift", "-0.25"],
        ["%4", "s6.4", "4", "add_const", "-0.0625"],
        ["%5", "s9.2", "11", "sum", "13.5"],
    ]
    _, lines, _ = run(capsys, "explain", "m.json", "--inputs", "x.npy", "--json")
    facts = [json.loads(line) for line in lines]
    assert {f["op"]: (f["opcode"], f["mnemonic"]) for f in facts if "op" in f}[1] == (-2, "neg")
    code, lines, _ = run(capsys, "explain", "narrow.json", "--inputs", "x.npy")
    assert code == 2 and any(line.startswith("! %5 ") for line in lines)


def test_profile_lists_every_op_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "run", "--profile", "m.json", "--json", "--pullback", "--samples", "1")
    assert code == 0
    text = "\n".join(lines)
    assert text.count('"sum"') >= 1 and text.count('"neg"') >= 1


def test_diff_names_the_sum_that_differs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "diff", "m.json", "other.json")
    text = " ".join(" ".join(lines).split())
    assert code == 1
    as_recorded(text)
    as_recorded(text)


def test_sensitivity_ranks_the_ops_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "sensitivity", "m.json")
    told = {line.split()[0]: line.split()[1] for line in lines if line[:2].strip().isdecimal()}
    assert code == 0
    assert told == {"0": "input", "1": "neg", "5": "sum"}
    assert "(op 2, op 3, op 4)" in next(line for line in lines if line.startswith("dead       3"))
