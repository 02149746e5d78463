"""What a pair finds: that two things that must agree do not, or that one of them fails in a way that nobody decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dais_verif.fuzzing.case import Case

__all__ = ["Disagreement", "Pair", "judged"]


class Disagreement(NamedTuple):
    """``pair`` and ``kind`` are words that cases are told apart by; ``text`` is for people."""

    pair: str
    kind: str
    text: str

    @property
    def cause(self) -> str:
        """What stays the same while a case is made smaller."""
        return f"{self.pair}: {self.kind}"


#: Judges a case. What it raises, unless it says so itself, is a finding, too.
Pair = Callable[[Case], "Disagreement | None"]


def judged(name: str, pair: Pair, case: Case) -> Disagreement | None:
    """What ``pair`` finds; an exception of any kind is a finding: every case is valid, so that none may be raised."""
    try:
        return pair(case)
    except MemoryError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:400]
        return Disagreement(name, f"raises {type(error).__name__}", f"{type(error).__name__}: {said}")
