"""Rows that run through every combination of some port bits, while all other bits are random.

Any slice of a sweep can be made by itself: row r is the same however the rows are cut. Port bits are handled as
64-bit words, bit b of ``model_inp`` being bit ``b % 64`` of word ``b // 64``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.program.numbers import Batch, Column, IntArray, compact
from dais_verif.program.ports import Element
from dais_verif.stimulus.domain import Domain, Field, Part

__all__ = ["MAX_BITS", "Counter", "Sweep"]

Words = NDArray[np.uint64]

#: A counter of more bits would not be run to its end by anybody, and its products must fit 62 bits.
MAX_BITS = 31
#: Elements and fields of more bits are made of Python integers.
_INT64_BITS = 62
_WORD = 64
#: Philox makes this many words at once.
_PHILOX_WORDS = 4
#: Irrational numbers: the fractions of their multiples are spread evenly from the first on.
_GOLDEN, _OTHER = (math.sqrt(5) - 1) / 2, math.sqrt(2)


@dataclass(frozen=True)
class Counter:
    """The port bits ``mask`` (closed in their domain), which take each of ``size`` combinations once in ``size`` rows.

    Combinations come in steps of ``step``, prime to ``size``, so that the first rows are spread over all of them.
    Every further lap begins elsewhere, and counters with different ``number`` elsewhere again, so that those of one
    sweep do not run in step.
    """

    mask: int
    size: int
    step: int
    number: int

    @classmethod
    def of(cls, mask: int, size: int, number: int) -> Counter:
        """Counter ``number`` of its sweep."""
        step = int(size * _GOLDEN * (number + 1) % size)
        while math.gcd(step, size) != 1:
            step += 1
        return cls(mask, size, step, number)

    def values(self, start: int, stop: int) -> NDArray[np.int64]:
        """The combinations, 0 to ``size - 1``, that rows ``start`` to ``stop`` have."""
        rows = np.arange(start, stop, dtype=np.int64)
        first = start // self.size
        starts = self._starts(first, -(-stop // self.size))
        values: NDArray[np.int64]
        if self.size & self.size - 1 == 0:
            values = rows * self.step + starts[(rows >> self.size.bit_length() - 1) - first] & self.size - 1
        else:
            laps, rows = np.divmod(rows, self.size)
            values = (rows * self.step + starts[laps - first]) % self.size
        return values

    def _starts(self, first: int, last: int) -> NDArray[np.int64]:
        """Where laps ``first`` to ``last`` begin: 0, then spread evenly, for every counter in its own way."""
        turn = int((self.number + 1) * _OTHER % 1 * (1 << MAX_BITS))
        return (np.arange(first, last, dtype=np.int64) * turn & (1 << MAX_BITS) - 1) * self.size >> MAX_BITS


@dataclass(frozen=True, eq=False)
class Sweep:
    """``rows`` rows in which each of ``counters`` takes all its combinations, all at the same time.

    ``outputs``: those that have met everything when all rows are run. ``number``: of the sweep in its plan; sweeps
    with different numbers have different random bits.
    """

    number: int
    rows: int
    counters: tuple[Counter, ...]
    outputs: tuple[int, ...]
    domain: Domain

    def batch(self, start: int, stop: int, seed: int) -> Batch:
        """Rows ``start`` to ``stop`` as input vectors: every value is one that its port element carries exactly."""
        words = self.words(start, stop, seed)
        elements = zip(self.domain.ports.inputs, self.domain.signed, strict=True)
        columns = [Column(_element(words, element, signed), element.lo) for element, signed in elements]
        return Batch(words.shape[1], tuple(columns))

    def packed(self, start: int, stop: int, seed: int) -> Words:
        """The same rows as ``pack_inputs`` packs their batch: little-endian words, (rows, words), at least one word."""
        words = self.words(start, stop, seed)
        if not len(words):
            words = np.zeros((1, words.shape[1]), dtype=np.uint64)
        return np.ascontiguousarray(words.T).astype("<u8", copy=False)

    def words(self, start: int, stop: int, seed: int) -> Words:
        """The same rows as words of ``model_inp``, shape (words, rows)."""
        start, stop = max(start, 0), min(stop, self.rows)
        rows, bits = max(stop - start, 0), self.domain.ports.input_bits
        words = np.zeros((-(-bits // _WORD), rows), dtype=np.uint64)
        if rows == 0:
            return words
        random = _Random(self.number, seed, start, rows)
        for w in range(len(words)):
            others = (1 << bits) - 1 & ~self._taken
            if mask := others >> w * _WORD & (1 << _WORD) - 1:
                np.bitwise_and(random.words(w), np.uint64(mask), out=words[w])
        parts: dict[int, tuple[Part, NDArray[np.int64]]] = {}
        for counter in self.counters:
            digits = counter.values(start, stop)
            free = self.domain.free(counter.mask)
            _scatter(words, free, digits.view(np.uint64))
            digits = digits >> free.bit_count()
            for number in self.domain.touched(counter.mask):
                part = self.domain.part(number, counter.mask)
                digits, digit = np.divmod(digits, part.patterns)
                parts[number] = part, digit
        for number, field in enumerate(self.domain.fields):
            # The streams after those of the words, as many a field as the widest needs.
            random.stream = len(words) + number * (2 * len(words) + 2)
            values = _within(field, *parts[number], random) if number in parts else _uniform(field, random)
            _deposit(words, field, values)
        return words

    @cached_property
    def _taken(self) -> int:
        """The bits that are not simply random."""
        taken = sum(field.mask for field in self.domain.fields)
        for counter in self.counters:
            taken |= counter.mask
        return taken


class _Random:
    """Random words for some rows of a sweep, a stream of its own for everything that takes any."""

    def __init__(self, sweep: int, seed: int, start: int, rows: int) -> None:
        self._key = np.random.SeedSequence([seed, sweep]).generate_state(1, np.uint64)
        self._block, self._skip = divmod(start, _PHILOX_WORDS)
        self._rows = rows
        self.stream = 0

    def words(self, stream: int) -> Words:
        """A word a row from ``stream``."""
        key = np.array([self._key[0], stream], dtype=np.uint64)
        source = np.random.Philox(key=key, counter=self._block)
        return source.random_raw(self._skip + self._rows)[self._skip :]

    def integers(self, bits: int) -> IntArray:
        """Integers of more than ``bits`` random bits, so that remainders favour nothing, from the next streams."""
        if bits <= _INT64_BITS:
            self.stream += 1
            return (self.words(self.stream - 1) >> np.uint64(1)).view(np.int64)
        values: IntArray = np.zeros(self._rows, dtype=object)
        for _ in range(-(-bits // _WORD) + 1):
            values = (values << _WORD) + self.words(self.stream).astype(object)
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


def _scatter(words: Words, mask: int, values: Words) -> None:
    """OR bits 0, 1, ... of ``values`` into the bits of ``words`` that are set in ``mask``, ascending."""
    used = 0
    for w in range(len(words)):
        rest = mask >> w * _WORD & (1 << _WORD) - 1
        while rest:
            low = (rest & -rest).bit_length() - 1
            run = ((rest >> low) + 1 & ~(rest >> low)).bit_length() - 1  # ones from bit low on
            chosen = values >> np.uint64(used) & np.uint64((1 << run) - 1)
            words[w] |= chosen << np.uint64(low)
            rest &= ~((1 << run) - 1 << low)
            used += run


def _deposit(words: Words, field: Field, values: IntArray) -> None:
    """OR the pattern of ``values`` into the bits of ``field``."""
    taken = 0
    while taken < field.width:
        w, low = divmod(field.offset + taken, _WORD)
        run = min(_WORD - low, field.width - taken)
        piece = values >> taken & (1 << run) - 1
        words[w] |= piece.astype(np.uint64) << np.uint64(low)
        taken += run


def _element(words: Words, element: Element, signed: bool) -> IntArray:
    """What ``element`` carries, as integers; two's complement if ``signed``."""
    offset, width, _ = element
    rows = words.shape[1]
    if width == 0:
        return np.zeros(rows, dtype=np.int64)
    w, low = divmod(offset, _WORD)
    if width > _INT64_BITS:
        return _wide_element(words, element, signed)
    pattern: Words
    if low + width <= _WORD:
        pattern = words[w] << np.uint64(_WORD - low - width)
    else:
        pattern = words[w] >> np.uint64(low) | words[w + 1] << np.uint64(_WORD - low)
        pattern <<= np.uint64(_WORD - width)
    whole = pattern.view(np.int64) if signed else pattern
    whole >>= whole.dtype.type(_WORD - width)  # from the top down, so that a sign is extended
    return whole.view(np.int64)


def _wide_element(words: Words, element: Element, signed: bool) -> IntArray:
    values: Any = 0
    for w in range(element.offset // _WORD, -(-(element.offset + element.width) // _WORD)):
        shift = w * _WORD - element.offset
        word = words[w].astype(object)
        values = values + (word << shift if shift >= 0 else word >> -shift)
    values = values & (1 << element.width) - 1
    if signed:
        half = 1 << element.width - 1
        values = (values ^ half) - half
    return compact(values)
