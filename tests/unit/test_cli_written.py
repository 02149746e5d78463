"""Verbs that write a file name it in one line on stderr, and print nothing on stdout."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.doors.cli.main import _run

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


@pytest.mark.parametrize(
    ("words", "name", "says"),
    [
        (["emit", str(EXAMPLE)], "m.v", "module model, 36 lines of Verilog"),
        (["show", str(EXAMPLE)], "p.dais", "text of a program of 8 ops"),
        (["show", "--vm", str(EXAMPLE)], "p.txt", "instructions of a program of 8 ops"),
        (["convert", "given.dais"], "p.bin", "headerless, 8 ops, of 8 that were read"),
        (["run", str(EXAMPLE), "--inputs", "x.csv"], "y.npy", "2 rows of 1 output, real numbers"),
    ],
)
def test_what_was_written_is_said(
    words: list[str],
    name: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("1,2,3\n4,5,6\n")
    assert _run(["show", str(EXAMPLE), "-o", "given.dais"]) == 0
    capfd.readouterr()
    assert _run([*words, "-o", name]) == 0
    assert capfd.readouterr() == ("", f"wrote {name}: {says}\n")
    assert Path(name).stat().st_size


@pytest.mark.parametrize(
    ("words", "work"),
    [
        (["prove"], "run_prove"),
        (["sim"], "simulate"),
        (["regress"], "run_regression"),
        (["hil", "--target", "model"], "run_on_board"),
    ],
)
def test_pages_that_cannot_be_written_are_refused_before_the_work(
    words: list[str], work: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.import_module(f"dais_verif.doors.cli.{words[0]}"), work, None)
    assert _run([*words, str(EXAMPLE), "--html", "absent/page.html"]) == 2
    says = "'absent/page.html': No such file"
    said = capfd.readouterr().err
    assert says in said
    as_recorded(said)
