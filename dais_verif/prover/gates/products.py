"""Products as rows of bits, one row per bit of one factor, and the order in which rows are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.prover.gates.aig import FALSE, Aig

__all__ = ["SIGN", "Rows", "product_columns"]

#: The row of the 1 that subtracting a row adds: a row is subtracted by adding its complement and this 1.
SIGN = -1


class Rows(NamedTuple):
    """The rows of a product, and the order in which they are added.

    ``turned``: one row per bit of the longer factor instead of the shorter one. ``order``: the rows, each named by the
    place of its bit in that factor, or as ``SIGN``; rows that ``order`` does not name come last, the lower ones first.
    """

    turned: bool = False
    order: tuple[int, ...] = ()

    def sort(self, column: dict[int, int]) -> list[int]:
        """Return the bits of a column, by row, in the order of their rows."""
        places = {row: place for place, row in enumerate(self.order)}
        return [column[row] for row in sorted(column, key=lambda row: (places.get(row, len(places)), row))]


def product_columns(graph: Aig, a: Sequence[int], b: Sequence[int], *, turned: bool) -> list[dict[int, int]]:
    """Return the columns of the product of two words, cut to their width, lowest column first: the bits by row.

    If copies of the sign fill the high bits of the factor that has the rows, the sign is a single row, which is
    subtracted. Zeros in the high bits of the other factor are ordinary bits of rows.
    """
    swapped = _significant(b) < _significant(a) or (_significant(b) == _significant(a) and list(a) < list(b))
    if swapped != turned:
        a, b = b, a
    width = len(a)
    columns = [dict[int, int]() for _ in range(width)]
    last = _significant(a) - 1
    last -= a[last] == FALSE  # a sign that is always 0
    for row, bit in enumerate(a[: last + 1]):
        negative = row == last < width - 1 and a[row] == a[row + 1]
        for place, x in enumerate(b[: width - row], row):
            columns[place][row] = graph.both(bit, x ^ negative)
        if negative:
            columns[row][SIGN] = bit
    return columns


def _significant(word: Sequence[int]) -> int:
    """Return the number of bits without redundant copies of the highest bit."""
    count = len(word)
    while count > 1 and word[count - 1] == word[count - 2]:
        count -= 1
    return count
