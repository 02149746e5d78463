"""Propagate flipped bits through a program, many at once.

One flip in one vector is a *lane*. All lanes go through the program in one pass: at an op, only lanes in which an
operand differs from the undisturbed run are evaluated, and only lanes whose result differs continue. A masked bit
therefore costs nothing after the op that masks it. Values are those of the unchecked run: overflow caused by a flip
wraps.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.batch import Compiled
from dais_verif.program import FixedType, Op
from dais_verif.program.graph import readers
from dais_verif.program.numbers import IntArray

__all__ = ["BitFlip", "Lanes", "FaultInjector", "flip_bit"]

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
