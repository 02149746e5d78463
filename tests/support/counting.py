"""Count the work of a call in executed lines of dais_verif, which does not depend on the machine or its load."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["growth", "lines"]

_OURS = str(Path(__file__).parents[2] / "dais_verif")


def lines(work: Callable[[], object]) -> int:
    """Return how many lines of dais_verif ``work`` executes, including those in threads that it starts."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(_OURS) else None

    before = sys.gettrace()
    threading.settrace(call)
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]
    return count


def growth(work: Callable[[int], Callable[[], object]], small: int, large: int) -> float:
    """Return the ratio of the lines that ``work(large)()`` and ``work(small)()`` execute, over ``large / small``.

    It is about 1 where the cost is linear, ``large / small`` where it is quadratic. Calls of ``work`` are not counted.
    A first run is not counted either: it may import modules and fill caches.
    """
    work(small)()
    return lines(work(large)) / lines(work(small)) / (large / small)
