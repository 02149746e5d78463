"""The search for a smaller case: the tested cases, the best failing case, and the time limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from dais_verif.fuzzing.case import Case

__all__ = ["Fails", "Search", "TimeUp"]

#: The test that a case has the same failure as the first one.
Fails = Callable[[Case], bool]

_Part = TypeVar("_Part")


class Smaller(Protocol):
    """A case to shrink. ``key``: its identity; ``words``: its size, as text."""

    @property
    def key(self) -> object: ...

    @property
    def words(self) -> str: ...


_Case = TypeVar("_Case", bound=Smaller)


#: The wall time of a search, in multiples of its CPU time, after which it ends in any case.
_WAITING = 20


class TimeUp(Exception):
    """The time limit is reached; the smallest case so far is the result."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the tools that it has run, which does not depend on other load."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Search(Generic[_Case]):
    """The smallest case so far. ``consider`` tests a case, and replaces the smallest case by it if it fails, too.

    No case is tested twice, since failures are assumed to be deterministic. ``seconds`` are CPU time.
    """

    def __init__(
        self, case: _Case, fails: Callable[[_Case], bool], seconds: float, tell: Callable[[str], None]
    ) -> None:
        self.case = case
        self.asked = 0
        self._fails, self._tell = fails, tell
        self._seconds, self._begun, self._spent = seconds, time.monotonic(), cpu_seconds()
        self._known: set[object] = {case.key}

    def consider(self, case: _Case | None) -> bool:
        """Make ``case`` the smallest case if it is new and fails; return True if so. Raises ``TimeUp``."""
        if case is None or case.key in self._known:
            return False
        if self._is_over():
            raise TimeUp
        self._known.add(case.key)
        self.asked += 1
        if not self._fails(case):
            return False
        self.case = case
        self._tell(f"{case.words} after {self.asked} attempts")
        return True

    def _is_over(self) -> bool:
        """Return True if the CPU time is used up; tools that only wait use none, so wall time has a limit, too."""
        waited = time.monotonic() - self._begun
        return cpu_seconds() - self._spent >= self._seconds or waited >= _WAITING * self._seconds

    def fewest(self, parts: Sequence[_Part], made: Callable[[Sequence[_Part]], _Case | None]) -> list[_Part]:
        """Remove halves, quarters, ... of ``parts`` as long as ``made`` of the rest fails; return the rest.

        In the last pass, the removal of every single part is tried.
        """
        left, size = list(parts), (len(parts) + 1) // 2
        while size and left:
            stop = len(left)
            while stop > 0:
                start = max(stop - size, 0)
                rest = left[:start] + left[stop:]
                if self.consider(made(rest)):
                    left = rest
                stop = start
            size //= 2
        return left
