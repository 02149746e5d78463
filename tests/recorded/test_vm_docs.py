"""``docs/vm.md`` shows what its commands and its Python examples print."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from dais_verif.doors.cli import main
from dais_verif.spec.program import OPCODES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "vm.md").read_text(encoding="utf-8").partition("\n## Names in cl-waffe2")[0]


def blocks(start: str) -> list[list[str]]:
    """Return the indented blocks that begin with ``start``, without their indentation."""
    found = re.findall(rf"^    {re.escape(start)}(?:.*\n)(?:(?:    .*)?\n)*", PAGE, re.MULTILINE)
    return [[line[4:] for line in block.rstrip("\n").splitlines()] for block in found]


def untimed(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return a profile without what differs between runs: times, marks and the order of kinds."""
    end = lines.index("")
    table = [line.split()[:2] for line in lines[end + 1 :]]
    return [re.sub(r"^[ *] +[\d.]+", "", line) for line in lines[:end]], [table[0], table[-1]]


def test_the_page_shows_what_commands_print(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    shown = blocks("$ dais-verif ")
    assert [block[0].split()[2] for block in shown] == ["show", "explain", "explain", "run"]
    for command, *expected in shown:
        assert main._run(shlex.split(command)[2:]) == 0
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        if " --profile " in command:
            assert untimed(printed) == untimed(expected)
        else:
            assert printed == [line.rstrip() for line in expected]


def test_the_page_shows_what_python_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = "\n\n".join("\n".join(block) for block in blocks(">>> "))
    test = doctest.DocTestParser().get_doctest(text, {}, "vm.md", "docs/vm.md", 0)
    assert len(test.examples) > 15
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert told == []


def test_the_page_names_every_opcode() -> None:
    table = re.findall(r"^\| (?!op )(.*?) \|", PAGE, re.MULTILINE)
    named = {name.removesuffix("_neg") for row in table for name in re.findall(r"`(\w+)`", row)}
    special = {"neg", "add_term"}  # names of special sums of ALIR
    assert named == {spec.mnemonic.removesuffix("_neg") for spec in OPCODES.values()} | special
