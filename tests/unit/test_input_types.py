"""Inputs of any type and memory order are read in place: values are exact, and no float64 copy is made."""

from __future__ import annotations

import random
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from support.fast_cases import beyond, forced, isas
from support.said import raises

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

pytestmark = pytest.mark.usefixtures("kernel")

FLOATS = (np.float16, np.float32, np.float64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.bool_, np.uint8, np.uint16, np.uint32, np.uint64)
TYPES = [pytest.param(np.dtype(kind), id=np.dtype(kind).name) for kind in (*FLOATS, *SIGNED, *UNSIGNED)]
#: Row code; planes that are nearly empty; planes of which only the last is not full; more than one block.
COUNTS = (1, 20, 45, 2048, 2100)


def copies(kinds: list[tuple[int, int, int]], shifts: list[int] | None = None) -> Program:
    """Return a program whose outputs are its inputs, read in the given types."""
    rows = [(-1, j, -1, 0, kind) for j, kind in enumerate(kinds)]
    return Program.build(rows, [(j, 0, 0) for j in range(len(kinds))], inp_shift=shifts or [0] * len(kinds))


#: Fractional bits, integer bits, signs, widths and shifts of many kinds, with 1 to 40 inputs.
PROGRAMS = [
    copies([(1, 3, 4)]),
    copies([(0, 5, 3), (1, 7, 0)]),
    copies([(1, 0, 9), (0, 8, 0), (1, 30, 3)]),
    copies([(1, 3, 4)] * 7 + [(0, 4, -1)]),
    copies([(1, 7, 0), (0, 8, 0), (0, 9, -2), (1, 40, 5), (0, 50, 0)] * 4, [0, 3, -2, 9, -60] * 4),
    copies([(1, j % 9, 7 - j % 5) for j in range(40)]),
]


def numbers(kind: np.dtype, rows: int, columns: int) -> np.ndarray:
    """Return random numbers of ``kind``, including its extreme values."""
    rng = np.random.default_rng(rows * 100 + columns)
    if kind.kind == "f":
        x = (
            rng.integers(-(1 << 9), 1 << 9, (rows, columns)) * np.ldexp(1.0, rng.integers(-14, 4, (rows, columns)))
        ).astype(kind)
        info = np.finfo(kind)
        extremes = [info.max, info.min, info.tiny, -info.smallest_subnormal, -0.0, info.eps]
    elif kind.kind == "b":
        return rng.integers(0, 2, (rows, columns)).astype(bool)
    else:
        info = np.iinfo(kind)
        x = rng.integers(info.min, info.max, (rows, columns), dtype=kind, endpoint=True)
        extremes = [info.max, info.min, 0, 1, info.max - 1]
    for extreme in extremes:
        x[rng.integers(rows), rng.integers(columns)] = extreme
    return x


def orders(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return ``x`` in row and column order, and in memory layouts that are neither."""
    wide = np.zeros((len(x) * 2, x.shape[1] + 3), dtype=x.dtype)
    wide[::2, 1:-2] = x
    off = np.zeros(x.nbytes + 1, dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape)
    off[:] = x
    return {
        "rows": x,
        "columns": np.asfortranarray(x),
        "strided": wide[::2, 1:-2],
        "backwards": x[::-1, ::-1].copy()[::-1, ::-1],
        "other bytes": x.astype(x.dtype.newbyteorder()),
        "unaligned": off,
        "masked, none of it": np.ma.MaskedArray(x),
    }


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", COUNTS)
def test_equal_to_exact_numbers(kind: np.dtype, rows: int) -> None:
    """In any layout and with every instruction set, results equal those of the numpy engine on the exact numbers."""
    for program in PROGRAMS:
        x = numbers(kind, rows, program.n_in)
        exact = Batch.of([[_exact(value) for value in row] for row in x.tolist()], program.n_in)
        expected = Golden(program, engine="numpy").run_raw(exact, check=False)
        scales = [2.0**-op.f for op in program.output_types]
        for isa in isas():
            golden = Golden(program, engine="fast")
            with forced(isa):
                for order, given in orders(x).items():
                    found = golden.run(given, check=False)
                    for j, scale in enumerate(scales):
                        assert np.array_equal(found[:, j], expected[j].astype(np.float64) * scale), (order, isa, j)


def _exact(value: object) -> object:
    return int(value) if isinstance(value, bool) else value


@pytest.mark.parametrize("kind", TYPES)
def test_equal_to_the_oracle_on_random_programs(kind: np.dtype) -> None:
    taken = 0
    for seed in range(40):
        rng = random.Random(seed)
        program = random_program(rng, 10)
        if beyond(program) or not program.n_in or max((k.width for k in program.output_types), default=0) > 50:
            continue
        taken += 1
        x = numbers(kind, 40, program.n_in)
        expected = Golden(program, engine="exact").run(x[:5], check=False)
        for given in (x, np.asfortranarray(x)):
            assert np.array_equal(Golden(program).run(given, check=False)[:5], expected), seed
            assert np.array_equal(Golden(program).run(given[:5], check=False), expected), seed
    assert taken > 10


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", COUNTS)
def test_what_is_no_number_is_named(kind: type, order: str, rows: int) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        x = np.ones((rows, 3), dtype=kind, order=order)
        x[rows * 2 // 3, 1] = bad
        with pytest.raises(InputError, match=f"^input vector {rows * 2 // 3}, input 1 is {bad}; "):
            Golden(copies([(1, 3, 4)] * 3)).run(x)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_broken_promises_are_named(kind: np.dtype, order: str) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 8, 0)), (4, 0, -1, 1, (0, 1, 0))], [(1, 0, 0)], inp_shift=[0, 0])
    for rows in COUNTS:
        x = np.zeros((rows, 2), dtype=kind, order=order)
        x[rows // 2, 0] = 1
        with raises(ViolationError):
            Golden(program).run(x)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_copy_is_made(kind: np.dtype, order: str) -> None:
    """numpy reports how much it allocates: next to nothing, while a copy would take megabytes."""
    program, x = copies([(1, 3, 4)] * 16), np.zeros((50_000, 16), dtype=kind, order=order)
    golden, out = Golden(program, engine="fast"), np.empty((50_000, 16))
    golden.run(x, out=out)
    tracemalloc.start()
    try:
        golden.run(x, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def test_a_copy_would_be_seen() -> None:
    """The test above can fail: rows that are not contiguous are copied, in their own type."""
    program, x = copies([(1, 3, 4)] * 16), np.zeros((100_000, 16), dtype=np.int16)[::2]
    golden, out = Golden(program, engine="fast"), np.empty((50_000, 16))
    tracemalloc.start()
    try:
        golden.run(x, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 50_000 * 16 * 2 <= peak < 50_000 * 16 * 4


def test_integers_beyond_float64_are_exact() -> None:
    """The low bits of large integers are kept, as in the oracle."""
    program, x = copies([(0, 8, 0)]), np.array([[2**63 + 5], [2**64 - 1], [2**53 + 1]], dtype=np.uint64)
    assert Golden(program).run(x).tolist() == [[5], [255], [1]]
    assert Golden(program, engine="exact").run(x).tolist() == [[5], [255], [1]]
    assert Fraction(2**53 + 1) != Fraction(float(2**53 + 1))
