"""Synthetic networks of any size, like those that da4ml traces: dense layers of adder trees, bias and ReLU.

A layer has ``WIDTH`` neurons. Each adds ``FAN_IN`` values of the previous layer, shifted by a few bits and with either
sign, in a balanced tree; every sum has the smallest type that holds it, and therefore no promise can be broken. The
ReLU quantises the sum to eight bits, so that widths are as in real programs, at most about twenty bits.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.types import type_of_interval

__all__ = ["INPUT", "TernaryWriter", "Value", "Writer", "network", "ternary_network"]

WIDTH, FAN_IN = 64, 16

INPUT = FixedType(1, 3, 4)
_ACTIVATION = FixedType(0, 4, 4)
_SHIFTS = (-3, -2, -1, 0)


class Value(NamedTuple):
    """An op and the interval of its raw values, in units of ``2**-f``."""

    op: int
    lo: int
    hi: int
    f: int


class Writer:
    """A writer of ops, each with the smallest type that holds its values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rows: list[tuple[int, int, int, int, FixedType]] = []

    def append(self, code: int, id0: int, id1: int, data: int, lo: int, hi: int, f: int) -> Value:
        """Append an op whose raw values are ``lo..hi``, with ``f`` fractional bits."""
        self.rows.append((code, id0, id1, data, type_of_interval(lo, hi, f)))
        return Value(len(self.rows) - 1, lo, hi, f)

    def quantised(self, code: int, id0: int, kind: FixedType) -> Value:
        """Append an op with one operand, or an input, that is quantised to ``kind``."""
        self.rows.append((code, id0, -1, 0, kind))
        return Value(len(self.rows) - 1, kind.raw_min, kind.raw_max, kind.f)

    def sum(self, a: Value, b: Value) -> Value:
        """Append ``a ± b * 2**shift`` with a random sign and shift."""
        return self.added(a, b, self.random.getrandbits(1), self.random.choice(_SHIFTS))

    def added(self, a: Value, b: Value, minus: int = 0, shift: int = 0) -> Value:
        """Append ``a ± b * 2**shift``."""
        f = max(a.f, b.f - shift)
        up_a, up_b = f - a.f, f - b.f + shift
        lo, hi = (-b.hi, -b.lo) if minus else (b.lo, b.hi)
        return self.append(minus, a.op, b.op, shift, (a.lo << up_a) + (lo << up_b), (a.hi << up_a) + (hi << up_b), f)

    def product(self, a: Value, b: Value) -> Value:
        """Append ``a * b``."""
        products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return self.append(7, a.op, b.op, 0, min(products), max(products), a.f + b.f)

    def tree(self, values: Sequence[Value]) -> Value:
        """Append a tree that sums ``values``, of which there is at least one."""
        while len(values) > 1:
            odd = values[len(values) // 2 * 2 :]
            values = [*(self.sum(a, b) for a, b in zip(values[::2], values[1::2], strict=False)), *odd]
        return values[0]

    def neuron(self, values: Sequence[Value]) -> Value:
        """Append the sum of ``values``, a bias and a ReLU."""
        total = self.tree(values)
        bias = self.random.randint(-64, 64) or 1  # tracers do not add 0, and da4ml's Verilog for that is wrong
        shifted = self.append(4, total.op, -1, bias, total.lo + bias, total.hi + bias, total.f)
        return self.quantised(2, shifted.op, _ACTIVATION)


class TernaryWriter(Writer):
    """A writer of trees of ALIR sums of three terms, as alkaid makes them for adders of three operands."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.terms: list[tuple[int, int, int]] = []

    def summed(self, values: Sequence[Value]) -> Value:
        """Append ``±a * 2**s ± b * 2**t ...`` with random signs and shifts."""
        parts = [(v, self.random.choice(_SHIFTS), self.random.getrandbits(1)) for v in values]
        f = max(v.f - shift for v, shift, _ in parts)
        bounds = [
            sorted(x << f - v.f + shift for x in ((-v.hi, -v.lo) if minus else (v.lo, v.hi)))
            for v, shift, minus in parts
        ]
        first = len(self.terms)
        self.terms += [(v.op, shift, minus) for v, shift, minus in parts]
        lo, hi = (sum(column) for column in zip(*bounds, strict=True))
        return self.append(Code.SUM, first, len(parts), 0, lo, hi, f)

    def tree(self, values: Sequence[Value]) -> Value:
        """Append a tree that sums ``values``, of which there is at least one, three at a time."""
        while len(values) > 1:
            groups = [values[n : n + 3] for n in range(0, len(values), 3)]
            values = [group[0] if len(group) == 1 else self.summed(group) for group in groups]
        return values[0]


def ternary_network(n_ops: int, *, seed: int = 0) -> Program:
    """Return an ALIR program like ``network``, with sums of three terms, of at most ``n_ops`` ops in whole layers."""
    writer = TernaryWriter(seed)
    layer = [writer.quantised(-1, j, INPUT) for j in range(WIDTH)]
    ops = _ops_of_a_tree(FAN_IN) + 2
    while len(writer.rows) + WIDTH * ops <= n_ops:
        layer = [writer.neuron(writer.random.sample(layer, FAN_IN)) for _ in range(WIDTH)]
    return Program.build(writer.rows, [(v.op, 0, 0) for v in layer], inp_shift=[0] * WIDTH, terms=writer.terms)


def _ops_of_a_tree(leaves: int) -> int:
    """Return the number of sums of three values, or of two at the end, that add ``leaves`` values."""
    found = 0
    while leaves > 1:
        found += leaves // 3 + (leaves % 3 == 2)
        leaves = -(-leaves // 3)
    return found


def network(n_ops: int, *, seed: int = 0, width: int = WIDTH) -> Program:
    """Return a network of ``n_ops`` ops (at least ``width``), with ``width`` inputs and ``width`` outputs.

    The last layer may have fewer neurons; the remaining values of the layer before are outputs as well. Where there
    are too few ops left for a neuron, quantisations are added.
    """
    writer = Writer(seed)
    layer = [writer.quantised(-1, j, INPUT) for j in range(width)]
    while len(writer.rows) + FAN_IN + 1 <= n_ops:
        neurons = min(width, (n_ops - len(writer.rows)) // (FAN_IN + 1))
        layer = [writer.neuron(writer.random.sample(layer, FAN_IN)) for _ in range(neurons)] + layer[neurons:]
    for j in range(n_ops - len(writer.rows)):
        layer[j] = writer.quantised(3, layer[j].op, _ACTIVATION)
    return Program.build(writer.rows, [(value.op, 0, 0) for value in layer], inp_shift=[0] * width)
