"""Differences of single output rows from the expected ones, so that simulators can be compared bit by bit.

A digest shows whether two runs gave the same outputs. If one run has X, which the other simulator cannot show, digests
cannot compare the bits that are known in both runs; this module does.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["departure", "first_known_difference", "followed"]

#: The maximum number of rows from the beginning of a run that are kept, and of their bits: usually all rows that Icarus
#: gets.
_ROWS, _BITS = 4096, 1 << 23


def followed(output_bits: int) -> int:
    """Return how many rows from the beginning of a run are kept."""
    return max(1, min(_ROWS, _BITS // max(output_bits, 1)))


def departure(expected: str, found: str) -> str:
    """Return, in hexadecimal, the bits of a row that are known and wrong, and the bits that are X or Z."""
    wrong = unknown = 0
    if found.isdecimal():
        wrong = int(expected, 2) ^ int(found, 2)
    else:
        unknown = int("".join("0" if bit in "01" else "1" for bit in found), 2)
        pairs = zip(found, expected, strict=True)
        wrong = int("".join("1" if bit in "01" and bit != right else "0" for bit, right in pairs), 2)
    return f"{wrong:x} {unknown:x}"


def first_known_difference(one: Mapping[str, str], other: Mapping[str, str], rows: int) -> int | None:
    """Return the first row with a bit that both runs know and that differs; None if there is no such row.

    ``rows``: the number of rows from the beginning that both have run. Rows that ``one`` or ``other`` lacks were as
    expected in that run.
    """
    for row in sorted(row for row in map(int, one.keys() | other.keys()) if row < rows):
        (wrong, unknown), (wrong_there, unknown_there) = (_masks(run.get(str(row), "0 0")) for run in (one, other))
        if (wrong ^ wrong_there) & ~(unknown | unknown_there):
            return row
    return None


def _masks(text: str) -> tuple[int, int]:
    wrong, _, unknown = text.partition(" ")
    return int(wrong, 16), int(unknown, 16)
