"""Counters whose bits drive bits of ``model_inp``; one bit of a counter may drive several of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.program.cones import bits_of
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain

__all__ = ["MAX_BITS", "WORD", "Counter"]

#: The number of port bits in a word.
WORD = 64
#: The maximum number of bits: a wider counter would never reach its end, and products of values must fit 62 bits.
MAX_BITS = 31
#: The number of rows that are shuffled among themselves, and an odd number that does this differently in each block.
_BLOCK, _STRIDE = 256, 101
#: Irrational numbers: the fractional parts of their multiples are evenly spread, however few of them are used.
_GOLDEN, _OTHER = (math.sqrt(5) - 1) / 2, math.sqrt(2)


class _Run(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of a word have the values of the counter's bits from ``first`` on."""

    word: int
    low: int
    width: int
    first: int


@dataclass(frozen=True)
class Counter:
    """A number that has each of ``size`` values once in ``size`` rows, and the port bits that it drives.

    ``shown``: for each of the lowest bits of the number, the mask of free port bits that it drives; bits of different
    masks have all their combinations. ``declared``: a closed mask of bits of declared fields, whose patterns the rest
    of the number selects. Values advance in steps of ``step``, coprime to ``size``, so that the first rows are spread
    over all values, and are shuffled. Every further lap over all values begins with another value, which also differs
    between counters with different ``number``, so that the counters of a pass do not run in step.
    """

    shown: tuple[int, ...]
    declared: int
    size: int
    step: int
    number: int

    @classmethod
    def of(cls, shown: Sequence[int], declared: int, domain: Domain, number: int) -> Counter:
        """Return the counter with number ``number`` in its pass."""
        size = domain.size(declared) << len(shown)
        step = int(size * _GOLDEN * (number + 1) % size)
        while math.gcd(step, size) != 1:
            step += 1
        return cls(tuple(shown), declared, size, step, number)

    @cached_property
    def free(self) -> int:
        """All port bits that are driven by single bits of the number."""
        return reduce(or_, self.shown, 0)

    def covers(self, cone: int) -> bool:
        """Return True if the port bits ``cone`` have all their combinations in ``size`` rows."""
        together = [cone & mask for mask in self.shown]
        return not cone & ~(self.free | self.declared) and all(bits & bits - 1 == 0 for bits in together)

    @cached_property
    def runs(self) -> tuple[_Run, ...]:
        """The mapping of the number's bits to port bits, in as few pieces as possible."""
        places = sorted((bit, n) for n, mask in enumerate(self.shown) for bit in bits_of(mask))
        runs: list[_Run] = []
        for bit, n in places:
            word, low = divmod(bit, WORD)
            if runs and (word, low, n) == (
                runs[-1].word,
                runs[-1].low + runs[-1].width,
                runs[-1].first + runs[-1].width,
            ):
                runs[-1] = runs[-1]._replace(width=runs[-1].width + 1)
            else:
                runs.append(_Run(word, low, 1, n))
        return tuple(runs)

    def values(self, start: int, stop: int, seed: int) -> NDArray[np.int64]:
        """Return the numbers, 0 to ``size - 1``, of rows ``start`` to ``stop``, in the order of ``seed``."""
        first = start // self.size
        laps, rows = np.divmod(np.arange(start, stop, dtype=np.int64), self.size)
        starts = self._starts(first, -(-stop // self.size))
        values: NDArray[np.int64] = (self._shuffled(rows, seed) * self.step + starts[laps - first]) % self.size
        return values

    def _shuffled(self, rows: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        """Return the rows of a lap in another order, block by block: no constant lies between one row and the next."""
        block = min(_BLOCK, 1 << self.size.bit_length() - 1)
        order = np.random.default_rng([seed, self.number]).permutation(block)
        blocks, places = np.divmod(rows, block)
        moved = blocks * block + (order[(places + blocks * _STRIDE) % block] ^ (blocks * _STRIDE) % block)
        return np.where(rows < self.size // block * block, moved, rows)

    def _starts(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the starts of laps ``first`` to ``last``: 0, then evenly spread, differently for each counter."""
        turn = int((self.number + 1) * _OTHER % 1 * (1 << MAX_BITS))
        return (np.arange(first, last, dtype=np.int64) * turn & (1 << MAX_BITS) - 1) * self.size >> MAX_BITS
