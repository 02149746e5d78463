"""Any wrong input ends in the right exit code and one line that says what is wrong, where, and what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import bad_analyses
import bad_machine
import bad_options
import bad_programs
import bad_signoffs
import bad_vectors
import pytest
from bad_case import GOOD, Case, v1
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run

TABLES = (bad_programs, bad_vectors, bad_options, bad_analyses, bad_machine, bad_signoffs)
CASES = {name: case for table in TABLES for name, case in table.CASES.items()}

#: ``show`` lists a program, and has no JSON output.
WITHOUT_JSON = ("show", "prog.bin")


def prepare(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, data in case.files.items():
        (folder / name).write_bytes(data)
    if case.setup:
        case.setup(folder, monkeypatch)


def test_there_are_at_least_75_kinds() -> None:
    assert len(CASES) >= 75
    assert len(CASES) == sum(len(table.CASES) for table in TABLES), "no name twice"


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_the_exit_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    prepare(case, tmp_path, monkeypatch)
    before = sorted(os.listdir(tmp_path))
    code = _run(list(case.arguments))
    out, err = capfd.readouterr()
    assert code == Verdict[case.verdict].exit_code
    assert out == ""
    assert err.count("\n") == 1 and err.endswith("\n"), err
    assert err.startswith(f"dais-verif: {case.verdict}: ")
    as_recorded(err)
    assert len(err) < 700
    assert sorted(os.listdir(tmp_path)) == before, "nothing half-written is left"


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.arguments[0] not in WITHOUT_JSON])
def test_with_json_the_line_is_also_an_object(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    prepare(case, tmp_path, monkeypatch)
    code = _run([case.arguments[0], "--json", *case.arguments[1:]])
    out, err = capfd.readouterr()
    tree = json.loads(out)
    assert (tree["verdict"], tree["exit_code"], code) == (case.verdict, code, Verdict[case.verdict].exit_code)
    said = f"dais-verif: {case.verdict}: {tree['message']}"
    assert err in (f"{said}; see {tree['help']}\n", f"{said}, {tree['help']}\n")


def python(
    folder: Path, *arguments: str, env: Mapping[str, str] = MappingProxyType({}), stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    whole = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **env}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=whole, stdout=stdout, stderr=subprocess.PIPE, check=False)


def test_the_process_itself_exits_so(tmp_path: Path) -> None:
    (tmp_path / "bad.bin").write_bytes(GOOD[:-1])
    done = python(tmp_path, "-m", "dais_verif", "check", "bad.bin")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1 and b"multiple of 4" in done.stderr


def test_a_missing_command_shows_the_help(tmp_path: Path) -> None:
    done = python(tmp_path, "-m", "dais_verif")
    assert done.returncode == 2
    assert b"Exit codes: 0 pass" in done.stdout
    assert done.stderr == b""


#: Run command lines one after the other as ``main`` does, and print the list of exit codes.
SEVERAL = """
import ast, os, sys
from dais_verif.doors.cli.main import main
codes = []
for arguments in ast.literal_eval(sys.argv[1]):
    try:
        main([os.fsdecode(argument) for argument in arguments])
    except SystemExit as end:
        codes.append(end.code)
print(codes)
"""


@pytest.mark.parametrize("env", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=["utf8", "c"])
def test_any_file_name_can_be_spoken_of(tmp_path: Path, env: dict[str, str]) -> None:
    """File names with an invalid byte, a character beyond ASCII, markup or a line break can be used and printed."""
    lines = []
    for name in (b"p\xff.bin", "\N{SNOWMAN}.bin".encode(), b"[bold]red.bin", b"two\nlines.bin"):
        (tmp_path / os.fsdecode(name)).write_bytes(GOOD)
        (tmp_path / os.fsdecode(b"bad_" + name)).write_bytes(GOOD[:-4])
        lines += [[b"check", name], [b"show", name], [b"check", b"--json", name], [b"emit", name]]
        lines.append([b"check", b"bad_" + name])
    done = python(tmp_path, "-c", SEVERAL, repr(lines), env=env)
    assert done.stdout.endswith(b"\n" + str([0, 0, 0, 0, 2] * 4).encode() + b"\n"), done
    assert done.stderr.count(b"\n") == done.stderr.count(b"no layout fits") == 4


@pytest.mark.parametrize("verb", ["check", "show"])
def test_a_reader_that_leaves_is_neither_a_pass_nor_a_mismatch(tmp_path: Path, verb: str) -> None:
    (tmp_path / "p.bin").write_bytes(GOOD)
    reader, writer = os.pipe()
    os.close(reader)
    done = python(tmp_path, "-m", "dais_verif", verb, "p.bin", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (130, b"")


def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path: Path) -> None:
    """A failed write leaves the old file; a file size limit of zero ends it as a full disk does, for another reason."""
    (tmp_path / "p.bin").write_bytes(GOOD)
    (tmp_path / "old.v").write_bytes(b"old")
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
    code = limited + "from dais_verif.doors.cli.main import main; main(['emit', 'p.bin', '-o', 'old.v'])"
    done = python(tmp_path, "-B", "-c", code)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1 and b"cannot write 'old.v': File too large" in done.stderr
    assert (tmp_path / "old.v").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["old.v", "p.bin"]


def test_certain_overflow_ends_check_with_program_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = Case((), {"p.bin": v1((5, -1, -1, 8, 0, 1, 3, 0))})
    prepare(case, tmp_path, monkeypatch)
    assert _run(["check", "p.bin"]) == 2
    out, err = capfd.readouterr()
    assert err == ""
    assert "PROGRAM_INVALID" in out and "op 1 (const s4.0)" in out


def test_unchecked_carries_on_past_the_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = bad_vectors.CASES["violation"]
    prepare(case, tmp_path, monkeypatch)
    assert _run([*case.arguments, "--unchecked"]) == 0
    assert capfd.readouterr() == ("out_0\n0.0\n7.0\n", "")


def test_an_ambiguous_layout_is_one_warning_and_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A mux with condition 0 and shift 1 is, in the other word order, one with condition 1 and shift 0."""
    ops = ((-1, 0, -1, 0, 0, 0, 4, 0), (6, 0, 1, 0, 1, 0, 4, 0))
    headerless = v1(*ops)[8:20] + v1(*ops)[24:]
    prepare(Case((), {"p.bin": headerless}), tmp_path, monkeypatch)
    assert _run(["check", "--json", "p.bin"]) == 0
    out, err = capfd.readouterr()
    tree = json.loads(out)
    assert (tree["program"]["layout"], tree["program"]["layout_assumed"]) == ("headerless", True)
    assert err == f"warning: {tree['warnings'][0]}\n"
    as_recorded(err)
    assert err.startswith("warning: layout assumed: ")
    assert _run(["check", "p.bin", "--layout", "published"]) == 0
    assert capfd.readouterr().err == ""
