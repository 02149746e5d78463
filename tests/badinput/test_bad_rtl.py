"""With each front end, malformed RTL is never proved, but ends in one line that names the signal or the place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from bad_case import GOOD
from bad_rtl import CASES, GOOD_RTL, Said
from support.said import as_recorded

from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run
from dais_verif.verbs.proof import reading

needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="no iverilog on PATH")
needs_yosys = pytest.mark.skipif(shutil.which("yosys") is None, reason="no yosys on PATH")

#: Refuted RTL is simulated, which takes a second, so the fast suite has one example of it.
SIMULATED = {"an open output bit"}

#: RTL on which Yosys works for minutes, until it has used up its limits.
ENDLESS = {"a function that calls itself without end"}


@pytest.fixture(autouse=True)
def yosys_has_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the time and memory of Yosys, since all designs here are small."""
    monkeypatch.setattr(reading, "_LIMITS", Limits(120, 1024))


def prove(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], rtl: bytes, front_end: str
) -> Said:
    """Run ``prove --json``, and check what every ending has in common."""
    monkeypatch.chdir(folder)
    (folder / "p.bin").write_bytes(GOOD)
    (folder / "rtl.v").write_bytes(rtl)
    options = (
        "--json",
        "--no-cache",
        "--no-confirm",
        "--jobs",
        "1",
        "--rtl",
        "rtl.v",
        "-o",
        "out",
        "--front-end",
        front_end,
    )
    code = _run(["prove", "p.bin", *options])
    out, err = capfd.readouterr()
    record: dict[str, Any] = json.loads(out)
    assert code == record["exit_code"] == Verdict[record["verdict"]].exit_code
    assert "Traceback" not in err
    assert "\n" not in record["message"] and len(record["message"]) < 600
    return Said(record["verdict"], (record["message"],), record.get("code"))


def judge(said: Said, wanted: Said) -> None:
    assert said.verdict == wanted.verdict, said
    assert said.code == wanted.code, (said, wanted)
    assert all(word in said.words[0] for word in wanted.words), (said, wanted)


def test_there_are_at_least_60_kinds() -> None:
    assert len(CASES) >= 60
    assert all(case.slang.verdict != "PASS" for case in CASES.values())


@pytest.mark.parametrize("front_end", ["slang", pytest.param("both", marks=needs_yosys)])
def test_the_rtl_that_the_others_vary_is_proved(
    front_end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert prove(tmp_path, monkeypatch, capfd, GOOD_RTL.encode(), front_end).verdict == "PASS"


@needs_icarus
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if case.slang.verdict == "INVALID_INPUT" or name in SIMULATED else pytest.mark.slow)
        for name, case in CASES.items()
    ],
)
def test_slang(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    for file, content in case.files.items():
        (tmp_path / file).write_bytes(content)
    said = prove(tmp_path, monkeypatch, capfd, case.rtl, "slang")
    judge(said, case.slang)
    as_recorded(f"{said.verdict}: {said.words[0]}")


@needs_icarus
@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].yosys is not None and name not in ENDLESS])
def test_yosys(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    assert case.yosys is not None
    for file, content in case.files.items():
        (tmp_path / file).write_bytes(content)
    judge(prove(tmp_path, monkeypatch, capfd, case.rtl, "yosys"), case.yosys)


@needs_icarus
@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_both_never_pass(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    for file, content in case.files.items():
        (tmp_path / file).write_bytes(content)
    said = prove(tmp_path, monkeypatch, capfd, case.rtl, "both")
    assert said.verdict != "PASS"
    if case.slang.verdict == "INVALID_INPUT" and name not in ENDLESS:
        judge(said, case.slang._replace(code=said.code))  # their comparison may refuse it first
