"""Exact conversion of numbers: doubles, integers of any size, and raw integers.

A batch of inputs has one column per input: a vector of integers times one power of two. Such a column holds every
double and every integer without rounding, and the hot paths become integer shifts. Columns are int64 if all values fit
62 bits, else Python integers (dtype object).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from reprlib import repr as _short
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import VectorError
from dais_verif.base.text import counted

__all__ = ["Batch", "Column", "IntArray", "compact", "doubles_of_raw", "floor_to_grid", "require_finite"]

#: An array of int64, or of Python integers (dtype object).
IntArray = NDArray[Any]

_INT64_BITS = 62
#: Numbers with a larger exponent are refused, since they would be expanded to gigabytes of digits.
_MAX_EXPONENT = 1 << 16


class Column(NamedTuple):
    """Values ``mantissa * 2**exponent``; ``mantissa`` has shape (rows,)."""

    mantissa: IntArray
    exponent: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Exact input vectors: ``rows`` vectors of ``n_in`` values, as columns or as the given doubles."""

    rows: int
    given: tuple[Column, ...] | None
    #: Finite numbers, C-contiguous, shape (rows, n_in), for engines that read doubles directly.
    doubles: NDArray[np.float64] | None = None

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """One column per input; made on demand if the batch was given as doubles."""
        if self.given is not None:
            return self.given
        assert self.doubles is not None
        return _columns_of_doubles(self.doubles)

    @property
    def n_in(self) -> int:
        """The number of values of a vector."""
        return self.doubles.shape[1] if self.doubles is not None else len(self.columns)

    @classmethod
    def of(cls, x: Any, n_in: int) -> Batch:
        """Return ``x`` as a batch: float or integer array (rows, n_in), or nested lists of Python numbers.

        Raises ``InputError`` for another shape, NaN, infinity, or a number that is not a dyadic rational.
        """
        if isinstance(x, Batch):
            return x._checked(n_in)
        array = _as_array(x)
        if array.ndim == 1 and n_in == 0 and array.size == 0:
            array = array.reshape(0, 0)
        if array.ndim != 2 or array.shape[1] != n_in:
            raise VectorError(
                f"input vectors have shape {array.shape}, must be (rows, {n_in}): the program has "
                f"{counted(n_in, 'input')}"
            )
        rows = array.shape[0]
        if array.dtype.kind == "f":
            doubles = np.ascontiguousarray(array, dtype=np.float64)
            require_finite(doubles)
            return cls(rows, None, doubles)
        if array.dtype.kind in "iub":
            exact = array.astype(object) if array.dtype == np.uint64 else array.astype(np.int64)
            return cls(rows, tuple(Column(compact(exact[:, j]), 0) for j in range(n_in)))
        return cls(rows, tuple(_column_of_numbers(array[:, j].tolist(), j) for j in range(n_in)))

    def _checked(self, n_in: int) -> Batch:
        if self.n_in != n_in:
            raise VectorError(f"the batch has {self.n_in} columns, must be {n_in}: one per input")
        return self

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop - 1``."""
        stop = min(stop, self.rows)
        if self.doubles is not None:
            return Batch(stop - start, None, self.doubles[start:stop])
        return Batch(stop - start, tuple(Column(c.mantissa[start:stop], c.exponent) for c in self.columns))

    def value(self, row: int, column: int) -> Fraction:
        """Return the exact value of one input in one vector."""
        if self.doubles is not None:
            return Fraction(float(self.doubles[row, column]))
        mantissa, exponent = self.columns[column]
        return Fraction(int(mantissa[row])) * Fraction(2) ** exponent

    def row(self, row: int) -> list[Fraction]:
        """Return the exact values of one vector."""
        return [self.value(row, j) for j in range(self.n_in)]

    @staticmethod
    def concatenate(batches: Sequence[Batch]) -> Batch:
        """Return the rows of all ``batches``, in order; all have the same number of columns."""
        if batches and all(batch.doubles is not None for batch in batches):
            doubles = np.concatenate([batch.doubles for batch in batches if batch.doubles is not None])
            return Batch(len(doubles), None, doubles)
        columns = []
        for parts in zip(*(batch.columns for batch in batches), strict=True):
            exponent = min(part.exponent for part in parts)
            aligned = [_shifted_left(part.mantissa, part.exponent - exponent) for part in parts]
            columns.append(Column(compact(np.concatenate(aligned)), exponent))
        return Batch(sum(batch.rows for batch in batches), tuple(columns))


def compact(values: IntArray) -> IntArray:
    """Return ``values`` as int64 if all of them fit 62 bits, else as Python integers."""
    limit = 1 << _INT64_BITS
    if values.dtype == np.int64:
        fits = values.size == 0 or (int(values.max()) < limit and int(values.min()) >= -limit)
        return values if fits else values.astype(object)
    if all(-limit <= v < limit for v in values):
        return values.astype(np.int64)
    return values


def floor_to_grid(column: Column, f: int) -> IntArray:
    """Return ``floor(x * 2**f)`` of every value of ``column``, as integers."""
    shift = column.exponent + f
    if shift >= 0:
        return _shifted_left(column.mantissa, shift)
    if column.mantissa.dtype == object:
        return compact(column.mantissa >> -shift)
    return column.mantissa >> min(-shift, 63)


def _shifted_left(values: IntArray, shift: int) -> IntArray:
    if shift == 0 or values.size == 0:
        return values
    if values.dtype == np.int64:
        largest = max(int(values.max()), -1 - int(values.min()))
        if largest.bit_length() + shift <= _INT64_BITS:
            return values << shift
    return compact(values.astype(object) << shift)


def _as_array(x: Any) -> NDArray[Any]:
    """Return ``x`` as an array, without loss: integers beyond 64 bits stay Python integers."""
    if isinstance(x, np.ma.MaskedArray):
        if np.ma.is_masked(x):
            raise VectorError("input vectors contain masked values; fill them, or leave out their rows")
        x = x.data
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub" and x.dtype.itemsize <= 8:
        return x
    try:
        array = np.array(x, dtype=object)
    except ValueError:
        raise VectorError("input vectors have different lengths; each must have one value per input") from None
    if array.size and all(type(v) is float for v in array.flat):
        return array.astype(np.float64)
    return array


def _columns_of_doubles(x: NDArray[np.float64]) -> tuple[Column, ...]:
    fraction, exponent = np.frexp(x)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    # Trailing zeros move to the exponent, so that a column of short numbers stays short.
    lowest = mantissa & -mantissa
    zeros = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
    used = mantissa != 0
    mantissa = np.where(used, mantissa >> np.maximum(zeros, 0), 0)
    exponent = np.where(used, exponent + zeros, 0)
    columns = []
    for j in range(x.shape[1]):
        m, e, u = mantissa[:, j], exponent[:, j], used[:, j]
        common = int(e[u].min()) if u.any() else 0
        shift = np.where(u, e - common, 0)
        if x.shape[0] == 0 or int((shift + np.frexp(np.abs(m).astype(np.float64))[1]).max()) <= _INT64_BITS:
            columns.append(Column(m << shift, common))
        else:
            columns.append(Column(m.astype(object) << shift.astype(object), common))
    return tuple(columns)


def require_finite(x: NDArray[np.float64]) -> None:
    """Raise ``InputError``, which names the first input of ``x`` (rows, n_in) that is NaN or infinite, if any."""
    finite = np.isfinite(x)
    if not finite.all():
        row, j = (int(v) for v in np.argwhere(~finite)[0])
        raise VectorError(f"input vector {row}, input {j} is {x[row, j]}; NaN and infinity are not allowed")


def _column_of_numbers(values: list[Any], j: int) -> Column:
    """Return a column of Python numbers (int, float, Fraction, Decimal): anything with an exact integer ratio."""
    ratios = []
    for row, value in enumerate(values):
        number = value.item() if isinstance(value, np.integer) else value
        try:
            numerator, denominator = number.as_integer_ratio()
        except (AttributeError, ValueError, OverflowError):
            raise VectorError(f"input vector {row}, input {j} is {_short(value)}; must be a finite number") from None
        if denominator & (denominator - 1) or denominator.bit_length() > _MAX_EXPONENT:
            raise VectorError(
                f"input vector {row}, input {j} is {_short(value)}; must be an integer times a power of two"
            )
        ratios.append((int(numerator), denominator.bit_length() - 1))
    common = max((bits for _, bits in ratios), default=0)
    mantissa = np.empty(len(ratios), dtype=object)
    mantissa[:] = [numerator << (common - bits) for numerator, bits in ratios]
    return Column(compact(mantissa), -common)


def doubles_of_raw(raw: IntArray, f: int, output: int, first_row: int = 0) -> NDArray[np.float64]:
    """Return ``raw * 2**-f`` as float64, exactly.

    Raises ``InputError``, which names row and output, if float64 cannot hold a value.
    """
    if raw.dtype == np.int64 and -900 < f < 900:  # neither overflow nor subnormal numbers, for any raw value
        values = raw.astype(np.float64)
        # 2**63 as a double does not go back to int64, so compare below it only.
        exact = (np.abs(values) < 2.0**63) & (np.where(np.abs(values) < 2.0**63, values, 0).astype(np.int64) == raw)
        if exact.all():
            return np.ldexp(values, -f)
    return np.array([_double(int(m), f, first_row + row, output) for row, m in enumerate(raw)], dtype=np.float64)


def _double(raw: int, f: int, row: int, output: int) -> float:
    exact = Fraction(raw) * Fraction(2) ** -f
    try:
        value = float(exact)
    except OverflowError:
        value = float("inf")
    if value in (float("inf"), float("-inf")) or Fraction(value) != exact:
        raise VectorError.of(
            "row {row}, output {output}: the value {raw_given} * 2**{value} does not fit a float64 exactly; ask for "
            "raw integers ({raw})",
            row=row,
            output=output,
            raw_given=raw,
            value=-f,
        )
    return value
