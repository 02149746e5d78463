"""Launch jobs as processes, from any thread. No job outlives its client, however the client ends."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from dais_verif.own_command import NO_DEFAULTS

__all__ = ["Ending", "Launcher", "Request"]

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
                [sys.executable, "-m", "dais_verif.regression.fork_server", str(its.fileno()), *words],
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
