"""``dais-verif diff``: verdicts, the witness and its file, and errors that name the program."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import as_recorded

from dais_verif.base.own_command import own_command
from dais_verif.doors.cli import main
from dais_verif.spec.program import Program, write_binary

S4, S5, S6 = (1, 3, 0), (1, 4, 0), (1, 5, 0)
X = [(-1, j, -1, 0, S4) for j in range(3)]
#: x0 + x1 + x2; x0 + x1 - x2; and x0 + x1 + x2 with a first sum that is too narrow.
SUM = [*X, (0, 0, 1, 0, S5), (0, 3, 2, 0, S6)]
DIFFERENCE = [*SUM[:4], (1, 3, 2, 0, S6)]
NARROW = [*X, (0, 0, 1, 0, S4), SUM[4]]


def build(rows: list[Any], n_in: int = 3, outputs: list[tuple[int, int, int]] | None = None) -> bytes:
    return write_binary(Program.build(rows, outputs or [(len(rows) - 1, 0, 0)], inp_shift=[0] * n_in), "v1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in (("a.bin", SUM), ("b.bin", DIFFERENCE), ("narrow.bin", NARROW)):
        (tmp_path / name).write_bytes(build(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main._run(["diff", *arguments])


def tree_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(*arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_the_same_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("copy.bin").write_bytes(write_binary(Program.build(SUM, [(4, 0, 0)], inp_shift=[0] * 3), "headerless"))
    assert run("a.bin", "copy.bin", "--vectors", "50") == 0
    lines = lines_of(capsys)
    assert lines[:2] == [
        "a          a.bin  v1, 3 inputs, 1 output, 5 ops",
        "b          copy.bin  headerless, 3 inputs, 1 output, 5 ops",
    ]
    as_recorded(lines[2])
    as_recorded(lines[3:])


def test_the_same_ops_with_other_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.bin").write_bytes(build(SUM, outputs=[(4, 1, 0)]))
    assert run("a.bin", "other.bin") == 1
    as_recorded(lines_of(capsys)[2])


def test_a_shorter_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.bin").write_bytes(build(SUM[:4]))
    assert run("a.bin", "other.bin") == 1
    as_recorded(lines_of(capsys)[4])


def test_no_difference_is_no_proof(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.bin").write_bytes(build([*X, (0, 1, 2, 0, S5), (0, 0, 3, 0, S6)]))
    assert run("a.bin", "other.bin") == 0
    as_recorded(lines_of(capsys)[2:])


def test_a_difference_in_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.csv").write_text("1,2,0\n7,7,7\n")
    assert run("a.bin", "b.bin", "--inputs", "x.csv", "--vectors", "0", "-o", "w.npy") == 1
    lines = lines_of(capsys)
    as_recorded(lines[2])
    as_recorded(lines[7:10])
    assert [line.split() for line in lines[10:12]] == [
        ["a", "type", "in", "a", "b", "type", "in", "b"],
        ["output", "0", "1", "s6.0", "-1", "s6.0"],
    ]
    assert lines[12:] == [
        "PROGRAMS_DIFFER  1 of 2 vectors differ",
        f"reproduce  {own_command([])} diff a.bin b.bin --inputs x.csv --vectors 0 -o w.npy",
        f"replay     {own_command([])} diff a.bin b.bin --vectors 0 --seed 0 --inputs w.npy",
    ]


@pytest.mark.parametrize("name", ["w.npy", "w.csv"])
def test_the_lines_to_copy_show_it_again(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, tree = tree_of(capsys, "a.bin", "b.bin", "--seed", "3", "-o", name)
    assert (code, tree["verdict"], tree["exit_code"], tree["vectors"]) == (1, "PROGRAMS_DIFFER", 1, 1000)
    difference = tree["difference"]
    assert difference["a"] != difference["b"]
    assert difference["witness"] in (["0", "0", "1"], ["0", "0", "-1"])
    _, again = tree_of(capsys, *shlex.split(tree["reproduce"])[2:-1])
    assert again["difference"] == difference
    code, replay = tree_of(capsys, *shlex.split(tree["replay"])[2:])
    assert (code, replay["vectors"]) == (1, 1)
    assert replay["difference"]["inputs"] == replay["difference"]["witness"] == difference["witness"]
    assert (replay["difference"]["a"], replay["difference"]["b"]) == (difference["a"], difference["b"])


def test_the_op_inside_that_differs_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*X, (1, 0, 1, 0, S5), (2, 3, -1, 0, (0, 4, 0))], [*X, (1, 0, 1, 1, S6), (2, 3, -1, 0, (0, 4, 0))]
    for name, ops in zip(("a.bin", "b.bin"), rows, strict=True):
        Path(name).write_bytes(build(ops))
    assert run("a.bin", "b.bin", "--unchecked") == 1
    out = capsys.readouterr().out
    assert "stimulus   1000 vectors, seed 0, overflow unchecked\n" in out
    assert all(part in out for part in ("op 3", "value"))
    _, tree = tree_of(capsys, "a.bin", "b.bin", "--unchecked", "-o", "w.npy")
    assert tree["difference"]["op"]["op"] == 3 and tree["difference"]["op"]["mnemonic"] == "sub"
    assert tree["replay"].endswith(" --vectors 0 --seed 0 --inputs w.npy --unchecked")


@pytest.mark.parametrize(("order", "name"), [(("a.bin", "narrow.bin"), "B"), (("narrow.bin", "a.bin"), "A")])
def test_a_broken_promise_names_the_program(
    folder: Path, capsys: pytest.CaptureFixture[str], order: tuple[str, str], name: str
) -> None:
    assert run(*order) == 2
    err = capsys.readouterr().err
    as_recorded(err)
    assert run(*order, "--unchecked") == 1


@pytest.mark.parametrize(
    ("rows", "outputs", "vectors"),
    [
        (SUM, None, "0"),
        (SUM, [(-1, 0, 0)], "5"),
        (SUM, [], "5"),
    ],
)
def test_nothing_compared_is_not_run(
    folder: Path, capsys: pytest.CaptureFixture[str], rows: Any, outputs: Any, vectors: str
) -> None:
    program = Program.build(rows, [(4, 0, 0)] if outputs is None else outputs, inp_shift=[0] * 3)
    Path("c.bin").write_bytes(write_binary(program, "v1"))
    code, tree = tree_of(capsys, "c.bin", "c.bin", "--vectors", vectors)
    assert (code, tree["verdict"], tree["bits_compared"]) == (6, "NOT_RUN", 0)
    assert ("vectors" in tree["message"]) == (vectors == "0")
    as_recorded(tree["message"])


def needle(f: int) -> list[Any]:
    """Return ops that give 1 if the input is positive and its 76 bits down to ``2**-f`` are all set."""
    bit = (0, 1, 0)
    return [
        (-1, 0, -1, 0, (0, 76 - f, f)),
        (9, 0, -1, 2, bit),
        (-1, 0, -1, 0, (1, 90 - f, f)),
        (2, 2, -1, 0, (0, 90 - f, f)),
        (9, 3, -1, 1, bit),
        (10, 1, 4, 0, bit),
    ]


@pytest.mark.parametrize("name", ["w.npy", "w.csv"])
def test_a_witness_that_its_file_cannot_hold_is_a_warning_and_the_verdict_stays(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    Path("a.bin").write_bytes(build(needle(5), 1))
    Path("b.bin").write_bytes(build([(5, -1, -1, 0, (0, 1, 0))], 1))
    code = run("a.bin", "b.bin", "-o", name, "--json")
    out, err = capsys.readouterr()
    tree = json.loads(out)
    assert (code, tree["replay"], tree["difference"]["witness"]) == (1, None, [f"{(1 << 76) - 1}/32"])
    as_recorded(tree["warnings"])
    assert err == f"warning: {tree['warnings'][0]}\n"
    assert not Path(name).exists()


def test_a_witness_of_any_size_goes_into_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.bin").write_bytes(build(needle(0), 1))
    Path("b.bin").write_bytes(build([(5, -1, -1, 0, (0, 1, 0))], 1))
    _, tree = tree_of(capsys, "a.bin", "b.bin", "-o", "w.csv")
    assert Path("w.csv").read_text() == f"{(1 << 76) - 1}\n"
    assert run(*shlex.split(tree["replay"])[2:]) == 1


def test_without_a_difference_no_file_is_written(folder: Path) -> None:
    assert run("a.bin", "a.bin", "-o", "w.npy") == 0
    assert not Path("w.npy").exists()


def test_each_program_has_its_layout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = build(SUM)
    words = np.frombuffer(data, dtype="<i4")
    headerless = np.concatenate([words[2:5], words[6:]]).astype("<i4")
    Path("h.bin").write_bytes(headerless.tobytes())
    code, tree = tree_of(capsys, "a.bin", "h.bin", "--layout", "v1", "--layout-b", "headerless")
    assert (code, tree["identical"], tree["a"]["layout"], tree["b"]["layout"]) == (0, True, "v1", "headerless")
    assert run("a.bin", "h.bin", "--layout", "v1") == 2


def test_npy_holds_one_row_of_doubles(folder: Path) -> None:
    run("a.bin", "b.bin", "-o", "w.npy")
    array = np.load(io.BytesIO(Path("w.npy").read_bytes()))
    assert array.dtype == np.float64 and array.shape == (1, 3)
