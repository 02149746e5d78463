"""The passing and the failing run in the README are real: running them again prints the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support import reword

from dais_verif.doors.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def steady(text: str) -> list[str]:
    """Return the lines without times, versions and folders, which differ from run to run."""
    lines = []
    for line in text.splitlines():
        words = re.sub(r"\d+\.\d+ s\b", "time", line)
        words = re.sub(r"^(icarus|verilator) +\S+", r"\1", words)
        lines.append(" ".join(re.sub(r"/tmp/\S+/replay", "replay", words).split()))
    return [line for line in lines if line]


def shown(first: str, last: str) -> list[str]:
    """Return the lines of the README from one that begins with ``first`` to one that begins with ``last``."""
    lines = [line[4:] for line in README.splitlines() if line.startswith("    ")]
    begin = next(at for at, line in enumerate(lines) if line.startswith(first))
    end = next(at for at, line in enumerate(lines) if at > begin and line.startswith(last))
    return steady("\n".join(lines[begin : end + 1]))


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = main._run(words)
    return code, steady(capsys.readouterr().out)


@pytest.mark.skipif(reword.ASKED, reason="what README shows is a recorded answer")
def test_what_it_shows_is_what_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", "/tmp")
    code, lines = run(["sim", "examples/quantised_mac.bin"], capsys)
    assert (code, lines) == (0, shown("program ", "PASS"))
    assert run(["emit", "examples/quantised_mac.bin", "-o", "bad.v"], capsys)[0] == 0
    line = re.search(r"emit examples/quantised_mac\.bin \| (sed .*) > bad\.v$", README, re.M)
    assert line is not None, "it says how bad.v is made"
    text = Path("bad.v").read_text()
    Path("bad.v").write_text(subprocess.check_output(line[1], input=text, shell=True, text=True))
    assert Path("bad.v").read_text() != text
    code, lines = run(["sim", "examples/quantised_mac.bin", "--rtl", "bad.v"], capsys)
    wanted = shown("first mismatch", "RTL_MISMATCH")
    begin = lines.index(wanted[0])
    assert (code, lines[begin : begin + len(wanted)]) == (1, wanted)
