"""``regress`` with real simulators, on this machine and on a cluster, finds faults and survives disturbances."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import psutil
import pytest
from support import fake_jobs
from support.door import mutant, save
from support.programs import every_opcode
from support.stream_machines import mac, moving_sum

from dais_verif.base.toolchain import verilator_runtime
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.regression.journal import read_journal
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.read import read_record
from dais_verif.record.schema import schema_path
from dais_verif.record.simulation import SimulationRecord
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import Program, write_binary

EVERY = every_opcode()


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verilator_runtime.ensure()
    monkeypatch.setenv(fake_jobs.MARK, str(tmp_path))


def start(*words: object, module: str = "dais_verif") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, "regress", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def regress(out: Path, *words: object, module: str = "dais_verif") -> tuple[int, RegressionRecord]:
    process = start(*words, "-o", out, module=module)
    process.communicate()
    record = read_record(out)
    assert isinstance(record, RegressionRecord)
    return process.returncode, record


def left(tmp_path: Path) -> list[str]:
    return [line for line in fake_jobs.marked(str(tmp_path)) if "pytest" not in line]


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def unlike(record: RegressionRecord) -> RegressionRecord:
    """Return the record without what differs between runs and places."""
    jobs = [replace(result, seconds=0, worker="", resumed=False) for result in record.jobs]
    return replace(record, jobs=jobs, times=None, reproduce="", cluster=None)


def tiny(number: int) -> Program:
    """Return program ``number`` of a family: one op adds that constant to an input."""
    ops = [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, number, (1, 20, 0))]
    return Program.build(ops, [(1, 0, 0)], inp_shift=[0])


def validate(kind: str, path: Path) -> None:
    schema = json.loads(schema_path(kind).read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text()))


def test_wrong_rtl_is_found_among_what_is_right(tmp_path: Path) -> None:
    """The record has the first diverging op and a command that finds the same mismatch."""
    save(EVERY, tmp_path)
    (tmp_path / "bad.v").write_text(mutant(EVERY, "op_4 =", "+", "-"))
    manifest = tmp_path / "regress.toml"
    few = 'arguments = ["--exhaustive-bits", "0"]'
    head = 'programs = "prog.bin"\nsimulators = ["icarus"]\nvectors = 20'
    manifest.write_text(f'{head}\n[variants.ours]\n{few}\n[variants.theirs]\nrtl = "bad.v"\n{few}\n')
    process = start(manifest, "--retries", 0, "-o", tmp_path / "out")
    stdout, stderr = process.communicate()
    assert process.returncode == 1, stderr
    record = read_record(tmp_path / "out")
    assert isinstance(record, RegressionRecord)
    ours, theirs = record.jobs
    assert (ours.verdict, theirs.verdict) == (Verdict.PASS, Verdict.RTL_MISMATCH)
    assert ours.bits_compared > 0
    assert "in icarus: op 4 (" in theirs.blame
    lines = stdout.splitlines()
    assert lines[0] == "RTL_MISMATCH  prog.bin/theirs/icarus/0"
    assert lines[1:4] == [f"  {theirs.message}", f"  {theirs.blame}", f"  reproduce  {theirs.reproduce}"]
    assert "RTL_MISMATCH  1 of 2 jobs passed, 1 failed" in lines
    validate("regression", tmp_path / "out" / "regression.json")
    for result in record.jobs:
        assert result.result is not None
        validate("result", tmp_path / "out" / result.result)
        alone = read_record(tmp_path / "out" / result.result)
        assert isinstance(alone, SimulationRecord) and alone.verdict is result.verdict
    assert shlex.split(theirs.reproduce)[1:3] == ["sim", str(tmp_path / "prog.bin")]
    assert shlex.split(theirs.reproduce)[3:] == theirs.job.arguments
    assert left(tmp_path) == []


# On a cluster, with jobs that need no simulator


FAKES = ["pass", "fail", "broken", "crash", "slow 0.3", "leave", "lie"]


def fakes(tmp_path: Path, number: int) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for i in range(number):
        (folder / f"p{i}.bin").write_text(FAKES[i % len(FAKES)])
    return folder


@pytest.mark.slow
class TestCluster:
    def test_the_same_as_here(self, tmp_path: Path) -> None:
        programs = fakes(tmp_path, 14)
        code, here = regress(tmp_path / "here", programs, module="support.fake_jobs")
        other, there = regress(tmp_path / "there", programs, "--cluster", "local:2", module="support.fake_jobs")
        assert (code, there.cluster, len({result.worker for result in there.jobs})) == (other, "local:2", 2)
        assert unlike(here) == unlike(there)
        wait_until(lambda: left(tmp_path) == [])

    @pytest.mark.parametrize("moment", [3, 9])
    def test_a_worker_killed_in_mid_run(self, moment: int, tmp_path: Path) -> None:
        """The jobs of the killed worker run again, and the processes that they had started end."""
        programs = fakes(tmp_path, 21)
        for i in range(4):
            (programs / f"slow{i}.bin").write_text("slow 1")
        _, here = regress(tmp_path / "here", programs, module="support.fake_jobs")
        process = start(programs, "--cluster", "local:2", "-o", tmp_path / "there", module="support.fake_jobs")
        wait_until(lambda: len(read_journal(tmp_path / "there")) >= moment)
        kill_a_worker(process)
        process.communicate()
        there = read_record(tmp_path / "there")
        assert isinstance(there, RegressionRecord) and process.returncode == 1
        assert unlike(here) == unlike(there)
        wait_until(lambda: left(tmp_path) == [])

    def test_a_job_that_hangs_ends_with_whoever_asked(self, tmp_path: Path) -> None:
        """A hanging job ends with its regression after Ctrl-C and ``kill -9``, although the scheduler goes on."""
        programs = tmp_path / "programs"
        programs.mkdir()
        (programs / "a.bin").write_text("hang")
        (programs / "b.bin").write_text("pass")
        with dask_scheduler(tmp_path) as address:
            for number in (signal.SIGINT, signal.SIGKILL):
                process = start(programs, "--cluster", address, "-o", tmp_path / "out", module="support.fake_jobs")
                wait_until(lambda: any("sleep" in line for line in left(tmp_path)))
                process.send_signal(number)
                process.communicate()
                assert process.returncode == (130 if number == signal.SIGINT else -number)
                wait_until(lambda: not any("sleep" in line for line in left(tmp_path)))
            (programs / "a.bin").unlink()
            code, record = regress(
                tmp_path / "out", programs, "--cluster", address, "--resume", module="support.fake_jobs"
            )
            assert (code, record.message) == (0, "1 of 1 jobs passed")
        wait_until(lambda: left(tmp_path) == [])

    def test_a_scheduler_that_is_lost(self, tmp_path: Path) -> None:
        """Results before the loss are kept; the other jobs are failures of tools, and run in the next regression."""
        programs = tmp_path / "programs"
        programs.mkdir()
        (programs / "a.bin").write_text("hang")
        (programs / "b.bin").write_text("pass")
        with dask_scheduler(tmp_path) as address:
            process = start(programs, "--cluster", address, "-o", tmp_path / "out", module="support.fake_jobs")
            wait_until(lambda: len(read_journal(tmp_path / "out")) == 1)
        process.communicate(timeout=120)
        record = read_record(tmp_path / "out")
        assert isinstance(record, RegressionRecord) and process.returncode == 3
        assert [result.verdict for result in record.jobs] == [Verdict.TOOL_FAILURE, Verdict.PASS]
        assert "scheduler was lost" in record.jobs[0].message
        wait_until(lambda: left(tmp_path) == [])
        (programs / "a.bin").write_text("pass")
        code, record = regress(tmp_path / "out", programs, "--resume", module="support.fake_jobs")
        assert (code, [result.resumed for result in record.jobs]) == (0, [False, True])

    def test_killed(self, tmp_path: Path) -> None:
        programs = fakes(tmp_path, 21)
        (programs / "hang.bin").write_text("hang")
        process = start(programs, "--cluster", "local:2", "-o", tmp_path / "out", module="support.fake_jobs")
        wait_until(lambda: len(read_journal(tmp_path / "out")) >= 3)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until(lambda: left(tmp_path) == [])

    def test_a_job_that_kills_its_workers(self, tmp_path: Path) -> None:
        """Dask gives up a job that has killed four workers; other jobs are not affected."""
        programs = fakes(tmp_path, 3)
        (programs / "evil.bin").write_text("evil")
        code, record = regress(
            tmp_path / "out", programs, "--cluster", "local:2", "--retries", 0, module="support.fake_jobs"
        )
        found = {Path(result.job.program).stem: result for result in record.jobs}
        assert code == 1
        assert found["p0"].verdict is Verdict.PASS and found["p1"].verdict is Verdict.RTL_MISMATCH
        assert found["evil"].verdict is Verdict.TOOL_FAILURE and "KilledWorker" in found["evil"].message

    def test_no_scheduler(self, tmp_path: Path) -> None:
        process = start(fakes(tmp_path, 1), "--cluster", "insecure:tcp://127.0.0.1:9", "-o", tmp_path / "out")
        _, stderr = process.communicate()
        assert process.returncode == 3
        assert stderr.count("\n") == 1 and "no scheduler answers there" in stderr

    @pytest.mark.parametrize("name", ["slurm:2", "lsf:2"])
    def test_queues_of_farms(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The farms are stand-ins for ``sbatch`` and ``bsub`` that run jobs at once on this machine."""
        farm(tmp_path, monkeypatch)
        programs = fakes(tmp_path, 7)
        _, here = regress(tmp_path / "here", programs, module="support.fake_jobs")
        _, there = regress(tmp_path / "there", programs, "--cluster", name, module="support.fake_jobs")
        assert unlike(here) == unlike(there)
        assert (tmp_path / "queued").read_text().count("\n") >= 1
        wait_until(lambda: left(tmp_path) == [])


