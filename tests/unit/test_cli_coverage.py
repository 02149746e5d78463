"""``dais-verif coverage``: its output, its files, and its exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.doors.cli.main import main
from dais_verif.spec.program import Program, write_binary

#: A relu whose operand is 0 for one input in four billion.
KINK = Program.build(
    [(-1, 0, -1, 0, (1, 31, 0)), (4, 0, -1, 123456789, (1, 32, 0)), (2, 1, -1, 0, (0, 32, 0))],
    [(2, 0, 0)],
    inp_shift=[0],
)


#: So few generated vectors that none of them is at a boundary of the program.
FEW = ("--vectors", "3")


@pytest.fixture
def kink(tmp_path: Path) -> str:
    path = tmp_path / "kink.bin"
    path.write_bytes(write_binary(KINK, "v1"))
    return str(path)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["coverage", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_what_is_open_and_what_closes_it(kink: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kink, *FEW, "--no-directed", "-o", str(tmp_path / "out")) == 0
    text = capsys.readouterr().out
    assert "op 1 (add_const): bit 15 is 0" in text and "more" in text
    assert not (tmp_path / "out" / "directed.csv").exists()
    with (tmp_path / "out" / "open.csv").open() as file:
        assert ["op 2 (relu): operand at the kink"] in list(csv.reader(file))

    assert run(kink, *FEW, "-o", str(tmp_path / "out"), "--json") == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree == json.loads((tmp_path / "out" / "coverage.json").read_text())
    assert tree["coverage"]["percent"] == 100.0
    assert tree["coverage"]["directed"] > 0
    with (tmp_path / "out" / "directed.csv").open() as file:
        assert ["-123456789"] in list(csv.reader(file))
    with (tmp_path / "out" / "unreachable.csv").open() as file:
        assert ["op 2 (relu): wrap taken", "ranges"] in list(csv.reader(file))

    given = str(tmp_path / "out" / "directed.csv")
    assert run(kink, "--inputs", given, "--no-directed", "--floor", "100") == 0
    assert "PASS  100.0 %" in capsys.readouterr().out


def test_a_floor_that_is_not_reached(kink: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kink, *FEW, "--no-directed", "--floor", "99.9") == 7
    text = capsys.readouterr().out
    assert "NOT_SIGNED_OFF" in text
    assert "floor is 99.9 %" in text


def test_no_vector_is_no_pass(kink: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kink, "--vectors", "0", "--no-directed") == 6
    as_recorded(capsys.readouterr().out)


def test_a_program_without_bits_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.bin"
    path.write_bytes(write_binary(Program.build([], [(-1, 0, 0)], inp_shift=[0]), "v1"))
    assert run(str(path)) == 6
    as_recorded(capsys.readouterr().out)


def test_a_broken_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.bin"
    program = Program.build([(-1, 0, -1, 0, (0, 3, 0)), (4, 0, -1, 1, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    path.write_bytes(write_binary(program, "v1"))
    assert run(str(path)) == 2
    as_recorded(capsys.readouterr().err)
    assert run(str(path), "--unchecked") == 0


def test_html_is_the_page_of_the_count(kink: str, tmp_path: Path) -> None:
    page = tmp_path / "coverage.html"
    assert run(kink, *FEW, "--no-directed", "--floor", "100", "--html", str(page)) == 7
    text = page.read_text("utf-8")
    assert "NOT_SIGNED_OFF</h1>" in text or "NOT SIGNED OFF</h1>" in text
    assert "operand at the kink" in text


def test_what_is_written_is_said(kink: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["coverage", kink, "--no-directed", "--html", str(tmp_path / "p.html"), "-o", str(tmp_path / "out")]
    assert run(*words[1:]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert all(part in told for part in ("record", "bins as CSV"))
    as_recorded(told)
    assert (tmp_path / "p.html").is_file() and (tmp_path / "out" / "open.csv").is_file()
