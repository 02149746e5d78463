"""Programs reduced to the ops that a peer must compute correctly, and vectors that it can take."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from interop.table import clean

from dais_verif.base.errors import InputError
from dais_verif.golden import ENGINES, Engine, Golden, fast
from dais_verif.spec.program import Program
from dais_verif.spec.program.types import type_of_interval

__all__ = ["doubles", "engines_for", "part", "unshared_inputs", "with_muxes"]

Row = tuple[int, int, int, int, tuple[int, int, int]]

_DOUBLE_BITS = 53
#: There are separate cases for inputs that are larger than this many bits of the last place of an op that reads them,
_INPUT_BITS = 50
#: for inputs that are nearer to 0 than 2 to the minus this power, and for outputs that are shifted by more.
_FAR = 900


def engines_for(program: Program) -> list[Engine]:
    """Return all engines; the fast one only if this machine has it and it takes ``program``."""
    return [engine for engine in ENGINES if engine != "fast" or (not fast.why_not() and _fast_takes(program))]


def _fast_takes(program: Program) -> bool:
    try:
        Golden(program, engine="fast")
    except InputError:
        return False
    return True


def part(peer: str, program: Program) -> Program:
    """Return the ops of ``program`` that no case can affect in ``peer``; each that fits a double becomes an output.

    The remaining outputs of ``program`` come first.
    """
    kept = clean(peer, program)
    place = {index: number for number, index in enumerate(index for index, keep in enumerate(kept) if keep)}
    place[-1] = -1
    moved = (op.rewired(place.__getitem__) for op in program.ops if kept[op.index])
    ops = [(op.code, op.id0, op.id1, op.data, op.type) for op in moved]
    outputs = [(place[index], shift, neg) for index, shift, neg in program.outputs if index in place]
    outputs += [(number, 0, 0) for number in range(len(ops))]
    exact = [
        (index, shift, neg)
        for index, shift, neg in outputs
        if abs(shift) < _FAR and (index < 0 or sum(ops[index][4]) <= _DOUBLE_BITS)
    ]
    return Program.build(ops, exact, inp_shift=program.inp_shift.tolist(), tables=[t.tolist() for t in program.tables])


def unshared_inputs(program: Program) -> Program:
    """Return ``program`` with a separate input for every op that reads one, and without ``inp_shift``."""
    rows: list[Row] = []
    n_in = 0
    for op in program.ops:
        rows.append((op.code, n_in if op.code == -1 else op.id0, op.id1, op.data, op.type))
        n_in += op.code == -1
    tables = [table.tolist() for table in program.tables]
    return Program.build(rows, program.outputs, inp_shift=[0] * n_in, tables=tables, terms=_terms(program))


def _terms(program: Program) -> list[tuple[int, int, int]]:
    return [term for op in program.ops for term in op.terms]


def with_muxes(rng: random.Random, program: Program, count: int = 3, codes: Sequence[int] = (6, -6)) -> Program:
    """Return ``program`` with ``count`` added muxes of its ops, whose types hold both arms; random types rarely do."""
    rows: list[Row] = [(op.code, op.id0, op.id1, op.data, op.type) for op in program.ops]
    for _ in range(count):
        a, b, condition = (rng.randrange(program.n_ops) for _ in range(3))
        code, shift = rng.choice(codes), rng.randint(-3, 3)
        first, second = program.ops[a].type, program.ops[b].type
        f = max(first.f, second.f - shift)
        ends = [end << (f - first.f) for end in (first.raw_min, first.raw_max)]
        ends += [end << (f - second.f + shift) for end in (second.raw_min, second.raw_max)]
        ends += [-end for end in ends[2:] if code < 0]
        rows.append((code, a, b, shift << 32 | condition, type_of_interval(min(ends), max(ends), f)))
    outputs = [*program.outputs, *((index, 0, 0) for index in range(program.n_ops, len(rows)))]
    tables = [table.tolist() for table in program.tables]
    return Program.build(rows, outputs, inp_shift=program.inp_shift.tolist(), tables=tables, terms=_terms(program))


def doubles(program: Program, rows: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Return ``rows`` as doubles; 0 replaces a number that is not a double, tiny, or too large for its readers."""
    limits = [Fraction(2) ** _FAR] * program.n_in
    for op in program.ops:
        if op.code == -1:
            reach = Fraction(2) ** (_INPUT_BITS - op.type.f - int(program.inp_shift[op.id0]))
            limits[op.id0] = min(limits[op.id0], reach)
    return [[_double(Fraction(value), limit) for value, limit in zip(row, limits, strict=True)] for row in rows]


def _double(value: Fraction, limit: Fraction) -> float:
    near = Fraction(1, 1 << _FAR) <= abs(value) < limit
    return float(value) if near and Fraction(float(value)) == value else 0.0
