"""A time limit for reading and evaluating RTL, where a run can do without the answer.

Only one thread proves at a time (``turns``), so there is one limit in a process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from math import inf
from typing import ParamSpec, TypeVar

from dais_verif.base.errors import ProofError
from dais_verif.record.proof import Claim, Worst

__all__ = ["Costs", "OutOfTime", "TURN", "one_at_a_time", "require_time", "time_limit"]


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


# Let only one thread of a process prove at a time.
#
# The table of terms, the mode in which terms are built and the questions that forked processes inherit are global in a
# process. Concurrent proofs would at best miss equal terms, and at worst get the answers to each other's questions.


#: Held by the thread that builds terms or asks about them. A thread may take it several times.
TURN = threading.RLock()

_P = ParamSpec("_P")
_T = TypeVar("_T")


def one_at_a_time(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate ``work`` to hold ``TURN`` while it runs."""

    @wraps(work)
    def waiting(*arguments: _P.args, **options: _P.kwargs) -> _T:
        with TURN:
            return work(*arguments, **options)

    return waiting


# Record how long claims took to decide, and which of them an earlier run had decided.


class Costs:
    """Seconds that the last decision of each claim took. Claims of one shape share a decision."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, int], float] = {}
        self._cached: set[tuple[str, int]] = set()

    def note(self, key: tuple[str, int], seconds: float, cached: bool = False) -> None:
        """Record the seconds that claim ``key`` took. ``cached``: whether an earlier run had decided it."""
        if seconds or key in self._seconds:  # most claims take no time, and have no entry
            self._seconds[key] = seconds
        if cached:
            self._cached.add(key)
        else:
            self._cached.discard(key)

    @property
    def cached(self) -> int:
        """The number of claims that earlier runs had decided."""
        return len(self._cached)

    def worst(self, claims: Sequence[Claim]) -> Worst | None:
        """Return the claim of ``claims`` that took longest; None if there are none."""
        if not claims:
            return None
        worst = max(claims, key=lambda claim: self._seconds.get((claim.kind, claim.number), 0.0))
        return Worst(worst.name, round(self._seconds.get((worst.kind, worst.number), 0.0), 4))
