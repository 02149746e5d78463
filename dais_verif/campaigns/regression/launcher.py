"""Launch jobs as processes, from any thread. No job outlives its client, however the client ends."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import filelock
import psutil

from dais_verif.base.own_command import NO_DEFAULTS

__all__ = ["Ending", "LOCK", "Launcher", "Request", "STDERR", "STDOUT", "main"]


_MESSAGE_BYTES = 1 << 20
_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Request:
    """A call of the entry in a separate process, in the folder ``cwd``, for at most ``timeout`` seconds.

    ``folder`` is emptied before; standard output and standard error are written there.
    """

    arguments: Sequence[str]
    folder: Path
    cwd: Path
    timeout: float
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """The end of a job.

    ``ended``: ``itself`` (with ``code``; negative: the signal that killed it), ``late``, ``stopped`` (by the caller),
    ``busy`` (another run uses the same folder) or ``lost`` (its reaper was killed).
    """

    ended: str
    code: int | None = None
    seconds: float = 0.0


class Launcher:
    """A launcher of jobs, which forks them from a server process that has loaded the modules ``preload``.

    ``entry`` is the function that a job calls with its arguments, as ``module:function``.
    """

    def __init__(self, entry: str, preload: Sequence[str] = ()) -> None:
        self._words = [entry, *preload]
        self._lock = threading.Lock()
        self._fork_server: _ForkServer | None = None

    def run(self, request: Request, stopped: Callable[[], bool] = lambda: False) -> Ending:
        """Run a job and wait for its end; ``stopped`` is called regularly, and ends the job if it returns True."""
        with self._lock:
            if self._fork_server is None or self._fork_server.gone:
                self._fork_server = _ForkServer(self._words)
            server = self._fork_server
        number, ending = server.start(request)
        told = False
        while True:
            try:
                return ending.result(_LOOK_SECONDS)
            except FutureTimeoutError:
                if not told and stopped():
                    server.stop(number)
                    told = True

    def close(self) -> None:
        """End all jobs, and return when no process is left. Callers waiting in ``run`` are notified."""
        with self._lock:
            if self._fork_server is not None:
                self._fork_server.close()
                self._fork_server = None

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _ForkServer:
    def __init__(self, words: Sequence[str]) -> None:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The server's working folder must not be a user's folder, where Python would search for modules.
        path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dais_verif.campaigns.regression.launcher", str(its.fileno()), *words],
                cwd="/",
                env={**os.environ, **NO_DEFAULTS, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(its.fileno(),),
                start_new_session=True,  # only this process receives Ctrl-C, and ends the jobs
            )
        self.gone = False
        self._line = ours
        self._lock = threading.Lock()
        self._next = 0
        self._running: dict[int, Future[Ending]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, request: Request) -> tuple[int, Future[Ending]]:
        ending: Future[Ending] = Future()
        with self._lock:
            self._next += 1
            number = self._next
            self._running[number] = ending
            if self.gone:
                self._lose()
        self._send(
            {
                "number": number,
                "arguments": list(request.arguments),
                "folder": str(request.folder.absolute()),
                "cwd": str(request.cwd),
                "timeout": request.timeout,
                "env": request.env,
            }
        )
        return number, ending

    def stop(self, number: int) -> None:
        self._send({"stop": number})

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._process.wait()
        self._reader.join()
        self._line.close()

    def _send(self, tree: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the server has ended, which the reader reports
            self._line.send(json.dumps(tree).encode())

    def _read(self) -> None:
        while message := self._received():
            tree = json.loads(message)
            with self._lock:
                ending = self._running.pop(tree.pop("number"))
            ending.set_result(Ending(**tree))
        with self._lock:
            self.gone = True
            self._lose()

    def _received(self) -> bytes:
        try:
            return self._line.recv(_MESSAGE_BYTES)
        except OSError:
            return b""

    def _lose(self) -> None:
        while self._running:
            self._running.popitem()[1].set_result(Ending("lost"))


# The process from which jobs are forked, so that each is a separate process but none has to load modules.
#
#     client ── fork server ── reaper, one per job ── job ── simulators, compilers
#
# Each process exits when the socket to its parent closes, so no child outlives its parent, however the parent ended.
# A reaper adopts the processes that its job leaves, in any session, and ends all of them before it reports the job's
# end.


#: Files in the folder of a job: its output, and the lock that prevents a second reaper of the same job.
STDOUT, STDERR, LOCK = "stdout.txt", "stderr.txt", ".keeper.lock"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
#: The longest wait for the lock: an earlier reaper of the same job releases it when it has ended its processes.
_LOCK_SECONDS = 60
#: The longest wait that every system accepts.
_LOOK_SECONDS_OF_FORK_SERVER = 3600
_END_SECONDS = 30


def main() -> None:
    """Serve jobs; arguments: ``SOCKET ENTRY MODULE...``, the function that jobs call, and modules to load before."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for name in sys.argv[3:]:
        importlib.import_module(name)
    entry = pkgutil.resolve_name(sys.argv[2])
    gc.collect()
    gc.freeze()  # so that the memory of loaded modules stays shared with the jobs
    _serve(channel, entry)


