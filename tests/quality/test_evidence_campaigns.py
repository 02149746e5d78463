"""The campaigns of ``make evidence`` find faults, continue where they stopped, and do not succeed without work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from quality.evidence import faults, files, kills, plot, programs
from quality.evidence.rows import Row, read, worked
from support import damage

from dais_verif.base.errors import ProgramError

pytestmark = pytest.mark.slow  # about campaigns that run by hand


def double(key: str) -> Row:
    return {"twice": 2 * int(key), "wrong": None}


def never(key: str) -> Row:
    raise AssertionError(f"{key} is done again")


class TestRows:
    def test_what_is_there_is_not_done_again(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "rows.jsonl"
        assert {row["twice"] for row in worked(path, ["1", "2"], double, 1)} == {2, 4}
        with path.open("a") as file:
            file.write('{"key": "3", "tw')  # an interrupted write
        assert [row["twice"] for row in worked(path, ["1", "2"], never, 1)] == [2, 4]
        assert {row["twice"] for row in worked(path, ["2", "3"], double, 1)} == {4, 6}
        assert len(read(path)) == 3


class TestFiles:
    def test_a_file_that_is_refused_in_two_lines_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: bytes, layout: str | None = None) -> None:
            raise ProgramError("one\ntwo")

        monkeypatch.setattr(files, "CHUNK", 3)
        monkeypatch.setattr(damage, "parse", refuse)
        assert files.judge("alir 3")["wrong"] is not None

    def test_a_few(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(files, "CHUNK", 20)
        out = tmp_path / "rows.jsonl"
        assert files.main(["--count", "120", "--jobs", "1", "-o", str(out)]) == 0
        assert "120 files" in capsys.readouterr().out
        out.write_text(json.dumps({"key": "generated 0", "tally": {}, "wrong": "a crash"}) + "\n")
        assert files.main(["--count", "20", "--jobs", "1", "-o", str(out)]) == 1
        assert files.main(["--count", "0", "-o", str(out)]) == 1  # no work is not a success


class TestKills:
    def test_a_job_that_stays_is_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kills, "GRACE", 0.1)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd=tmp_path) as left:
            try:
                assert len(kills._left(tmp_path)) == 1
            finally:
                left.kill()
        assert kills._left(tmp_path) == []

    def test_half_a_file_is_found(self, tmp_path: Path) -> None:
        for name in ("here", "clean"):
            (tmp_path / name / "out").mkdir(parents=True)
            (tmp_path / name / "out.v").write_text("module model; endmodule")
            (tmp_path / name / "out" / "result.json").write_text('{"verdict": "RTL_MISMATCH"}')
        here, clean = tmp_path / "here", tmp_path / "clean"
        assert kills._half(here, clean) == []
        (here / "out.v").write_text("module mod")
        (here / "out" / "result.json").write_text('{"verdict": "PASS"}')
        assert kills._half(here, clean) == ["out.v is half written", "result.json says PASS"]
        (here / "out" / "result.json").write_text('{"verd')
        assert "result.json is not valid JSON" in kills._half(here, clean)

    def test_another_answer_is_found(self, tmp_path: Path) -> None:
        for name, verdict in (("here", "PASS"), ("clean", "RTL_MISMATCH")):
            (tmp_path / name).mkdir()
            (tmp_path / name / "stdout").write_text(json.dumps({"verdict": verdict, "message": ""}))
        assert kills._differs(tmp_path / "here", tmp_path / "clean") == ["the answer differs: PASS: "]

    @pytest.mark.slow
    def test_a_few_kills(self) -> None:
        row = kills.judge("prove/0")
        assert row["wrong"] == [] and row["killed"] + row["ended"] == kills.KILLS


class TestPrograms:
    def test_what_disagrees_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(programs, "CHUNK", 3)
        assert programs.judge(tmp_path, "seed 1") | {"seconds": 0} == {
            "cases": 3, "pairs": {"fast": 2, "numpy": 3, "vm": 2}, "wrong": None, "seconds": 0,
        }  # fmt: skip
        rows = tmp_path / "rows.jsonl"
        rows.write_text(json.dumps({"key": "seed 0", "cases": 3, "pairs": {}, "wrong": "DISAGREEMENT"}) + "\n")
        assert programs.main(["--count", "3", "-o", str(rows)]) == 1


class TestFaults:
    ROW: ClassVar[Row] = {
        "key": "p rtl/5", "faults": 5, "fates": {"killed by simulation": 3, "killed by proof": 1, "equivalent": 1},
        "to_kill": 4, "escaped": [4, 3, 2, 1, 1, 1, 1], "escaped_directed": 1, "wrong": [],
    }  # fmt: skip

    def test_an_escape_is_told(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out, part = tmp_path / "rows.jsonl", f"{faults.PARTS[0]}/1"
        out.write_text(json.dumps({**self.ROW, "key": part}) + "\n")
        words = ["--count", "1", "--part", faults.PARTS[0], "-o", str(out), "--jobs", "1"]
        assert faults.main(words) == 0
        assert "1: 4, 10: 3" in capsys.readouterr().out
        out.write_text(json.dumps({**self.ROW, "key": part, "wrong": ["line 3: + -> -"]}) + "\n")
        assert faults.main(words) == 1

    def test_sums_go_on_with_the_last_count_of_a_part_that_had_fewer_vectors(self) -> None:
        assert faults.total([self.ROW, {**self.ROW, "escaped": [4, 2]}])["escaped"] == [8, 5, 4, 3, 3, 3, 3]

    def test_the_plot(self, tmp_path: Path) -> None:
        out, rows = tmp_path / "plot.svg", tmp_path / "rows.jsonl"
        assert plot.main([str(rows), "-o", str(out)]) == 1
        rows.write_text(json.dumps(self.ROW) + "\n")
        assert plot.main([str(rows), "-o", str(out)]) == 0
        assert b"combinational RTL: 4 faults" in out.read_bytes() or b"<svg" in out.read_bytes()

    @pytest.mark.slow
    @pytest.mark.parametrize("form", ["rtl", "pipeline"])
    def test_a_few_faults(self, form: str) -> None:
        row = faults.judge(f"p10_bitops {form}/10")
        assert row["wrong"] == [] and row["faults"] == 10 and len(row["escaped"]) == len(faults.COUNTS)


@pytest.mark.slow
def test_a_tenth_of_the_evidence(tmp_path: Path) -> None:
    """A tenth of the campaigns of docs/developers/testing.md succeeds; it takes an hour or two."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root / "tests")}
    sizes = {"files": 100_000, "kills": 100, "programs": 100_000, "faults": 1_000}
    for name, count in sizes.items():
        words = [sys.executable, "-m", f"quality.evidence.{name}", "--count", str(count), "-o", str(tmp_path / name)]
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
