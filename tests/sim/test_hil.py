"""``dais-verif hil``, run as a command: boards in Verilator behind TCP and serial ports, right and wrong ones."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import serial
from support.boards import Mangler, computing, mangled, on_pty, on_tcp, python_board, spoiled, verilated
from support.door import Run, command, environment, mutant, run_sim, save
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode, overflowing
from support.said import as_recorded

from dais_verif.doors.cli import main
from dais_verif.golden import Golden
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.simulation.boards.identity import Frame, Kind
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

EVERY = every_opcode()
BITS = ports_of(EVERY).output_bits
BAD = mutant(EVERY, "op_4 =", "+", "-")
BAD_LINE = Mangler(7, lose=0.001, flip=0.001, double=0.001, delay=0.0005, pause=0.02)


def without_numbers(message: str) -> str:
    """Return ``message`` with N for each number: how far a run comes differs from run to run."""
    return re.sub(r"\d+(\.\d+)?", "N", message)


def hil(program: Program, folder: Path, target: str, *options: object) -> Run:
    path, out = save(program, folder), folder / "out"
    arguments = ["hil", str(path), "--target", target, "-o", str(out), "--json", *map(str, options)]
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        found = main._run(arguments)
    return Run(found, json.loads(stdout.getvalue()), stderr.getvalue(), out)


@pytest.fixture(scope="module")
def fifo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    with verilated(EVERY, "fifo", tmp_path_factory.mktemp("fifo")) as board:
        yield board


@pytest.fixture(scope="module")
def uart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    with verilated(EVERY, "uart", tmp_path_factory.mktemp("uart")) as board:
        yield board


@pytest.fixture
def instant() -> Iterator[str]:
    """Yield the target of a board in Python that answers rightly and at once."""
    with python_board(*computing(EVERY)) as board, on_tcp(board) as target:
        yield target


class TestGoodBoards:
    def test_behind_a_tcp_port(self, fifo: socket.socket, tmp_path: Path) -> None:
        with on_tcp(fifo) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 3000)
        assert run.ending == ("PASS", 0)
        (result,) = run.record["simulators"]
        assert (result["name"], result["vectors_compared"], result["bits_compared"]) == ("board", 3000, 3000 * BITS)
        board = run.record["board"]
        assert (board["target"], board["program"], board["latency"]) == (target, EVERY.hash, 0)
        assert board["batches"] < 300
        assert json.loads((run.folder / "result.json").read_text()) == run.record
        assert not (run.folder / "progress.json").exists()

    def test_behind_a_serial_port(self, uart: socket.socket, tmp_path: Path) -> None:
        with on_pty(uart) as target:
            run = hil(EVERY, tmp_path, f"{target}?baud=921600")
        assert run.ending == ("PASS", 0)
        assert run.record["simulators"][0]["bits_compared"] == 1000 * BITS

    def test_over_a_bad_line_to_a_tcp_port(self, fifo: socket.socket, tmp_path: Path) -> None:
        with mangled(fifo, BAD_LINE) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target)
        assert run.ending == ("PASS", 0)
        assert run.record["simulators"][0]["bits_compared"] == 1000 * BITS
        assert run.record["board"]["repeated"] > 0

    def test_over_a_bad_line_to_a_serial_port(self, uart: socket.socket, tmp_path: Path) -> None:
        with mangled(uart, BAD_LINE) as board, on_pty(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 500)
        assert run.ending == ("PASS", 0)
        assert run.record["simulators"][0]["bits_compared"] == 500 * BITS
        assert run.record["board"]["repeated"] > 0

    def test_computes_the_digest_that_a_simulator_computes(self, fifo: socket.socket, tmp_path: Path) -> None:
        """A board and a simulator give the same digest, which covers the same vectors and every bit of every output."""
        with on_tcp(fifo) as target:
            run = hil(EVERY, tmp_path / "board", target, "--vectors", 600, "--seed", 3)
        simulated = run_sim(EVERY, tmp_path / "sim", "--vectors", 600, "--seed", 3)
        assert run.record["simulators"][0]["digest"] == simulated.record["simulators"][0]["digest"]

    def test_with_a_pipeline(self, tmp_path: Path) -> None:
        core = emit_pipeline(EVERY, options=PipelineOptions(stages=3, enable=True))
        with (
            verilated(EVERY, "fifo", tmp_path / "rtl", core=core.text, latency=core.latency) as board,
            on_tcp(board) as target,
        ):
            run = hil(EVERY, tmp_path, target)
        assert run.ending == ("PASS", 0)
        assert run.record["board"]["latency"] == 3

    @pytest.mark.parametrize("name", ["inputs not read", pytest.param("wide", marks=pytest.mark.slow)])
    def test_with_ports_of_odd_width(self, name: str, tmp_path: Path) -> None:
        program = ODD_PROGRAMS[name]
        with verilated(program, "fifo", tmp_path / "rtl") as board, on_tcp(board) as target:
            run = hil(program, tmp_path, target, "--vectors", 50, "--unchecked")
        assert run.ending == ("PASS", 0)
        assert run.record["simulators"][0]["bits_compared"] == 50 * ports_of(program).output_bits

    def test_in_simulation(self, tmp_path: Path) -> None:
        run = hil(EVERY, tmp_path, "sim://uart", "--vectors", 50)
        assert run.ending == ("PASS", 0)
        assert {"model_uart.v", "dais_bridge.v", "build"} <= {path.name for path in (run.folder / "board").iterdir()}

    def test_vectors_from_a_file(self, instant: str, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros((7, 3)))
        run = hil(EVERY, tmp_path, instant, "--inputs", tmp_path / "x.npy", "--vectors", 5)
        assert run.ending == ("PASS", 0)
        assert run.record["vectors"] == run.record["simulators"][0]["vectors_compared"] == 12


class TestWrongBoards:
    def test_of_another_program(self, fifo: socket.socket, tmp_path: Path) -> None:
        with on_tcp(fifo) as target:
            run = hil(overflowing(), tmp_path, target)
        assert run.ending == ("INVALID_INPUT", 2)
        assert f"hash {overflowing().hash}, " in run.record["message"]
        as_recorded(run.record["message"])

    @pytest.mark.parametrize(
        "line",
        [pytest.param(None, id="good line"), pytest.param(BAD_LINE, id="bad line", marks=pytest.mark.slow)],
    )
    def test_with_a_bug(self, line: Mangler | None, tmp_path: Path) -> None:
        with contextlib.ExitStack() as stack:
            board = stack.enter_context(verilated(EVERY, "fifo", tmp_path / "rtl", core=BAD))
            if line is not None:
                board = stack.enter_context(mangled(board, line))
            run = hil(EVERY, tmp_path, stack.enter_context(on_tcp(board)))
        simulated = run_sim(EVERY, tmp_path / "sim", rtl=BAD)
        assert run.ending == simulated.ending == ("RTL_MISMATCH", 1)
        assert run.record["message"] == simulated.record["message"]
        mismatch, other = run.record["first_mismatch"], simulated.record["first_mismatch"]
        same = ("row", "output", "expected", "found", "inputs")
        assert {name: mismatch[name] for name in same} == {name: other[name] for name in same}
        assert mismatch["simulator"] == "board"
        wrong, simulated_wrong = (
            {one["output"] for one in record["outputs"] if one["grade"] == "wrong"}
            for record in (run.record, simulated.record)
        )
        assert wrong and wrong <= simulated_wrong < set(range(EVERY.n_out))
        assert {one["grade"] for one in run.record["outputs"]} - {"none"} == {"wrong", "sampled"}
        assert " 8 times" in run.blame["text"]
        as_recorded(run.blame["text"])

    def test_with_an_error_that_comes_once(self, tmp_path: Path) -> None:
        identity, compute = computing(EVERY)
        with python_board(identity, spoiled(compute, lambda k: k == 300)) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target)
        assert run.ending == ("RTL_MISMATCH", 1)
        assert run.record["message"].startswith("1 of 1000 vectors ")
        as_recorded(run.record["message"])
        assert run.record["first_mismatch"]["row"] == 300
        as_recorded(run.blame["text"])

    def test_that_sets_bits_where_the_port_has_none(self, tmp_path: Path) -> None:
        identity, compute = computing(EVERY)
        with (
            python_board(identity, lambda vectors: [r[:-1] + b"\xff" for r in compute(vectors)]) as board,
            on_tcp(board) as target,
        ):
            run = hil(EVERY, tmp_path, target)
        assert run.ending == ("TOOL_FAILURE", 3)
        as_recorded(run.record["message"])

    def test_that_is_silent(self, tmp_path: Path) -> None:
        with python_board(answer=lambda frame: []) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--timeout", 0.5)
        assert run.ending == ("TOOL_FAILURE", 3)
        assert "0.5 s" in run.record["message"]
        as_recorded(without_numbers(run.record["message"]))

    def test_that_is_silent_behind_a_serial_port(self, tmp_path: Path) -> None:
        with python_board(answer=lambda frame: []) as board, on_pty(board) as target:
            run = hil(EVERY, tmp_path, target, "--timeout", 0.5)
        assert run.ending == ("TOOL_FAILURE", 3)

    def test_that_only_makes_noise(self, tmp_path: Path) -> None:
        ours, theirs = socket.socketpair()
        noise = np.random.default_rng(1).integers(0, 256, 100_000, dtype=np.uint8).tobytes()

        def chatter() -> None:
            with contextlib.suppress(OSError):
                while True:
                    theirs.sendall(noise)

        thread = threading.Thread(target=chatter)
        thread.start()
        try:
            with on_tcp(ours) as target:
                run = hil(EVERY, tmp_path, target, "--timeout", 0.5)
        finally:
            ours.close()
            thread.join()
            theirs.close()
        assert run.ending == ("TOOL_FAILURE", 3)
        as_recorded(without_numbers(run.record["message"]))

    def test_whose_port_another_program_uses(self, tmp_path: Path) -> None:
        with python_board(*computing(EVERY)) as board, on_pty(board) as target:
            with serial.Serial(target.removeprefix("serial://"), exclusive=True):
                run = hil(EVERY, tmp_path, target)
            assert run.ending == ("TOOL_FAILURE", 3)
            as_recorded(run.record["message"])
            assert hil(EVERY, tmp_path, target).ending == ("PASS", 0)

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("serial:///dev/null", "'/dev/null'"),
            ("tcp://127.0.0.1:1", ": Connection refused"),
            ("serial:///nowhere/ttyUSB9", ": No such file or directory"),
        ],
        ids=["no port", "nobody listens", "no file"],
    )
    def test_that_are_not_there(self, target: str, message: str, tmp_path: Path) -> None:
        run = hil(EVERY, tmp_path, target)
        assert run.ending == ("TOOL_FAILURE", 3)
        assert message in run.record["message"]
        as_recorded(run.record["message"])


def dying(after: int) -> tuple[Callable[[Frame], list[bytes] | None], list[int]]:
    """Return an answer function that falls silent after so many vectors, and the list in which it counts vectors."""
    seen = [0]

    def answer(frame: Frame) -> list[bytes] | None:
        if frame.kind == Kind.RUN:
            seen[0] += len(frame.payload) // 3
        return [] if seen[0] > after else None

    return answer, seen


#: What overwrites part of the saved progress; None overwrites all of it.
CHANGES = [
    None,
    {"rows": 1000},
    {"answer": {"x": 1}},
    pytest.param({"rows": 0}, marks=pytest.mark.slow),
    pytest.param({"rows": "many"}, marks=pytest.mark.slow),
]


class TestBrokenOffRuns:
    def test_a_board_that_dies_and_comes_back(self, tmp_path: Path) -> None:
        """Vectors that were compared before the board died are not sent again, and are counted once."""
        whole = run_sim(EVERY, tmp_path / "sim", "--vectors", 2500)
        answer, _ = dying(1500)
        with python_board(*computing(EVERY), answer=answer) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 2500, "--timeout", 0.5)
        assert run.ending == ("TOOL_FAILURE", 3)
        done = run.record["simulators"][0]["vectors_compared"]
        assert 0 < done < 2500
        assert f" {done} of 2500 vectors" in run.record["message"] and "0.5 s" in run.record["message"]
        as_recorded(without_numbers(run.record["message"].partition(", with ")[0]))

        answer, seen = dying(1 << 30)
        with python_board(*computing(EVERY), answer=answer) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 2500, "--resume")
        assert run.ending == ("PASS", 0)
        assert run.record["board"]["resumed_from"] == done
        assert run.record["simulators"][0]["vectors_compared"] == 2500
        assert run.record["simulators"][0]["digest"] == whole.record["simulators"][0]["digest"]
        assert 2500 - done <= seen[0] < 2500

    def test_a_mismatch_before_the_break_is_not_forgotten(self, tmp_path: Path) -> None:
        identity, compute = computing(EVERY)
        answer, _ = dying(1500)
        wrong = spoiled(compute, lambda k: k == 10)
        with python_board(identity, wrong, answer=answer) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 2500, "--timeout", 0.5)
        assert run.ending == ("TOOL_FAILURE", 3)
        with python_board(identity, compute) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 2500, "--resume")
        assert run.ending == ("RTL_MISMATCH", 1)
        assert run.record["message"].startswith("1 of 2500 vectors ")
        as_recorded(run.record["message"])
        assert run.record["first_mismatch"]["row"] == 10

    def test_the_process_of_a_board_that_is_killed(self, tmp_path: Path) -> None:
        """The run ends when the link closes because the board's process is killed."""
        answer, seen = dying(1 << 30)
        with contextlib.ExitStack() as stack:
            board = stack.enter_context(python_board(*computing(EVERY), answer=answer))
            target = stack.enter_context(on_tcp(board))

            def kill() -> None:
                while seen[0] < 500:
                    time.sleep(0.001)
                board.shutdown(socket.SHUT_RDWR)

            thread = threading.Thread(target=kill)
            thread.start()
            run = hil(EVERY, tmp_path, target, "--vectors", 1_000_000)
            thread.join()
        assert run.ending == ("TOOL_FAILURE", 3)
        as_recorded(without_numbers(run.record["message"]))

    def test_resume_needs_the_same_run(self, instant: str, tmp_path: Path) -> None:
        answer, _ = dying(1500)
        with python_board(*computing(EVERY), answer=answer) as board, on_tcp(board) as target:
            assert hil(EVERY, tmp_path, target, "--vectors", 2500, "--timeout", 0.5).exit_code == 3
        run = hil(EVERY, tmp_path, instant, "--vectors", 2500, "--seed", 1, "--resume")
        assert run.ending == ("INVALID_INPUT", 2)
        assert re.search(r"seed \w+ 0, .* 1", run.record["message"])
        as_recorded(run.record["message"])

    def test_resume_needs_a_run(self, instant: str, tmp_path: Path) -> None:
        assert hil(EVERY, tmp_path, instant, "--vectors", 5).ending == ("PASS", 0)
        run = hil(EVERY, tmp_path, instant, "--vectors", 5, "--resume")
        assert run.ending == ("INVALID_INPUT", 2)
        as_recorded(run.record["message"])

    @pytest.mark.parametrize("change", CHANGES)
    def test_resume_from_a_file_that_is_none(self, change: dict[str, Any] | None, tmp_path: Path) -> None:
        answer, _ = dying(1500)
        with python_board(*computing(EVERY), answer=answer) as board, on_tcp(board) as target:
            assert hil(EVERY, tmp_path, target, "--vectors", 2500, "--timeout", 0.5).exit_code == 3
        path = tmp_path / "out" / "progress.json"
        path.write_text("{}" if change is None else json.dumps({**json.loads(path.read_text()), **change}))
        with python_board(*computing(EVERY)) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 2500, "--resume")
        assert run.ending == ("INVALID_INPUT", 2)
        assert "--resume" in run.record["message"]
        as_recorded(run.record["message"])

    def test_ctrl_c_leaves_the_port_free_and_the_run_to_be_resumed(self, tmp_path: Path) -> None:
        answer, seen = dying(1 << 30)
        program = save(EVERY, tmp_path)
        with python_board(*computing(EVERY), answer=answer) as board, on_pty(board) as target:
            words = ["hil", str(program), "--target", target, "-o", str(tmp_path / "out"), "--vectors", "200000"]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            with subprocess.Popen(
                [sys.executable, "-m", "dais_verif", *words], env=environment(), text=True, **pipes
            ) as process:
                deadline = time.monotonic() + 60
                while seen[0] < 3000:
                    assert process.poll() is None and time.monotonic() < deadline
                    time.sleep(0.01)
                process.send_signal(signal.SIGINT)
                _, stderr = process.communicate(timeout=20)
            assert process.returncode == 130
            assert "Traceback" not in stderr
            done = int(re.search(r"(\d+) vectors .*--resume", stderr)[1])
            serial.Serial(target.removeprefix("serial://"), exclusive=True).close()
            kept = json.loads((tmp_path / "out" / "progress.json").read_text())
            assert 0 < done <= kept["rows"] == kept["answer"]["rows"]
            assert not (tmp_path / "out" / "result.json").exists()


