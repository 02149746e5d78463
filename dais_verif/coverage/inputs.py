"""Coverage of the inputs: the given numbers, and the values that are read from them.

Golden engines see only the bits that a port carries. This module records whether a number was out of range or off the
grid before.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dais_verif.golden.coverage_probes import ProbeBytes
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, Column, IntArray, floor_to_grid
from dais_verif.spec.program.opcodes import Code

__all__ = ["READ", "Reader", "Readers"]

#: The first places of a reader: out of range, in range; off the grid, on it; off the grid and negative. The places of
#: its corners follow.
READ = ("wrapped", "kept", "lost", "whole", "lost below zero")
_FIRST = 2048


class Reader(NamedTuple):
    """A group of ``input`` ops, ``ops``, that read input ``input`` with the same type.

    ``lo``, ``hi``: the raw bounds of the type, or of the interval if the source declares one.
    """

    input: int
    kind: FixedType
    lo: int
    hi: int
    ops: tuple[int, ...]

    @property
    def corners(self) -> list[int]:
        """Raw values that should occur: the extremes, and the values around 0."""
        return sorted({v for v in (self.lo, self.hi, -1, 0, 1) if self.lo <= v <= self.hi})

    def number(self, raw: int) -> Fraction:
        """Return the number that is read as ``raw``."""
        return raw * Fraction(2) ** -self.kind.f


@dataclass(frozen=True)
class Readers:
    """All readers of a program, in the order of their inputs. ``at``: the first place of each."""

    readers: tuple[Reader, ...]
    at: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, program: Program, *, declared: bool) -> Readers:
        """Return the readers of ``program``. ``declared``: inputs stay within the intervals of its source."""
        found: dict[tuple[int, FixedType, int, int], list[int]] = {}
        bounds = program.intervals if declared else None
        codes = program.columns.code
        for index in np.flatnonzero(codes == Code.INPUT).tolist():
            op = program.ops[index]
            if op.type.width:
                k, i, f = op.type
                shift = int(program.inp_shift[op.id0])
                lo, hi = bounds[index] if bounds else (op.type.raw_min, op.type.raw_max)
                found.setdefault((op.id0, FixedType(k, i - shift, f + shift), lo, hi), []).append(index)
        readers = tuple(Reader(*key, tuple(ops)) for key, ops in sorted(found.items()))
        at = [0]
        for reader in readers:
            at.append(at[-1] + len(READ) + len(reader.corners))
        return cls(readers, tuple(at[:-1]), at[-1])

    def see(self, batch: Batch, seen: ProbeBytes) -> None:
        """Set the places of ``seen`` that ``batch`` reaches; ``seen`` begins with the first place of a reader."""
        # The first rows usually set nearly all places, so that most readers are skipped afterwards.
        for start, stop in ((0, _FIRST), (_FIRST, batch.rows)):
            part = batch.slice(start, stop) if start < batch.rows else None
            for reader, at in zip(self.readers, self.at, strict=True):
                mine = seen[at : at + len(READ) + len(reader.corners)]
                if part is not None and not mine.all():
                    _see(reader, part.columns[reader.input], mine)

    def declare(self, batch: Batch) -> bool:
        """Return True if all vectors of ``batch`` are read as values within the bounds of their readers."""
        for reader in self.readers:
            if (reader.lo, reader.hi) != (reader.kind.raw_min, reader.kind.raw_max):
                value = _read(reader, batch.columns[reader.input])
                if ((value < reader.lo) | (value > reader.hi)).any():
                    return False
        return True

    def together(self, seen: ProbeBytes, n_in: int) -> Batch:
        """Return vectors that set the places missing in ``seen``, those of all inputs at once.

        The first vector has the first missing value of every input, the next one the second, and so on. Thus there are
        few vectors, however many inputs there are.
        """
        lacking = self._lacking(seen)
        count = max(map(len, lacking.values()), default=0)
        rows = [[lacking[j][row] if row < len(lacking.get(j, ())) else 0 for j in range(n_in)] for row in range(count)]
        return Batch.of(rows, n_in) if rows else Batch.of(np.zeros((0, n_in)), n_in)

    def alone(self, seen: ProbeBytes, n_in: int, most: int) -> tuple[Batch, int]:
        """Return vectors, each of which sets one place that ``seen`` lacks, and the number of vectors left out.

        All other inputs are 0. ``most``: the maximum number of values in all vectors together.
        """
        wanted = [(j, number) for j, numbers in self._lacking(seen).items() for number in numbers]
        some = wanted[: most // max(n_in, 1)]
        rows = [[number if j == source else 0 for j in range(n_in)] for source, number in some]
        batch = Batch.of(rows, n_in) if rows else Batch.of(np.zeros((0, n_in)), n_in)
        return batch, len(wanted) - len(some)

    def _lacking(self, seen: ProbeBytes) -> dict[int, list[Fraction]]:
        """Return for every input the numbers that would set the places missing in ``seen``."""
        found: dict[int, list[Fraction]] = {}
        for reader, at in zip(self.readers, self.at, strict=True):
            missing = np.flatnonzero(seen[at : at + len(READ) + len(reader.corners)] == 0)
            numbers = [number for place in missing.tolist() for number in _numbers(reader, place)]
            if numbers:
                found.setdefault(reader.input, []).extend(numbers)
        return found


def _numbers(reader: Reader, place: int) -> list[Fraction]:
    """Return inputs that set ``place`` of ``reader``; the caller checks that declarations allow them."""
    if place >= len(READ):
        return [reader.number(reader.corners[place - len(READ)])]
    turn = 1 << reader.kind.width
    half = Fraction(1, 2)
    match READ[place]:
        case "wrapped":
            raws = [Fraction(reader.lo + turn), Fraction(reader.hi - turn)]
        case "lost":
            raws = [reader.lo + half]
        case "lost below zero":
            below = [raw for raw in (reader.lo, -1) if reader.lo <= raw <= reader.hi and raw < 0]
            raws = [below[0] + half] if below else [reader.hi - turn + half]
        case _:
            raws = [Fraction(reader.lo)]
    return [raw * reader.number(1) for raw in raws]


def _see(reader: Reader, column: Column, seen: ProbeBytes) -> None:
    kind, mantissa = reader.kind, column.mantissa
    floored = floor_to_grid(column, kind.f)
    below = -(column.exponent + kind.f)  # bits of the mantissa below the grid
    if below <= 0:
        lost = np.zeros(len(mantissa), dtype=bool)
    elif mantissa.dtype == object or below <= 62:  # the mantissa -2**62 fits int64, and is a multiple of 2**62
        lost = (mantissa & ((1 << below) - 1) != 0).astype(bool)
    else:
        lost = mantissa != 0
    wrapped = ((floored < kind.raw_min) | (floored > kind.raw_max)).astype(bool)
    for place, rows in enumerate((wrapped, ~wrapped, lost, ~lost, lost & (mantissa < 0).astype(bool))):
        seen[place] |= bool(rows.any())
    value = _read(reader, column)
    for place, corner in enumerate(reader.corners, len(READ)):
        seen[place] |= bool((value == corner).any())


def _read(reader: Reader, column: Column) -> IntArray:
    """Return the raw values that the reader reads."""
    kind, floored = reader.kind, floor_to_grid(column, reader.kind.f)
    wide = floored if floored.dtype == object or kind.width < 61 else floored.astype(object)
    value: IntArray = ((wide - kind.raw_min) & ((1 << kind.width) - 1)) + kind.raw_min
    return value
