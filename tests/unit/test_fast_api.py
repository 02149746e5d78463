"""The functions that users call, on the fast engine: results, refused arguments, and real programs."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fast_cases import Way, beyond, forced, isas, planar_vectors, problems, vectors
from support.said import raises

from dais_verif import golden
from dais_verif.base.errors import DaisError, InputError, VectorError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import Golden
from dais_verif.golden.fast import FastProgram
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

pytestmark = pytest.mark.usefixtures("kernel")

INTEGERS = (np.int8, np.int16, np.int32, np.int64)
COUNTS = (1, 31, 33, 2077, 4100)


@pytest.mark.few(2)
@pytest.mark.parametrize("chunk", range(3))
def test_every_function_gives_what_the_oracle_gives(chunk: int) -> None:
    """Values and error messages are equal, also for programs beyond the kernel, which another engine runs."""
    served = Counter[str]()
    for seed in range(chunk * 80, chunk * 80 + 80):
        rng = random.Random(seed)
        program = random_program(rng, rng.choice((3, 12, 25)), promise_keeping=seed % 2 == 0)
        auto, exact = Golden(program), Golden(program, engine="exact")
        assert auto.engine == ("numpy" if beyond(program) else "fast")
        served[auto.engine] += 1
        rows = random_rows(rng, program, 5)
        for x, check in product((rows, *_arrays(rows)), (False, True)):
            options = {"check": check}
            assert _answer(auto.run_raw, Batch.of(x, program.n_in), **options) == _answer(
                exact.run_raw, Batch.of(x, program.n_in), **options
            ), seed
            assert _answer(auto.run, x, **options) == _answer(exact.run, x, **options), seed
    assert min(served["fast"], served["numpy"]) > 5


def _arrays(rows: list[list[Any]]) -> list[np.ndarray]:
    """Return the rows as float64 in column order, and every second row as float32."""
    doubles = np.array([[min(float(v), 1e308) if abs(v) < 1 << 1020 else 1e308 for v in row] for row in rows])
    with np.errstate(over="ignore"):
        singles = doubles.astype(np.float32)
    return [np.asfortranarray(doubles), np.where(np.isfinite(singles), singles, 1)[::2]]


def _answer(function: Any, *arguments: Any, **options: Any) -> Any:
    """Return the result of ``function`` as plain numbers, or the message of its error."""
    try:
        result = function(*arguments, **options)
    except DaisError as error:
        return str(error)
    return [column.tolist() for column in result]


def test_planar_integers_through_the_door() -> None:
    taken = 0
    for seed in range(150):
        rng = random.Random(seed)
        program = random_program(rng, 12)
        if beyond(program):
            continue
        taken += 1
        found = vectors(program, planar_vectors(rng, program, 3))
        expected, golden = found.raw.tolist(), Golden(program, engine="fast")
        y = golden.run_planar(found.given, check=False)
        assert y.tolist() == expected, seed
        assert y.dtype == FastProgram(program).narrowest
        assert Golden(program, engine="numpy").run_planar(found.given, check=False).tolist() == expected, seed
        for kind in INTEGERS:
            if np.dtype(kind).itemsize >= y.itemsize:
                out = np.full(y.shape, 77, dtype=kind)
                assert golden.run_planar(found.given, check=False, out=out) is out
                assert out.tolist() == expected, seed
        if found.broken.any():
            with raises(ViolationError):
                golden.run_planar(found.given)
    assert taken > 100


def test_one_program_serves_many_threads_of_the_caller() -> None:
    """Results are right if more calls run at once than the program keeps planes for, each with two threads.

    Some of the calls run in planes, and some in row code.
    """
    golden = Golden(identity(3), engine="fast")
    given = [
        np.random.default_rng(j).integers(-15, 15, (rows, 3)) / 4 for j, rows in enumerate((2100, 3, 40, 6151) * 6)
    ]
    expected = [Golden(identity(3), engine="numpy").run(x) for x in given]
    with forced(isas()[0]), ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda x: golden.run(x, jobs=2), given * 5))
    assert all(np.array_equal(one, other) for one, other in zip(found, expected * 5, strict=True))


# ------------------------------------------------------------------ numbers


def kinds_of_doubles() -> list[float]:
    tiny, huge = np.finfo(np.float64).tiny, np.finfo(np.float64).max
    powers = [2.0**e for e in (-1074, -1022, -70, -53, -1, 31, 32, 50, 51, 52, 53, 61, 62, 63, 64, 100, 900, 1023)]
    odd = [(2.0**53 - 1) * 2.0**e for e in (-60, -1, 9, 10, 11, 59, 60, 61, 62, 63, 64)]
    near = [
        2.0**63 - 1024,
        2.0**62 - 512,
        2.0**62 + 1024,
        2.0**30 - 0.5,
        2.0**31 - 0.25,
        2.0**50 - 0.125,
        2.0**51 - 0.25,
        2.0**51 + 0.5,
        2.0**52 - 0.5,
        0.1,
        1.5,
        tiny / 2,
        huge,
        1e300,
    ]
    return [sign * value for value in (0.0, *powers, *odd, *near) for sign in (1, -1)]


@pytest.mark.few(4)
@pytest.mark.parametrize("far", [0, 40, 63, 600, 879, 895, 1000, 1500, 2000, 4000])
def test_doubles_of_every_size_at_scales_up_to_the_limits(far: int) -> None:
    """Doubles of every size are right for inputs of 64, 30 and 53 bits that are shifted far up or far down."""
    rows = [
        (-1, j, -1, 0, (k, width - k - f, f)) for j, (k, width, f) in enumerate(((0, 64, 3), (1, 30, -2), (1, 53, 5)))
    ]
    top = (3, 0, -1, 0, (1, 60, -21))
    for shift in (far, -far):
        program = Program.build(
            [*rows, *((3, j, -1, 0, (1, 40 - f, f)) for j, (_, _, _, _, (_, _, f)) in enumerate(rows)), top],
            [(op, -shift, 0) for op in (1, 3, 4, 5, 6)],
            inp_shift=[shift] * 3,
        )
        made = FastProgram(program)
        assert (made.takes_reals and made.gives_doubles) == all(abs(shift + f) <= 900 for f in (3, -2, 5, -21))
        column = np.array(kinds_of_doubles())
        x = np.stack([column, column[::-1], np.roll(column, 7)], axis=1)
        expected = Golden(program, engine="exact").run_raw(Batch.of(x, 3))
        for count, isa in product((7, 2100), isas()):
            many = np.resize(x, (count, 3))
            with forced(isa):
                found = Golden(program, engine="fast").run_raw(Batch.of(many, 3), jobs=2)
                assert real(program, "fast", many) == real(program, "numpy", many)
            for mine, right in zip(found, expected, strict=True):
                assert mine.tolist() == np.resize(right, count).tolist()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 17])
@pytest.mark.parametrize("width", [6, 8, 9, 16, 17, 32, 33, 53])
def test_doubles_of_every_size_in_any_number_of_columns(width: int, columns: int) -> None:
    """Doubles of every size wrap to any width, in columns of different units; some outputs are negated."""
    rows = [(-1, j, -1, 0, (j % 2, width - j % 2 - f, f)) for j, f in enumerate(range(-3, columns - 3))]
    program = Program.build(rows, [(j, j % 5, j % 3 == 1) for j in range(columns)], inp_shift=[0] * columns)
    some = np.array(kinds_of_doubles())
    x = np.stack([np.roll(some, 5 * j) for j in range(columns)], axis=1)
    made, right = FastProgram(program), vectors(program, x)
    for isa, count in product(isas(), (len(x) + 33, 2048, 4100)):
        many = np.arange(count) % len(x)
        assert not problems(made, right, many, Way(isa, raw=True))
        if made.gives_doubles:
            assert not problems(made, right, many, Way(isa))


@pytest.mark.parametrize("rows", [1, 33, 2100])
def test_what_is_too_small_for_a_double_is_floored_all_the_same(rows: int) -> None:
    """Numbers that underflow when scaled are floored, also if no larger number among them shows that care is needed."""
    program = Program.build([(-1, 0, -1, 0, (1, 895, -890))], [(0, -890, 0)], inp_shift=[0])
    for value, expected in ((-5e-324, -1), (5e-324, 0), (-1e-60, -1), (-0.0, 0), (0.0, 0)):
        assert Golden(program, engine="fast").run(np.full((rows, 1), value)).tolist() == [[expected]] * rows


def real(program: Program, engine: Any, x: Any) -> Any:
    try:
        return Golden(program, engine=engine).run(x).tolist()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("rows", [1, 33])
@pytest.mark.parametrize("width", [52, 53, 54, 55, 56, 61, 64])
@pytest.mark.parametrize("engine", ["fast", "numpy"])
def test_outputs_that_float64_does_not_hold_are_refused(engine: Any, width: int, rows: int) -> None:
    """An output that float64 does not hold is refused; the last one is an odd number of ``width`` significant bits."""
    kind = (0, width, 0)
    program = Program.build(
        [*((-1, j, -1, 0, kind) for j in (0, 1)), (0, 0, 1, 0, kind)], [(2, 0, 1)], inp_shift=[0, 0]
    )
    x = np.zeros((rows, 2))
    x[-1] = 2.0 ** (width - 1), 1
    golden = Golden(program, engine="numpy" if width == 64 else engine)
    if width <= 53:
        assert golden.run(x)[-1, 0] == -(2.0 ** (width - 1)) - 1
    else:
        with raises(InputError):
            golden.run(x)


def test_negative_zero_is_zero() -> None:
    program = identity(2)
    y = Golden(program, engine="fast").run(np.full((40, 2), -0.0))
    assert not np.signbit(y).any()


def identity(n: int) -> Program:
    """Return a program that doubles all of its ``n`` inputs but the last, and promises that results fit s6.2."""
    rows = [(-1, j, -1, 0, (1, 3, 2)) for j in range(n - 1)]
    rows += [(0, j, j, 0, (1, 3, 2)) for j in range(n - 1)]
    return Program.build(rows, [(n - 1 + j, 0, 0) for j in range(n - 1)], inp_shift=[0] * n)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 30, 32, 2047, 2048, 2078, 4100, 9000])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_is_no_number_is_named_wherever_it_stands(value: float, row: int, jobs: int) -> None:
    """Vectors with NaN or an infinity are refused before they run.

    The error names the first such value, also if no op reads it, and also if an earlier row breaks a promise.
    """
    golden, rows = Golden(identity(3), engine="fast"), row + 1 + row % 3
    for column, before, check in product((0, 2), (0.0, 7.0), (False, True)):
        x = np.zeros((rows, 3))
        x[0, 0] = before
        x[row, column] = x[-1, 2] = value
        with forced(isas()[row % len(isas())]), pytest.raises(InputError) as caught:
            golden.run(x, check=check, jobs=jobs)
        assert str(caught.value).startswith(f"input vector {row}, input {column} is {value};")


def test_the_first_of_two_that_are_no_numbers_is_named() -> None:
    x = np.zeros((5, 3))
    x[3, 0] = x[2, 2] = x[2, 1] = np.nan
    for count in (5, 50):
        with pytest.raises(InputError, match=r"^input vector 2, input 1 is nan;"):
            Golden(identity(3), engine="fast").run(np.concatenate([x, np.zeros((count - 5, 3))]))


@pytest.mark.parametrize(("row", "rows"), [(0, 1), (30, 31), (32, 33), (2048, 2060), (4099, 4100), (6200, 9001)])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_first_broken_promise_is_found_in_any_pass(row: int, rows: int, jobs: int) -> None:
    x = np.zeros((rows, 3))
    x[row:, 1] = 7.5
    golden = Golden(identity(3), engine="fast")
    for isa in isas():
        with forced(isa), raises(ViolationError):
            golden.run(x, jobs=jobs)


@pytest.mark.parametrize("rows", [0, 1, 32, 33, 2060])
def test_arrays_of_other_kinds_mean_the_same_numbers(rows: int) -> None:
    golden = Golden(identity(3), engine="fast")
    x = np.random.default_rng(1).integers(-15, 15, (rows, 3)) / 4
    expected = golden.run(x).tolist()
    others: dict[str, Any] = {
        "float32": x.astype(np.float32),
        "float16": x.astype(np.float16),
        "long double": x.astype(np.longdouble),
        "big-endian": x.astype(">f8"),
        "columns apart": np.asfortranarray(x),
        "every second": np.repeat(x, 2, axis=0)[::2],
        "backwards": x[::-1][::-1],
        "read-only": np.frombuffer(x.tobytes()).reshape(x.shape),
    }
    if rows:
        others["lists"] = x.tolist()
    for name, array in others.items():
        assert golden.run(array).tolist() == expected, name


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is float64 here")
def test_a_long_double_is_not_rounded() -> None:
    program = Program.build([(-1, 0, -1, 0, (0, -50, 60))], [(0, 0, 0)], inp_shift=[0])
    x = np.array([[np.longdouble(1) + np.longdouble(2) ** -60]])
    assert Golden(program, engine="fast").run(x).tolist() == [[2.0**-60]]


# ------------------------------------------------------------------ arrays that are refused


GOOD = np.zeros((5, 3))

BAD_OUT: dict[str, Callable[[], Any]] = {
    "list": lambda: [[0.0], [0.0]],
    "rows": lambda: np.empty((4, 2)),
    "columns": lambda: np.empty((5, 3)),
    "flat": lambda: np.empty(10),
    "dtype": lambda: np.empty((5, 2), dtype=np.float32),
    "integers": lambda: np.empty((5, 2), dtype=np.int64),
    "big-endian": lambda: np.empty((5, 2), dtype=">f8"),
    "columns apart": lambda: np.empty((5, 2), order="F"),
    "every second": lambda: np.empty((10, 2))[::2],
    "read-only": lambda: np.frombuffer(bytes(80)).reshape(5, 2),
    "the inputs": lambda: GOOD.reshape(-1)[3:13].reshape(5, 2),
}


@pytest.mark.parametrize("name", BAD_OUT)
@pytest.mark.parametrize("engine", ["fast", "numpy"])
def test_out_that_does_not_fit_is_refused(name: str, engine: Any) -> None:
    with raises(InputError):
        Golden(identity(3), engine=engine).run(GOOD, out=BAD_OUT[name]())


def test_out_is_filled_and_given_back() -> None:
    for engine in ("fast", "numpy", "exact"):
        out = np.full((5, 2), np.nan)
        assert Golden(identity(3), engine=engine).run(GOOD + 1.5, out=out) is out
        assert (out == 3).all()


PLANAR = np.zeros((3, 5), dtype=np.int16)

BAD_PLANAR: dict[str, Callable[[], Any]] = {
    "rows and columns exchanged": lambda: PLANAR.T,
    "one input too many": lambda: np.zeros((4, 5), dtype=np.int16),
    "flat": lambda: np.zeros(3, dtype=np.int16),
    "three axes": lambda: PLANAR.reshape(3, 5, 1),
    "doubles": lambda: PLANAR.astype(np.float64),
    "unsigned": lambda: PLANAR.astype(np.uint16),
    "objects": lambda: PLANAR.astype(object),
    "big-endian": lambda: PLANAR.astype(">i2"),
    "every second": lambda: np.repeat(PLANAR, 2, axis=1)[:, ::2],
    "lists": lambda: PLANAR.tolist(),
}


@pytest.mark.parametrize("name", BAD_PLANAR)
@pytest.mark.parametrize("engine", ["fast", "numpy"])
def test_planar_inputs_that_do_not_fit_are_refused(name: str, engine: Any) -> None:
    message = ""
    with raises(VectorError, match=message):
        Golden(identity(3), engine=engine).run_planar(BAD_PLANAR[name]())


BAD_PLANAR_OUT: dict[str, Callable[[], Any]] = {
    "list": lambda: [[0.0], [0.0]],
    "rows": lambda: np.empty((2, 4), dtype=np.int64),
    "outputs": lambda: np.empty((3, 5), dtype=np.int64),
    "rows and columns exchanged": lambda: np.empty((5, 2), dtype=np.int64).T,
    "unsigned": lambda: np.empty((2, 5), dtype=np.uint64),
    "doubles": lambda: np.empty((2, 5)),
    "too narrow": lambda: np.empty((2, 5), dtype=np.int8),
    "big-endian": lambda: np.empty((2, 5), dtype=">i4"),
    "read-only": lambda: np.frombuffer(bytes(80), dtype=np.int64).reshape(2, 5),
    "the inputs": lambda: PLANAR[1:],
}


@pytest.mark.parametrize("name", BAD_PLANAR_OUT)
@pytest.mark.parametrize("engine", ["fast", "numpy"])
def test_planar_out_that_does_not_fit_is_refused(name: str, engine: Any) -> None:
    program = Program.build(
        [*((-1, j, -1, 0, (1, 8, 0)) for j in range(3))], [(0, 0, 0), (1, 0, 0)], inp_shift=[0, 0, 0]
    )
    with raises(InputError):
        Golden(program, engine=engine).run_planar(PLANAR, out=BAD_PLANAR_OUT[name]())


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_outputs_over_64_bits_are_given_by_run_raw_only(engine: Any) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 64, 0))], [(0, 0, 0)], inp_shift=[0])
    golden = Golden(program, engine=engine)
    assert [column.tolist() for column in golden.run_raw(Batch.of([[-1]], 1))] == [[(1 << 64) - 1]]
    with raises(InputError):
        golden.run_planar(np.array([[-1]]))


# ------------------------------------------------------------------ real programs


def test_real_programs_on_all_their_vectors(corpus: Path) -> None:
    """Results are right in planes and row code, for doubles and integers, on all instruction sets and 1 or 2 jobs."""
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        program = load(folder / "prog.v1.bin")
        x, expected = np.load(folder / "inputs.npy"), np.load(folder / "expected.npy")
        golden = Golden(program, engine="fast")
        points = np.array([kind.f for kind in program.output_types])
        raw = np.ldexp(expected, points).T
        planar = planar_of(program, x)
        for isa, jobs in product(isas(), (1, 2)):
            with forced(isa):
                assert_equal(folder.name, golden.run(x, jobs=jobs), expected)
                assert_equal(folder.name, golden.run_planar(planar, jobs=jobs), raw)
                many = np.resize(x, (len(x) + 4099, x.shape[1]))
                assert_equal(folder.name, golden.run(many, jobs=jobs), np.resize(expected, (len(many), program.n_out)))
        for first in range(0, len(x), 31):
            assert_equal(folder.name, golden.run(x[first : first + 31]), expected[first : first + 31])


def planar_of(program: Program, x: np.ndarray) -> np.ndarray:
    """Return the values of the port elements for the doubles ``x``, as the narrowest integers."""
    elements = ports_of(program).inputs
    width = max(element.width for element in elements)
    columns = zip(x.T.tolist(), elements, strict=True)
    raw = [[int(Fraction(value) * Fraction(2) ** -e.lo // 1) for value in column] for column, e in columns]
    kind = next(kind for kind in INTEGERS if np.dtype(kind).itemsize * 8 >= width)
    bits = np.dtype(kind).itemsize * 8
    return np.array([[(v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for v in row] for row in raw], dtype=kind)


def assert_equal(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape, name
    wrong = np.argwhere(found != expected)
    assert not wrong.size, f"{name}: {len(wrong)} values differ, the first at {wrong[0]}"


def test_a_program_is_compiled_once_however_often_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Program] = []

    class Counted(FastProgram):
        def __init__(self, program: Program) -> None:
            compiled.append(program)
            super().__init__(program)

    monkeypatch.setattr(golden, "FastProgram", Counted)
    program = Program.build([(-1, 0, -1, 0, (1, 3, 0)), (0, 0, 0, 0, (1, 4, 0))], [(1, 0, 0)], inp_shift=[0])
    x = np.array([[1.0], [-2.0]])
    for check in (True, False, True):
        assert golden.run(program, x, check=check).tolist() == [[2.0], [-4.0]]
        assert golden.Golden(program).run(x).tolist() == [[2.0], [-4.0]]
    assert len(compiled) == 1
    negated = replace(program, out_neg=np.array([1], dtype=np.int64))
    assert golden.run(negated, x).tolist() == [[-2.0], [4.0]]  # another program is compiled on its own
    for copied in (pickle.loads(pickle.dumps(program)), copy.copy(program)):
        assert not copied.kept and copied.hash == program.hash
        assert golden.run(copied, x).tolist() == [[2.0], [-4.0]]
    assert len(compiled) == 4


def test_what_was_compiled_ends_with_its_program() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])
    golden.run(program, np.array([[1.0]]))
    seen = [weakref.ref(program), weakref.ref(next(iter(program.kept.values())))]
    del program
    gc.collect()
    assert [one() for one in seen] == [None, None]


@pytest.mark.parametrize("jobs", [1, 2])
def test_outputs_that_get_new_memory(jobs: int) -> None:
    """A result of more than 32 MB, all of which the system clears, is what is written to an existing array."""
    x = np.random.default_rng(0).integers(-4, 4, (50_000, 100)).astype(np.float64)
    found = Golden(identity(100)).run(x, jobs=jobs)
    assert found.nbytes > 32 << 20
    assert np.array_equal(found, 2 * x[:, :-1])
