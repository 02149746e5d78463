"""Find what occupies the bits of a row by position; a look at a few bits is cheap even in a wide row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Part", "Spans"]

_T = TypeVar("_T")


class Part(NamedTuple, Generic[_T]):
    """Bits ``first .. last - 1`` of a row, which are the bits of ``owner`` from bit ``at`` on."""

    first: int
    last: int
    at: int
    owner: _T


class Spans(Generic[_T]):
    """Owners of bits of a row. No bit has two owners; owners without bits are left out."""

    def __init__(self, spans: Iterable[tuple[int, int, _T]]) -> None:
        """``spans``: (lowest bit, width, owner), in any order."""
        self._spans = sorted((span for span in spans if span[1]), key=lambda span: span[0])
        self._lows = [low for low, _, _ in self._spans]

    @property
    def owners(self) -> list[_T]:
        """All owners, from the lowest bits up."""
        return [owner for _, _, owner in self._spans]

    def within(self, low: int, width: int) -> Iterator[Part[_T]]:
        """Yield the parts that lie in bits ``low .. low + width - 1``, from the lowest on."""
        for number in range(max(bisect_right(self._lows, low) - 1, 0), len(self._spans)):
            start, size, owner = self._spans[number]
            if start >= low + width:
                return
            first, last = max(low, start), min(low + width, start + size)
            if first < last:
                yield Part(first, last, first - start, owner)
