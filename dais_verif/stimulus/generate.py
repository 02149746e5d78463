"""Generate input vectors for runs without a file of vectors: corners, wraps and truncation, then random values.

All numbers have two fractional bits more than the ports, so that off-grid values exercise TRUNC, and some are two bits
wider, so that out-of-range values exercise WRAP.

Vectors are generated in blocks with separate seeds, so that any part of millions of vectors can be generated alone.
From the second block on, most vectors are plain uniform values of the ports, which take a tenth of the time of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dais_verif.base.errors import VectorError
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, Column, IntArray, compact
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Generated", "generate", "generate_common", "require_rows"]

#: Fractional bits below the port's last bit.
_EXTRA = 2
#: Only the first rows may mix corners: one in this many.
_CORNER_SHARE = 4
#: The maximum number of vectors that share a seed, and the maximum number of values in such a block.
_BLOCK, _BLOCK_VALUES = 16384, 1 << 22
#: One in this many rows of later blocks is generated like those of the first block.
_RICH_SHARE = 16
#: More rows would keep any simulator busy for hours, and exhaust memory in ``generate``, which holds all of them.
_MAX_ROWS = 100_000_000


class _Reader(NamedTuple):
    """An ``input`` op that reads an input, and the raw interval that the source declares.

    ``kind``: the op's type in terms of the input itself, before ``inp_shift``.
    """

    kind: FixedType
    lo: int
    hi: int


def generate(program: Program, rows: int, seed: int) -> Batch:
    """Return ``rows`` vectors for ``program``, reproducible from ``seed`` (a non-negative integer) and ``rows``.

    In the first rows all inputs have the same kind of corner. Up to a quarter of the first 16,384 rows mix corners at
    random, and the rest is uniform; off-grid and out-of-range values occur throughout. Where the source declares input
    intervals (da4ml's JSON), values outside of them are replaced by random values within them.
    """
    return generate_common([program], rows, seed)


def generate_common(programs: Sequence[Program], rows: int, seed: int) -> Batch:
    """Return vectors for ``programs`` with the same number of inputs, with the corners of all their types.

    If all programs read their inputs in the same way, the vectors are those of ``generate`` for each of them.
    """
    return Generated(programs, rows, seed).slice(0, rows)


def require_rows(rows: int) -> None:
    """Raise ``InputError`` if ``rows`` are more vectors than can be generated."""
    if rows > _MAX_ROWS:
        raise VectorError(f"{rows} vectors were asked for, must be at most {_MAX_ROWS}")


class Generated:
    """The vectors of ``generate_common``, generated on demand."""

    def __init__(self, programs: Sequence[Program], rows: int, seed: int) -> None:
        require_rows(rows)
        self.rows = rows
        self._seed = seed
        found: list[list[_Reader]] = [[] for _ in range(programs[0].n_in)]
        for program in programs:
            _add_readers(found, program)
        self._readers = tuple(map(tuple, found))
        fitting = _BLOCK_VALUES // max(len(self._readers), 1)
        self._length = min(_BLOCK, 1 << max(fitting.bit_length() - 1, 8))
        self._last: tuple[int, Batch] | None = None

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``; their values do not depend on how rows are sliced."""
        stop = min(stop, self.rows)
        length = self._length
        blocks = range(start // length, max(-(-stop // length), start // length + 1))
        parts = [self._block(block).slice(max(start - block * length, 0), stop - block * length) for block in blocks]
        return parts[0] if len(parts) == 1 else Batch.concatenate(parts)

    def _block(self, block: int) -> Batch:
        last = self._last  # copied, since another thread may replace the attribute
        if last is not None and last[0] == block:
            return last[1]
        rows = max(min(self.rows - block * self._length, self._length), 0)
        columns = []
        for j, readers in enumerate(self._readers):
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(self._seed, spawn_key=(block, j))))
            columns.append(_later_column(readers, rows, rng) if block else _first_column(readers, rows, rng))
        made = Batch(rows, tuple(columns))
        self._last = block, made
        return made


def _add_readers(readers: list[list[_Reader]], program: Program) -> None:
    for op in program.ops:
        if op.code == INPUT and op.type.width > 0:
            k, i, f = op.type
            shift = int(program.inp_shift[op.id0])
            lo, hi = program.intervals[op.index] if program.intervals else (op.type.raw_min, op.type.raw_max)
            readers[op.id0].append(_Reader(FixedType(k, i - shift, f + shift), lo, hi))


@lru_cache(1024)
def _bounds(readers: tuple[_Reader, ...]) -> tuple[int, int, int]:
    """Return (``finest``, lowest, highest): the bounds of values, in units of ``2**-finest``."""
    finest = max(reader.kind.f for reader in readers) + _EXTRA
    lowest = min(reader.lo << (finest - reader.kind.f) for reader in readers)
    highest = max((reader.hi + 1 << (finest - reader.kind.f)) - 1 for reader in readers)
    return finest, lowest, highest


