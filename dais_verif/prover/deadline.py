"""A time limit for reading and evaluating RTL, where a run can do without the answer.

Only one thread proves at a time (``turns``), so there is one limit in a process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from dais_verif.errors import ProofError

__all__ = ["OutOfTime", "require_time", "time_limit"]

_END = [inf]


class OutOfTime(ProofError):
    """The time limit of ``time_limit`` was met."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let ``require_time`` raise ``OutOfTime`` after ``seconds``; the caller has its turn to prove."""
    _END.append(min(_END[-1], time.monotonic() + seconds))
    try:
        yield
    finally:
        _END.pop()


def require_time() -> None:
    """Raise ``OutOfTime`` if a limit is set, and its time is over."""
    if time.monotonic() > _END[-1]:
        raise OutOfTime("reading and evaluating the RTL takes too long")
