"""Let only one thread of a process prove at a time.

The table of terms, the mode in which terms are built and the questions that forked processes inherit are global in a
process. Concurrent proofs would at best miss equal terms, and at worst get the answers to each other's questions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["TURN", "one_at_a_time"]

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
