"""A decision on each kind of something, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["KindDecision", "How", "Table", "left_out", "read", "refused"]

Kind = TypeVar("Kind")
Rule = TypeVar("Rule")


class How(Enum):
    """What becomes of a kind."""

    #: It is read, by the rule that the decision names.
    READ = "read"
    #: It is passed over, since it changes no value.
    LEFT_OUT = "left out"
    #: RTL that has it is refused, with the message that the decision is.
    REFUSED = "refused"


class KindDecision(NamedTuple):
    """What becomes of a kind. ``text``: the rule in one phrase, or the message."""

    how: How
    text: str


def read(text: str) -> KindDecision:
    """Decide that it is read, by this rule."""
    return KindDecision(How.READ, text)


def left_out(text: str) -> KindDecision:
    """Decide that it is passed over, for this reason."""
    return KindDecision(How.LEFT_OUT, text)


def refused(text: str) -> KindDecision:
    """Decide that it is refused, with this message."""
    return KindDecision(How.REFUSED, text)


class Table(Generic[Kind]):
    """A decision on each of ``kinds``. ``title`` and ``note`` are for the page."""

    def __init__(self, title: str, note: str, decisions: Mapping[Kind, KindDecision]) -> None:
        self.title, self.note, self.decisions = title, note, dict(decisions)

    def of(self, how: How) -> frozenset[Kind]:
        """Return the kinds of which this is decided."""
        return frozenset(kind for kind, decision in self.decisions.items() if decision.how is how)

    def refusal(self, kind: Kind) -> str | None:
        """Return the message with which ``kind`` is refused; None if it is not. Kinds without an entry are refused."""
        decision = self.decisions.get(kind)
        if decision is None:
            return f"{getattr(kind, 'name', kind)!r} is not supported by the proof; write it another way"
        return decision.text if decision.how is How.REFUSED else None

    def message(self, kind: Kind) -> str:
        """Return the message with which ``kind`` is refused where no rule reads it."""
        return self.refusal(kind) or "is not supported by the proof here"

    def rules(self, rules: Mapping[Any, Rule], *others: Iterable[Kind]) -> dict[Any, Rule]:
        """Return ``rules``, how a reader reads each kind. Raises ``ValueError`` unless they are for all that is read.

        ``others``: kinds that are read elsewhere.
        """
        elsewhere = {kind for kinds in others for kind in kinds}
        wrong = (set(rules) | elsewhere) ^ self.of(How.READ)
        if wrong or set(rules) & elsewhere:
            raise ValueError(f"{self.title}: what is decided and what is read differ in {sorted(map(str, wrong))}")
        return dict(rules)
