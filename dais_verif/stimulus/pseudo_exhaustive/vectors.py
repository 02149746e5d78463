"""Rows that run through every combination of some port bits, while all other bits are random.

Any slice of a pass can be made by itself: row r is the same however the rows are cut. Port bits are handled as
64-bit words, bit b of ``model_inp`` being bit ``b % 64`` of word ``b // 64``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.program.numbers import Batch, Column, IntArray, compact
from dais_verif.program.ports import Element
from dais_verif.stimulus.pseudo_exhaustive.counters import WORD, Counter
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain, Field, Part

__all__ = ["ExhaustiveVectors"]

Words = NDArray[np.uint64]

#: Elements and fields of more bits are made of Python integers.
_INT64_BITS = 62
_ONES = (1 << WORD) - 1
#: Philox makes this many words at once.
_PHILOX_WORDS = 4


@dataclass(frozen=True, eq=False)
class ExhaustiveVectors:
    """``rows`` rows in which each of ``counters`` takes all its combinations, all at the same time.

    ``outputs``: those that have met everything when all rows are run. ``number``: of the pass in its plan; passes
    with different numbers have different random bits.
    """

    number: int
    rows: int
    counters: tuple[Counter, ...]
    outputs: tuple[int, ...]
    domain: Domain

    def batch(self, start: int, stop: int, seed: int) -> Batch:
        """Rows ``start`` to ``stop`` as input vectors: every value is one that its port element carries exactly.

        For an unused input any value will do, and none may matter: the values of a design's port for it vary.
        """
        words, inputs = self.words(start, stop, seed), self.domain.ports.inputs
        numbers = np.arange(max(start, 0), max(start, 0) + words.shape[1], dtype=np.uint64) * np.uint64(len(inputs))
        columns = []
        for j, (element, signed) in enumerate(zip(inputs, self.domain.signed, strict=True)):
            if element.width:
                columns.append(Column(_element(words, element, signed), element.lo))
            else:
                columns.append(Column(_unread(numbers + np.uint64(j), seed + self.number), 0))
        return Batch(words.shape[1], tuple(columns))

    def packed(self, start: int, stop: int, seed: int) -> Words:
        """Pack the same rows as ``pack_inputs`` packs their batch: little-endian words (rows, words), at least one."""
        words = self.words(start, stop, seed)
        if not len(words):
            words = np.zeros((1, words.shape[1]), dtype=np.uint64)
        return np.ascontiguousarray(words.T).astype("<u8", copy=False)

    def words(self, start: int, stop: int, seed: int) -> Words:
        """Return the same rows as words of ``model_inp``, shape (words, rows)."""
        start, stop = max(start, 0), min(stop, self.rows)
        rows, bits = max(stop - start, 0), self.domain.ports.input_bits
        words = np.zeros((-(-bits // WORD), rows), dtype=np.uint64)
        if rows == 0:
            return words
        random = _Random(self.number, seed, start, rows)
        for w in range(len(words)):
            if mask := ((1 << bits) - 1 & ~self._taken) >> w * WORD & _ONES:
                np.bitwise_and(random.words(w), np.uint64(mask), out=words[w])
        parts: dict[int, tuple[Part, NDArray[np.int64]]] = {}
        for counter in self.counters:
            digits = counter.values(start, stop)
            _show(words, counter, digits.view(np.uint64))
            digits = digits >> len(counter.shown)
            for number in self.domain.touched(counter.declared):
                part = self.domain.part(number, counter.declared)
                digits, digit = np.divmod(digits, part.patterns)
                parts[number] = part, digit
        # Port bits that show the same bit of a counter are equal in all rows, or different in all: else a module that
        # reads one in place of the other could not be told from one that does not.
        for w, inverted in enumerate(random.constants(len(words))):
            words[w] ^= np.uint64(inverted & self._shown >> w * WORD & _ONES)
        for number, field in enumerate(self.domain.fields):
            # The streams after those of the words, as many a field as the widest needs.
            random.stream = len(words) + number * (2 * len(words) + 2)
            values = _within(field, *parts[number], random) if number in parts else _uniform(field, random)
            _deposit(words, field, values)
        return words

    @cached_property
    def _shown(self) -> int:
        """The free bits that show counters."""
        return reduce(or_, (counter.free for counter in self.counters), 0)

    @cached_property
    def _taken(self) -> int:
        """The bits that are not simply random."""
        return reduce(or_, (field.mask for field in self.domain.fields), self._shown)


class _Random:
    """Random words for some rows of a pass, a stream of its own for everything that takes any."""

    def __init__(self, number: int, seed: int, start: int, rows: int) -> None:
        self._seed = np.random.SeedSequence([seed, number])
        self._key = self._seed.generate_state(1, np.uint64)[0]
        self._block, self._skip = divmod(start, _PHILOX_WORDS)
        self._rows = rows
        self.stream = 0

    def words(self, stream: int) -> Words:
        """Return a word a row from ``stream``."""
        key = np.array([self._key, stream], dtype=np.uint64)
        source = np.random.Philox(key=key, counter=self._block)
        return source.random_raw(self._skip + self._rows)[self._skip :]

    def constants(self, words: int) -> list[int]:
        """Words that are the same in all rows."""
        return [int(word) for word in self._seed.generate_state(1 + words, np.uint64)[1:]]

    def integers(self, bits: int) -> IntArray:
        """Integers of more than ``bits`` random bits, so that remainders favour nothing, from the next streams."""
        if bits <= _INT64_BITS:
            self.stream += 1
            return (self.words(self.stream - 1) >> np.uint64(1)).view(np.int64)
        values: IntArray = np.zeros(self._rows, dtype=object)
        for _ in range(-(-bits // WORD) + 1):
            values = (values << WORD) + self.words(self.stream).astype(object)
            self.stream += 1
        return values


def _uniform(field: Field, random: _Random) -> IntArray:
    """Values of ``field`` within its interval."""
    return random.integers(field.width) % (field.hi - field.lo + 1) + field.lo


def _within(field: Field, part: Part, digit: IntArray, random: _Random) -> IntArray:
    """Values of ``field`` within its interval in which ``part`` has pattern number ``digit``, the rest random."""
    if field.width > _INT64_BITS:
        digit = digit.astype(object)
    high = digit + part.first
    laps = ((field.hi >> part.low) - high >> part.width) + 1
    high = high + (random.integers(field.width) % laps << part.width)
    values = (high << part.low) + random.integers(field.width) % (1 << part.low)
    # The interval may begin and end in the midst of the values that share the bits above the part's lowest.
    clipped: IntArray = np.minimum(np.maximum(values, field.lo), field.hi)
    return clipped


def _show(words: Words, counter: Counter, values: Words) -> None:
    """OR the bits of ``values`` into the free bits that show them."""
    pieces: dict[tuple[int, int], Words] = {}
    for word, low, width, first in counter.runs:
        if (first, width) not in pieces:
            pieces[first, width] = values >> np.uint64(first) & np.uint64((1 << width) - 1)
        words[word] |= pieces[first, width] << np.uint64(low)


def _deposit(words: Words, field: Field, values: IntArray) -> None:
    """OR the pattern of ``values`` into the bits of ``field``."""
    taken = 0
    while taken < field.width:
        w, low = divmod(field.offset + taken, WORD)
        run = min(WORD - low, field.width - taken)
        piece = values >> taken & (1 << run) - 1
        words[w] |= piece.astype(np.uint64) << np.uint64(low)
        taken += run


def _unread(numbers: Words, seed: int) -> IntArray:
    """Return integers from -8 to 7 that look random, by ``numbers``, the same for the same number and ``seed``."""
    mixed = (numbers ^ np.uint64(seed * 0xD1B54A32D192ED03 & _ONES)) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(WORD - 4)).view(np.int64) - 8


def _element(words: Words, element: Element, signed: bool) -> IntArray:
    """Return the value of ``element`` as integers; two's complement if ``signed``."""
    offset, width, _ = element
    w, low = divmod(offset, WORD)
    if width > _INT64_BITS:
        return _wide_element(words, element, signed)
    pattern: Words
    if low + width <= WORD:
        pattern = words[w] << np.uint64(WORD - low - width)
    else:
        pattern = words[w] >> np.uint64(low) | words[w + 1] << np.uint64(WORD - low)
        pattern <<= np.uint64(WORD - width)
    whole = pattern.view(np.int64) if signed else pattern
    whole >>= whole.dtype.type(WORD - width)  # from the top down, so that a sign is extended
    return whole.view(np.int64)


def _wide_element(words: Words, element: Element, signed: bool) -> IntArray:
    values: Any = 0
    for w in range(element.offset // WORD, -(-(element.offset + element.width) // WORD)):
        shift = w * WORD - element.offset
        word = words[w].astype(object)
        values = values + (word << shift if shift >= 0 else word >> -shift)
    values = values & (1 << element.width) - 1
    if signed:
        half = 1 << element.width - 1
        values = (values ^ half) - half
    return compact(values)
