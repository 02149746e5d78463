"""``docs/coverage.md`` shows what its command prints, and its table of bins matches the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dais_verif.coverage.bins import GROUPS
from dais_verif.doors.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


def test_the_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    command, _, shown = PAGE.partition("    $ dais-verif ")[2].partition("\n")
    shown = re.match(r"(    .*\n)+", shown)[0]  # type: ignore[index]
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == [line.removeprefix("    ") for line in shown.splitlines()]


def test_every_group_has_a_row() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| ", PAGE.partition("## The bins")[2].partition("\n## ")[0], re.MULTILINE)
    assert set(rows) - {"group"} == set(GROUPS)
