"""The search for a smaller case: the tested cases, the best failing case, and the time limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from dais_verif.base.errors import InputError
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.command import Command, Ending
from dais_verif.campaigns.fuzzing.files import write_inputs, write_program
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, found_by
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS
from dais_verif.golden import oracle

__all__ = ["CommandRun", "Fails", "Search", "TimeUp", "as_disagreed", "breaks_a_promise", "first_violation"]


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


# Kinds of failure: a pair disagrees, a promise is broken, or a command ends in the same way as at first.


def as_disagreed(found: Disagreement) -> Fails:
    """Return the test that the pair of ``found`` disagrees in the same way."""

    def fails(case: Case) -> bool:
        again = found_by(found.pair, PAIRS[found.pair].judge, case)
        return again is not None and again.cause == found.cause

    return fails


def first_violation(case: Case) -> oracle.Violation | None:
    """Return the first promise that a vector of ``case`` breaks, by the oracle."""
    for row in case.rows:
        violations: list[oracle.Violation] = []
        oracle.trace(case.program, row, violations=violations)
        if violations:
            return violations[0]
    return None


def breaks_a_promise(mnemonic: str) -> Fails:
    """Return the test that the first broken promise belongs to an op ``mnemonic``."""

    def fails(case: Case) -> bool:
        found = first_violation(case)
        return found is not None and found.op.spec.mnemonic == mnemonic

    return fails


class CommandRun:
    """A command that runs on one case after the other, in ``folder``."""

    def __init__(self, command: Command, form: str, folder: Path, seconds: float) -> None:
        self.command, self.form, self.folder, self.seconds = command, form, folder, seconds

    def ending(self, case: Case, rtl: tuple[Path, ...] = ()) -> Ending:
        """Return how the command ends on ``case`` and ``rtl``. Raises ``InputError`` if no file can hold the case."""
        files: dict[str, Path | tuple[Path, ...]] = {"program": write_program(case.program, self.folder, self.form)}
        if rtl:
            files["rtl"] = rtl
        if any("{inputs}" in word for word in self.command.template):
            files["inputs"] = write_inputs(case.rows, self.folder)
        return self.command.run(files, self.folder, self.seconds)

    def as_ended(self, code: int | None) -> Fails:
        """Return the test that the command ends with ``code``, the exit code of the first case."""

        def fails(case: Case) -> bool:
            try:
                return self.ending(case).status == code
            except InputError:  # no file of this form can hold it, so the tool never gets such a case
                return False

        return fails
