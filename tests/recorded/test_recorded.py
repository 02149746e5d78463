"""Commands that users know give the recorded exit codes, texts and records."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.commands import ANSWERS, COMMANDS, answers, laid_out

_AGAIN = "if that is meant: make recorded"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("recorded").resolve()
    laid_out(folder)
    return dict(answers(folder))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_is_as_it_was(name: str, given: dict[str, str]) -> None:
    assert given[name] == (ANSWERS / f"{name}.txt").read_text(), _AGAIN


def test_no_answer_is_of_no_command() -> None:
    assert {path.stem for path in ANSWERS.iterdir()} == set(COMMANDS)


def test_no_command_broke_down(given: dict[str, str]) -> None:
    assert [name for name, text in given.items() if "exit code 70" in text or "Traceback" in text] == []


def test_verdicts_of_every_kind_are_among_them() -> None:
    codes = {path.read_text().split("exit code ")[1].split()[0] for path in ANSWERS.iterdir()}
    assert codes >= {"0", "1", "2", "6"}


def test_what_varies_is_left_out(tmp_path: Path) -> None:
    """The recorded outputs have no path of the machine and no date."""
    for path in ANSWERS.iterdir():
        assert "/tmp" not in path.read_text() and "/home" not in path.read_text() and "2026" not in path.read_text()
