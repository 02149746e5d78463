"""Bugs of the package and output that cannot be written have other exit codes than wrong RTL, which has 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.base.verdict import Verdict, worst
from dais_verif.doors.cli.main import _run
from dais_verif.verbs import check as check_flow
from dais_verif.verbs.work_folder import work_folder

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put a bug into a verb, and return the cache folder."""

    def bug(*_: object) -> None:
        raise KeyError("a name\nthat is not there")

    monkeypatch.setattr(check_flow, "read_program", bug)
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_bug_of_ours_has_its_own_code_and_line(broken: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["check", "--json", str(EXAMPLE)]) == 70
    out, err = capfd.readouterr()
    assert err.count("\n") == 1
    assert err.startswith("dais-verif: INTERNAL_ERROR: ")
    (kept,) = (broken / "errors").iterdir()
    assert str(kept) in err
    text = kept.read_text(encoding="utf-8")
    assert "Traceback" in text and "def bug" not in text and "KeyError" in text and "check --json" in text
    tree = json.loads(out)
    assert (tree["verdict"], tree["exit_code"]) == ("INTERNAL_ERROR", 70)


def test_only_the_last_tracebacks_are_kept(broken: Path) -> None:
    (broken / "errors").mkdir(parents=True)
    for number in range(30):
        (broken / "errors" / f"traceback-19990101-{number:06}-x.txt").touch()
    (broken / "errors" / "notes.txt").touch()
    _run(["check", str(EXAMPLE)])
    left = sorted(path.name for path in (broken / "errors").iterdir())
    assert len(left) == 21 and "notes.txt" in left and "traceback-19990101-000029-x.txt" in left


def test_a_cache_that_cannot_be_written_leaves_it_among_temporary_files(
    broken: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken.write_bytes(b"")  # a file in the place of the folder
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert _run(["check", str(EXAMPLE)]) == 70
    (kept,) = tmp_path.glob("dais-verif-traceback-*.txt")
    assert str(kept) in capfd.readouterr().err


def test_the_record_of_the_folder_says_so(broken: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    with pytest.raises(KeyError), work_folder(tmp_path / "out") as folder:
        folder.broken_off = lambda verdict, message: seen.append(verdict.value)  # type: ignore[method-assign]
        raise KeyError("x")
    assert seen == ["INTERNAL_ERROR"]


def test_of_many_runs_a_finding_outranks_it_and_it_outranks_no_finding() -> None:
    assert worst([Verdict.INTERNAL_ERROR, Verdict.RTL_MISMATCH]) is Verdict.RTL_MISMATCH
    assert worst([Verdict.INTERNAL_ERROR, Verdict.TOOL_FAILURE, Verdict.PASS]) is Verdict.INTERNAL_ERROR


def dais(*words: object, streams: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``dais-verif`` from a shell, with ``streams`` redirected."""
    script = f'"$0" -m dais_verif "$@" {streams}'
    command = ["/bin/sh", "-c", script, sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.few(1)
@pytest.mark.parametrize("arguments", [("check", EXAMPLE), ("check", "--json", EXAMPLE), ("show", EXAMPLE)])
def test_a_full_disk_is_no_pass_and_no_traceback(arguments: tuple[object, ...]) -> None:
    done = dais(*arguments, streams=">/dev/full")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "No space left on device" in done.stderr


def test_a_full_disk_for_an_error_too() -> None:
    done = dais("check", "--json", "no_such_file.bin", streams=">/dev/full 2>/dev/full")
    assert (done.returncode, done.stderr) == (2, "")


def test_a_closed_output_is_refused_at_once() -> None:
    done = dais("check", EXAMPLE, streams=">&-")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    as_recorded(done.stderr)


def test_closed_errors_and_input_change_nothing(tmp_path: Path) -> None:
    done = dais("show", EXAMPLE, "-o", tmp_path / "a.dais", streams="2>&- <&-")
    assert done.returncode == 0
    assert (tmp_path / "a.dais").read_text(encoding="utf-8").startswith("; 3 inputs"), "nothing else is in it"


@pytest.mark.few(1)
@pytest.mark.parametrize("verb", [["show"], ["emit"], ["check", "--json"]])
def test_a_reader_that_leaves_is_no_pass(verb: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "dais_verif", *verb, str(EXAMPLE)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (130, "")


def test_what_was_printed_in_full_keeps_its_code(tmp_path: Path) -> None:
    done = dais("check", EXAMPLE, streams="| cat >/dev/null")
    assert done.returncode == 0
