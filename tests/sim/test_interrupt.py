"""After a time limit or Ctrl-C, a run ends at once with a message, and no process is left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.door import environment, mutant, run_sim, save
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.base.toolchain import verilator_runtime
from dais_verif.hardware.emitter import emit_verilog

EVERY = every_opcode()
BAD = mutant(EVERY, "op_4 =", "+", "-")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    folder = tmp_path / "John's 100% odd; folder, ä"
    folder.mkdir()
    return folder


@pytest.mark.few(1)
@pytest.mark.parametrize(("simulator", "seconds"), [("icarus", 0.05), ("icarus", 2), ("verilator", 0.05)])
def test_time_limit(simulator: str, seconds: float, tmp_path: Path) -> None:
    """An endless run ends at its limit, whether that is too short for any start or enough for a design that ends."""
    verilator_runtime.ensure()
    endless = "  reg a, b;\n  initial a = 0;\n  always @(a) b = ~a;\n  always @(b) a = b;\nendmodule"
    rtl = emit_verilog(EVERY).replace("endmodule", endless)
    run = run_sim(EVERY, tmp_path, "--timeout", seconds, rtl=rtl, simulator=simulator)
    assert run.ending == ("TOOL_FAILURE", 3)
    assert all(part in run.record["message"] for part in ("time", f"{seconds:g} s", "passed"))
    wait_until(lambda: processes_in(tmp_path / "out") == [], seconds=3)


# Ctrl-C leaves no process, no matter which one was at work.


@contextlib.contextmanager
def ended(process: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """Yield ``process`` and kill it at the end, so that a process that hangs only fails its own test."""
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def interrupted(odd: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that starts a run, sends it SIGINT when ``ready`` returns true, and waits for its end."""

    def run(ready: Callable[[], bool], *arguments: object) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "dais_verif", "sim", *map(str, arguments), "-o", str(odd / "out"), "--json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with ended(subprocess.Popen(words, env=environment(), text=True, **pipes)) as process:
            wait_until(lambda: ready() or process.poll() is not None)
            assert process.poll() is None, process.communicate()
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
            return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    return run


def processes_in(folder: Path) -> list[str]:
    """Return the command lines of all processes that work in ``folder`` or name it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in line or str(os.readlink(process / "cwd")).startswith(str(folder)):
                found.append(line)
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check_interrupted(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert done.returncode == 130
    assert json.loads(done.stdout)["verdict"] == "INTERRUPTED"
    assert "Traceback" not in done.stderr
    as_recorded(done.stderr.strip())
    wait_until(lambda: processes_in(folder / "out") == [], seconds=3)
    kept = json.loads((folder / "out" / "result.json").read_text())
    assert (kept["verdict"], kept["state"]) == ("INTERRUPTED", "complete")


@pytest.mark.slow
def test_ctrl_c_while_both_simulators_run(
    interrupted: Callable[..., subprocess.CompletedProcess[str]], odd: Path
) -> None:
    def both_run() -> bool:
        lines = " ".join(processes_in(odd / "out"))
        return "simulation.vvp" in lines and "verilator/build/simulation" in lines

    check_interrupted(interrupted(both_run, save(EVERY, odd), "--vectors", 150_000), odd)


def test_ctrl_c_during_a_build(interrupted: Callable[..., subprocess.CompletedProcess[str]], odd: Path) -> None:
    verilator_runtime.ensure()

    def compiling() -> bool:
        return any("g++" in line or "verilator_bin" in line for line in processes_in(odd / "out" / "verilator"))

    program = save(ODD_PROGRAMS["large"], odd)
    check_interrupted(interrupted(compiling, program, "--sim", "verilator", "--unchecked"), odd)


@pytest.mark.slow
def test_ctrl_c_during_a_replay(
    interrupted: Callable[..., subprocess.CompletedProcess[str]], odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends a replay in Verilator, which takes longer than one in Icarus and is used if there is no Icarus."""
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", "/nonexistent")
    (odd / "bad.v").write_text(BAD)

    def replaying() -> bool:
        return bool(processes_in(odd / "out" / "replay_verilator"))

    options = ("--sim", "verilator", "--rtl", odd / "bad.v")
    check_interrupted(interrupted(replaying, save(EVERY, odd), *options), odd)


def test_ctrl_c_while_python_executes_text(tmp_path: Path) -> None:
    """SIGINT while Python executes text, as it does for every named tuple, still gives our exit code."""
    (tmp_path / "interrupted.py").write_text(
        "from dais_verif.doors.cli import main\n"
        "main.cli.main = lambda *_, **__: exec('import signal; signal.raise_signal(signal.SIGINT)')\n"
        "main.main(['sim'])\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-m", "interrupted"], env=environment(PYTHONPATH=path), check=False)
    assert done.returncode == 130


def test_ctrl_c_leaves_no_temporary_folder(odd: Path) -> None:
    (odd / "tmp").mkdir()
    words = [sys.executable, "-m", "dais_verif", "sim", str(save(EVERY, odd)), "--sim", "icarus", "--vectors", "100000"]
    with ended(subprocess.Popen(words, env=environment(TMPDIR=str(odd / "tmp")), stderr=subprocess.DEVNULL)) as process:
        wait_until(lambda: bool(processes_in(odd / "tmp")))
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
    assert process.returncode == 130
    assert list((odd / "tmp").iterdir()) == []
