"""Sensitivity: the effect of one wrong bit of one op on the outputs, found by flipping it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dais_verif.golden import oracle, run_raw
from dais_verif.golden.batch import compile_program
from dais_verif.golden.fault_injection import BitFlip, FaultInjector, Lanes
from dais_verif.program import Program
from dais_verif.program.demanded_bits import demanded_bits
from dais_verif.program.numbers import Batch, IntArray

__all__ = ["Effect", "Sensitivity", "sensitivity"]

#: Lanes per pass: enough to amortise numpy's cost per call, few enough that the values of all live ops fit in memory.
LANES = 1 << 13
#: The most rows whose values are kept for every op at the same time.
ROWS = 256

_INT64_BITS = 62

#: Called with the amount of work done so far, and the total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Effect:
    """The effect of a flip. The change in a vector is the largest change of any of its outputs, as a real value.

    ``worst``: the largest change over all vectors; ``output`` and ``row``: where it first occurs (None if no output
    changes). ``mean``: the mean change over all vectors. ``changed``: the number of vectors in which an output changes.
    """

    flip: BitFlip
    worst: Fraction
    mean: Fraction
    changed: int
    output: int | None
    row: int | None


@dataclass(frozen=True)
class Sensitivity:
    """Result of ``sensitivity``: the ``effects`` of all flips that were tried, sorted by op and bit.

    ``dead``: flips that were not tried because no output can depend on the bit. ``left``: the number of flips that were
    not tried because time was up. ``rows_left``: the number of vectors that were left out for the same reason.
    """

    program: Program
    rows: int
    effects: tuple[Effect, ...]
    dead: tuple[BitFlip, ...]
    left: int = 0
    rows_left: int = 0

    def ranked(self) -> list[Effect]:
        """Return the effects, sorted by ``worst`` with the largest first, then by ``mean``, then by op and bit."""
        return sorted(self.effects, key=lambda effect: (-effect.worst, -effect.mean, effect.flip))


def sensitivity(
    program: Program,
    batch: Batch,
    *,
    bits: bool = False,
    check: bool = True,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Return the effect of inverting bit 0 of every op (every bit if ``bits``) in the vectors of ``batch``.

    The cost is the number of flips times the number of ops that each of them reaches. After ``timeout`` seconds, no
    further flips or vectors are started; the result states how many were left out. Raises ``ViolationError`` if
    ``check`` and the undisturbed run breaks a promise; overflow caused by a flip wraps.
    """
    run_raw(program, batch, check=check)
    compiled, demanded = compile_program(program), demanded_bits(program)
    asked = [
        BitFlip(op.index, bit) for op in program.ops for bit in range(op.type.width if bits else min(op.type.width, 1))
    ]
    flips = [flip for flip in asked if demanded[flip.op] >> flip.bit & 1]
    dead = tuple(flip for flip in asked if not demanded[flip.op] >> flip.bit & 1)
    tally, injector = _Tally(program, flips), FaultInjector(compiled)
    end = math.inf if timeout is None else time.monotonic() + timeout
    tried, rows = len(flips), 0
    for first_row in range(0, batch.rows, ROWS):
        part = batch.slice(first_row, first_row + ROWS)
        baseline = [value for value in compiled.trace(part) if value is not None]
        size = max(1, LANES // part.rows)
        for start in range(0, len(flips), size):
            some = flips[start : start + size]
            tally.add(start, len(some), first_row, baseline, injector.run(baseline, some))
            if progress is not None:
                progress(first_row * len(flips) + part.rows * (start + len(some)), batch.rows * len(flips))
            # A group of rows after the first is always completed, since every flip must be tried in the same vectors.
            if not first_row and time.monotonic() > end:
                tried = start + len(some)
                break
        rows += part.rows
        if time.monotonic() > end:
            break
    effects = tuple(tally.effects(rows)[:tried]) if rows else ()
    return Sensitivity(program, rows, effects, dead, len(flips) - len(effects) if rows else 0, batch.rows - rows)


class _Tally:
    """The results so far for every flip. Changes are integers in the units of the finest output."""

    def __init__(self, program: Program, flips: Sequence[BitFlip]) -> None:
        self._flips = flips
        #: For each op, the outputs that deliver its value.
        self._shown: dict[int, list[int]] = {}
        for j, (index, _, _) in enumerate(program.outputs):
            self._shown.setdefault(index, []).append(j)
        kinds = program.output_types
        self._finest = max((kind.f for kind in kinds if kind.width), default=0)
        self._shifts = [self._finest - kind.f if kind.width else 0 for kind in kinds]
        bits = max((kind.width + 1 + up for kind, up in zip(kinds, self._shifts, strict=True)), default=0)
        self._dtype = object if bits + ROWS.bit_length() > _INT64_BITS else np.int64
        self._worst = [(0, 0, 0)] * len(flips)  # change, output, row
        self._sum, self._changed = [0] * len(flips), [0] * len(flips)

    def add(
        self, start: int, count: int, first_row: int, baseline: Sequence[IntArray], differing: dict[int, Lanes]
    ) -> None:
        """Add the results of ``count`` flips, the first of which is ``start``, in the rows of ``baseline``."""
        rows = len(baseline[0])
        largest: IntArray = np.zeros(count * rows, dtype=self._dtype)
        shown: IntArray = np.zeros(count * rows, dtype=np.int64)
        for j, index in sorted((j, op) for op in differing for j in self._shown[op]):
            ids, values = differing[index]
            change: IntArray = abs(values - baseline[index][ids % rows]).astype(self._dtype) << self._shifts[j]
            larger = np.flatnonzero(change > largest[ids])
            largest[ids[larger]], shown[ids[larger]] = change[larger], j
        largest, shown = largest.reshape(count, rows), shown.reshape(count, rows)
        for n, row in enumerate(largest.argmax(axis=1).tolist(), start):
            changes = largest[n - start]
            if changes[row] > self._worst[n][0]:
                self._worst[n] = int(changes[row]), int(shown[n - start, row]), first_row + row
            self._sum[n] += int(changes.sum())
            self._changed[n] += int(np.count_nonzero(changes))

    def effects(self, rows: int) -> list[Effect]:
        """Return the effects of all flips, once all ``rows`` are counted."""
        unit = oracle.two(-self._finest)
        return [
            Effect(
                flip, worst * unit, Fraction(total, rows) * unit, changed, *((output, row) if changed else (None, None))
            )
            for flip, (worst, output, row), total, changed in zip(
                self._flips, self._worst, self._sum, self._changed, strict=True
            )
        ]
