"""``regress``, with real processes that run fake jobs: every way in which a job, and the whole run, can end."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import fake_jobs
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.regression import cluster, executors
from dais_verif.campaigns.regression.journal import read_journal
from dais_verif.doors.cli import main
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.read import parse_record, read_record

Call = Callable[..., tuple[int, RegressionRecord]]


@pytest.fixture(autouse=True)
def faked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use fake jobs instead of simulators, and an empty cache instead of this machine's history."""
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    for module, name in ((executors, "Local"), (cluster, "Cluster")):
        monkeypatch.setattr(module, name, getattr(module, name))
    fake_jobs.patch()


@pytest.fixture
def regress(tmp_path: Path) -> Call:
    """Return a function that calls the command, and returns its exit code and its record."""

    def call(*words: object) -> tuple[int, RegressionRecord]:
        stdout = io.StringIO()
        arguments = ["regress", *map(str, words), "--json", "-o", str(tmp_path / "out")]
        with redirect_stdout(stdout), redirect_stderr(io.StringIO()):
            code = main._run(arguments)
        record = parse_record(stdout.getvalue().encode(), "stdout")
        assert isinstance(record, RegressionRecord) and record == read_record(tmp_path / "out")
        assert record.verdict.exit_code == code and record.state == "complete"
        return code, record

    return call


