"""Measure wall time and CPU time of a process and all that it starts, under a time limit."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Timed", "timed"]

#: Seconds that an interrupted process may take to end the processes that it started.
_GRACE = 10.0


class Timed(NamedTuple):
    """The times of a process. ``cpu``: user and system seconds, with children. ``peak``: bytes of the largest process.

    ``code`` is None if the limit ended the process; ``cpu`` may then miss the time of its children.
    """

    wall: float
    cpu: float
    peak: int
    code: int | None
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        """Return the last line that it wrote to stderr, or how it ended if there is none."""
        lines = self.stderr.strip().splitlines()
        return lines[-1].strip() if lines else f"ended with {self.code}"


def timed(command: Sequence[str], *, env: Mapping[str, str], cwd: Path, limit: float) -> Timed:
    """Run ``command`` in a separate session, and end the whole session after ``limit`` seconds."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            in_time = _ended(process.pid, limit)
        finally:  # Ctrl-C does not reach the other session
            if not _ended(process.pid, 0):
                _end(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    cpu = usage.ru_utime + usage.ru_stime
    return Timed(wall, cpu, usage.ru_maxrss * 1024, process.returncode if in_time else None, *texts)


def _ended(pid: int, seconds: float) -> bool:
    """Wait at most ``seconds`` until the child ends, without reaping it; return whether it has ended."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def _end(pid: int) -> None:
    """Interrupt the session, so that compilers are reaped and counted; then kill its remaining processes."""
    os.killpg(pid, signal.SIGINT)
    _ended(pid, _GRACE)
    os.killpg(pid, signal.SIGKILL)