def _later_column(readers: tuple[_Reader, ...], rows: int, rng: np.random.Generator) -> Column:
    """Return values of one input in a later block: a few as in the first block, the rest on the grid and in range."""
    rich = rows // _RICH_SHARE
    first = _first_column(readers, rich, rng, fixed=False)
    if not readers:
        return Column(np.resize(first.mantissa, rows) if rich else np.zeros(rows, dtype=np.int64), first.exponent)
    finest, lowest, highest = _bounds(readers)
    values = _uniform(rng, lowest >> _EXTRA, highest >> _EXTRA, rows - rich) << _EXTRA
    return Column(compact(np.concatenate([first.mantissa, _declared(values, readers, finest, rng)])), -finest)


def _first_column(readers: tuple[_Reader, ...], rows: int, rng: np.random.Generator, *, fixed: bool = True) -> Column:
    """Return values of one input. ``fixed``: the first rows are the corners, in order."""
    if not readers:
        # The input is unused: random values show that results do not depend on it.
        return Column(rng.integers(-8, 8, size=rows, dtype=np.int64), 0)
    finest, lowest, highest = _bounds(readers)
    span = highest - lowest + 1
    corners = _corners(readers, finest)

    values = _uniform(rng, lowest, highest, rows)
    on_grid = rng.random(rows) < 0.5
    values = np.where(on_grid, values >> _EXTRA << _EXTRA, values)
    beyond = rng.random(rows) < 0.1
    values = np.where(beyond, _uniform(rng, lowest - 2 * span, highest + 2 * span, rows), values)
    mixed = (rng.random(rows) < 0.75) & (np.arange(rows) < rows // _CORNER_SHARE)
    values = np.where(mixed, corners[rng.integers(0, len(corners), rows)], values)
    if fixed:
        first = min(len(corners), rows)
        values[:first] = corners[:first]
    return Column(compact(_declared(values, readers, finest, rng)), -finest)


def _uniform(rng: np.random.Generator, lo: int, hi: int, rows: int) -> IntArray:
    """Return uniform integers ``lo..hi``, of any size."""
    span = hi - lo + 1
    if max(abs(lo), abs(hi)).bit_length() < 62:
        # NumPy draws narrow numbers several times as fast.
        bits = max(lo, hi, ~lo, ~hi).bit_length()
        kind = np.int16 if bits < 16 else np.int32 if bits < 32 else np.int64
        return rng.integers(lo, hi, size=rows, dtype=kind, endpoint=True).astype(np.int64)
    size = (span.bit_length() + 64 + 7) // 8  # with 64 extra bits, the bias of the modulo is negligible
    data = rng.bytes(size * rows)
    values = np.empty(rows, dtype=object)
    values[:] = [lo + int.from_bytes(data[at : at + size], "little") % span for at in range(0, size * rows, size)]
    return values


@lru_cache(1024)
def _corners(readers: tuple[_Reader, ...], finest: int) -> IntArray:
    """Return the corners of every reader's type, and values just beyond and between, in units of ``2**-finest``."""
    corners: dict[int, None] = {0: None}
    for kind, lo, hi in readers:
        scale = 1 << (finest - kind.f)
        half, quarter = scale // 2, scale // 4
        on_grid = [hi, lo, hi + 1, lo - 1, -1, 1, hi - 1, lo + 1, (lo + hi) // 2]
        between = [
            hi * scale + half,
            lo * scale - half,
            half,
            -half,
            -quarter,
            scale + quarter,
            lo * scale + quarter,
        ]
        corners.update(dict.fromkeys([*(raw * scale for raw in on_grid), *between]))
    values = np.empty(len(corners), dtype=object)
    values[:] = list(corners)
    return compact(values)


def _declared(values: IntArray, readers: tuple[_Reader, ...], finest: int, rng: np.random.Generator) -> IntArray:
    """Return ``values`` with new random ones for those that a reader would see outside its declared interval.

    The new values lie within the intervals of all readers. If these intervals have no common value, ``values`` are
    unchanged.
    """
    outside = np.zeros(len(values), dtype=bool)
    for kind, lo, hi in readers:
        if (lo, hi) != (kind.raw_min, kind.raw_max):
            mantissa = values.astype(object)
            seen = (((mantissa >> (finest - kind.f)) - kind.raw_min) & ((1 << kind.width) - 1)) + kind.raw_min
            outside |= ((seen < lo) | (seen > hi)).astype(bool)
    lowest = max(reader.lo << (finest - reader.kind.f) for reader in readers)
    highest = min((reader.hi + 1 << (finest - reader.kind.f)) - 1 for reader in readers)
    if not outside.any() or lowest > highest:
        return values
    return np.where(outside, _uniform(rng, lowest, highest, len(values)), values)
