"""A new kind of file costs a module with two functions and a row in a table; then every verb takes it."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import pytest

import dais_verif
from dais_verif.doors.cli.main import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program
from dais_verif.subject import programs
from dais_verif.subject.programs import ProgramSource

TABLE = "#table 3 4\n5 0 1 9 15 7 2 2\n"


def is_table(source: str | PathLike[str] | bytes) -> bool:
    """Return True for a text that begins with ``#table``."""
    if isinstance(source, bytes):
        return source.startswith(b"#table ")
    path = Path(source)
    return path.is_file() and path.read_bytes()[:7] == b"#table "


def read_table(source: Any, layout: str | None) -> Program:
    """Return the look-up of a table: the bits of its input, those of its output, and an entry for each input."""
    text = source.decode() if isinstance(source, bytes) else Path(source).read_text()
    head, entries = text.splitlines()
    bits_in, bits_out = map(int, head.split()[1:])
    given, found = (0, bits_in, 0), (0, bits_out, 0)
    ops = [(-1, 0, -1, 0, given), (8, 0, -1, 0, found)]
    return Program.build(ops, [(1, 0, 0)], inp_shift=[0], tables=[[int(one) for one in entries.split()]])


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(programs, "SOURCES", [*programs.SOURCES, ProgramSource(is_table, read_table)])
    path = tmp_path / "squares.table"
    path.write_text(TABLE)
    return path


def record(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words), "--json"])
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def test_every_verb_takes_it(table: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert dais_verif.run(table, [[0], [3], [7]])[:, 0].tolist() == [5, 9, 2]
    assert dais_verif.load(table.read_bytes()).n_ops == 2
    right, wrong = tmp_path / "right.v", tmp_path / "wrong.v"
    right.write_text(emit_verilog(read_table(table, None)))
    assert record(capsys, "check", table)[0] == 0
    for verb in (("sim", "--sim", "icarus"), ("prove",)):
        code, said = record(capsys, verb[0], table, "--rtl", right, *verb[1:])
        assert (code, said["verdict"]) == (0, "PASS"), verb
    # An entry of the table is another one.
    wrong.write_text(emit_verilog(read_table(TABLE.replace(" 15 ", " 14 ").encode(), None)))
    for verb in (("sim", "--sim", "icarus"), ("prove",)):
        code, said = record(capsys, verb[0], table, "--rtl", wrong, *verb[1:])
        assert (code, said["verdict"]) == (1, "RTL_MISMATCH"), verb


def test_without_the_row_it_is_refused(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SOURCES", [])
    with pytest.raises(dais_verif.DaisError):
        dais_verif.load(table)
