"""Texts for users have no misspelt words and no words that the vocabulary replaces; a planted one is found."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINE = re.search(r"^\t\.venv/bin/codespell (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
PROSE = re.search(r"^PROSE := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


def findings(*paths: str) -> list[str]:
    """Return what codespell, called as by ``make lint``, reports for ``paths``."""
    assert LINE is not None and PROSE is not None
    if find_spec("codespell_lib") is None:
        pytest.skip("codespell is not installed")
    words = [word for word in LINE[1].split() if word != "$(PROSE)"]
    command = [sys.executable, "-m", "codespell_lib", *words, *(paths or PROSE[1].split())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_what_users_read_is_spelt_right() -> None:
    assert findings() == []


def test_words_of_the_vocabulary_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Whoever recieves it\n", encoding="utf-8")
    assert [line.partition(": ")[2].partition(" ")[0] for line in findings(str(page))] == ["Whoever", "recieves"]