def _serve(channel: socket.socket, entry: Callable[[list[str]], object]) -> None:
    """Start a reaper for each request and pass on its report, until no client is left."""
    keepers: dict[int, tuple[int, socket.socket]] = {}  # by the number of the job
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        asked = True
        while asked or keepers:
            for key, _ in selector.select():
                if key.fileobj is channel:
                    message = channel.recv(_MESSAGE_BYTES)
                    asked = bool(message)
                    request = json.loads(message or "{}")
                    stopped = [request["stop"]] if "stop" in request else [] if asked else list(keepers)
                    for number in set(stopped) & set(keepers):
                        keepers[number][1].shutdown(socket.SHUT_WR)
                    if not asked:
                        selector.unregister(channel)
                    elif "arguments" in request:
                        pid, line = _start(request, entry, [channel, *(line for _, line in keepers.values())])
                        keepers[request["number"]] = pid, line
                        selector.register(line, selectors.EVENT_READ, request["number"])
                    continue
                pid, line = keepers.pop(key.data)
                selector.unregister(line)
                ending = json.loads(line.recv(_MESSAGE_BYTES) or '{"ended": "lost"}')
                line.close()
                os.waitpid(pid, 0)
                if ending["ended"] == "lost":
                    _end_children(spared={pid for pid, _ in keepers.values()})
                with contextlib.suppress(OSError):
                    channel.send(json.dumps({"number": key.data, **ending}).encode())


def _start(
    request: Mapping[str, Any], entry: Callable[[list[str]], object], others: list[socket.socket]
) -> tuple[int, socket.socket]:
    """Fork a reaper, which closes ``others``: a socket must only be open in the processes at its two ends."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid:
        its.close()
        return pid, ours
    try:
        for other in (ours, *others):
            other.close()
        its.send(json.dumps(_reap(request, its, entry)).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _reap(request: Mapping[str, Any], line: socket.socket, entry: Callable[[list[str]], object]) -> dict[str, Any]:
    """Run a job and end its processes. ``ended``: ``itself`` (with ``code``), ``late``, ``stopped``, or ``busy``."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    begin = time.monotonic()
    folder = Path(request["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / LOCK)
    while not lock.is_locked:
        with contextlib.suppress(filelock.Timeout):
            lock.acquire(timeout=0.2)
        if not lock.is_locked and _closed(line, 0):
            return {"ended": "stopped"}
        if not lock.is_locked and time.monotonic() - begin > _LOCK_SECONDS:
            return {"ended": "busy"}
    with lock:
        _empty(folder)
        begin = time.monotonic()
        ending = _watch(request, line, entry)
        _end_children()
        return {**ending, "seconds": time.monotonic() - begin}


def _watch(request: Mapping[str, Any], line: socket.socket, entry: Callable[[list[str]], object]) -> dict[str, Any]:
    """Start the job, and wait for its end, the end of its time, or the end of the client."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    reaper = os.getpid()
    job = os.fork()
    if not job:
        line.close()
        _become(request, reaper, entry)
    deadline = time.monotonic() + request["timeout"]
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return {"ended": "late"}
        if _closed(line, min(left, _LOOK_SECONDS_OF_FORK_SERVER), woken):
            return {"ended": "stopped"}
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 1 << 16)
        for pid, status in _collected():
            if pid == job:
                return {"ended": "itself", "code": os.waitstatus_to_exitcode(status)}


def _become(request: Mapping[str, Any], reaper: int, entry: Callable[[list[str]], object]) -> NoReturn:
    """Become the job: set up the process as a shell would do, in a separate session, and call the entry."""
    code: object = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != reaper:
            os._exit(1)
        folder = Path(request["folder"])
        for target, path in enumerate((Path(os.devnull), folder / STDOUT, folder / STDERR)):
            descriptor = os.open(path, os.O_RDONLY if not target else os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.dup2(descriptor, target)
            os.close(descriptor)
        os.chdir(request["cwd"])
        os.environ.update(request["env"])
        sys.argv = ["dais-verif", *request["arguments"]]
        entry(request["arguments"])
        code = 0
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _empty(folder: Path) -> None:
    """Remove files of an earlier run from ``folder``."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != LOCK:
            entry.unlink()


def _closed(line: socket.socket, seconds: float, also: int | None = None) -> bool:
    """Return True if the other end of ``line`` closes within ``seconds``; return early when ``also`` is readable."""
    waited = [line.fileno()] if also is None else [line.fileno(), also]
    readable, _, _ = select.select(waited, [], [], seconds)
    return line.fileno() in readable and line.recv(1) == b""


def _collected() -> list[tuple[int, int]]:
    """Return children that have ended, with their status."""
    found = []
    with contextlib.suppress(ChildProcessError):  # none left
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(ended)
    return found


def _childless() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _end_children(spared: Container[int] = ()) -> None:
    """End all descendants except the children ``spared`` and their descendants.

    Every process that loses its parent becomes a child of this process, so that none is missed or left over.
    """
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        # Most jobs leave no processes, and listing all processes takes time.
        children = [] if _childless() else [c for c in psutil.Process().children() if c.pid not in spared]
        if not children:
            return
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                for process in (*child.children(recursive=True), child):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        process.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)
        time.sleep(0.005)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


if __name__ == "__main__":
    main()
