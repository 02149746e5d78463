"""Limits on the parts of a machine, whether from a file, a text or Python."""

from __future__ import annotations

from dais_verif.machine.model import LONGEST_NAME, Schedule
from dais_verif.program import FixedType
from dais_verif.program.types import LIMIT

__all__ = ["is_name", "is_schedule", "is_type"]


def is_name(name: object) -> bool:
    """Return True if ``name`` is valid for a signal or a block: printable text on one line."""
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()


def is_type(kind: FixedType) -> bool:
    """Return True if an element may have the type ``kind``, whose parameters must be within the limits of DAIS."""
    return kind.k in (0, 1) and max(abs(kind.i), abs(kind.f)) <= LIMIT and 0 <= kind.width <= LIMIT


def is_schedule(schedule: Schedule) -> bool:
    """Return True if the period is 0, or if it is positive and ``toggles`` are sorted and within one period."""
    times, period = list(schedule.toggles), schedule.period
    return period == 0 or (period > 0 and bool(times) and times == sorted(times) and times[-1] - times[0] < period)
