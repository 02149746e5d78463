"""The run times of stages, which may overlap: each with its begin, end and busy seconds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Stage", "Stopwatch", "process_started"]


@dataclass(frozen=True)
class Stage:
    """A stage, in seconds since the stopwatch started; ``busy`` is less than ``end - begin`` if the stage waited."""

    name: str
    begin: float
    end: float
    busy: float


class Stopwatch:
    """A stopwatch for stages, usable from any thread. ``started``: the time of ``time.monotonic()`` at its start."""

    def __init__(self, *, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self._tell: Callable[[str], None] = lambda _: None
        self._lock = threading.Lock()
        self._begun: list[str] = []
        self._stages: dict[str, Stage] = {}

    def listen(self, tell: Callable[[str], None]) -> None:
        """Call ``tell`` for each stage that begins from now on, and for those that have begun already."""
        with self._lock:
            self._tell = tell
            begun = list(self._begun)
        for name in begun:
            tell(name)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to stage ``name``, which may consist of many parts."""
        with self._lock:
            tell, new = self._tell, name not in self._begun
            if new:
                self._begun.append(name)
        if new:
            tell(name)
        begin = time.monotonic()
        try:
            yield
        finally:
            self.add(name, begin, time.monotonic())

    def add(self, name: str, begin: float, end: float, busy: float | None = None) -> None:
        """Add a part of stage ``name`` between two times of ``time.monotonic()``."""
        part = Stage(name, begin - self.started, end - self.started, end - begin if busy is None else busy)
        with self._lock:
            known = self._stages.get(name, Stage(name, part.begin, part.end, 0.0))
            self._stages[name] = Stage(
                name, min(known.begin, part.begin), max(known.end, part.end), known.busy + part.busy
            )

    def seconds(self, name: str) -> float:
        """Return the busy seconds of stage ``name``; 0 if there was no such stage."""
        return self._stages[name].busy if name in self._stages else 0.0

    @property
    def stages(self) -> list[Stage]:
        """All stages so far, in the order in which they began."""
        with self._lock:
            return sorted(self._stages.values(), key=lambda stage: (stage.begin, stage.end))


def process_started() -> float:
    """Return the time at which this process began, as a time of ``time.monotonic()``."""
    now = time.monotonic()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return min(now, now - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return now
