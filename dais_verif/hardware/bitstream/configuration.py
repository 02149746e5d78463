"""Read the configuration in a bitstream: the bits of every tile with their positions, as written by ``iceunpack``.

This module only reads the text that the tool wrote. It refuses unknown statements, so that none is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dais_verif.base.errors import BitstreamError

__all__ = ["Bit", "Configuration", "Place", "parse_configuration"]

#: Column and row of a tile.
Place = tuple[int, int]
#: Row and column of a bit within its tile.
Bit = tuple[int, int]

_TILE = re.compile(r"\.(\w+)_tile (\d+) (\d+)$")
_RAM = re.compile(r"\.ram_data (\d+) (\d+)$")
_EXTRA = re.compile(r"\.extra_bit (\d+) (\d+) (\d+)$")
_WORD = re.compile(r"[0-9a-f]{64}$")
_LINES_OF_TILE = 16


@dataclass(frozen=True)
class Configuration:
    """The bits of a bitstream that are 1.

    ``kinds``: the kind of every tile, such as ``logic`` or ``io``. ``bits``: the set bits of each tile that has any.
    ``rams``: initial contents of block RAMs, 256 words of 16 bits as one integer, word 0 lowest. ``extra``: bits
    outside of tiles, as (bank, x, y).
    """

    device: str
    kinds: Mapping[Place, str]
    bits: Mapping[Place, frozenset[Bit]]
    rams: Mapping[Place, int]
    extra: frozenset[tuple[int, int, int]]


def parse_configuration(text: str) -> Configuration:
    """Return the configuration in a text of ``iceunpack``. Raises ``InputError`` for an unknown statement."""
    device = ""
    kinds: dict[Place, str] = {}
    bits: dict[Place, frozenset[Bit]] = {}
    rams: dict[Place, int] = {}
    extra: set[tuple[int, int, int]] = set()
    lines = iter(text.splitlines())
    for line in lines:
        if found := _TILE.match(line):
            place = int(found[2]), int(found[3])
            kinds[place] = found[1]
            ones = _ones(lines)
            if ones:
                bits[place] = ones
        elif found := _RAM.match(line):
            rams[int(found[1]), int(found[2])] = _contents(lines)
        elif found := _EXTRA.match(line):
            extra.add((int(found[1]), int(found[2]), int(found[3])))
        elif line.startswith(".device "):
            device = line.split()[1]
        elif line.strip() not in ("", ".comment"):  # ``unpack`` has already removed comments
            raise BitstreamError(f"the bitstream has a line {line.strip()[:60]!r}, which read-back does not support")
    if not device:
        raise BitstreamError("the bitstream names no device")
    return Configuration(device, kinds, bits, rams, frozenset(extra))


def _ones(lines: Iterator[str]) -> frozenset[Bit]:
    return frozenset(
        (row, column)
        for row in range(_LINES_OF_TILE)
        if "1" in (line := next(lines, ""))
        for column, digit in enumerate(line)
        if digit == "1"
    )


def _contents(lines: Iterator[str]) -> int:
    words = [next(lines, "") for _ in range(_LINES_OF_TILE)]
    if not all(map(_WORD.match, words)):
        raise BitstreamError("the contents of a block RAM in the bitstream are damaged")
    return sum(int(word, 16) << 256 * number for number, word in enumerate(words))
