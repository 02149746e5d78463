"""Simulate a graph on many input patterns at once: one long integer per node, with one bit per pattern."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from dais_verif.prover.gates.aig import Aig

__all__ = ["columns", "mixed", "neighbours", "row_of", "simulate", "value_of"]


def simulate(graph: Aig, inputs: Sequence[int], count: int) -> list[int]:
    """Return the values of all nodes. ``inputs``: the values of all inputs, in their order, on ``count`` patterns."""
    ones = (1 << count) - 1
    flip = (0, ones)
    values = [0] * len(graph)
    given = iter(inputs)
    low, high = graph.low, graph.high
    for node in range(1, len(values)):
        a = low[node]
        if a < 0:
            values[node] = next(given)
            continue
        b = high[node]
        values[node] = (values[a >> 1] ^ flip[a & 1]) & (values[b >> 1] ^ flip[b & 1])
    return values


def mixed(rng: random.Random, count: int) -> int:
    """Return random values of an input: half of the patterns are biased to 1, which long carry chains need.

    In the four quarters of the patterns, the probability of a 1 is 1/2, 1/2, 3/4 and 15/16.
    """
    half, more, most, rare = (rng.getrandbits(count // 4) for _ in range(4))
    quarters = (half, more, more | most, half | more | most | rare)
    return sum(values << place * (count // 4) for place, values in enumerate(quarters))


def value_of(values: Sequence[int], literal: int, count: int) -> int:
    """Return the values of a literal."""
    return values[literal >> 1] ^ ((1 << count) - 1 if literal & 1 else 0)


def columns(rows: Sequence[int], bits: int) -> list[int]:
    """Transpose patterns, integers with one bit per input, to values of inputs, integers with one bit per pattern."""
    if not bits:
        return []
    size = (bits + 7) // 8
    packed = np.frombuffer(b"".join(row.to_bytes(size, "little") for row in rows), dtype=np.uint8)
    table = np.unpackbits(packed.reshape(len(rows), size), axis=1, count=bits, bitorder="little")
    turned = np.packbits(table.T, axis=1, bitorder="little")
    return [int.from_bytes(column.tobytes(), "little") for column in turned]


def row_of(inputs: Sequence[int], place: int) -> int:
    """Return pattern number ``place``, with one bit per input, from the values of the inputs."""
    return sum((value >> place & 1) << bit for bit, value in enumerate(inputs))


def neighbours(pattern: int, bits: int, count: int, rng: random.Random) -> list[int]:
    """Return ``count`` patterns: ``pattern``, and others that differ from it in at most four of ``bits`` bits."""
    found = [pattern]
    while len(found) < count:
        changed = pattern
        for _ in range(rng.choice((1, 1, 2, 4))):
            changed ^= 1 << rng.randrange(bits)
        found.append(changed)
    return found
