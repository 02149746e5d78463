"""``dais-verif explain``, ``profile`` and ``show --vm``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.programs import every_opcode, overflowing
from support.said import as_recorded

from dais_verif.doors.cli import main
from dais_verif.golden.vm import compile_forward_and_backward, disassemble
from dais_verif.spec.program import write_binary
from dais_verif.stimulus import generate

EVERY = every_opcode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "every.bin").write_bytes(write_binary(EVERY, "v1"))
    (tmp_path / "over.bin").write_bytes(write_binary(overflowing(), "v1"))
    np.save(tmp_path / "x.npy", [[1, 2, 3], [4, 5, 6]])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """Run the command line and return the exit code, the lines of stdout, and stderr."""
    code = main._run(list(arguments))
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def test_explain_shows_all_ops_in_their_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, "explain", "every.bin", "--inputs", "x.npy", "--row", "1")
    assert code == 0
    assert [line.split()[0] for line in lines[:-1] if "%" in line[:4]] == [f"%{i}" for i in range(EVERY.n_ops)]
    assert sum(line.startswith("  out") for line in lines) == EVERY.n_out
    assert lines[0].split()[3:6] == ["4", "64", "01000000"]
    as_recorded(lines[-1])


def test_explain_numbers_vectors_as_sim_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The vectors of the file are numbered first, then the generated ones."""
    generated = generate(EVERY, 50, 7)
    for row in (0, 1, 2, 33):
        _, lines, _ = run(
            capsys,
            "explain",
            "every.bin",
            "--inputs",
            "x.npy",
            "--vectors",
            "50",
            "--seed",
            "7",
            "--row",
            str(row),
            "--json",
        )
        facts = [json.loads(line) for line in lines]
        expected = float([1, 4][row]) if row < 2 else float(generated.value(row - 2, 0))
        wrapped = (np.floor(expected * 16) + 128) % 256 - 128
        assert facts[0]["raw"] == wrapped
        assert facts[-1] == {"checks": {"promises": 20, "proved": 20, "checked": 0}}


def test_explain_only_a_cone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, lines, _ = run(capsys, "explain", "every.bin", "--only-cone", "4", "-o", "log.txt")
    assert lines == []
    names = [line.split()[0] for line in (folder / "log.txt").read_text().splitlines()]
    assert names == ["%0", "%1", "%4", "%8", "%16", "out4", ";"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_explain_ends_in_program_invalid_where_a_promise_is_broken(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    np.save("x.npy", [[1], [127]])
    code, lines, err = run(capsys, "explain", "over.bin", "--inputs", "x.npy", "--row", "1", *options)
    assert code == 2
    assert err.startswith(
        "dais-verif: PROGRAM_INVALID: row 1: overflow violation at op 1 (add_const): exact result 128"
    )
    assert json.loads(lines[1])["broken"] if options else lines[1].startswith("! %1")
    assert run(capsys, "explain", "over.bin", "--inputs", "x.npy", "--row", "1", "--unchecked", *options)[0] == 0
    assert run(capsys, "explain", "over.bin", "--inputs", "x.npy", "--row", "0", *options)[0] == 0


def tree_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, lines, _ = run(capsys, *arguments, "--json")
    assert code == 0
    tree: dict[str, Any] = json.loads("\n".join(lines))
    return tree


def test_profile_as_json_adds_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "run",
        "--profile",
        "every.bin",
        "--vectors",
        "20",
        "--seed",
        "5",
        "--samples",
        "3",
        "--ignore-first",
        "--top-k",
        "2",
    )
    tree = tree_of(capsys, *arguments, "--pullback")
    assert (tree["verdict"], tree["vectors"], tree["seed"], tree["program"]["n_ops"]) == ("PASS", 20, 5, EVERY.n_ops)
    compiled = compile_forward_and_backward(EVERY)
    for found, iseq in zip(tree["sequences"], (compiled.forward, compiled.backward), strict=True):
        assert (found["direction"], found["calls"]) == (iseq.direction, 2)
        assert [(row["position"], row["instruction"], row["op"]) for row in found["instructions"]] == [
            (row.position, row.op, row.node) for row in iseq
        ]
        assert found["total_ns"] == sum(row["ns"] for row in found["instructions"])
        assert found["total_ns"] == sum(kind["ns"] for kind in found["kinds"])
        assert len(iseq) == sum(kind["count"] for kind in found["kinds"])
        assert [kind["kind"] for kind in found["kinds"]][2:] == ["others"]
        assert sum(kind["share"] for kind in found["kinds"]) == pytest.approx(1)
    again = tree_of(capsys, *shlex.split(tree["reproduce"])[1:-1])
    assert again["vectors"] == 20 and [each["direction"] for each in again["sequences"]] == ["forward", "pullback"]


def test_profile_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, lines, _ = run(capsys, "run", "--profile", "every.bin", "--inputs", "x.npy", "--vectors", "0", "-o", "times.txt")
    assert lines == []
    text = (folder / "times.txt").read_text()
    assert text.startswith("[Forward] 2 rows, mean of 10 calls, fast engine\n") and "[Pullback]" not in text
    assert text.count(" ; ") == EVERY.n_ops + EVERY.n_out
    _, lines, _ = run(capsys, "run", "--profile", "every.bin", "--engine", "numpy", "--pullback")
    heads = [line for line in lines if line.startswith("[")]
    assert heads == [f"[{name}] 2048 rows, mean of 10 calls, numpy engine" for name in ("Forward", "Pullback")]


def test_show_lists_the_instructions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, lines, _ = run(capsys, "show", "every.bin", "--vm")
    assert lines == disassemble(compile_forward_and_backward(EVERY)).splitlines()
    assert run(capsys, "show", "every.bin")[1] != lines