def kill_a_worker(process: subprocess.Popen[str]) -> None:
    """Kill one of the worker processes of ``process`` with SIGKILL."""
    workers = [
        child
        for child in psutil.Process(process.pid).children()
        if "spawn_main" in " ".join(child.cmdline()) and child.num_threads() > 3
    ]
    workers[0].kill()


class dask_scheduler:
    """A scheduler with one worker that does not belong to the regression."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def __enter__(self) -> str:
        commands = (
            ["scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self._file)],
            ["worker", "--nthreads", "2", "--no-dashboard", "--scheduler-file", str(self._file)],
        )
        self._processes = [
            subprocess.Popen([sys.executable, "-m", "dask", *words], env=self._path, stderr=subprocess.DEVNULL)
            for words in commands
        ]
        wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        return f"insecure:{json.loads(self._file.read_text())['address']}"

    def __exit__(self, *_: object) -> None:
        for process in self._processes[::-1]:
            process.terminate()
            process.wait()


def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    queued = shlex.quote(str(tmp_path / "queued"))
    run = 'setsid bash "$script" >/dev/null 2>&1 & echo $! >>' + queued
    scripts = {
        "sbatch": f'cp "$1" "$1.kept"; script="$1.kept"\n{run}\necho "Submitted batch job $!"',
        "scancel": 'kill -- -"$1"',
        "bsub": f'script=$(mktemp); cat >"$script"\n{run}\necho "Job <$!> is submitted to queue <normal>."',
        "bkill": 'kill -- -"$1"',
    }
    for name, text in scripts.items():
        (bin_folder / name).write_text(f"#!/bin/bash\n{text}\n")
        (bin_folder / name).chmod(0o755)
    config = tmp_path / "dask"
    config.mkdir()
    (config / "jobqueue.yaml").write_text(
        "jobqueue:\n"
        + "".join(f"  {kind}:\n    cores: 1\n    memory: 1GB\n    walltime: '00:10'\n" for kind in ("slurm", "lsf"))
    )
    monkeypatch.setenv("DASK_CONFIG", str(config))
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")


# Long runs with real simulators


@pytest.mark.slow
def test_the_corpus_here_and_on_a_cluster_that_loses_a_worker(corpus: Path, tmp_path: Path) -> None:
    code, here = regress(tmp_path / "here", corpus, "--vectors", 200)
    assert (code, here.verdict) == (0, Verdict.PASS) and len(here.jobs) >= 14
    process = start(corpus, "--vectors", 200, "--cluster", "local:2", "-o", tmp_path / "there")
    wait_until(lambda: len(read_journal(tmp_path / "there")) >= 4, 300)
    kill_a_worker(process)
    process.communicate()
    there = read_record(tmp_path / "there")
    assert isinstance(there, RegressionRecord) and process.returncode == 0
    assert unlike(here) == unlike(there)
    wait_until(lambda: left(tmp_path) == [])


@pytest.mark.slow
def test_killed_at_random_moments_with_simulators_at_work(tmp_path: Path) -> None:
    """Killed runs lose no finished job and leave no process, with compilers and simulators in their own sessions."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for i in range(8):
        (folder / f"p{i}.bin").write_bytes(write_binary(tiny(1000 + i), "v1"))
    rng = random.Random(3)
    finished: dict[str, object] = {}
    for _ in range(20):
        process = start(folder, "--vectors", 20, "--resume", "-o", tmp_path / "out")
        time.sleep(rng.uniform(0.5, 6))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until(lambda: left(tmp_path) == [])
        journal = read_journal(tmp_path / "out")
        assert all(journal[fingerprint] == result for fingerprint, result in finished.items())
        finished = dict(journal)
    code, record = regress(tmp_path / "out", folder, "--vectors", 20, "--resume")
    assert (code, sum(result.resumed for result in record.jobs)) == (0, len(finished))


