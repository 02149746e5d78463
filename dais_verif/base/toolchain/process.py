"""Run commands with their output in a log, and without leaving processes behind.

``iverilog`` starts ``ivl``, a Verilator driver starts its binary, ``g++`` starts ``cc1plus``: if only the child were
killed, these would continue. Therefore every command has its own process group, which is killed at a timeout, when
another command of the same call fails, and when the user interrupts.
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

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.passphrase import PASSPHRASE
from dais_verif.base.toolchain import sandbox

__all__ = [
    "Session",
    "TimeLimitError",
    "describe_exit",
    "ended_by",
    "first_error",
    "is_stopping",
    "last_error",
    "raise_if_stopping",
    "result_of",
    "stripped",
    "workers",
]


_Result = TypeVar("_Result")

#: Lines that report an error. GHDL writes no word between the place and the message of an error. A design may also end
#: the simulation with a failed assertion, by exceeding the limit of delta cycles, or by finishing it as a testbench
#: does. Icarus does not mark a missing include file as an error, although this causes the errors that follow.
_ERROR = re.compile(
    r"(^|[\s%:])(fatal|error|critical|exception|\w+Error)\b|No such file|terminate called"
    r"|: Include file .* not found$"
    r"|^\S.*\.vhdl?:\d+:\d+: (?!warning)|\(assertion failure\)|stopped @\S+ by --stop-delta|^simulation finished @",
    re.IGNORECASE,
)
#: The number of bytes that are read at the beginning and at the end of a log.
_MOST_READ = 1 << 22
_LONGEST_EXCERPT = 300
#: The working directory, by a path without special characters: Icarus puts it into a shell command, and Yosys into a
#: script of ABC. The path is absolute, since Yosys would make it absolute.
_HERE = "/proc/self/cwd"
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.01
_LOOK_SECONDS = 0.1


class TimeLimitError(SimulatorFailure):
    """Raised if a tool was stopped at its time limit."""


class _Stop:
    """A flag that is set when a run must end early; a run within another run also ends with the outer run."""

    def __init__(self, outer: _Stop | None, event: threading.Event | None = None) -> None:
        self._outer = outer
        self._event = event or threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set() or (self._outer is not None and self._outer.is_set())


class _Thread(threading.local):
    """The stop flag of the current thread; None outside of ``workers``."""

    stop: _Stop | None = None


_thread = _Thread()


@contextlib.contextmanager
def workers(number: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads that run commands; commands still running when the block is left in any way are killed.

    Only the main thread receives Ctrl-C. When the block is left, the threads that wait for commands are stopped and
    joined.
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
    """In the block, also kill the commands that this thread runs if ``event`` is set."""
    outer = _thread.stop
    _thread.stop = _Stop(outer, event)
    try:
        yield
    finally:
        _thread.stop = outer


def raise_if_stopping(what: str) -> None:
    """Raise ``ToolError`` if this thread's run must end; for threads that wait for something other than a command."""
    if is_stopping():
        raise SimulatorFailure(f"{what} was stopped with the run")


def is_stopping() -> bool:
    """Return True if this thread's run must end."""
    return _thread.stop is not None and _thread.stop.is_set()


def result_of(future: Future[_Result], what: str) -> _Result:
    """Wait for the result of a worker thread. Raises ``ToolError`` if this thread's run must end."""
    while not wait((future,), _LOOK_SECONDS).done:
        raise_if_stopping(what)
    return future.result()


