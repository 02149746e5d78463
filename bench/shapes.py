"""Synthetic networks like convolutions and attention: hundreds to thousands of inputs, values that are reused late.

As in programs of da4ml, ops are in the order of their depth: the same op of all positions is together, and the ops of
one position are spread over the whole program.
"""

from __future__ import annotations

import math
import random

from bench.networks import INPUT, Value, Writer
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import OPCODES, Pattern

__all__ = ["attention", "convolution"]

#: Rows and columns of a kernel; input, hidden and output channels.
_KERNEL, _CHANNELS, _HIDDEN, _OUT = 3, 6, 12, 4
#: Ops of one position: sums that several channels share, all sums of the second convolution, bias and ReLU.
_SHARED, _SECOND, _NEURON = 50, 92, 2 * _HIDDEN

#: Types of attention: projections and scores; sums of exponentials, and shares.
_PROJECTION, _SCORE = FixedType(1, 3, 3), FixedType(1, 3, 4)
_SUM, _SHARE = FixedType(0, 4, 4), FixedType(0, 1, 7)


def convolution(side: int = 14, *, ops: int = 550, seed: int = 0) -> Program:
    """Return a 3x3 convolution of 6 to 12 channels over ``side * side`` pixels, a ReLU, and a 1x1 convolution to 4.

    ``ops``: ops of each of the ``(side - 2)**2`` positions, at least 250. There are 12 more for each pixel: 81,552 in
    all by default, 203,842 with a side of 21.
    """
    writer = Writer(seed)
    inputs = [writer.quantised(-1, j, INPUT) for j in range(side * side * _CHANNELS)]
    pixels = [writer.quantised(3, value.op, INPUT) for value in inputs]
    outputs = []
    for row in range(side - _KERNEL + 1):
        for column in range(side - _KERNEL + 1):
            corner = row * side + column
            places = [corner + y * side + x for y in range(_KERNEL) for x in range(_KERNEL)]
            patch = [pixels[place * _CHANNELS + channel] for place in places for channel in range(_CHANNELS)]
            outputs += _position(writer, patch, ops, seed)
    return _by_depth(writer, outputs, len(inputs))


def _position(writer: Writer, patch: list[Value], ops: int, seed: int) -> list[Value]:
    """Append the ops of one position, which are the same at every position; return its outputs."""
    writer.random = random.Random(seed)
    draw = writer.random
    values = patch + [writer.sum(*draw.sample(patch, 2)) for _ in range(_SHARED)]
    hidden = []
    for terms in _split(ops - _SHARED - _SECOND - _NEURON + _HIDDEN, _HIDDEN):
        hidden.append(writer.neuron(draw.choices(values, k=terms)))
    return [writer.tree(draw.choices(hidden, k=terms)) for terms in _split(_SECOND + _OUT, _OUT)]


def _split(total: int, parts: int) -> list[int]:
    """Return ``total`` divided into ``parts`` nearly equal numbers."""
    return [(total + part) // parts for part in range(parts)]


def attention(tokens: int = 16, width: int = 16, *, seed: int = 0) -> Program:
    """Return one head of attention over ``tokens`` vectors of ``width`` elements: 29,000 ops by default.

    Queries, keys and values are dense layers; scores are sums of products; the softmax uses tables of exponentials and
    of reciprocals; each output is a weighted sum of the values of all tokens.
    """
    writer = Writer(seed)
    inputs = [writer.quantised(-1, j, INPUT) for j in range(tokens * width)]
    vectors = [inputs[token * width :][:width] for token in range(tokens)]
    queries, keys, values = (_projections(writer, vectors, seed + number) for number in range(3))
    outputs: list[Value] = []
    for query in queries:
        scores = [writer.quantised(3, _product(writer, query, key).op, _SCORE) for key in keys]
        powers = [_lookup(writer, score, 0, _EXPONENTIALS, _SCORE.f) for score in scores]
        total = writer.quantised(3, _total(writer, powers).op, _SUM)
        inverse = _lookup(writer, total, 1, _RECIPROCALS, _SHARE.f)
        shares = [writer.quantised(3, writer.product(power, inverse).op, _SHARE) for power in powers]
        outputs += (_product(writer, shares, [value[j] for value in values]) for j in range(width))
    return _by_depth(writer, outputs, len(inputs), tables=[_EXPONENTIALS, _RECIPROCALS])


_EXPONENTIALS = [min(int(16 * math.exp(score / 16)), 255) for score in range(-128, 128)]
_RECIPROCALS = [min(128 * 16 // max(total, 1), 255) for total in range(256)]


def _projections(writer: Writer, vectors: list[list[Value]], seed: int) -> list[list[Value]]:
    """Append a dense layer for each token, with the same ops for all."""
    found = []
    for vector in vectors:
        writer.random = random.Random(seed)
        sums = [writer.tree(vector) for _ in vector]
        found.append([writer.quantised(3, value.op, _PROJECTION) for value in sums])
    return found


def _product(writer: Writer, left: list[Value], right: list[Value]) -> Value:
    return _total(writer, [writer.product(a, b) for a, b in zip(left, right, strict=True)])


def _total(writer: Writer, values: list[Value]) -> Value:
    """Append a balanced tree that sums ``values`` without shifts."""
    while len(values) > 1:
        odd = values[len(values) // 2 * 2 :]
        values = [writer.added(a, b) for a, b in zip(values[::2], values[1::2], strict=False)] + odd
    return values[0]


def _lookup(writer: Writer, value: Value, number: int, table: list[int], f: int) -> Value:
    return writer.append(8, value.op, -1, number, min(table), max(table), f)


def _by_depth(writer: Writer, outputs: list[Value], n_in: int, tables: list[list[int]] | None = None) -> Program:
    """Return the program that was written, with its ops in the order of the longest path to each."""
    depth: list[int] = []
    patterns = {code: spec.pattern for code, spec in OPCODES.items()}
    for code, id0, id1, _, _ in writer.rows:
        operands = {Pattern.BINARY: (id0, id1), Pattern.UNARY: (id0,)}.get(patterns[code], ())
        depth.append(1 + max((depth[i] for i in operands), default=-1))
    order = sorted(range(len(depth)), key=depth.__getitem__)
    place = {old: new for new, old in enumerate(order)}
    rows = []
    for old in order:
        code, id0, id1, data, kind = writer.rows[old]
        if code != -1:
            id0, id1 = place[id0], place.get(id1, -1)
        rows.append((code, id0, id1, data, kind))
    found = [(place[value.op], 0, 0) for value in outputs]
    return Program.build(rows, found, inp_shift=[0] * n_in, tables=tables or ())
