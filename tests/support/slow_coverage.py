"""Count coverage slowly but obviously: a set of bins, filled from the oracle's value of every op, vector by vector.

It is written from docs/coverage.md, and uses none of the package's counting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dais_verif.golden import oracle
from dais_verif.spec.program import FixedType, Program

__all__ = ["Bin", "all_bins", "hit_bins"]

#: (group, "op", "input" or "output", its index, which): ``which`` is numbered as in the docs.
Bin = tuple[str, str, int, Any]


def all_bins(program: Program, *, declared: bool = True) -> set[Bin]:
    """Return every bin of a program."""
    found: set[Bin] = set()
    for op in program.ops:
        if op.type.width == 0:
            continue
        found |= {(group, "op", op.index, which) for group, which in _of_value(op.type)}
        more: dict[str, Any] = {}
        if op.code in (6, -6):
            more |= {"mux condition": (0, 1), "mux arm": (0, 1)}
        if op.code in (2, -2):
            more |= {"relu": (0, 1, 2)}
        if op.code in (-1, 2, -2, 3, -3, 6, -6, 12):
            more |= {"wrap": (0, 1), "truncation": (0, 1) if abs(op.code) == 2 else (0, 1, 2)}
        if op.code == 8:
            more |= {"table entry": range(len(program.tables[op.data & 0xFFFF_FFFF]))}
        found |= {(group, "op", op.index, which) for group, numbers in more.items() for which in numbers}
    for j, kind in enumerate(program.output_types):
        if kind.width:
            found |= {(group, "output", j, which) for group, which in _of_value(kind)}
    for j, corners in enumerate(_corners(program, declared)):
        found |= {("input corner", "input", j, which) for which in range(len(corners))}
    return found


def _of_value(kind: FixedType) -> Iterator[tuple[str, int]]:
    yield from (("bit", which) for which in range(2 * kind.width))
    if kind.raw_min < 0:
        yield "sign", 0
    if kind.raw_max > 0:
        yield "sign", 1
    yield "zero", 0


def _corners(program: Program, declared: bool) -> list[list[tuple[FixedType, int]]]:
    """Return the corners of each input: each type as which it is read, ascending, with each raw value to be reached."""
    readers: list[set[tuple[FixedType, int, int]]] = [set() for _ in range(program.n_in)]
    for op in program.ops:
        if op.code == -1 and op.type.width:
            s = int(program.inp_shift[op.id0])
            lo, hi = op.type.raw_min, op.type.raw_max
            if declared and program.intervals:
                lo, hi = program.intervals[op.index]
            readers[op.id0].add((FixedType(op.type.k, op.type.i - s, op.type.f + s), lo, hi))
    found = []
    for of_input in readers:
        corners = []
        for kind, lo, hi in sorted(of_input):
            corners += [(kind, raw) for raw in sorted({lo, hi, -1, 0, 1}) if lo <= raw <= hi]
        found.append(corners)
    return found


def hit_bins(program: Program, rows: Sequence[Sequence[Fraction]], *, declared: bool = True) -> set[Bin]:
    """Return the bins that the exact vectors ``rows`` hit, whether or not they break promises."""
    found: set[Bin] = set()
    corners = _corners(program, declared)
    for row in rows:
        inputs = [Fraction(value) for value in row]
        values = oracle.trace(program, inputs, violations=[])
        for op in program.ops:
            if op.type.width:
                value = values[op.index]
                found |= {(group, "op", op.index, which) for group, which in _value_bins(op.type, value)}
                found |= {(group, "op", op.index, which) for group, which in _op_bins(program, op, values, inputs)}
        for j, value in enumerate(oracle.outputs_of(program, values)):
            kind = program.output_types[j]
            if kind.width:
                found |= {(group, "output", j, which) for group, which in _value_bins(kind, value)}
        for j, of_input in enumerate(corners):
            for which, (kind, raw) in enumerate(of_input):
                if oracle.quantise(inputs[j], kind) == raw * Fraction(2) ** -kind.f:
                    found.add(("input corner", "input", j, which))
    return found


def _value_bins(kind: FixedType, value: Fraction) -> Iterator[tuple[str, int]]:
    raw = value * Fraction(2) ** kind.f
    assert raw.denominator == 1
    for bit in range(kind.width):
        one = raw.numerator >> bit & 1
        yield "bit", bit + kind.width * one
    if value < 0:
        yield "sign", 0
    if value > 0:
        yield "sign", 1
    if value == 0:
        yield "zero", 0


def _op_bins(program: Program, op: Any, values: list[Fraction], inputs: list[Fraction]) -> Iterator[tuple[str, int]]:
    two = Fraction(2)
    if op.code == -1:
        yield from _change(op.type, inputs[op.id0] * two ** int(program.inp_shift[op.id0]), False)
    if op.code in (3, -3):
        yield from _change(op.type, values[op.id0] * (1 if op.code > 0 else -1), False)
    if op.code == 12:
        yield from _change(op.type, values[op.id0] * two**op.data, False)
    if op.code in (2, -2):
        x = values[op.id0] * (1 if op.code > 0 else -1)
        yield "relu", 0 if x < 0 else 1 if x == 0 else 2
        yield from _change(op.type, max(x, Fraction(0)), True)
    if op.code in (6, -6):
        kind = program.ops[op.data & 0xFFFF_FFFF].type
        raw = values[op.data & 0xFFFF_FFFF] * two**kind.f
        msb = kind.width > 0 and raw.numerator >> kind.width - 1 & 1 == 1
        first = values[op.id0]
        second = values[op.id1] * two ** (op.data >> 32) * (1 if op.code > 0 else -1)
        which = 0 if msb else 1
        yield "mux condition", which
        if oracle.quantise(first, op.type) != oracle.quantise(second, op.type):
            yield "mux arm", which
        yield from _change(op.type, first if msb else second, False)
    if op.code == 8:
        kind = program.ops[op.id0].type
        index = int(values[op.id0] * two**kind.f) - kind.raw_min - (op.data >> 32)
        if 0 <= index < len(program.tables[op.data & 0xFFFF_FFFF]):
            yield "table entry", index


def _change(kind: FixedType, exact: Fraction, relu: bool) -> Iterator[tuple[str, int]]:
    scaled = exact * Fraction(2) ** kind.f
    floored = math.floor(scaled)
    yield "wrap", 1 if kind.raw_min <= floored <= kind.raw_max else 0
    yield "truncation", 1 if scaled == floored else 0
    if scaled != floored and exact < 0 and not relu:
        yield "truncation", 2
