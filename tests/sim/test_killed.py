"""After SIGKILL at any moment, the left-overs break no later run, and the processes that the run started end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.door import environment, run_sim, save

from dais_verif.base.toolchain import build_cache, tools, verilator_runtime
from dais_verif.spec.program import Program

#: A program that passes four bits through.
TINY = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])

#: Allowed time after the death of the parent run: an import of cocotb, and the largest chunk in progress.
SECONDS_TO_END = 15

OUTPUT = {"icarus": "simulation.vvp", "verilator": "simulation"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache without builds, which has the Verilator runtime of this machine."""
    verilator_runtime.ensure()
    own = tmp_path / "cache"
    own.mkdir()
    (own / "runtime").symlink_to(tools.cache_dir() / "runtime")
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(own))
    monkeypatch.delenv("DAIS_VERIF_CACHE_MB", raising=False)
    return own / "builds"


def rtl(number: int) -> str:
    """Return the same design with another comment, which makes it another build."""
    ports = "input [3:0] model_inp, output [3:0] model_out"
    return f"// {number}\nmodule model({ports});\n  assign model_out = model_inp;\nendmodule\n"


def started(folder: Path, text: str, simulator: str, vectors: int) -> subprocess.Popen[bytes]:
    """Start a run in a process group of its own, as a shell does."""
    folder.mkdir()
    (folder / "design.v").write_text(text)
    words = ["sim", save(TINY, folder), "--rtl", folder / "design.v", "--sim", simulator, "--vectors", vectors]
    return subprocess.Popen(
        [sys.executable, "-m", "dais_verif", *map(str, words), "-o", str(folder / "out"), "--exhaustive-bits", "0"],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def processes_in(folder: Path) -> dict[int, str]:
    """Return the processes that work in ``folder`` or name it, except those that have ended and wait to be reaped."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if line and (str(folder) in line or os.readlink(process / "cwd").startswith(str(folder))):
                found[int(process.name)] = line
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def assert_passes(folder: Path, text: str, simulator: str) -> None:
    run = run_sim(TINY, folder, "--vectors", 20, rtl=text, simulator=simulator)
    assert run.ending == ("PASS", 0), run.record["message"]


def assert_all_entries_whole(home: Path, simulator: str, good: int) -> None:
    """Check that every entry of the cache is as large as one of an undisturbed run, and is counted."""
    for folder in home.glob("[0-9a-f]*/"):
        assert {path.name for path in folder.iterdir()} >= {OUTPUT[simulator], "build.log", "entry.json"}
        assert abs((folder / OUTPUT[simulator]).stat().st_size - good) < 100
        assert os.access(folder / OUTPUT[simulator], os.X_OK)
    assert len(build_cache.entries()) == len(list(home.glob("[0-9a-f]*/")))


def kill_at_moments(tmp_path: Path, home: Path, simulator: str, moments: int, seed: int) -> None:
    """Kill new builds at moments spread over a run; afterwards the same designs must build and pass."""
    begin = time.monotonic()
    assert started(tmp_path / "peace", rtl(-1), simulator, 2000).wait() == 0
    seconds = time.monotonic() - begin
    (entry,) = home.glob(f"*/{OUTPUT[simulator]}")
    good = entry.stat().st_size

    rng = random.Random(seed)
    folders = []
    for number in range(moments):
        # One in each part of the run; in the first half second only Python starts, which does not use the cache.
        share = (number + rng.random()) / moments
        folder = tmp_path / f"killed {number}"
        folders.append(folder)
        process = started(folder, rtl(number), simulator, 2000)
        time.sleep(0.2 * seconds + share * 0.8 * seconds)
        kill(process)
        assert_all_entries_whole(home, simulator, good)
        assert_passes(tmp_path / "after", rtl(number), simulator)
    assert_all_entries_whole(home, simulator, good)
    assert len(build_cache.entries()) == moments + 1
    for folder in folders:
        wait_until(lambda folder=folder: processes_in(folder) == {}, SECONDS_TO_END)  # type: ignore[misc]


def test_a_killed_run_breaks_no_later_one(tmp_path: Path, home: Path) -> None:
    kill_at_moments(tmp_path, home, "icarus", 2, seed=1)


def simulators_in(folder: Path) -> list[int]:
    return [number for number, line in processes_in(folder).items() if "simulation.vvp" in line]


def has_worked(process: int, seconds: float) -> bool:
    """Return whether ``process`` has used ``seconds`` of CPU time, more than starting takes."""
    try:
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11]
    except OSError:  # it has ended
        return False
    return int(ticks) / os.sysconf("SC_CLK_TCK") >= seconds


@pytest.mark.slow
def test_a_design_that_never_ends_ends_with_its_run(tmp_path: Path) -> None:
    """A simulator that stays at one point of simulated time, where it cannot see its parent die, ends with its run."""
    endless = rtl(0).replace("endmodule", "  reg a = 0;\n  initial forever a = ~a;\nendmodule")
    process = started(tmp_path / "killed", endless, "icarus", 20)
    wait_until(lambda: any(has_worked(number, 3) for number in simulators_in(tmp_path / "killed")), 60)
    process.kill()  # the process alone, not its group
    process.wait()
    wait_until(lambda: processes_in(tmp_path / "killed") == {}, SECONDS_TO_END)


@pytest.mark.slow
def test_a_killed_run_that_compiles_breaks_no_later_one(tmp_path: Path, home: Path) -> None:
    """Later runs work after one was killed while Verilator or the compiler worked, or while the linker wrote."""
    met = []
    for number, stage in enumerate(("verilator_bin", "cc1plus", "/ld ")):
        folder, kept = tmp_path / f"killed {number}", len(build_cache.entries())
        process = started(folder, rtl(number), "verilator", 20)
        wait_until(
            lambda stage=stage, folder=folder, process=process: (  # type: ignore[misc]
                any(stage in line for line in processes_in(folder).values()) or process.poll() is not None
            ),
            60,
        )
        kill(process)
        if len(build_cache.entries()) == kept:
            met.append(number)
    assert met, "no stage was met"
    assert_passes(tmp_path / "after", rtl(met[0]), "verilator")
    assert len(build_cache.entries()) == 3 - len(met) + 1
    wait_until(lambda: not any(processes_in(tmp_path / f"killed {number}") for number in range(3)), SECONDS_TO_END)


@pytest.mark.slow
@pytest.mark.parametrize(("simulator", "moments"), [("icarus", 20), ("verilator", 12)])
def test_a_killed_run_breaks_no_later_one_at_many_moments(
    simulator: str, moments: int, tmp_path: Path, home: Path
) -> None:
    kill_at_moments(tmp_path, home, simulator, moments, seed=2)


class TestWhatWasStarted:
    """A simulation notices by itself that its run was killed, since no process is left to end it."""

    @pytest.fixture
    def simulating(self, tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
        def start(simulator: str, vectors: int) -> subprocess.Popen[bytes]:
            process = started(tmp_path / "run", rtl(0), simulator, vectors)
            progress = tmp_path / "run" / "out" / simulator
            wait_until(lambda: any(path.read_text() not in ("", "0\n") for path in progress.glob("progress_*")), 60)
            return process

        return start

    @pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
    def test_ends(self, simulator: str, simulating: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
        process = simulating(simulator, 50_000_000)
        assert any(OUTPUT[simulator] in line for line in processes_in(tmp_path / "run" / "out" / simulator).values())
        kill(process)
        wait_until(lambda: processes_in(tmp_path / "run") == {}, SECONDS_TO_END)

    def test_ends_before_it_has_done_all_that_was_made(
        self, simulating: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
    ) -> None:
        process, chunks = simulating("icarus", 50_000_000), tmp_path / "run" / "out" / "icarus" / "chunks"
        wait_until(lambda: len(list(chunks.iterdir())) >= 10, 20)
        kill(process)
        wait_until(lambda: processes_in(tmp_path / "run") == {}, SECONDS_TO_END)
        assert len(list(chunks.iterdir())) >= 5

    def test_ends_though_nobody_collects_the_run(
        self, simulating: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
    ) -> None:
        """The simulation ends even if the killed run is not reaped, as happens in some containers."""
        process = simulating("verilator", 50_000_000)
        os.killpg(process.pid, signal.SIGKILL)
        try:
            wait_until(lambda: processes_in(tmp_path / "run") == {}, 5)
        finally:
            process.wait()
            wait_until(lambda: processes_in(tmp_path / "run") == {}, SECONDS_TO_END)
