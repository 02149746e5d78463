"""Decisions on kinds of constructs, and tables of decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

import pyslang

__all__ = ["How", "KindDecision", "Table", "ast", "known_calls", "left_out", "read", "refused"]


Kind = TypeVar("Kind")
Rule = TypeVar("Rule")


class How(Enum):
    """How a kind of construct is treated."""

    #: The construct is read by the rule in the text of the decision.
    READ = "read"
    #: The construct is ignored, since it changes no value.
    LEFT_OUT = "left out"
    #: RTL with the construct is refused; the text of the decision is the message.
    REFUSED = "refused"


class KindDecision(NamedTuple):
    """How a kind is treated. ``text``: the rule in one phrase, or the message."""

    how: How
    text: str


def read(text: str) -> KindDecision:
    """Return the decision to read a kind by this rule."""
    return KindDecision(How.READ, text)


def left_out(text: str) -> KindDecision:
    """Return the decision to ignore a kind for this reason."""
    return KindDecision(How.LEFT_OUT, text)


def refused(text: str) -> KindDecision:
    """Return the decision to refuse a kind with this message."""
    return KindDecision(How.REFUSED, text)


class Table(Generic[Kind]):
    """The decisions for all kinds of an enum. ``title`` and ``note`` are shown on the generated page."""

    def __init__(self, title: str, note: str, decisions: Mapping[Kind, KindDecision]) -> None:
        self.title, self.note, self.decisions = title, note, dict(decisions)

    def of(self, how: How) -> frozenset[Kind]:
        """Return the kinds with this treatment."""
        return frozenset(kind for kind, decision in self.decisions.items() if decision.how is how)

    def refusal(self, kind: Kind) -> str | None:
        """Return the message that refuses ``kind``; None if it is not refused. Kinds without an entry are refused."""
        decision = self.decisions.get(kind)
        if decision is None:
            return f"{getattr(kind, 'name', kind)!r} is not supported by the proof; write it another way"
        return decision.text if decision.how is How.REFUSED else None

    def message(self, kind: Kind) -> str:
        """Return the message for ``kind`` in a place where no rule reads it."""
        return self.refusal(kind) or "is not supported by the proof here"

    def rules(self, rules: Mapping[Any, Rule], *others: Iterable[Kind]) -> dict[Any, Rule]:
        """Return ``rules``, which read the kinds, after checking that they are complete.

        ``others``: kinds that are read elsewhere. Raises ``ValueError`` unless rules and ``others`` together are
        exactly the kinds to be read.
        """
        elsewhere = {kind for kinds in others for kind in kinds}
        wrong = (set(rules) | elsewhere) ^ self.of(How.READ)
        if wrong or set(rules) & elsewhere:
            raise ValueError(f"{self.title}: what is decided and what is read differ in {sorted(map(str, wrong))}")
        return dict(rules)


# pyslang's enums, and the system calls that it knows.


#: Typed as ``Any``, since pyslang's type stubs are incomplete.
ast: Any = pyslang.ast

#: Names such as ``$value$plusargs`` and ``$async$and$array``, in which pyslang replaces each ``$`` by an underscore.
_SEVERAL = re.compile(r"s_(a?sync_|value_|test_)")


def known_calls() -> list[str]:
    """Return the names of all system tasks, system functions and methods that pyslang knows, as RTL writes them."""
    return [_written(name) for name in pyslang.parsing.KnownSystemName.__members__ if name != "Unknown"]


def _written(name: str) -> str:
    if _SEVERAL.match(name):
        return name[1:].replace("_", "$")
    return f"${name[2:]}" if name.startswith("s_") else name.rstrip("_")
