"""Vector files: ``.npy`` (floats or integers), CSV with or without a header line, or an array of an ``.npz``.

Integers of any size are read exactly, and may have the prefixes 0x, 0b and 0o. A number with a point or an exponent is
read as the nearest double.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import damage_of, is_archive, read_arrays
from dais_verif.base.errors import InputError, VectorError
from dais_verif.base.files import open_plain
from dais_verif.base.text import counted
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import Ports

__all__ = ["batch_of_raw", "read_batch", "read_raw_batch"]

_NPY_MAGIC = b"\x93NUMPY"
_DIGITS = re.compile(r"[+-]?[0-9]+")
_MOST_BYTES = 64 << 30  # so many, since files are mapped, or read line by line
#: Rows without columns need no bytes in a file, so a damaged number of rows could take days.
_MAX_ROWS = 100_000_000


def read_batch(path: str | Path, n_in: int) -> Batch:
    """Return the vectors of real values in ``path``. Raises ``InputError`` with file, row and column."""
    rows = _rows(Path(path), n_in)
    try:
        return Batch.of(rows, n_in)
    except InputError as error:
        raise VectorError(f"{path}: {error}") from None


def read_raw_batch(path: str | Path, ports: Ports) -> Batch:
    """Return the vectors of raw integers in ``path``: input j in units of the last bit of its port element."""
    rows = _rows(Path(path), len(ports.inputs))
    try:
        whole = Batch.of(rows, len(ports.inputs))
        for j, column in enumerate(whole.columns):
            if column.exponent < 0:
                raise VectorError(f"input {j} has values that are not integers; raw inputs must be integers")
        return batch_of_raw(whole, ports)
    except InputError as error:
        raise VectorError(f"{path}: {error}") from None


def batch_of_raw(whole: Batch, ports: Ports) -> Batch:
    """Return integers as raw values: column j times the weight of the last bit of input j's port element."""
    pairs = zip(whole.columns, ports.inputs, strict=True)
    return Batch(whole.rows, tuple(Column(c.mantissa, c.exponent + element.lo) for c, element in pairs))


def _rows(path: Path, n_in: int) -> Any:
    try:
        if is_archive(path):
            return _read_npz(path, n_in)
        with open_plain(path, _MOST_BYTES, advice="give a .npy or .csv file") as file:
            begin = file.read(len(_NPY_MAGIC))
        is_npy = begin == _NPY_MAGIC
        return _read_npy(path, n_in) if is_npy else _read_csv(path, n_in)
    except OSError as error:
        raise VectorError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def _read_npy(path: Path, n_in: int) -> Any:
    try:
        # The file is mapped, so that a wrong shape in its header is refused before memory is allocated.
        with np.errstate(over="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about literals in a damaged header
            array = np.load(path, allow_pickle=False, mmap_mode="r")
    except OSError:
        raise
    except Exception as error:  # numpy's header parser raises various errors, from TokenError to TypeError
        raise VectorError(f"{path}: not a readable .npy file ({damage_of(error)}); numpy.save writes one") from None
    return np.array(_table(path, array, n_in))


def _read_npz(path: Path, n_in: int) -> Any:
    """Return the only array in the file whose rows have one element per input; other arrays may be labels."""
    arrays = read_arrays(path)
    fitting = [name for name, array in arrays.items() if array.ndim > 1 and math.prod(array.shape[1:]) == n_in]
    if len(fitting) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        raise VectorError(
            f"{path}: has arrays {shapes}; {len(fitting)} of them have rows of {n_in} elements (one per input), "
            "must be 1"
        )
    return _table(path, arrays[fitting[0]], n_in)


def _table(path: Path, array: NDArray[Any], n_in: int) -> NDArray[Any]:
    """Return ``array`` as rows. Raises ``InputError`` if it does not consist of numbers, or has too many rows."""
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise VectorError(f"{path}: dtype is {array.dtype}, must be float16, float32, float64, an integer type or bool")
    if array.ndim and array.shape[0] > _MAX_ROWS:
        raise VectorError(f"{path}: {counted(array.shape[0], 'row')}, must be at most {_MAX_ROWS}")
    if array.ndim > 2:
        array = array.reshape(array.shape[0], math.prod(array.shape[1:]))
    elif array.ndim == 1:
        array = array.reshape(-1, n_in) if n_in and array.size % n_in == 0 else array
    return array


def _read_csv(path: Path, n_in: int) -> Any:
    rows: list[list[Any]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for number, cells in enumerate(csv.reader(file), start=1):
                cells = [cell.strip() for cell in cells]
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if number == 1 and len(cells) == n_in and all(_is_name(cell) for cell in cells):
                    continue  # a header
                if len(cells) != n_in:
                    many = counted(len(cells), "value")
                    raise VectorError(f"{path}, line {number}: {many}, must be {n_in}: one per input")
                rows.append([_number(cell, path, number, column) for column, cell in enumerate(cells)])
    except (UnicodeDecodeError, csv.Error) as error:
        raise VectorError(f"{path}: neither .npy nor readable CSV ({error})") from None
    array = np.empty((len(rows), n_in), dtype=object)
    for row, values in enumerate(rows):
        array[row] = values
    return array


def _is_name(cell: str) -> bool:
    """Return True if ``cell`` can be the name of a column, such as ``x0`` or ``_``; ``1;2`` is a damaged number."""
    try:
        float(cell)  # nan, inf
    except ValueError:
        return cell[:1].isalpha() or cell[:1] == "_"
    return False


def _integer(cell: str) -> int | None:
    try:
        return int(cell, 0) if cell.lower().lstrip("+-").startswith(("0x", "0b", "0o")) else int(cell)
    except ValueError:
        # int() refuses more than 4300 decimal digits; Decimal accepts any number of digits.
        return int(Decimal(cell)) if _DIGITS.fullmatch(cell) else None


def _number(cell: str, path: Path, line: int, column: int) -> int | float:
    whole = _integer(cell)
    if whole is not None:
        return whole
    try:
        value = float(cell)
    except ValueError:
        raise VectorError(f"{path}, line {line}, column {column + 1}: {cell!r:.40} is not a number") from None
    if math.isfinite(value):
        return value
    where = f"{path}, line {line}, column {column + 1}"
    raise VectorError(f"{where}: {cell!r:.40} is not a finite float64; integers may have any size, written out")
