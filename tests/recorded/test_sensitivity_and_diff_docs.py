"""``docs/vm.md#sensitivity-where-would-a-wrong-bit-hurt`` shows what its commands print."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dais_verif.base.own_command import own_command
from dais_verif.doors.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "vm.md").read_text(encoding="utf-8").partition("\n## Names in cl-waffe2")[2]


def shown() -> list[tuple[str, list[str]]]:
    """Return the commands of the page, each with the indented lines below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"(?:^(?:    .*)?\n)+", PAGE, re.MULTILINE):
        lines = [line[4:] for line in block.strip("\n").splitlines()]
        if lines and lines[0].startswith("$ "):
            found.append((lines[0][2:], lines[1:]))
    return found


def test_the_page_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "quantised_mac.bin", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        exec(code, {})
    commands = shown()
    assert [command.split()[1] for command, _ in commands] == ["sensitivity", "sensitivity", "diff"]
    for command, expected in commands:
        main._run(shlex.split(command)[1:])
        printed = capsys.readouterr().out.replace(own_command([]), "dais-verif")
        assert [line.rstrip() for line in printed.splitlines()] == expected
