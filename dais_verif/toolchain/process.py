"""Commands whose output goes to a log and of which nothing survives.

``iverilog`` starts ``ivl``, a Verilator driver starts its binary, ``g++`` starts ``cc1plus``: killing only
the child would leave those running. So every command leads a process group of its own, and the group is
killed when time runs out, when a sibling fails and when the user interrupts.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from dais_verif.errors import ToolError
from dais_verif.toolchain import sandbox
from dais_verif.toolchain.environment import stripped

__all__ = [
    "Session",
    "TimeLimitError",
    "describe_exit",
    "ended_by",
    "first_error",
    "last_error",
    "raise_if_stopping",
    "result_of",
    "workers",
]

_Result = TypeVar("_Result")

#: GHDL puts nothing between place and message of an error, and "warning:" of a warning. A design may also end the
#: simulation by a failed assertion, by never settling, or as if it were a bench. Of a missing
#: include, the cause of all that follows, Icarus does not say that it is an error.
_ERROR = re.compile(
    r"(^|[\s%:])(fatal|error|critical|exception|\w+Error)\b|No such file|terminate called"
    r"|: Include file .* not found$"
    r"|^\S.*\.vhdl?:\d+:\d+: (?!warning)|\(assertion failure\)|stopped @\S+ by --stop-delta|^simulation finished @",
    re.IGNORECASE,
)
#: Bytes that are read of the begin and of the end of a log.
_MOST_READ = 1 << 22
_LONGEST_EXCERPT = 300
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.01
_LOOK_SECONDS = 0.1


class TimeLimitError(ToolError):
    """A tool was stopped because its time limit has passed."""


class _Stop:
    """A flag that a run sets when it ends early; a run within a run also ends with the outer one."""

    def __init__(self, outer: _Stop | None, event: threading.Event | None = None) -> None:
        self._outer = outer
        self._event = event or threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set() or (self._outer is not None and self._outer.is_set())


class _Thread(threading.local):
    """The stop event of a thread's task; None outside ``workers``."""

    stop: _Stop | None = None


_thread = _Thread()


