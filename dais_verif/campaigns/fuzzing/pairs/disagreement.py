"""The finding of a pair: two things that must agree do not, or one of them fails unexpectedly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.campaigns.fuzzing.case import Case

__all__ = [
    "Disagreement",
    "NotJudged",
    "Pair",
    "found_by",
    "judged",
    "require_comparable",
    "require_tool",
    "require_tools",
]


class Disagreement(NamedTuple):
    """A disagreement. ``pair`` and ``kind`` classify cases; ``text`` is for users."""

    pair: str
    kind: str
    text: str

    @property
    def cause(self) -> str:
        """The part that stays the same while a case is shrunk."""
        return f"{self.pair}: {self.kind}"


class NotJudged(Exception):
    """A pair does not apply to a case, or gives no result: nothing was compared, so agreement must not be claimed."""


#: A judge of cases. An exception other than ``NotJudged`` is a finding, too.
Pair = Callable[[Case], "Disagreement | None"]


def judged(name: str, pair: Pair, case: Case) -> Disagreement | None:
    """Return the finding of ``pair``; an exception is a finding, because every case is valid.

    Raises ``NotJudged`` if nothing was compared.
    """
    try:
        return pair(case)
    except (MemoryError, NotJudged):
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:400]
        return Disagreement(name, f"raises {type(error).__name__}", f"{type(error).__name__}: {said}")


def found_by(name: str, pair: Pair, case: Case) -> Disagreement | None:
    """Return the finding of ``pair``; None if it agrees or compared nothing; for callers that only test for failure."""
    try:
        return judged(name, pair, case)
    except NotJudged:
        return None


# Requirements of pairs: external simulators and Yosys, and cases in which a simulation compares something.


def require_tool(name: str) -> None:
    """Raise ``ToolError``, with a remedy, if tool ``name`` is missing."""
    {"icarus": tools.icarus, "verilator": tools.verilator, "yosys": tools.yosys}[name]()


def require_tools(names: Sequence[str]) -> None:
    """Raise ``NotJudged`` if one of the tools ``names`` is missing."""
    try:
        for name in names:
            require_tool(name)
    except ToolError as error:
        raise NotJudged(str(error)) from None


def require_comparable(case: Case, *names: str) -> None:
    """Raise ``NotJudged`` if a simulation of the case compares nothing, or if one of the tools is missing."""
    require_tools(names)
    if not case.rows or not case.program.n_in or not any(kind.width for kind in case.program.output_types):
        raise NotJudged("the program has no inputs, or outputs without bits, or there is no vector")
