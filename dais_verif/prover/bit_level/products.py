"""Products as rows of bits, one for each bit of one factor, in an order in which they are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.prover.bit_level.aig import FALSE, Aig

__all__ = ["SIGN", "Rows", "product_columns"]

#: The row of a bit that is added where a row is subtracted: its opposite is added, and 1.
SIGN = -1


class Rows(NamedTuple):
    """Which rows there are, and in which order they are added.

    ``turned``: one for each bit of the longer factor, not of the shorter one. ``order``: rows by the place of that bit,
    or ``SIGN``; rows that it does not name come behind, the lower ones first.
    """

    turned: bool = False
    order: tuple[int, ...] = ()

    def sort(self, column: dict[int, int]) -> list[int]:
        """Return the bits of a column, by row, in the order of their rows."""
        places = {row: place for place, row in enumerate(self.order)}
        return [column[row] for row in sorted(column, key=lambda row: (places.get(row, len(places)), row))]


def product_columns(graph: Aig, a: Sequence[int], b: Sequence[int], *, turned: bool) -> list[dict[int, int]]:
    """Return the columns, from the lowest on, of the product of two words, modulo their width: bits by their row.

    A sign that fills the rest of the factor whose bits have rows is one row, which is subtracted. Zeros that fill the
    rest of the other factor are bits of rows as others are.
    """
    swapped = _significant(b) < _significant(a) or (_significant(b) == _significant(a) and list(a) < list(b))
    if swapped != turned:
        a, b = b, a
    width = len(a)
    columns = [dict[int, int]() for _ in range(width)]
    last = _significant(a) - 1
    last -= a[last] == FALSE  # of what is never negative
    for row, bit in enumerate(a[: last + 1]):
        negative = row == last < width - 1 and a[row] == a[row + 1]
        for place, x in enumerate(b[: width - row], row):
            columns[place][row] = graph.both(bit, x ^ negative)
        if negative:
            columns[row][SIGN] = bit
    return columns


def _significant(word: Sequence[int]) -> int:
    """How many bits say something: the rest is copies of the last of them, or zeros behind a 0."""
    count = len(word)
    while count > 1 and word[count - 1] == word[count - 2]:
        count -= 1
    return count