@pytest.mark.slow
def test_a_thousand_small_programs(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    for i in range(1000):
        (folder / f"p{i:03}.bin").write_bytes(write_binary(tiny(i), "v1"))
    begin = time.monotonic()
    code, record = regress(tmp_path / "out", folder, "--sim", "icarus", "--vectors", 50)
    print(f"{time.monotonic() - begin:.0f} s")
    assert (code, record.message) == (0, "1000 of 1000 jobs passed")
    assert len(list((tmp_path / "out" / "jobs").glob("*/result.json"))) == 1000
    assert left(tmp_path) == []


def test_a_folder_of_machines(tmp_path: Path) -> None:
    """Every machine of a folder is run; for wrong RTL, the message has the cycle of the mismatch."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.mach").write_text(machine_text(mac()))
    (tmp_path / "m" / "b.mach").write_text(machine_text(moving_sum()))
    code, record = regress(tmp_path / "out", tmp_path / "m", "--sim", "icarus", "--vectors", 60)
    assert (code, record.verdict) == (0, Verdict.PASS)
    assert sorted(Path(job.job.program).name for job in record.jobs) == ["a.mach", "b.mach"]
    assert all(job.bits_compared > 60 for job in record.jobs)
    text = emit_machine(mac(), "model")
    assert text.count(" + ") > 0
    (tmp_path / "bad.v").write_text(text.replace(" + ", " - ", 1))
    (tmp_path / "r.toml").write_text('programs = ["m/a.mach"]\n[variants.bad]\nrtl = ["bad.v"]\ntop = "model"\n')
    code, record = regress(tmp_path / "bad", tmp_path / "r.toml", "--sim", "icarus", "--vectors", 60)
    (job,) = record.jobs
    assert (code, job.verdict) == (Verdict.RTL_MISMATCH.exit_code, Verdict.RTL_MISMATCH)
    assert re.search(r"^cycle \d+, (before|after) its edge: y\[0\], in icarus", job.blame), job.blame
    assert job.blame.count("its edge: y[0]") == 1
