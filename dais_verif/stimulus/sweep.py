"""Rows that run through every combination of some port bits, while all other bits are random.

Any slice of a sweep can be made by itself: row r is the same however the rows are cut. Port bits are handled as
64-bit words, bit b of ``model_inp`` being bit ``b % 64`` of word ``b // 64``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.program.cones import bits_of
from dais_verif.program.numbers import Batch, Column, IntArray, compact
from dais_verif.program.ports import Element
from dais_verif.stimulus.domain import Domain, Field, Part

__all__ = ["MAX_BITS", "Counter", "Sweep"]

Words = NDArray[np.uint64]

#: A counter of more bits would not be run to its end by anybody, and its products must fit 62 bits.
MAX_BITS = 31
#: Elements and fields of more bits are made of Python integers.
_INT64_BITS = 62
_WORD, _ONES = 64, (1 << 64) - 1
#: Philox makes this many words at once.
_PHILOX_WORDS = 4
#: Irrational numbers: the fractions of their multiples are spread evenly from the first on.
_GOLDEN, _OTHER = (math.sqrt(5) - 1) / 2, math.sqrt(2)


class _Run(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of a word show the bits of a counter from ``first`` on."""

    word: int
    low: int
    width: int
    first: int


@dataclass(frozen=True)
class Counter:
    """A number that takes each of ``size`` values once in ``size`` rows, and the port bits that show it.

    ``shown``: for each of its lowest bits the mask of free port bits that show it, so that bits of different masks
    meet all their combinations. ``declared``: bits of declared fields, closed; their patterns are what is left of
    the number. Values come in steps of ``step``, prime to ``size``, so that the first rows are spread over all of
    them. Every further lap begins elsewhere, and counters with different ``number`` elsewhere again, so that those
    of one sweep do not run in step.
    """

    shown: tuple[int, ...]
    declared: int
    size: int
    step: int
    number: int

    @classmethod
    def of(cls, shown: Sequence[int], declared: int, domain: Domain, number: int) -> Counter:
        """Counter ``number`` of its sweep."""
        size = domain.size(declared) << len(shown)
        step = int(size * _GOLDEN * (number + 1) % size)
        while math.gcd(step, size) != 1:
            step += 1
        return cls(tuple(shown), declared, size, step, number)

    @cached_property
    def free(self) -> int:
        """All port bits that show one bit of it each."""
        return reduce(or_, self.shown, 0)

    def covers(self, cone: int) -> bool:
        """Whether the port bits ``cone`` meet all their combinations in ``size`` rows."""
        together = [cone & mask for mask in self.shown]
        return not cone & ~(self.free | self.declared) and all(bits & bits - 1 == 0 for bits in together)

    @cached_property
    def runs(self) -> tuple[_Run, ...]:
        """What of the number goes where, in as few pieces as possible."""
        places = sorted((bit, n) for n, mask in enumerate(self.shown) for bit in bits_of(mask))
        runs: list[_Run] = []
        for bit, n in places:
            word, low = divmod(bit, _WORD)
            if runs and (word, low, n) == (
                runs[-1].word,
                runs[-1].low + runs[-1].width,
                runs[-1].first + runs[-1].width,
            ):
                runs[-1] = runs[-1]._replace(width=runs[-1].width + 1)
            else:
                runs.append(_Run(word, low, 1, n))
        return tuple(runs)

    def values(self, start: int, stop: int) -> NDArray[np.int64]:
        """The numbers, 0 to ``size - 1``, that rows ``start`` to ``stop`` have."""
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
            if mask := ((1 << bits) - 1 & ~self._taken) >> w * _WORD & _ONES:
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
            words[w] ^= np.uint64(inverted & self._shown >> w * _WORD & _ONES)
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
    """Random words for some rows of a sweep, a stream of its own for everything that takes any."""

    def __init__(self, sweep: int, seed: int, start: int, rows: int) -> None:
        self._seed = np.random.SeedSequence([seed, sweep])
        self._key = self._seed.generate_state(1, np.uint64)[0]
        self._block, self._skip = divmod(start, _PHILOX_WORDS)
        self._rows = rows
        self.stream = 0

    def words(self, stream: int) -> Words:
        """A word a row from ``stream``."""
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
