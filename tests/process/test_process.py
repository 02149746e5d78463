"""No process that a command started survives it, and the output of the command is kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import process
from dais_verif.base.toolchain.process import Session, first_error, last_error, result_of, workers
from dais_verif.simulation import launch
from dais_verif.simulation.simulators.simulator import Simulation

#: Starts a grandchild, writes its process id to a file, and waits.
FAMILY = ["sh", "-c", "sleep 60 & echo $! > grandchild; wait"]


def session(folder: Path, timeout: float | None = None) -> Session:
    return Session(folder / "log", cwd=folder, timeout=timeout)


def runs(pid: int) -> bool:
    """Return whether the process runs; a killed one may stay as a zombie if no process collects it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def assert_grandchild_gone(folder: Path) -> None:
    pid = int((folder / "grandchild").read_text(encoding="ascii"))
    deadline = time.monotonic() + 5
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(pid)


def test_output_and_command_are_logged(tmp_path: Path) -> None:
    code = session(tmp_path).run("sh", ["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert code == 3
    assert (tmp_path / "log").read_text() == "$ sh -c 'echo out; echo err >&2; exit 3'\nout\nerr\n"


def test_a_log_is_begun_afresh(tmp_path: Path) -> None:
    session(tmp_path).run("echo", ["echo", "old"])
    session(tmp_path).run("echo", ["echo", "new"])
    assert "old" not in (tmp_path / "log").read_text()


def test_a_timeout_kills_the_whole_group(tmp_path: Path) -> None:
    start = time.monotonic()
    with raises(ToolError):
        session(tmp_path, timeout=0.5).run("family", FAMILY)
    assert time.monotonic() - start < 10
    assert_grandchild_gone(tmp_path)


def test_the_time_limit_is_shared_by_all_commands(tmp_path: Path) -> None:
    limited = session(tmp_path, timeout=1.5)
    assert limited.run("sleep", ["sleep", "0.8"]) == 0
    with raises(ToolError, match="time"):
        limited.run("sleep", ["sleep", "1.2"])


def test_an_interrupt_kills_the_whole_group_and_goes_on(tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "grandchild").exists():
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session(tmp_path, timeout=30).run("family", FAMILY)
    thread.join()
    assert_grandchild_gone(tmp_path)


def test_what_workers_run_ends_with_their_block(tmp_path: Path) -> None:
    start = time.monotonic()
    with workers(1) as pool:
        killed = pool.submit(lambda: session(tmp_path).run("family", FAMILY))
        while not (tmp_path / "grandchild").exists():
            time.sleep(0.01)
    with raises(ToolError):
        killed.result()
    assert time.monotonic() - start < 10
    assert_grandchild_gone(tmp_path)


def test_a_thread_that_waits_for_another_one_ends_with_its_own_run() -> None:
    class Stopped(Exception):
        pass

    never: Future[int] = Future()
    with pytest.raises(Stopped), workers(1) as pool:
        waiting = pool.submit(result_of, never, "the simulation")
        raise Stopped
    with raises(ToolError):
        waiting.result()


def test_a_failing_command_stops_its_siblings(tmp_path: Path) -> None:
    start = time.monotonic()
    assert session(tmp_path).run("sh", FAMILY, ["sh", "-c", "sleep 0.3; exit 5"], jobs=2) == 5
    assert time.monotonic() - start < 10
    assert_grandchild_gone(tmp_path)


def test_jobs_bounds_what_runs_at_once(tmp_path: Path) -> None:
    # Each command fails if another one is running.
    alone = ["sh", "-c", "mkdir busy && sleep 0.1 && rmdir busy"]
    assert session(tmp_path).run("sh", alone, alone, alone, jobs=1) == 0
    assert session(tmp_path).run("sh", alone, alone, jobs=2) != 0


def test_check_says_what_failed_in_one_line(tmp_path: Path) -> None:
    script = "echo warning: dull; echo 'a.v:3:  syntax error'; echo 'error: a consequence'; exit 2"
    with raises(ToolError, r"iverilog.* 2: a\.v:3: syntax error \("):
        session(tmp_path).check("iverilog", ["sh", "-c", script])


def test_a_crash_is_named_by_its_signal(tmp_path: Path) -> None:
    with raises(ToolError):
        session(tmp_path).check("tool", [sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"])


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    with raises(ToolError):
        session(tmp_path).run("tool", ["/none/such"])


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises(ToolError):
        session(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        (["$ sh error", "fine"], "fine", "fine"),
        (["%Error: x.v:1: bad", "%Error: Exiting"], "%Error: x.v:1: bad", "%Error: Exiting"),
        (["Traceback", "KeyError: 'k'", "done"], "KeyError: 'k'", "KeyError: 'k'"),
        (["/tmp/test_error0/a.v: warning", "a.v:2: error: no"], "a.v:2: error: no", "a.v:2: error: no"),
        (["x.v: No such file or directory", "No top level"], *2 * ["x.v: No such file or directory"]),
        (["a.v:2: Include file b.vh not found", "No top"], *2 * ["a.v:2: Include file b.vh not found"]),
        (["all is said", "******"], *2 * ["all is said"]),
        ([], "no output", "no output"),
    ],
)
def test_the_telling_line(tmp_path: Path, lines: list[str], first: str, last: str) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(lines))
    assert (first_error(log), last_error(log)) == (first, last)


def test_of_a_long_log_the_ends_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_MOST_READ", 40)
    log, noise = tmp_path / "log", b"\xff\n" + b"noise\n" * 1000
    log.write_bytes(b"error: the first\n" + noise + b"error: hidden\n" + noise + b"error: the last\n")
    assert (first_error(log), last_error(log)) == ("error: the first", "error: the last")
    monkeypatch.setattr(process, "_MOST_READ", 1 << 20)
    assert (first_error(log), last_error(log)) == ("error: the first", "error: the last")


@pytest.mark.parametrize("size", range(7))
def test_no_byte_of_a_short_log_is_read_twice_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(process, "_MOST_READ", 3)
    log = tmp_path / "log"
    log.write_text("error"[:size])
    assert last_error(log) == ("error"[:size] or "no output")


FINISHED = """\
- rtl/0/fin.v:7: Verilog $finish
     1.00ns WARNING  cocotb.regression failed
            SimFailure: cocotb expected it would shut down, but the simulation ended prematurely. This could be due to
            ******************
- :0: Verilog $finish
"""


@pytest.mark.parametrize(
    ("simulator", "log", "expected"),
    [
        ("verilator", FINISHED, "fin.v:7 ($finish,"),
        ("icarus", FINISHED.partition("\n")[2], "($finish,"),
        ("icarus", "KeyError: 'k'\n****\n", "KeyError: 'k'"),
    ],
    ids=["place", "no place", "exception"],
)
def test_rtl_that_ends_the_simulation_is_named(tmp_path: Path, simulator: str, log: str, expected: str) -> None:
    (tmp_path / "log").write_text(log)
    cause = launch.cause(Simulation(simulator, "1", "model", (), tmp_path), tmp_path / "log")
    assert expected in cause
    as_recorded(cause)


def test_a_bench_that_fails_or_breaks_off_has_failed(tmp_path: Path) -> None:
    cases = {"good": "", "wrong": "<failure/>", "broken": "<error/>", "left out": "<skipped/>"}
    text = "".join(f'<testcase classname="bench" name="{name}">{inside}</testcase>' for name, inside in cases.items())
    (tmp_path / "results.xml").write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
    assert launch.failed_tests(tmp_path / "results.xml") == ["bench.wrong", "bench.broken"]