class Session:
    """Commands that share a working directory, a log and one time limit, which starts when the session is made.

    An existing log is replaced. Each command line is written into the log before its output, so that users can repeat a
    failed command. ``env``: the complete environment; None: our own, reduced to what tools need. ``timeout``: the time
    limit in seconds. ``silence``: commands are also stopped if nothing was written into the log for this many seconds.
    ``writable``: folders besides ``cwd`` in which commands may write if they run in a sandbox.
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
            log.unlink(missing_ok=True)  # it may be a link to a file of the cache, which must not change
            log.write_bytes(b"")
        except OSError as error:
            raise SimulatorFailure(f"{log} cannot be written: {error.strerror}") from error

    def run(self, tool: str, *commands: Sequence[str], jobs: int = 1) -> int:
        """Run ``commands``, at most ``jobs`` at once; return 0, or the exit code of the first one that failed.

        After a failure, all other commands are killed. ``tool``: the name in messages. A negative exit code is the
        negated number of the signal that ended the command. Raises ``ToolError`` at a time limit, or if a command
        cannot be started.
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

    def check(self, tool: str, *commands: Sequence[str], jobs: int = 1, made: Sequence[str | Path] = ()) -> None:
        """Run ``commands`` like ``run``. Raises ``ToolError`` with the first error in the log if a command fails.

        ``made``: the files that the commands make, in the working directory; also raises if one is missing or empty.
        """
        self.remove(made)
        code = self.run(tool, *commands, jobs=jobs)
        if code != 0:
            raise SimulatorFailure(f"{tool} {describe_exit(code)}: {first_error(self.log)} (full output: {self.log})")
        self.require(tool, made)

    def remove(self, made: Sequence[str | Path]) -> None:
        """Remove files that commands make, so that none of an earlier run is mistaken for a result."""
        for name in made:
            (self._cwd / name).unlink(missing_ok=True)

    def require(self, tool: str, made: Sequence[str | Path]) -> None:
        """Raise ``ToolError`` if one of the files ``made``, by commands that succeeded, is missing or empty."""
        for name in made:
            path = self._cwd / name
            if not path.is_file() or not path.stat().st_size:
                raise SimulatorFailure(
                    f"{tool} exited with code 0, but wrote nothing into {name}: the tool is broken, or the disk is full"
                    f" (full output: {self.log})"
                )

    def _start(self, tool: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            log.write(f"$ {shlex.join(command)}\n".encode(errors="surrogateescape"))
            log.flush()
            try:
                return subprocess.Popen(
                    sandbox.confined(command, self._cwd, self._writable) if sandbox.wanted() else _mortal(command),
                    cwd=self._cwd,
                    # With these variables, temporary files that a killed compiler leaves are in the folder of the run.
                    env={
                        **(stripped() if self._env is None else self._env),
                        "TMPDIR": _HERE,
                        "TMP": _HERE,
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise SimulatorFailure(f"{tool} cannot be started: {command[0]}: {error.strerror}") from error

    def _wait_for_any(self, tool: str, running: Sequence[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        pause = _SHORTEST_PAUSE
        written, since = 0, time.monotonic()
        while True:
            for process in running:
                if process.poll() is not None:
                    return process
            if self._stop is not None and self._stop.is_set():
                raise SimulatorFailure(f"{tool} was stopped with the run (output: {self.log})")
            if self._deadline is not None and time.monotonic() >= self._deadline:
                raise TimeLimitError(
                    f"{tool} was stopped: the time limit of {self._timeout:g} s has passed (output: {self.log})"
                )
            if self._silence is not None:
                written, before = self.log.stat().st_size, written
                since = time.monotonic() if written != before else since
                if time.monotonic() - since >= self._silence:
                    raise SimulatorFailure(
                        f"{tool} was stopped: no output for {self._silence:g} s (output: {self.log})"
                    )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _mortal(command: Sequence[str]) -> Sequence[str]:
    """Return ``command`` in a form that lets Linux kill it as soon as the thread that started it ends in any way.

    A simulator does not notice the end of its parent by itself if the design loops without advancing time. If
    ``setpriv`` (util-linux) or the command itself is missing, the command is returned unchanged.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or shutil.which(command[0]) is None:
        return command
    return [setpriv, "--pdeathsig", "KILL", "--", *command]


def describe_exit(code: int) -> str:
    """Return how a command ended, such as ``exited with code 1`` or ``was killed by SIGSEGV``."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def first_error(log: Path) -> str:
    """Return the first line of ``log`` that reports an error, since compilers report the cause first."""
    return _excerpt(log, 0)


def last_error(log: Path) -> str:
    """Return the last line of ``log`` that reports an error, for output that ends with its cause, like a traceback."""
    return _excerpt(log, -1)


def _excerpt(log: Path, index: int) -> str:
    text = _ends_of(log).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("$ ")]
    words = [line for line in lines if any(map(str.isalnum, line))]  # without the lines of tables
    telling = [line for line in words if _ERROR.search(line)] or words[-1:] or ["no output"]
    line = " ".join(telling[index].split())
    return line if len(line) <= _LONGEST_EXCERPT else line[:_LONGEST_EXCERPT] + "…"


def _ends_of(log: Path) -> bytes:
    """Return the content of ``log``, or the beginning and the end of a long one."""
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


# The environment variables that child processes get, which are only those that tools need to run.
#
# Tools and RTL can execute arbitrary code, and must not see passwords, tokens or paths of keys.


#: Variables with paths of programs, libraries and headers, and the user's language.
_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "XDG_CACHE_HOME"),
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"),
    *("GCC_EXEC_PREFIX", "GHDL_PREFIX", "VERILATOR_ROOT"),
)
#: Prefixes of variables for languages, for threads in numpy, for Yosys from PyPI, and for Python and this package,
#: which run the testbench.
_BEGINNINGS = ("LC_", "OMP_", "OPENBLAS_", "YOWASP_", "PYTHON", "DAIS_VERIF_")


def stripped(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of ``environment`` (default: those of this process) that a tool gets."""
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if name in _NAMES or name.startswith(_BEGINNINGS)}
    kept.pop(PASSPHRASE, None)
    return kept
