"""Vectors: files are read exactly, and generated vectors contain what they promise."""

from __future__ import annotations

import io
import random
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.said import as_recorded, raises
from support.strategies import programs
from support.tier import examples

from dais_verif.base.errors import InputError, VectorError
from dais_verif.golden import oracle, run
from dais_verif.spec.program import FixedType, Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate, generate_common, read_batch, read_raw_batch
from dais_verif.stimulus.generate import _uniform

S4 = (1, 3, 0)
FAST = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rows_of(batch: Batch) -> list[list[Fraction]]:
    return [batch.row(row) for row in range(batch.rows)]


def csv_rows(folder: Path, text: str | bytes, n_in: int = 2) -> list[list[Fraction]]:
    path = folder / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return rows_of(read_batch(path, n_in))


def saved(folder: Path, array: Any) -> Path:
    path = folder / "x.npy"
    np.save(path, array)
    return path


# CSV


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("-1,2\n3,-4\n", [[-1, 2], [3, -4]]),
        ("x0,x1\n-1,2\n", [[-1, 2]]),
        ('"a, b",c\n-1,2\n', [[-1, 2]]),
        ("# a comment\n\n -1 , 2 \r\n", [[-1, 2]]),
        (b"\xef\xbb\xbf-1,2\n", [[-1, 2]]),
        ("-1.5,2.5e-1", [[Fraction(-3, 2), Fraction(1, 4)]]),
        ("-0.1,1e300", [[Fraction(-0.1), Fraction(1e300)]]),
        ("-0x1F,0b101", [[-31, 5]]),
        ("+0o17,007", [[15, 7]]),
        ("-9223372036854775809,18446744073709551617", [[-(2**63) - 1, 2**64 + 1]]),
        ("-" + "9" * 6000 + ",0x" + "f" * 6000, [[-(10**6000) + 1, 16**6000 - 1]]),
        ("", []),
        ("x0,x1\n", []),
    ],
)
def test_csv_is_exact(tmp_path: Path, text: str | bytes, rows: list[list[Any]]) -> None:
    assert csv_rows(tmp_path, text) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n", "x.csv, line 1: 1 value"),
        ("1,2\n1,2,3\n", "x.csv, line 2: 3 values"),
        ("a,b\n\n1,2\n3,x\n", "x.csv, line 4"),
        ("1,2\na,b\n", "x.csv, line 2"),
        ("1,\n", "x.csv, line 1"),
        ("1;2\n", "x.csv, line 1: 1 value"),
        ("x0,x1,x2\n", "x.csv, line 1: 3 values"),
        ("1;,-2;\n3,4\n", "x.csv, line 1"),
        ("nan,inf\n", "x.csv, line 1, column 1: 'nan'"),
        ("-1,nan\n", "x.csv, line 1, column 2: 'nan'"),
        ("1,2\n-inf,0\n", "x.csv, line 2, column 1: '-inf'"),
        (
            "1,-1e400\n",
            "x.csv, line 1, column 2: '-1e400'",
        ),
        (b"1,\xff\xfe\n", "x.csv:"),
        (b"PK\x03\x04\x14\0\0\0\xff", ".npz file"),
        ("1," + "2" * 200_000, "CSV (field larger than field limit"),
    ],
)
def test_csv_is_refused_by_line_and_column(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        csv_rows(tmp_path, text)
    assert message in str(caught.value)
    as_recorded(caught.value)
    assert str(caught.value).count("x.csv") == 1


# npy


@pytest.mark.parametrize("kind", ["f8", "f4", ">f8", "i8", "i2", ">i4"])
def test_npy_dtypes(tmp_path: Path, kind: str) -> None:
    assert rows_of(read_batch(saved(tmp_path, np.array([[-5, 2], [7, -1]], dtype=kind)), 2)) == [[-5, 2], [7, -1]]


def test_npy_orders_and_shapes(tmp_path: Path) -> None:
    x = np.arange(12.0).reshape(2, 6)
    for array in (x, np.asfortranarray(x), x.reshape(2, 3, 2), x.reshape(2, 1, 2, 3), x.ravel()):
        assert rows_of(read_batch(saved(tmp_path, array), 6)) == x.tolist()


@pytest.mark.parametrize("shape", [(0, 2), (0, 2, 1), (0,)])
def test_npy_without_rows(tmp_path: Path, shape: tuple[int, ...]) -> None:
    assert read_batch(saved(tmp_path, np.zeros(shape)), 2).rows == 0


def test_npy_without_columns(tmp_path: Path) -> None:
    assert read_batch(saved(tmp_path, np.zeros((5, 0))), 0).rows == 5


def npy(header: str, body: bytes = bytes(32)) -> bytes:
    data = header.encode()
    data += b" " * (-(len(data) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(data)) + data + body


def npy_of(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


GOOD = npy_of(np.ones((2, 2)))
SHAPED = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"

#: Name: (bytes, part of the message).
DAMAGED_NPY: dict[str, tuple[bytes, str]] = {
    "magic only": (GOOD[:6], ".npy file"),
    "cut in the header": (GOOD[:40], ".npy file"),
    "cut in the data": (GOOD[:-1], ".npy file"),
    "no data": (GOOD[:128], ".npy file"),
    "unknown version": (GOOD[:6] + b"\x09\x00" + GOOD[8:], ".npy file"),
    "header without end": (npy("{'descr': '<f8', 'shape': (1, 2"), ".npy file"),
    "header is no dictionary": (npy("[1, 2]"), ".npy file"),
    "header lacks a key": (npy("{'descr': '<f8'}"), ".npy file"),
    "header holds code": (npy("__import__('os').abort()"), ".npy file"),
    "unknown dtype": (npy("{'descr': 'xx', 'fortran_order': False, 'shape': (1, 2), }"), ".npy file"),
    "shape lies, larger": (npy(SHAPED % "(3, 2)"), ".npy file"),
    "shape lies, 2**62 rows": (npy(SHAPED % str((1 << 62, 2))), ".npy file"),
    "shape lies, 10**30 rows": (npy(SHAPED % str((10**30, 2))), ".npy file"),
    "shape negative": (npy(SHAPED % "(-1, 2)"), ".npy file"),
    "shape of fractions": (npy(SHAPED % "(1.5, 2)"), ".npy file"),
    "10**12 rows of nothing": (npy(SHAPED % str((10**12, 0))), "1000000000000 rows"),
    "objects": (npy_of(np.array([[1, None]]), allow_pickle=True), ".npy file"),
    "complex": (
        npy_of(np.zeros((1, 2), complex)),
        "float16, float32, float64",
    ),
    "text": (npy_of(np.array([["1", "2"]])), "<U1"),
    "dates": (npy_of(np.zeros((1, 2), "M8[s]")), "datetime64[s]"),
    "records": (npy_of(np.zeros((1, 2), [("a", "f8")])), "[('a', '<f8')]"),
    "long double": (npy_of(np.zeros((1, 2), np.longdouble)), "float128"),
    "three columns": (npy_of(np.zeros((1, 3))), "shape (1, 3)"),
    "three values in a row": (npy_of(np.zeros(3)), "shape (3,)"),
    "a single number": (npy_of(np.float64(1)), "(rows, 2)"),
    "NaN": (npy_of(np.array([[0, 1], [2, np.nan]])), "input vector 1, input 1 is nan; NaN"),
    "infinity": (npy_of(np.array([[-np.inf, 1]])), "input vector 0, input 0 is -inf"),
}


@pytest.mark.parametrize("name", DAMAGED_NPY)
def test_damaged_npy_is_refused(tmp_path: Path, name: str) -> None:
    data, message = DAMAGED_NPY[name]
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_batch(path, 2)
    assert message in str(caught.value)
    as_recorded(caught.value)
    assert str(caught.value).count("x.npy") == 1


@given(st.data())
@settings(max_examples=examples(400), deadline=None)
def test_any_damage_to_an_npy_header_is_an_input_error_or_harmless(data: Any) -> None:
    import tempfile

    position = data.draw(st.integers(0, 127))
    damaged = GOOD[:position] + data.draw(st.binary(min_size=1, max_size=3)) + GOOD[position + 1 :]
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        file.write(damaged)
        file.flush()
        try:
            batch = read_batch(Path(file.name), 2)
        except InputError as error:
            assert Path(file.name).name in str(error) and "\n" not in str(error)
        else:
            assert len(batch.row(0)) == 2 and batch.rows > 0


# raw


def test_of_an_npz_it_is_the_array_with_rows_of_that_size(tmp_path: Path) -> None:
    x = np.arange(24.0).reshape(4, 1, 2, 3)
    np.savez_compressed(tmp_path / "x.npz", image=x, label=np.arange(4))
    assert rows_of(read_batch(tmp_path / "x.npz", 6)) == x.reshape(4, 6).tolist()
    for n_in, words in ((5, r"0.*rows of 5 elements"), (1, "0"), (3, "1")):
        with pytest.raises(VectorError, match=words):
            read_batch(tmp_path / "x.npz", n_in)
    np.savez(tmp_path / "two.npz", a=x, b=x)
    with raises(InputError):
        read_batch(tmp_path / "two.npz", 6)


def test_damaged_npz_is_refused_or_harmless(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", image=np.arange(24.0).reshape(4, 6))
    whole, rng, refused = (tmp_path / "x.npz").read_bytes(), random.Random(1), 0
    for _ in range(200):
        data = bytearray(whole)
        data[rng.randrange(4, len(data))] = rng.randrange(256)
        (tmp_path / "y.npz").write_bytes(data if rng.random() < 0.8 else data[: rng.randrange(4, len(data))])
        try:
            assert read_batch(tmp_path / "y.npz", 6).rows == 4
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 100


def test_raw_inputs_count_in_the_last_bit_of_their_port_element(tmp_path: Path) -> None:
    rows = [(-1, 0, -1, 0, (1, 3, 2)), (-1, 0, -1, 0, (1, 3, 4)), (-1, 1, -1, 0, (0, 6, -2))]
    ports = ports_of(Program.build(rows, [], inp_shift=[1, 0]))
    batch = read_raw_batch(saved(tmp_path, np.array([[-3, 5]])), ports)
    assert batch.row(0) == [Fraction(-3, 32), 20]


def test_raw_inputs_must_be_integers(tmp_path: Path) -> None:
    ports = ports_of(Program.build([(-1, 0, -1, 0, S4)], [], inp_shift=[0, 0]))
    with raises(InputError):
        read_raw_batch(saved(tmp_path, np.array([[-3, 0.5]])), ports)
    assert read_raw_batch(saved(tmp_path, np.array([[-3.0, 2.0]])), ports).row(0) == [-3, 2]


# generated


def one_input(kind: tuple[int, int, int], shift: int = 0) -> Program:
    return Program.build([(-1, 0, -1, 0, kind)], [(0, 0, 0)], inp_shift=[shift])


@pytest.mark.parametrize("kind", [S4, (0, 4, 0), (1, -2, 6), (0, 70, -60), (1, 63, 10), (1, 0, 0), (0, 1, 0)])
@pytest.mark.parametrize("shift", [0, -3, 5])
def test_generated_vectors_hold_corners_and_their_neighbours(kind: tuple[int, int, int], shift: int) -> None:
    """Generated vectors hold both ends of the type, values just beyond, between grid points, and far outside."""
    batch = generate(one_input(kind, shift), 400, seed=1)
    unit = Fraction(2) ** (-kind[2] - shift)
    seen = {batch.value(row, 0) / unit for row in range(batch.rows)}
    lo, hi = FixedType(*kind).raw_min, FixedType(*kind).raw_max
    assert {lo, hi, lo - 1, hi + 1, 0, 1, -1} <= seen
    assert {hi + Fraction(1, 2), lo - Fraction(1, 2), Fraction(1, 2), Fraction(-1, 2), Fraction(-1, 4)} <= seen
    assert any(x > hi + 1 for x in seen) and any(x < lo - 1 for x in seen)
    assert any(x.denominator == 1 for x in seen) and any(x.denominator == 4 for x in seen)


def test_the_first_rows_put_every_input_on_the_same_corner() -> None:
    program = Program.build([(-1, j, -1, 0, S4) for j in range(3)], [], inp_shift=[0, 0, 0])
    batch = generate(program, 50, seed=3)
    assert [batch.row(row) for row in range(3)] == [[0] * 3, [7] * 3, [-8] * 3]


def test_the_same_seed_gives_the_same_vectors_and_another_seed_others() -> None:
    program = one_input((1, 20, 0))
    first, again, other = (rows_of(generate(program, 200, seed)) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_inputs_of_one_type_get_different_values() -> None:
    program = Program.build([(-1, j, -1, 0, (1, 20, 0)) for j in range(2)], [], inp_shift=[0, 0])
    rows = rows_of(generate(program, 200, seed=0))
    assert sum(a != b for a, b in rows) > 100


def test_an_input_that_nothing_reads_still_gets_numbers() -> None:
    program = Program.build([(-1, 1, -1, 0, (0, 0, 0))], [], inp_shift=[0, 7])
    assert generate(program, 10, seed=0).rows == 10
    assert generate(Program.build([], []), 10, seed=0).rows == 10


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_are_that_many(rows: int) -> None:
    assert generate(one_input((1, 80, 0)), rows, seed=0).rows == rows


def test_more_rows_than_a_machine_holds_are_refused() -> None:
    with raises(InputError):
        generate(one_input(S4), 10**12, seed=0)


@given(programs(), st.integers(0, 1000))
@FAST
def test_every_program_gets_as_many_vectors_as_asked_for(case: tuple[Program, Any], seed: int) -> None:
    program = case[0]
    batch = generate(program, 40, seed)
    assert (batch.rows, len(batch.columns)) == (40, program.n_in)
    assert all(column.mantissa.shape == (40,) for column in batch.columns)
    oracle.trace(program, batch.row(39), violations=[])


def test_vectors_for_two_programs_hold_the_corners_of_both() -> None:
    """One program reads the input as s4.0, the other reads 8 times the input as u5.1: 0..31 sixteenths."""
    a, b = one_input(S4), one_input((0, 4, 1), shift=3)
    seen = {row[0] for row in rows_of(generate_common([a, b], 400, seed=1))}
    assert {-8, 7, -9, 8, 0, Fraction(31, 16), Fraction(32, 16), Fraction(-1, 16)} <= seen


@given(programs(), st.integers(0, 1000))
@FAST
def test_vectors_for_programs_that_read_alike_are_those_of_each(case: tuple[Program, Any], seed: int) -> None:
    program = case[0]
    assert rows_of(generate_common([program, program], 40, seed)) == rows_of(generate(program, 40, seed))


@pytest.mark.parametrize(("lo", "hi"), [(-3, 5), (-8, -8), (0, 7), (7, 7)])
def test_declared_intervals_are_kept(lo: int, hi: int) -> None:
    program = replace(one_input((1, 1, 2), shift=-1), intervals=((lo, hi),))
    batch = generate(program, 500, seed=0)
    seen = [oracle.trace(program, batch.row(row), violations=[])[0] * 4 for row in range(batch.rows)]
    assert min(seen) == lo and max(seen) == hi
    assert any(x * 8 % 4 for row in range(batch.rows) for x in batch.row(row)), "off-grid values stay"


def test_declared_intervals_of_all_readers_of_an_input_are_kept() -> None:
    """Declared are raw -8..7 of s4.0 and 3..11 of u6.2, among others: the input lies in 0.75..2.99."""
    rows = [(-1, 0, -1, 0, S4), (-1, 0, -1, 0, (0, 4, 2)), (-1, 0, -1, 0, (1, 2, 0))]
    program = replace(Program.build(rows, [], inp_shift=[0]), intervals=((-8, 7), (3, 11), (-1, 3)))
    batch = generate(program, 500, seed=0)
    for row in range(batch.rows):
        values = oracle.trace(program, batch.row(row), violations=[])
        assert 3 <= values[1] * 4 <= 11 and -1 <= values[2] <= 3


def test_real_programs_are_never_asked_for_more_than_they_declare(corpus: Path) -> None:
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        program = load(next(folder.glob("da4ml.json*")))
        outputs = run(program, generate(program, 300, seed=0))  # checked: a violation would raise
        assert outputs.shape == (300, program.n_out)


def test_wide_values_reach_both_ends_of_their_range() -> None:
    rng = np.random.default_rng(0)
    for bits in (8, 40, 100, 2000):
        low, high = -(1 << bits), (1 << bits) - 1
        values = _uniform(rng, low, high, 200)
        assert low <= min(values) < low // 2 and high // 2 < max(values) <= high, bits
