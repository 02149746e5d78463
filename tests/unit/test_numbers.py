"""Numbers are read and written without rounding; unrepresentable ones are refused with their row and index."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.said import as_recorded, raises
from support.tier import examples

from dais_verif.base.errors import InputError, VectorError
from dais_verif.spec.program.numbers import Batch, Column, compact, doubles_of_raw, floor_to_grid

#: Values that a column may hold, the most difficult ones first.
NUMBERS: list[Any] = [
    -5e-324,
    5e-324,
    -1.7976931348623157e308,
    -0.1,
    -(2.0**-1074) * 3,
    -0.0,
    -1.5,
    2.0**53 + 2,
    -(2**63),
    2**64 - 1,
    10**400,
    -(10**400) - 1,
    Fraction(-3, 2**90),
    Decimal("-0.375"),
    True,
    np.float64(0.3),
    np.float32(0.3),
    np.int64(-7),
]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_is_taken_exactly(number: Any) -> None:
    batch = Batch.of([[number], [0], [-1]], 1)
    exact = Fraction(number.item() if isinstance(number, np.generic) else number)
    assert [batch.value(row, 0) for row in range(3)] == [exact, 0, -1]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
@settings(max_examples=examples(300), deadline=None)
def test_every_double_survives_beside_every_other(values: list[float]) -> None:
    batch = Batch.of(np.array(values).reshape(-1, 1), 1)
    assert batch.rows == len(values)
    for row, value in enumerate(values):
        assert batch.row(row) == [Fraction(value)]
        assert int(batch.columns[0].mantissa[row]) * Fraction(2) ** batch.columns[0].exponent == Fraction(value)


@pytest.mark.parametrize("values", [[2.0**63, 1.0], [-(2.0**62), 0.5], [2.0**61 + 2**9, -0.75], [2.0**-61, -3.0]])
def test_doubles_that_together_pass_int64(values: list[float]) -> None:
    batch = Batch.of(np.array(values).reshape(-1, 1), 1)
    assert [batch.value(row, 0) for row in range(2)] == values


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", ">f8", "i1", "u1", "i8", "u8", ">i4", "?"])
def test_every_dtype_is_taken_exactly(kind: str) -> None:
    numbers = [1, 0] if kind == "?" else [120, 3] if np.dtype(kind).kind == "u" else [-120, 3]
    batch = Batch.of(np.array([numbers], dtype=kind), 2)
    assert batch.row(0) == numbers


def test_the_largest_uint64_is_not_negative() -> None:
    assert Batch.of(np.array([[2**64 - 1]], dtype=np.uint64), 1).row(0) == [2**64 - 1]


def test_long_double_is_not_rounded() -> None:
    x = np.array([[np.longdouble(1) + np.finfo(np.longdouble).eps]])
    assert Batch.of(x, 1).row(0) == [1 + Fraction(*np.finfo(np.longdouble).eps.as_integer_ratio())]


#: Vectors, number of inputs, part of the message.
REFUSED: list[tuple[Any, int, str]] = [
    (np.array([[0.0], [math.nan]]), 1, "input vector 1, input 0 is nan; NaN"),
    (np.array([[0.0, -math.inf]]), 2, "input vector 0, input 1 is -inf"),
    ([[1, math.nan]], 2, "input vector 0, input 1 is nan"),
    ([[1], [math.inf]], 1, "input vector 1, input 0 is inf"),
    ([[Fraction(1, 3)]], 1, "input vector 0, input 0 is Fraction(1, 3)"),
    ([[Decimal("0.1")]], 1, "input vector 0, input 0"),
    ([["1"]], 1, "input vector 0, input 0 is '1'"),
    ([[None]], 1, "input vector 0, input 0 is None"),
    ([[1j]], 1, "input vector 0, input 0 is 1j"),
    ([[Fraction(1, 2**70000)]], 1, "input vector 0, input 0"),
    ([[1, 2]], 3, "shape (1, 2)"),
    ([1, 2], 2, "shape (2,)"),
    (np.zeros((2, 2, 1)), 2, "shape (2, 2, 1)"),
    (np.float64(3), 1, "(rows, 1)"),
    ([[1], [1, 2]], 1, "(rows, 1)"),
    ([], 1, "shape (0,)"),
]


@pytest.mark.parametrize(("x", "n_in", "message"), REFUSED)
def test_refused(x: Any, n_in: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Batch.of(x, n_in)
    assert message in str(caught.value)
    as_recorded(caught.value)


def test_a_batch_of_another_width_is_refused() -> None:
    batch = Batch.of([[1, 2]], 2)
    assert Batch.of(batch, 2) is batch
    with raises(InputError):
        Batch.of(batch, 3)


def test_no_inputs_and_no_rows() -> None:
    assert (Batch.of([], 0).rows, Batch.of(np.zeros((7, 0)), 0).rows, Batch.of(np.zeros((0, 3)), 3).rows) == (0, 7, 0)
    assert Batch.of(np.zeros((2, 0)), 0).row(1) == []


def test_slices_and_concatenation_keep_values() -> None:
    first, second = Batch.of([[-1.5, 2**70], [0.25, 1]], 2), Batch.of([[3, -(10**30)]], 2)
    both = Batch.concatenate([first, second, first.slice(1, 99)])
    assert both.rows == 4
    assert [both.row(r) for r in range(4)] == [first.row(0), first.row(1), second.row(0), first.row(1)]


#: mantissa, exponent, f, and floor(mantissa * 2**exponent * 2**f).
GRID = [
    (-1, 0, 0, -1),
    (-1, -1, 0, -1),
    (-3, -1, 0, -2),
    (-1, -200, 0, -1),
    (1, -200, 0, 0),
    (-5, 0, -1, -3),
    (5, 0, -1, 2),
    (3, 2, -1, 6),
    (1, 0, 61, 2**61),
    (1, 0, 62, 2**62),
    (-3, 70, 10, -3 * 2**80),
    (-(2**100), -99, 0, -2),
    (-(2**100) - 1, -100, 0, -2),
]


@pytest.mark.parametrize(("mantissa", "exponent", "f", "expected"), GRID)
def test_floor_to_grid(mantissa: int, exponent: int, f: int, expected: int) -> None:
    column = Column(compact(np.array([mantissa], dtype=object)), exponent)
    assert floor_to_grid(column, f).tolist() == [expected]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(-(2**62), np.int64), (2**62 - 1, np.int64), (2**62, object), (-(2**62) - 1, object), (2**63, object)],
)
def test_compact_is_int64_up_to_62_bits(value: int, dtype: Any) -> None:
    values = compact(np.array([value, 0], dtype=object))
    assert (values.dtype, values.tolist()) == (np.dtype(dtype), [value, 0])
    if -(2**63) <= value < 2**63:
        assert compact(np.array([value, 0], dtype=np.int64)).dtype == np.dtype(dtype)


#: raw, f, and the double, or None if no double is exact.
DOUBLES = [
    (-(2**53), 0, -(2.0**53)),
    (-(2**53) - 1, 0, None),
    (2**53 + 2, 0, 2.0**53 + 2),
    (-(2**61), -3, -(2.0**64)),
    (-3, 1, -1.5),
    (-1, 1074, -5e-324),
    (-1, 1075, None),
    (3, 1075, None),
    (-6, 1075, -1.5e-323),
    (-1, -1023, -(2.0**1023)),
    (1, -1024, None),
    (1 << 61, -963, None),
    (1 << 61, -950, 2.0**1011),
    ((1 << 61) - (1 << 8), -962, (2.0**53 - 1) * 2.0**970),
    (1 << 200, 100, 2.0**100),
    ((1 << 200) + 1, 100, None),
    (0, 4096, 0.0),
    (0, -4096, 0.0),
]


@pytest.mark.parametrize(("raw", "f", "expected"), DOUBLES)
def test_outputs_are_exact_doubles_or_refused(raw: int, f: int, expected: float | None) -> None:
    values = compact(np.array([0, raw], dtype=object))
    if expected is not None:
        assert doubles_of_raw(values, f, 3).tolist() == [0.0, expected]
        return
    message = rf"row 11, output 3.*value {raw} \* 2\*\*{-f}.*float64.*raw"
    with pytest.raises(VectorError, match=message):
        doubles_of_raw(values, f, 3, first_row=10)
