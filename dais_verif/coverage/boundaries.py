"""Vectors at the boundaries of a program's choices: conditions of muxes, kinks of relus, limits of types, table ends.

A wrong comparison, such as ``<`` for ``<=``, differs at one value only, which random vectors of a wide input hardly
reach. Each of these vectors is pulled back from such a value; the work is bounded, and depends on program and seed
alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from dais_verif.coverage.directed import Rows, batch_of_bits
from dais_verif.coverage.goals import Wish
from dais_verif.coverage.inputs import Readers
from dais_verif.coverage.pullback import Ground, pull
from dais_verif.golden.batch import compile_program
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import MUXES, QUANTS, RELUS, Code, high_int32, low_int32
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import Interval, analyse
from dais_verif.stimulus.generate import Generated, generate
from dais_verif.stimulus.pseudo_exhaustive.domain import domain_of
from dais_verif.stimulus.sequence import First, Stimulus, Vectors

__all__ = ["boundary_vectors", "with_boundaries"]

#: The largest program, the number of wishes, and the number of rounds in which each is pulled back.
_LARGE, _WISHES, _ROUNDS = 8_000, 256, 3
#: Ops times vectors that are evaluated in a round, and the number of ops that are visited in all.
_VALUES, _VISITED = 150_000, 10_000
_STEPS = 200
#: The vectors from which values are pulled back, and the part of a run's vectors that these may replace.
_BASES, _SHARE = 16, 4


def with_boundaries(program: Program, vectors: int, seed: int, *, check: bool = True) -> tuple[Vectors, int]:
    """Return generated vectors, the last of which are boundary vectors, and the number of these."""
    generated = Generated([program], vectors, seed)
    found = boundary_vectors(program, vectors // _SHARE, seed, check=check)
    if not found.rows:
        return generated, 0
    return Stimulus([First(generated, vectors - found.rows), found]), found.rows


def boundary_vectors(program: Program, most: int, seed: int, *, check: bool = True) -> Batch:
    """Return at most ``most`` vectors that reach values at which a choice of ``program`` changes.

    ``check``: leave out vectors that break a promise. Inputs stay within the intervals that ``program`` declares.
    """
    domain = domain_of(program)
    nothing = batch_of_bits(domain, [])
    if not most or program.n_ops > _LARGE or not program.n_in:
        return nothing
    intervals = analyse(program, declared=True).intervals
    wished = list(dict.fromkeys(wish for wish in _wishes(program) if _is_possible(intervals[wish.op], wish.raw)))
    rng = random.Random(seed)
    if len(wished) > _WISHES:
        wished = rng.sample(wished, _WISHES)
    if not wished:
        return nothing
    ports, compiled = ports_of(program), compile_program(program)
    ground, readers = Ground(program, ports, intervals), Readers.of(program, declared=True)
    base = Rows(ports, generate(program, _BASES, seed), compiled)
    last = {wish: (base, n % base.count) for n, wish in enumerate(wished)}
    found: list[Batch] = []
    left, rows = _VISITED, max(_VALUES // program.n_ops, 1)
    for _ in range(_ROUNDS):
        open_ = list(last)[:rows]
        vectors = []
        for wish in open_:
            before, row = last[wish]
            pulled = pull(ground, [wish], before.values(row), before.inputs(row), rng, steps=min(_STEPS, left))
            vectors.append(pulled.inputs)
            left -= pulled.asked
            if left <= 0:
                break
        if not vectors:
            break
        batch = batch_of_bits(domain, vectors)
        tried, keeps = Rows(ports, batch, compiled), not check or compiled.run(batch)[1] is None
        for row, wish in enumerate(open_[: len(vectors)]):
            if wish not in last:
                continue
            last[wish] = tried, row
            values = tried.values(row)
            one = batch.slice(row, row + 1)
            if values[wish.op] != wish.raw or not readers.declare(one):
                continue
            if not keeps and compiled.run(one)[1] is not None:
                last[wish] = base, rng.randrange(base.count)
                continue
            last = {other: at for other, at in last.items() if values[other.op] != other.raw}
            found.append(one)
            if len(found) == most:
                return Batch.concatenate(found)
        if left <= 0 or not last:
            break
    return Batch.concatenate(found) if found else nothing


def _is_possible(x: Interval, raw: int) -> bool:
    return x.lo <= raw <= x.hi and raw % (1 << x.zeros) == 0


def _wishes(program: Program) -> Iterator[Wish]:
    """Yield the values on both sides of each boundary."""
    for op in program.ops:
        if op.code in MUXES:
            kind = program.ops[op.condition].type
            half = 1 << kind.width - 1 if kind.width else 0
            edge = 0 if kind.k else half
            yield from (Wish(op.condition, edge - 1), Wish(op.condition, edge))
        elif op.code in RELUS:
            yield from (Wish(op.id0, raw) for raw in (-1, 0, 1))
        elif op.code == Code.LOOKUP:
            first = program.ops[op.id0].type.raw_min + high_int32(op.data)
            size = len(program.tables[low_int32(op.data)])
            yield from (Wish(op.id0, first), Wish(op.id0, first + size - 1))
        elif op.code in (Code.BIT_UNARY, Code.BIT_UNARY_NEG):
            kind = program.ops[op.id0].type
            yield from (Wish(op.id0, 0), Wish(op.id0, -1 if kind.k else kind.raw_max))
        if op.code in QUANTS:
            yield from _edges(program, op)


def _edges(program: Program, op: Op) -> Iterator[Wish]:
    """Yield the operands whose results are the last that fit the type of ``op``, and the first that wrap."""
    source, kind = program.ops[op.id0].type, op.type
    sign = -1 if op.spec.negate else 1
    for raw in _around(kind, source.f - kind.f):
        yield Wish(op.id0, sign * raw)


def _around(kind: FixedType, drop: int) -> tuple[int, ...]:
    """Return values of an operand with ``drop`` more fractional bits than ``kind``."""
    low = kind.raw_min << drop if drop >= 0 else kind.raw_min >> -drop
    high = (kind.raw_max + 1 << drop) - 1 if drop >= 0 else kind.raw_max >> -drop
    return (low - 1, low, high, high + 1, *((-1, 0) if drop > 0 else ()))
