"""Compare the fast engine with the oracle: a few distinct vectors tiled to many rows, in every way to run them.

``problems`` makes a comparison; ``campaign`` compares a random program for each seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import fast, oracle
from dais_verif.golden.fast import FastProgram, isas
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import ports_of

__all__ = [
    # one comparison
    "Vectors",
    "Way",
    "exact",
    "forced",
    "isas",
    "problems",
    "vectors",
    # random ones
    "beyond",
    "campaign",
    "planar_vectors",
    "random_vectors",
    "safe_ops",
]

#: Numbers of rows that use the row code, planes, or both after one to three full blocks of rows.
_FEW, _MANY = (1, 2, 5, 31, 32, 33, 47, 70), (2049, 2077, 2083, 4100, 6151)

#: A batch, float64 rows (rows, n_in), or planar integers (n_in, rows).
Given = Batch | NDArray[Any]


class Way(NamedTuple):
    """A way to run the engine. ``raw``: float64 rows give raw integers, not float64."""

    isa: str
    check: bool = False
    jobs: int = 1
    raw: bool = False


@dataclass(frozen=True)
class Vectors:
    """Distinct vectors in a form that the engine takes, and the oracle's result for each.

    ``raw``: outputs, then saved ops, as raw integers (n, vectors). ``broken``: whether each vector breaks a promise.
    ``broken_ops``: the ops whose promise any vector breaks.
    """

    given: Given
    raw: NDArray[np.int64]
    broken: NDArray[np.bool_]
    broken_ops: frozenset[int]

    def pick(self, rows: NDArray[np.intp]) -> Given:
        """Return the vectors whose indices are ``rows``, in that order."""
        if not isinstance(self.given, Batch):
            return self.given[rows] if self.given.dtype.kind == "f" else np.ascontiguousarray(self.given[:, rows])
        return Batch(len(rows), tuple(Column(c.mantissa[rows], c.exponent) for c in self.given.columns))


@contextmanager
def forced(isa: str) -> Iterator[None]:
    """Make the kernel use the instruction set ``isa``, and use threads however few rows there are."""
    with mock.patch.object(fast, "isa", lambda: isa), mock.patch.object(fast, "_WORTH_THREADS", 0):
        yield


def beyond(program: Program) -> bool:
    """Return whether the kernel may refuse ``program``.

    It may refuse ports of more than 64 bits, and lookups whose index has more than 31 bits or does not fit in 32 bits.
    """
    widths = [kind.width + (1 - kind.k) for kind in program.output_types]
    widths += [element.width for element in ports_of(program).inputs]
    lookups = [(program.ops[op.id0].type, op.data >> 32) for op in program.ops if op.code == 8]
    far = any(kind.width > 31 or not -(1 << 31) <= kind.raw_min + offset < 1 << 31 for kind, offset in lookups)
    return far or max(widths, default=0) > 64


def vectors(program: Program, given: Given, *, saved: Sequence[int] = ()) -> Vectors:
    """Return ``given`` with the oracle's outputs and saved values."""
    rows = exact(program, given)
    raw = np.zeros((program.n_out + len(saved), len(rows)), dtype=np.int64)
    broken, broken_ops = np.zeros(len(rows), dtype=np.bool_), set()
    for row, inputs in enumerate(rows):
        violations: list[oracle.Violation] = []
        values = oracle.trace(program, inputs, violations=violations)
        broken[row] = bool(violations)
        broken_ops.update(violation.op.index for violation in violations)
        results = [*oracle.outputs_of(program, values), *(values[op] for op in saved)]
        points = [*(kind.f for kind in program.output_types), *(program.ops[op].type.f for op in saved)]
        raw[:, row] = [int(value * oracle.two(f)) for value, f in zip(results, points, strict=True)]
    return Vectors(given, raw, broken, frozenset(broken_ops))


def exact(program: Program, given: Given) -> list[list[Fraction]]:
    """Return the vectors of ``given`` as exact numbers."""
    if isinstance(given, Batch):
        return [given.row(row) for row in range(given.rows)]
    if given.dtype.kind == "f":
        return [[Fraction(value) for value in row] for row in given.tolist()]
    weights = [oracle.two(element.lo) for element in ports_of(program).inputs]
    return [[value * weight for value, weight in zip(row, weights, strict=True)] for row in given.T.tolist()]


def problems(program: FastProgram, given: Vectors, rows: NDArray[np.intp], way: Way) -> str:
    """Return the first difference between ``program`` and the oracle on ``rows`` of ``given``, or an empty text."""
    with forced(way.isa):
        found, broken = _run(program, given.pick(rows), way)
    where = np.flatnonzero(given.broken[rows])
    expected = int(where[0]) if way.check and where.size else None
    if broken != expected:
        return f"{way}: violation in row {broken}, must be {expected}"
    if broken is not None:
        return ""
    wrong = np.argwhere(found != _as(given.raw[: len(found), rows], program, found.dtype))
    if wrong.size:
        j, row = wrong[0]
        return f"{way}, {len(rows)} rows: output {j} of row {row} (vector {rows[row]}) is {found[j, row]}"
    return ""


def _run(program: FastProgram, given: Given, way: Way) -> tuple[NDArray[Any], int | None]:
    """Return the outputs (n, rows), real or raw, and the first row that breaks a promise."""
    if not isinstance(given, Batch) and given.dtype.kind == "i":
        return program.run_planar(given, check=way.check, jobs=way.jobs)
    if not isinstance(given, Batch) and not way.raw:
        doubles, broken = program.run_doubles(given, check=way.check, jobs=way.jobs)
        return doubles.T, broken
    batch = Batch.of(given, program.program.n_in)
    columns, broken = program.run_batch(batch, check=way.check, jobs=way.jobs)
    return np.array(columns, dtype=np.int64).reshape(program.n_out, batch.rows), broken


