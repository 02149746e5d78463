"""Words and bits selected by a signal: memories that are filled once, and selects with a variable index."""

from __future__ import annotations

from dais_verif.errors import StateError
from dais_verif.prover.four_state import add, ite, lookup, neg, ult
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
    """An array of vectors that is filled once, in ``initial`` blocks; its indices are ``low .. high``."""

    def __init__(self, name: str, where: str, width: int, left: int, right: int) -> None:
        self.name, self.where, self.width = name, where, width
        self.low, self.high = min(left, right), max(left, right)
        self.words: list[int | None] = [None] * (self.high - self.low + 1)
        #: Whether anything other than an ``initial`` block writes to it, and whether it was read.
        self.written = self.was_read = False
        self._values: tuple[int, ...] = ()
        self._filled: tuple[int, ...] = ()

    def position(self, index: int) -> int | None:
        """Return the position in ``words`` of the word at ``index``; None if the memory has no such word."""
        return index - self.low if self.low <= index <= self.high else None

    def settle(self) -> None:
        """Freeze the contents, after all ``initial`` blocks have been executed."""
        self._values = tuple(word or 0 for word in self.words)
        self._filled = tuple(int(word is not None) for word in self.words)

    def refuse_state(self) -> None:
        """Raise ``StateError`` if the memory is both written while the design runs and read."""
        if self.written and self.was_read:
            raise StateError(f"{self.where}: memory {self.name!r} is written while the design runs: it keeps state")

    def read(self, index: Term, signed: bool) -> Term:
        """Return the word at ``index``; undefined outside the range, and where no word was filled in.

        Raises ``StateError`` if the memory is also written while the design runs.
        """
        self.was_read = True
        self.refuse_state()
        position, inside = chosen(index, signed, self.high, self.low)
        word = lookup(position, self._values, self.width)
        nothing = undefined(self.width, f"a word of {self.name}", index)
        if not all(self._filled):
            word = ite(lookup(position, self._filled, 1), word, nothing)
        return word if inside is None else ite(inside, word, nothing)
