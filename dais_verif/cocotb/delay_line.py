"""The vectors in flight in a pipeline, which has one place per edge of latency."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

__all__ = ["DelayLine"]

_T = TypeVar("_T")


class DelayLine(Generic[_T]):
    """The items in flight, advanced by one clock edge at a time; None is a bubble."""

    def __init__(self, latency: int) -> None:
        self._places: deque[_T | None] = deque([None] * latency, maxlen=latency)

    def step(self, item: _T | None, *, enable: bool = True, reset: bool = False) -> _T | None:
        """Advance by one rising edge, and return the item that the outputs show just before this edge.

        ``item``: the inputs just before the edge. With ``enable`` at 0, the line holds its state. A ``reset`` empties
        the line, and no output is due.
        """
        if reset:
            self._places.extend([None] * len(self._places))
            return None
        if not self._places:
            return item if enable else None
        due = self._places[0]
        if enable:
            self._places.append(item)
        return due

    @property
    def under_way(self) -> int:
        """The number of items in flight."""
        return sum(item is not None for item in self._places)