def _as(raw: NDArray[np.int64], program: FastProgram, kind: np.dtype[Any]) -> NDArray[Any]:
    if kind != np.float64:
        return raw
    points = np.array([-kind.f for kind in program.program.output_types], dtype=np.int64)
    return np.ldexp(raw.astype(np.float64), points[:, None])


# ------------------------------------------------------------------ random cases


def random_vectors(rng: random.Random, program: Program) -> list[Given]:
    """Return a few vectors in each form that the engine takes: exact numbers, planar integers, doubles."""
    rows = random_rows(rng, program, 3)
    doubles = np.array([[_double(value) for value in row] for row in random_rows(rng, program, 3)])
    return [Batch.of(rows, program.n_in), planar_vectors(rng, program, 3), doubles.reshape(3, program.n_in)]


def _double(value: Any) -> float:
    """Return ``value`` as a double; a large finite double if it overflows."""
    try:
        return float(value)
    except OverflowError:
        return 1.7e308


def planar_vectors(rng: random.Random, program: Program, count: int) -> NDArray[Any]:
    """Return integers of a random size of the four: corners of that size and of the port elements, and random ones."""
    kind = rng.choice((np.int8, np.int16, np.int32, np.int64))
    bits, elements = np.dtype(kind).itemsize * 8, ports_of(program).inputs
    found = np.zeros((len(elements), count), dtype=kind)
    for j, element in enumerate(elements):
        for row in range(count):
            near = rng.choice((0, -1, 1 << element.width, 1 << max(element.width - 1, 0), rng.getrandbits(bits)))
            wrapped = (near + rng.choice((0, 0, -1, 1))) % (1 << bits)
            found[j, row] = wrapped - (1 << bits if wrapped >> (bits - 1) else 0)
    return found


def campaign(seeds: range) -> Counter[str]:
    """Judge one random program per seed and return what was covered; raise ``AssertionError`` at the first problem."""
    covered: Counter[str] = Counter()
    for seed in seeds:
        try:
            covered.update(_judge(random.Random(seed)))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    return covered


def _judge(rng: random.Random) -> Iterator[str]:
    """Judge a random program, compiled and run at random in each form of vectors; yield what that covered."""
    program = random_program(
        rng,
        rng.choice((2, 5, 10, 20, 45)),
        promise_keeping=rng.random() < 0.5,
        tables=rng.random() < 0.5,
        widest=rng.choice((4, 8, 16, 40, 64, 70)),
        alir=rng.random() < 0.4,
    )
    if beyond(program):
        yield "beyond"
        return
    narrow = [op.index for op in program.ops if op.type.width + (1 - op.type.k) <= 64]
    saved = rng.sample(narrow, rng.randint(1, len(narrow))) if narrow and rng.random() < 0.2 else []
    made = FastProgram(program, saved=tuple(saved), fuse=rng.random() < 0.8, locality=rng.random() < 0.8)
    proved = {op for check in (False, True) for op in np.flatnonzero(safe_ops(made, check)).tolist()}
    yield "programs"
    yield from {f"opcode {op.code}" for op in program.ops}
    for vectors_given in random_vectors(rng, program):
        given = vectors(program, vectors_given, saved=saved)
        assert not proved & given.broken_ops, f"ops {sorted(proved & given.broken_ops)} were said to be safe"
        way, rows = _random_way(rng, given, made)
        problem = problems(made, given, rows, way)
        assert not problem, problem
        yield from _features(given, rows, way)


def safe_ops(program: FastProgram, check: bool) -> NDArray[np.bool_]:
    """Return for each op whether the kernel takes its promise as proved, compiled with or without checks."""
    return np.frombuffer(program.code(check).facts()["safe"], dtype=np.bool_)


def _random_way(rng: random.Random, given: Vectors, program: FastProgram) -> tuple[Way, NDArray[np.intp]]:
    """Return a random way to run, and random rows; often one row breaks a promise among rows that break none."""
    real = program.takes_reals and program.gives_doubles and program.n_out == program.program.n_out
    way = Way(rng.choice(isas()), check=rng.random() < 0.6, raw=not real or rng.random() < 0.3)
    count = rng.choice(_FEW)
    if rng.random() < 0.04:
        count, way = rng.choice(_MANY), way._replace(jobs=rng.choice((1, 2, 3)))
    numbers = np.random.default_rng(rng.getrandbits(32))
    good, bad = np.flatnonzero(~given.broken), np.flatnonzero(given.broken)
    rows = numbers.choice(good, count) if good.size and rng.random() < 0.7 else numbers.integers(0, 3, count)
    if bad.size and rng.random() < 0.5:
        rows[rng.randrange(count)] = rng.choice(bad.tolist())
    return way, rows


def _features(given: Vectors, rows: NDArray[np.intp], way: Way) -> Iterator[str]:
    doubles = "doubles to integers" if way.raw else "doubles"
    kind = "exact" if isinstance(given.given, Batch) else str(given.given.dtype).replace("float64", doubles)
    broken = "a broken promise" if given.broken[rows].any() else "no broken promise"
    yield from (kind, way.isa, f"{way.jobs} jobs", f"{len(rows)} rows", f"{broken}, check {way.check}")