class TestVerdicts:
    def test_no_vector_is_no_pass(self, instant: str, tmp_path: Path) -> None:
        run = hil(EVERY, tmp_path, instant, "--vectors", 0)
        assert run.ending == ("NOT_RUN", 6)
        assert run.record["board"]["program"] == EVERY.hash

    def test_no_output_bit_is_no_pass(self, tmp_path: Path) -> None:
        program = ODD_PROGRAMS["only constant outputs"]
        with python_board(*computing(program)) as board, on_tcp(board) as target:
            run = hil(program, tmp_path, target)
        assert run.ending == ("NOT_RUN", 6)

    def test_overflow_is_the_programs_fault(self, tmp_path: Path) -> None:
        with python_board(*computing(overflowing())) as board, on_tcp(board) as target:
            assert hil(overflowing(), tmp_path, target).ending == ("PROGRAM_INVALID", 2)
            run = hil(overflowing(), tmp_path, target, "--unchecked")
        assert run.ending == ("PASS", 0)
        assert run.record["unchecked"] is True

    @pytest.mark.parametrize("agrees", [True, False], ids=["and so is the board", "and the board is not"])
    def test_a_golden_model_that_is_wrong_says_nothing_of_the_board(
        self, agrees: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Wrong(Golden):
            def run_raw(self, *arguments: Any, **more: Any) -> tuple[Any, ...]:
                first, *others = super().run_raw(*arguments, **more)
                return (first ^ 1, *others)

        monkeypatch.setattr("dais_verif.simulation.boards.compare.Golden", Wrong)
        identity, compute = computing(EVERY)
        compute = spoiled(compute, lambda k: agrees)
        with python_board(identity, compute) as board, on_tcp(board) as target:
            run = hil(EVERY, tmp_path, target, "--vectors", 20)
        assert run.ending == ("UNKNOWN", 6)
        as_recorded(run.record["message"])


def test_text_for_people(tmp_path: Path) -> None:
    with python_board(*computing(EVERY)) as board, on_tcp(board) as target:
        done = command("hil", save(EVERY, tmp_path), "--target", target, "--vectors", 10)
        assert done.returncode == 0, done.stderr
        assert f"board      {target}, runs this program, combinational core, buffer of 4096 bytes" in done.stdout
        assert re.search(r"^link       \d+ batches$", done.stdout, re.MULTILINE)
        as_recorded(done.stdout.splitlines()[-1])


def test_text_of_a_mismatch(tmp_path: Path) -> None:
    identity, compute = computing(EVERY)
    with (
        python_board(identity, spoiled(compute, lambda k: True)) as board,
        on_tcp(board) as target,
    ):
        done = command("hil", save(EVERY, tmp_path), "--target", target, "--vectors", 10, "--seed", 4)
    assert done.returncode == 1
    assert "first mismatch: vector 0, output 0, in board" in done.stdout
    assert re.search(r"^RTL_MISMATCH .*\b10\b.*\b10\b", done.stdout, re.MULTILINE)
    line = re.search(r"^simulate   (.*)$", done.stdout, re.MULTILINE)
    assert line is not None
    again = subprocess.run(
        [*line[1].split(), "--sim", "icarus"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (again.returncode, "10 vectors" in again.stdout) == (0, True), again.stderr
