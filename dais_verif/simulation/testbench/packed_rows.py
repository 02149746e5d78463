"""Packed rows: the bits of a port in words.

A packed row is the port's bits, bit 0 first, in ``max(ceil(bits / 64), 1)`` little-endian 64-bit words; bits beyond the
port are 0. Rows consist of words, because it takes a few nanoseconds per value to shift whole columns into place, but
fifty to spread them into single bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["WORD", "Words", "bits_of_row", "port_strings", "row_words"]

#: uint64 (rows, words), little-endian.
Words = NDArray[np.uint64]

WORD = 64


def row_words(bits: int) -> int:
    """Return the number of words of a packed row for ``bits`` bits."""
    return (max(bits, 1) + WORD - 1) // WORD


def bits_of_row(words: Words, row: int, bits: int) -> str:
    """Return one packed row as the port's bits, most significant first; a port without data has one bit."""
    return format(int.from_bytes(words[row].tobytes(), "little"), f"0{max(bits, 1)}b")


def port_strings(words: Words, bits: int) -> list[str]:
    """Return each row as a string, most significant bit first; a port without data has one bit, 0."""
    bits = max(bits, 1)
    little = np.unpackbits(words.view(np.uint8), axis=1, count=bits, bitorder="little")
    text = (np.ascontiguousarray(little[:, ::-1]) + np.uint8(ord("0"))).tobytes().decode()
    return [text[at : at + bits] for at in range(0, len(text), bits)]