def write(folder: Path, **programs: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in programs.items():
        (folder / f"{name}.bin").write_text(text)
    return folder


def verdicts(record: RegressionRecord) -> dict[str, str]:
    return {Path(result.job.program).stem: result.verdict.value for result in record.jobs}


def test_every_end_of_a_job(regress: Call, tmp_path: Path) -> None:
    """No end of a job stops the others; a job that passed leaves only its record."""
    words = ("pass", "fail", "broken", "crash", "raise", "lie", "nothing", "leave", "hang")
    programs = write(tmp_path / "programs", **{word: word for word in words})
    code, record = regress(programs, programs / "absent.bin", "--retries", 0, "--timeout", 1.5, "--jobs", 4)
    assert (code, record.verdict) == (1, Verdict.RTL_MISMATCH)
    assert record.message == "2 of 10 jobs passed, 8 failed"
    assert verdicts(record) == {
        "pass": "PASS",
        "leave": "PASS",
        "fail": "RTL_MISMATCH",
        "broken": "INVALID_INPUT",
        "absent": "INVALID_INPUT",
        "crash": "TOOL_FAILURE",
        "raise": "TOOL_FAILURE",
        "lie": "TOOL_FAILURE",
        "hang": "TOOL_FAILURE",
        "nothing": "NOT_RUN",
    }
    messages = {Path(result.job.program).stem: result.message for result in record.jobs}
    as_recorded(messages["crash"])
    as_recorded(messages["hang"])
    as_recorded(messages["raise"])
    as_recorded(messages["lie"])
    as_recorded(messages["absent"])
    for result in record.jobs:
        assert result.result is not None
        kept = read_record(tmp_path / "out" / result.result)
        assert kept.verdict is result.verdict or result.job.program.endswith("nothing.bin")
        files = {path.name for path in (tmp_path / "out" / result.result).parent.iterdir()}
        assert ("stderr.txt" in files) == (result.verdict is not Verdict.PASS)


def test_a_job_that_compares_nothing_runs_once(regress: Call, tmp_path: Path) -> None:
    _, record = regress(write(tmp_path / "programs", none="nothing"), "--retries", 3)
    assert [result.attempts for result in record.jobs] == [[Verdict.NOT_RUN]]


def test_flaky(regress: Call, tmp_path: Path) -> None:
    """A flaky job fails unless it is allowed, and is told apart from one that always fails."""
    programs = write(tmp_path / "programs", once="flaky 1", always="fail", good="pass")
    code, record = regress(programs)
    assert (code, record.flaky) == (1, 1)
    attempts = {Path(result.job.program).stem: result.attempts for result in record.jobs}
    assert attempts["once"] == [Verdict.RTL_MISMATCH, Verdict.PASS]
    assert attempts["always"] == [Verdict.RTL_MISMATCH] * 2 and attempts["good"] == [Verdict.PASS]
    (flaky,) = [result for result in record.jobs if result.flaky]
    assert flaky.verdict is Verdict.RTL_MISMATCH and "flaky, RTL_MISMATCH, then PASS" in flaky.message
    assert flaky.result is not None and (tmp_path / "out" / flaky.result).parent.name != "rerun-1"
    (programs / "once.count").unlink()
    (programs / "always.bin").unlink()
    code, record = regress(programs, "--allow-flaky", "--retries", 3)
    assert (code, record.flaky, record.message) == (0, 1, "2 of 2 jobs passed, 1 flaky")


@pytest.mark.parametrize("words", [[], ["--shard", "1/2"]], ids=["all", "shard"])
def test_nothing_to_run_is_no_pass(words: list[str], regress: Call, tmp_path: Path) -> None:
    code, record = regress(write(tmp_path / "programs"), *words)
    assert (code, record.verdict) == (6, Verdict.NOT_RUN)
    as_recorded(record.message)


def test_a_pattern_that_fits_nothing_is_no_pass(regress: Call, tmp_path: Path) -> None:
    programs = write(tmp_path / "programs", good="pass")
    code, record = regress(programs, tmp_path / "lost*")
    assert (code, record.verdict) == (6, Verdict.NOT_RUN)
    assert record.message.startswith("1 of 1 jobs passed") and "lost*" in record.message


def test_fail_fast_skips_the_rest(regress: Call, tmp_path: Path) -> None:
    programs = write(tmp_path / "programs", a="fail", **{f"b{i}": "slow 20" for i in range(5)})
    code, record = regress(programs, "--fail-fast", "--retries", 0)
    assert code == 1
    assert record.message == "0 of 6 jobs passed, 1 failed, 5 skipped"
    assert [result.attempts for result in record.jobs if result.job.program.endswith("a.bin")] == [
        [Verdict.RTL_MISMATCH]
    ]
    assert all(result.verdict is Verdict.NOT_RUN for result in record.jobs if not result.attempts)


def test_what_failed_runs_first_and_alone(regress: Call, tmp_path: Path) -> None:
    programs = write(tmp_path / "programs", **dict.fromkeys("abcd", "pass"), z="fail")
    regress(programs, "--jobs", 1)
    write(programs, z="pass", d="slow 0.1")
    code, record = regress(programs, "--jobs", 1, "--rerun-failed")
    assert code == 0
    # d has changed, so its old result does not count.
    assert {Path(result.job.program).stem for result in record.jobs if not result.resumed} == {"d", "z"}
    journal = [json.loads(line) for line in (tmp_path / "out" / "journal.jsonl").read_text().splitlines()]
    assert [Path(line["result"]["job"]["program"]).stem for line in journal[-2:]] == ["z", "d"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("change", "again"),
    [
        (["--vectors", "1000"], {"a": False, "b": False}),
        (["--vectors", "7"], {"a": True, "b": True}),
        ("edit", {"a": True, "b": False}),
        ("lost", {"a": True, "b": False}),
    ],
    ids=["same", "vectors", "edited", "lost"],
)
def test_resume_takes_over_what_still_holds(change: Any, again: dict[str, bool], regress: Call, tmp_path: Path) -> None:
    programs = write(tmp_path / "programs", a="pass", b="fail")
    _, before = regress(programs, "--retries", 0)
    words: list[str] = change if isinstance(change, list) else []
    if change == "edit":
        write(programs, a="pass 1")
    if change == "lost":
        (path,) = (tmp_path / "out" / "jobs").glob("a.bin*/result.json")
        path.unlink()
    _, record = regress(programs, "--retries", 0, "--resume", *words)
    assert {Path(result.job.program).stem: not result.resumed for result in record.jobs} == again
    assert verdicts(record) == verdicts(before)


def test_seeds(regress: Call, tmp_path: Path) -> None:
    programs = write(tmp_path / "programs", a="pass")
    _, fresh = regress(programs, "--fresh-seed")
    _, other = regress(programs, "--fresh-seed")
    (one,), (two,) = ({result.job.seed for result in record.jobs} for record in (fresh, other))
    assert one != two
    (tmp_path / "earlier.json").write_text(fresh.to_json())
    _, same = regress(programs, "--seed-from", tmp_path / "earlier.json")
    assert [result.job for result in same.jobs] == [result.job for result in fresh.jobs]


@pytest.mark.parametrize(("module", "name"), [("distributed", "local"), ("dask_jobqueue", "slurm")])
def test_a_cluster_without_its_packages(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    programs = write(tmp_path / "programs", a="pass")
    assert main._run(["regress", str(programs), "--cluster", name, "-o", str(tmp_path / "out")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "'dais-verif[cluster]'" in line


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--cluster", "nowhere"], "--cluster"),
        (["--cluster", "local:0"], "--cluster"),
        (["--shard", "3/2"], "3/2"),
        (["--shard", "0/2"], "0/2"),
        (["--seed", "1", "--fresh-seed"], "--fresh-seed"),
        (["--resume", "--rerun-failed"], "--rerun-failed"),
        (["--seed-from", "/nowhere"], "No such file"),
        (["--timeout", "nan"], "nan "),
        (["--junit", "/nowhere/junit.xml"], "--junit"),
        (["absent.toml"], "absent.toml"),
    ],
    ids=range(10),
)
def test_what_cannot_be_asked(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = write(tmp_path / "programs", a="pass")
    assert main._run(["regress", str(programs), *words, "-o", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line
    as_recorded(line)


def unlike(record: RegressionRecord) -> RegressionRecord:
    """Return ``record`` without the fields that differ between runs and places."""
    jobs = [replace(result, seconds=0, worker="", resumed=False) for result in record.jobs]
    return replace(record, jobs=jobs, times=None, reproduce="", cluster=None)


class TestInterrupted:
    """The real command is killed while it runs."""

    @pytest.fixture
    def start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.Popen[str]]:
        monkeypatch.setenv(fake_jobs.MARK, str(tmp_path))

        def start(*words: object) -> subprocess.Popen[str]:
            arguments = [
                sys.executable,
                "-m",
                "support.fake_jobs",
                "regress",
                *map(str, words),
                "-o",
                str(tmp_path / "out"),
            ]
            env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            return subprocess.Popen(
                arguments, env=env, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )

        return start

    @staticmethod
    def left(tmp_path: Path) -> list[str]:
        return [line for line in fake_jobs.marked(str(tmp_path)) if "pytest" not in line]

    def test_by_ctrl_c(self, start: Callable[..., subprocess.Popen[str]], regress: Call, tmp_path: Path) -> None:
        """The record has the jobs that ended, and no process is left when the command ends."""
        programs = write(tmp_path / "programs", a="pass", b="fail", c="hang", d="hang")
        # Two jobs may hang, and one process is left for the others, whatever the order of the groups.
        process = start(programs, "--retries", 0, "--jobs", 3)
        wait_until(lambda: len(read_journal(tmp_path / "out")) == 2 and any("sleep" in x for x in self.left(tmp_path)))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        assert self.left(tmp_path) == []
        record = read_record(tmp_path / "out")
        assert isinstance(record, RegressionRecord) and record.verdict is Verdict.INTERRUPTED
        assert verdicts(record) == {"a": "PASS", "b": "RTL_MISMATCH"}
        as_recorded(record.message)

    def kill_and_resume(
        self, start: Callable[..., subprocess.Popen[str]], regress: Call, tmp_path: Path, moments: list[float]
    ) -> None:
        """Kill the whole process group after each of ``moments`` seconds; the resumed run must reach the same end."""
        texts = ["pass", "fail", "slow 0.1", "leave", "slow 0.3"]
        programs = write(tmp_path / "programs", **{f"p{i}": texts[i % 5] for i in range(20)})
        finished: dict[str, Any] = {}
        taken_over = 0
        for moment in moments:
            process = start(programs, "--resume")
            time.sleep(moment)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            wait_until(lambda: self.left(tmp_path) == [])
            journal = read_journal(tmp_path / "out")
            for fingerprint, result in finished.items():
                assert journal[fingerprint] == result, "a finished result was lost"
            finished = dict(journal)
            for result in finished.values():
                assert result.result is not None
                assert read_record(tmp_path / "out" / result.result).verdict is result.verdict
        before = {result.job.id for result in finished.values()}
        code, record = regress(programs, "--resume")
        taken_over = sum(result.resumed for result in record.jobs)
        assert code == 1 and taken_over == len(before)
        _, undisturbed = regress(programs)
        assert unlike(record) == unlike(undisturbed)

    @pytest.mark.slow
    def test_by_sigkill_at_20_random_moments(
        self, start: Callable[..., subprocess.Popen[str]], regress: Call, tmp_path: Path
    ) -> None:
        rng = random.Random(1)
        self.kill_and_resume(start, regress, tmp_path, [rng.uniform(0.2, 1.8) for _ in range(20)])


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_failure_of_a_tool_is_not_taken_over(regress: Call, tmp_path: Path) -> None:
    """A full disk may have room again, so ``--resume`` runs the job again; a wrong design stays wrong."""
    programs = write(tmp_path / "programs", crash="crash", fail="fail", good="pass")
    _, first = regress(programs, "--retries", 0)
    assert verdicts(first) == {"crash": "TOOL_FAILURE", "fail": "RTL_MISMATCH", "good": "PASS"}
    _, again = regress(programs, "--retries", 0, "--resume")
    resumed = {Path(result.job.program).stem: result.resumed for result in again.jobs}
    assert resumed == {"crash": False, "fail": True, "good": True}