@contextlib.contextmanager
def workers(number: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that run commands. What of them still runs when the block is left, however it is left, is killed.

    Only the main thread receives Ctrl-C; this passes it on to the threads that wait for commands, and waits for them in
    turn.
    """
    stop = _Stop(_thread.stop)

    def begin() -> None:
        _thread.stop = stop

    with ThreadPoolExecutor(number, initializer=begin) as pool:
        try:
            yield pool
        finally:
            stop.set()


@contextlib.contextmanager
def ended_by(event: threading.Event) -> Iterator[None]:
    """Kill what this thread runs within the block once ``event`` is set, too."""
    outer = _thread.stop
    _thread.stop = _Stop(outer, event)
    try:
        yield
    finally:
        _thread.stop = outer


def raise_if_stopping(what: str) -> None:
    """Raise ``ToolError`` if the run that this thread works for must end; for threads that wait for something else."""
    if _thread.stop is not None and _thread.stop.is_set():
        raise ToolError(f"{what} was stopped with the run")


def result_of(future: Future[_Result], what: str) -> _Result:
    """Wait for the result of a worker thread. Raises ``ToolError`` if the run that this thread works for must end."""
    while not wait((future,), _LOOK_SECONDS).done:
        raise_if_stopping(what)
    return future.result()


class Session:
    """Commands that share a working directory, a log and one time limit, which starts now.

    ``silence``: they are also stopped when none has written anything into the log for this many seconds.

    A new log is begun; each command writes itself into it before its output, so that a user can
    repeat by hand what failed. ``env``: the whole environment; None: what tools are given of ours.
    ``writable``: folders beside ``cwd`` in which commands may write if they run in a sandbox.
    """

    def __init__(
        self,
        log: Path,
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        silence: float | None = None,
        writable: Sequence[Path] = (),
    ) -> None:
        self.log = log
        self._cwd = cwd
        self._env = env
        self._timeout, self._silence = timeout, silence
        self._writable = writable
        self._stop = _thread.stop
        self._deadline = None if timeout is None else time.monotonic() + timeout
        try:
            cwd.mkdir(parents=True, exist_ok=True)
            log.unlink(missing_ok=True)  # it may be linked into the cache, which must not change
            log.write_bytes(b"")
        except OSError as error:
            raise ToolError(f"{log} cannot be written: {error.strerror}") from error

    def run(self, tool: str, *commands: Sequence[str], jobs: int = 1) -> int:
        """Run ``commands``, at most ``jobs`` at once; return 0, or the exit code that stopped the rest.

        ``tool`` is their name in messages. A negative code is the number of the signal that ended a command.
        """
        waiting = list(commands)
        running: list[subprocess.Popen[bytes]] = []
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(self._start(tool, waiting.pop(0)))
                finished = self._wait_for_any(tool, running)
                running.remove(finished)
                if finished.returncode != 0:
                    return finished.returncode
        finally:
            for process in running:
                _kill_group(process)
        return 0

    def check(self, tool: str, *commands: Sequence[str], jobs: int = 1) -> None:
        """Like ``run``; a command that fails is a ``ToolError`` with the first error it reported."""
        code = self.run(tool, *commands, jobs=jobs)
        if code != 0:
            raise ToolError(f"{tool} {describe_exit(code)}: {first_error(self.log)} (full output: {self.log})")

    def _start(self, tool: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            log.write(f"$ {shlex.join(command)}\n".encode(errors="surrogateescape"))
            log.flush()
            try:
                return subprocess.Popen(
                    sandbox.confined(command, self._cwd, self._writable) if sandbox.wanted() else _mortal(command),
                    cwd=self._cwd,
                    # Files left by a killed compiler stay in the folder of the run.
                    env={
                        **(stripped() if self._env is None else self._env),
                        # By no name: Icarus puts it into a line that a shell reads.
                        "TMPDIR": ".",
                        "TMP": ".",
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise ToolError(f"{tool} cannot be started: {command[0]}: {error.strerror}") from error

    def _wait_for_any(self, tool: str, running: Sequence[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        pause = _SHORTEST_PAUSE
        written, since = 0, time.monotonic()
        while True:
            for process in running:
                if process.poll() is not None:
                    return process
            if self._stop is not None and self._stop.is_set():
                raise ToolError(f"{tool} was stopped with the run (output: {self.log})")
            if self._deadline is not None and time.monotonic() >= self._deadline:
                raise TimeLimitError(
                    f"{tool} was stopped: the time limit of {self._timeout:g} s has passed (output: {self.log})"
                )
            if self._silence is not None:
                written, before = self.log.stat().st_size, written
                since = time.monotonic() if written != before else since
                if time.monotonic() - since >= self._silence:
                    raise ToolError(f"{tool} was stopped: nothing came for {self._silence:g} s (output: {self.log})")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _mortal(command: Sequence[str]) -> Sequence[str]:
    """Return ``command`` so that Linux kills it when the thread that starts it ends, however that happens.

    A simulator whose design runs for ever within one moment of simulated time looks at nothing by itself. Where
    ``setpriv`` (util-linux) is missing, or the command itself, the command is returned as it is.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or shutil.which(command[0]) is None:
        return command
    return [setpriv, "--pdeathsig", "KILL", "--", *command]


def describe_exit(code: int) -> str:
    """Say how a command ended: ``exited with code 1``, ``was killed by SIGSEGV``."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def first_error(log: Path) -> str:
    """Return the line of ``log`` that most likely says what went wrong: compilers report the cause first."""
    return _excerpt(log, 0)


def last_error(log: Path) -> str:
    """Like ``first_error`` for output that ends in the cause, as a Python traceback does."""
    return _excerpt(log, -1)


def _excerpt(log: Path, index: int) -> str:
    text = _ends_of(log).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("$ ")]
    words = [line for line in lines if any(map(str.isalnum, line))]  # no rulers of tables
    telling = [line for line in words if _ERROR.search(line)] or words[-1:] or ["no output"]
    line = " ".join(telling[index].split())
    return line if len(line) <= _LONGEST_EXCERPT else line[:_LONGEST_EXCERPT] + "…"


def _ends_of(log: Path) -> bytes:
    """Return ``log``, of a long one the begin and the end: a command may write until its time is up."""
    with log.open("rb") as file:
        begin = file.read(_MOST_READ)
        rest = max(os.fstat(file.fileno()).st_size - len(begin), 0)
        file.seek(-min(rest, _MOST_READ), os.SEEK_END)
        end = file.read(_MOST_READ) if rest else b""
    return begin + b"\n" * (rest > _MOST_READ) + end


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
