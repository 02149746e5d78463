"""Temporary folders of killed runs are removed by the next run; folders that may still be in use are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.base.temporary import remove_abandoned, temporary_folder
from dais_verif.doors.cli.main import _run

HOLD = """
import sys
from dais_verif.base.temporary import temporary_folder
with temporary_folder() as folder:
    (folder.path / "build").mkdir()
    print(folder.path, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("dais_verif.base.temporary._looked", [float("-inf")])
    return tmp_path


@pytest.fixture
def running() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_the_folder_of_a_run_that_was_killed_goes(running: subprocess.Popen[str]) -> None:
    folder = folder_of(running)
    assert remove_abandoned() == 0 and folder.is_dir(), "its run lives"
    running.send_signal(signal.SIGKILL)
    running.wait(20)
    assert folder.is_dir()
    with temporary_folder() as own:
        assert not folder.exists() and own.path.is_dir(), "the next run removes it"


def test_clearing_the_cache_removes_it_too(
    running: subprocess.Popen[str], scratch: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(scratch / "cache"))
    folder = folder_of(running)
    running.kill()
    running.wait(20)
    assert _run(["cache", "clear"]) == 0
    as_recorded(capfd.readouterr().out)
    assert not folder.exists()


def test_folders_that_were_kept_or_are_of_others_stay(scratch: Path) -> None:
    with temporary_folder() as kept:
        kept.kept = True
        (kept.path / "result.json").touch()
    with temporary_folder() as gone:
        pass
    assert kept.path.is_dir() and not gone.path.exists()
    (scratch / "dais-verif-mine").mkdir()
    (scratch / "dais-verif-marked").mkdir()
    (scratch / "dais-verif-marked" / ".owner").write_text("somebody else's\n")
    (scratch / "dais-verif-link").symlink_to(kept.path)
    (scratch / "dais-verif-fifo").mkdir()
    os.mkfifo(scratch / "dais-verif-fifo" / ".owner")
    (scratch / "dais-verif-loop").mkdir()
    (scratch / "dais-verif-loop" / ".owner").symlink_to(kept.path / "result.json")
    before = sorted(scratch.iterdir())
    assert remove_abandoned() == 0
    assert sorted(scratch.iterdir()) == before


def test_a_folder_whose_lock_is_held_elsewhere_stays_and_ends_with_its_run(scratch: Path) -> None:
    with temporary_folder() as first, temporary_folder() as second:
        assert first.path.is_dir() and second.path.is_dir()
    assert list(scratch.iterdir()) == []
