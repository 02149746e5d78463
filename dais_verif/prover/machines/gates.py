"""One cycle of RTL as gates, to evaluate a netlist without named ops on many states at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.bit_level.aig import FALSE, Aig
from dais_verif.prover.bit_level.bit_blasting import Word, blast
from dais_verif.prover.bit_level.patterns import columns, simulate, value_of
from dais_verif.prover.netlist import Signal
from dais_verif.prover.terms import Term, leaves

__all__ = ["Gates"]

Column = NDArray[Any]


class Gates:
    """``roots`` as gates over the signals for which their variables stand; undefined bits are 0."""

    def __init__(self, roots: Sequence[Term], signals: Mapping[Term, Signal]) -> None:
        self._graph = Aig()
        self._inputs: list[tuple[Signal, int]] = []
        given: dict[Term, Word] = {}
        for leaf in leaves(*roots):
            signal = signals.get(leaf)
            if signal is None:
                given[leaf] = [FALSE] * leaf.width
            else:
                given[leaf] = [self._graph.input() for _ in range(leaf.width)]
                self._inputs.append((signal, leaf.width))
        self._words = dict(zip(roots, blast(self._graph, roots, given), strict=True))

    def evaluate(self, known: Mapping[Signal, Column], rows: int) -> dict[Term, Column]:
        """Return the values of each root: an array of Python integers, shape (rows,).

        ``known``: values of signals, arrays of the same shape; all other signals are 0.
        """
        patterns: list[int] = []
        for signal, width in self._inputs:
            column = known.get(signal)
            patterns += [0] * width if column is None else columns([int(value) for value in column], width)
        values = simulate(self._graph, patterns, rows)
        return {
            root: _numbers([value_of(values, bit, rows) for bit in word], rows) for root, word in self._words.items()
        }


def _numbers(bits: Sequence[int], rows: int) -> Column:
    """Return numbers, shape (rows,), from ``bits``: one integer per bit of the numbers, with one bit per row."""
    size = (rows + 7) // 8
    packed = np.frombuffer(b"".join(bit.to_bytes(size, "little") for bit in bits), dtype=np.uint8)
    table = np.unpackbits(packed.reshape(len(bits), size), axis=1, count=rows, bitorder="little")
    if len(bits) == 1:
        first: Column = table[0].astype(object)
        return first
    turned = np.packbits(table.T, axis=1, bitorder="little")
    return np.array([int.from_bytes(row.tobytes(), "little") for row in turned], dtype=object)
