"""Sensitivity: the effect of one wrong bit of one op on the outputs, found by flipping it."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden import oracle, run_raw
from dais_verif.golden.batch import Compiled, compile_program
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.demanded_bits import demanded_bits
from dais_verif.spec.program.graph import readers
from dais_verif.spec.program.numbers import Batch, IntArray

__all__ = ["BitFlip", "Effect", "FaultInjector", "Lanes", "Sensitivity", "flip_bit", "sensitivity"]


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


# Propagate flipped bits through a program, many at once.
#
# One flip in one vector is a *lane*. All lanes go through the program in one pass: at an op, only lanes in which an
# operand differs from the undisturbed run are evaluated, and only lanes whose result differs continue. A masked bit
# therefore costs nothing after the op that masks it. Values are those of the unchecked run: overflow caused by a flip
# wraps.


Ids = NDArray[np.intp]


class BitFlip(NamedTuple):
    """The inversion of bit ``bit`` in the bit pattern of op ``op``; bit 0 has the weight ``2**-f``."""

    op: int
    bit: int


class Lanes(NamedTuple):
    """The lanes in which an op differs from the undisturbed run, and its raw values there, both of shape (lanes,).

    Lane ``n * rows + row`` is flip ``n`` of the pass in vector ``row``.
    """

    ids: Ids
    values: IntArray


def flip_bit(raw: IntArray, kind: FixedType, bit: int) -> IntArray:
    """Return ``raw`` values of type ``kind`` with bit ``bit`` of their pattern inverted."""
    is_sign = kind.k and bit == kind.width - 1
    return raw ^ (-(1 << bit) if is_sign else 1 << bit)


class FaultInjector:
    """Propagates flips through one program, pass by pass. Each pass visits only the ops whose values can differ."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.shown = {index for index, _, _ in compiled.program.outputs}
        self.readers = readers(compiled.program)

    def run(self, baseline: Sequence[IntArray], flips: Sequence[BitFlip]) -> dict[int, Lanes]:
        """Return, by op index, the lanes and values in which each op that is an output differs; omit unchanged ops.

        ``baseline``: the raw values (rows,) of every op in the undisturbed run. ``flips``: at least one flip, sorted by
        op.
        """
        return _FaultPass(self, baseline, flips).run()


class _FaultPass:
    def __init__(self, injector: FaultInjector, baseline: Sequence[IntArray], flips: Sequence[BitFlip]) -> None:
        self.compiled, self.baseline, self.flips = injector.compiled, baseline, flips
        self.shown, self.readers = injector.shown, injector.readers
        rows = len(baseline[flips[0].op])
        self.row_of = np.tile(np.arange(rows), len(flips))
        # Two scratch arrays over all lanes: whether a lane is in a set, and its position in the set.
        self._member = np.zeros(len(self.row_of), dtype=bool)
        self._place = np.zeros(len(self.row_of), dtype=np.intp)
        self._values: list[IntArray | None] = [None] * len(baseline)
        self.lanes: dict[int, Lanes] = {}

    def run(self) -> dict[int, Lanes]:
        ops, own = self.compiled.program.ops, self._own()
        waiting = sorted(own)  # a heap of ops in which a value may differ
        met = set(waiting)
        while waiting:
            op = ops[heapq.heappop(waiting)]
            parts = [own[op.index]] if op.index in own else []
            if any(operand in self.lanes for operand in op.operands):
                parts.append(self._evaluated(op))
                for operand in op.operands:
                    if self.readers[operand][-1] == op.index and operand not in self.shown:
                        self.lanes.pop(operand, None)
            if any(len(part.ids) for part in parts):
                self.lanes[op.index] = Lanes(*map(np.concatenate, zip(*parts, strict=True)))
                for reader in self.readers[op.index]:
                    if reader not in met:
                        met.add(reader)
                        heapq.heappush(waiting, reader)
        return {index: lanes for index, lanes in self.lanes.items() if index in self.shown}

    def _own(self) -> dict[int, Lanes]:
        """Return, for each flipped op, the lanes of its own flips: one lane per flip and vector."""
        program, found = self.compiled.program, dict[int, list[Lanes]]()
        for n, (index, bit) in enumerate(self.flips):
            base = self.baseline[index]
            ids = np.arange(n * len(base), (n + 1) * len(base))
            found.setdefault(index, []).append(Lanes(ids, flip_bit(base, program.ops[index].type, bit)))
        return {index: Lanes(*map(np.concatenate, zip(*parts, strict=True))) for index, parts in found.items()}

    def _evaluated(self, op: Op) -> Lanes:
        """Return the lanes in which ``op`` differs because of flips in earlier ops."""
        ids = self._united([self.lanes[operand].ids for operand in op.operands if operand in self.lanes])
        rows = self.row_of[ids]
        self._place[ids] = np.arange(len(ids))
        for operand in op.operands:
            value = self.baseline[operand][rows]
            if operand in self.lanes:
                disturbed = self.lanes[operand]
                value[self._place[disturbed.ids]] = disturbed.values
            self._values[operand] = value
        result = self.compiled.evaluate(op.index, self._values, len(ids))
        differs = np.flatnonzero(result != self.baseline[op.index][rows])
        return Lanes(ids[differs], result[differs])

    def _united(self, sets: list[Ids]) -> Ids:
        """Return the lanes that are in any of the ``sets``."""
        if len(sets) == 1:
            return sets[0]
        for ids in sets:
            self._member[ids] = True
        union = np.flatnonzero(self._member)
        self._member[union] = False
        return union
