"""The kinds of control faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dais_verif.machine.model import Machine

__all__ = ["Fault", "FaultKind"]


class FaultKind(Enum):
    """The kind of a control fault."""

    # of enables
    NOT_ENABLED = "enable misses a register"
    FLUSH = "missing flush"
    INVERTED_ENABLE = "enable inverted"
    LATE_ENABLE = "enable one cycle late"
    ALTERNATIVE = "alternative dropped"
    STALE = "stale accumulator"
    # of resets and initial values
    NOT_RESET = "reset misses a register"
    LATE_RESET = "reset one cycle late"
    INVERTED_RESET = "reset inverted"
    HELD_RESET = "reset waits for the enable"
    RESET_VALUE = "wrong reset value"
    INITIAL = "wrong initial value"
    # of the place and time of data
    BANK = "bank swap missed"
    INDEX = "wrong index"
    MOVED = "moved by one element"
    EARLY = "early output"
    LATE = "late output"
    # of decisions
    COUNTER = "counter off by one"
    DECISION = "wrong decision"


@dataclass(frozen=True)
class Fault:
    """A control fault. ``machine``: the faulty machine. ``text``: the place and the change."""

    kind: FaultKind
    text: str
    machine: Machine

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}"
