"""Words and bits selected by a signal: memories that are filled once, and selects with a variable index."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dais_verif.base.errors import StateError
from dais_verif.prover.four_state import add, ite, lookup, mul, neg, ult
from dais_verif.prover.terms import Term, const, resize, undefined

__all__ = ["Memory", "chosen"]


def chosen(index: Term, signed: bool, left: int, right: int) -> tuple[Term, Term | None]:
    """Return the position of ``index`` in range ``[left:right]``, counted from the right, and whether it is in range.

    The second term is None if every index is in the range. The position is meaningful only where the index is in the
    range.
    """
    low, high = min(left, right), max(left, right)
    top = 1 << (index.width - 1) if signed else 1 << index.width
    bottom = -top if signed else 0
    width = max(index.width, low.bit_length(), high.bit_length()) + 2
    wide = resize(index, width, signed)
    position = add(wide, const(width, -right)) if left >= right else add(const(width, right), neg(wide))
    size = high - low + 1
    inside = None if low <= bottom and top - 1 <= high else ult(position, const(width, size))
    return resize(position, max((size - 1).bit_length(), 1), False), inside


class Memory:
    """An array of vectors that is filled once, in ``initial`` blocks; its indices are ``low .. high``.

    ``inner``: the ranges of further dimensions.
    """

    def __init__(
        self, name: str, where: str, width: int, left: int, right: int, inner: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.name, self.where, self.width = name, where, width
        self.spans = tuple((min(span), max(span)) for span in ((left, right), *inner))
        self.low, self.high = self.spans[0]
        self.words: list[int | None] = [None] * prod(high - low + 1 for low, high in self.spans)
        #: Whether anything other than an ``initial`` block writes to it, and whether it was read.
        self.written = self.was_read = False
        self._values: tuple[int, ...] = ()
        self._filled: tuple[int, ...] = ()

    def position(self, *indices: int) -> int | None:
        """Return the position in ``words`` of the word at ``indices``; None if the memory has no such word."""
        place = 0
        for index, (low, high) in zip(indices, self.spans, strict=True):
            if not low <= index <= high:
                return None
            place = place * (high - low + 1) + index - low
        return place

    def settle(self) -> None:
        """Freeze the contents, after all ``initial`` blocks have been executed."""
        self._values = tuple(word or 0 for word in self.words)
        self._filled = tuple(int(word is not None) for word in self.words)

    def refuse_state(self) -> None:
        """Raise ``StateError`` if the memory is both written while the design runs and read."""
        if self.written and self.was_read:
            raise StateError(f"{self.where}: memory {self.name!r} is written while the design runs: it keeps state")

    def read(self, *indices: tuple[Term, bool]) -> Term:
        """Return the word at ``indices``, each with its sign; undefined outside of the ranges, and if never filled.

        Raises ``StateError`` if the memory is also written while the design runs.
        """
        self.was_read = True
        self.refuse_state()
        bits = max((len(self.words) - 1).bit_length(), 1)
        place, insides = const(bits, 0), []
        for (index, signed), (low, high) in zip(indices, self.spans, strict=True):
            position, inside = chosen(index, signed, high, low)
            if len(self.spans) == 1:
                place = position
            else:
                place = add(mul(place, const(bits, high - low + 1)), resize(position, bits, False))
            insides += [] if inside is None else [inside]
        word = lookup(place, self._values, self.width)
        nothing = undefined(self.width, f"a word of {self.name}", *(index for index, _ in indices))
        if not all(self._filled):
            word = ite(lookup(place, self._filled, 1), word, nothing)
        for inside in insides:
            word = ite(inside, word, nothing)
        return word
