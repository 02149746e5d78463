"""Vector files: ``.npy`` (floats or integers) and CSV with or without a header line.

Integers of any size are taken exactly (0x, 0b and 0o prefixes work); a number with a point or an exponent is
read as the nearest double.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from dais_verif.errors import InputError
from dais_verif.program.numbers import Batch, Column
from dais_verif.program.ports import Ports

__all__ = ["batch_of_raw", "read_batch", "read_raw_batch"]

_NPY_MAGIC = b"\x93NUMPY"


def read_batch(path: Path, n_in: int) -> Batch:
    """The vectors of real values in ``path``. Raises ``InputError`` that names file, row and column."""
    try:
        return Batch.of(_rows(path, n_in), n_in)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_raw_batch(path: Path, ports: Ports) -> Batch:
    """The vectors in ``path`` as raw integers: input j in units of the last bit that its port element carries."""
    rows = _rows(path, len(ports.inputs))
    try:
        whole = Batch.of(rows, len(ports.inputs))
        for j, column in enumerate(whole.columns):
            if column.exponent < 0:
                raise InputError(f"input {j} has values that are no integers; raw inputs must be integers")
        return batch_of_raw(whole, ports)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def batch_of_raw(whole: Batch, ports: Ports) -> Batch:
    """Integers read as raw values: column j times the weight of the last bit of input j's port element."""
    pairs = zip(whole.columns, ports.inputs, strict=True)
    return Batch(whole.rows, tuple(Column(c.mantissa, c.exponent + element.lo) for c, element in pairs))


def _rows(path: Path, n_in: int) -> Any:
    try:
        with path.open("rb") as file:
            is_npy = file.read(len(_NPY_MAGIC)) == _NPY_MAGIC
        return _read_npy(path, n_in) if is_npy else _read_csv(path, n_in)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def _read_npy(path: Path, n_in: int) -> Any:
    try:
        # Mapped, so that a header that lies about its shape is refused before any memory is taken.
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    except (ValueError, EOFError, SyntaxError) as error:
        raise InputError(f"{path}: not a readable .npy file ({error})") from None
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InputError(f"{path}: dtype is {array.dtype}, must be float64, float32 or an integer type")
    if array.ndim > 2 and n_in:
        array = array.reshape(array.shape[0], -1)
    elif array.ndim == 1:
        array = array.reshape(-1, n_in) if n_in and array.size % n_in == 0 else array
    return np.array(array)


def _read_csv(path: Path, n_in: int) -> Any:
    rows: list[list[Any]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for number, cells in enumerate(csv.reader(file), start=1):
                cells = [cell.strip() for cell in cells]
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if number == 1 and not any(_is_number(cell) for cell in cells):
                    continue  # a header
                if len(cells) != n_in:
                    raise InputError(f"{path}, line {number}: {len(cells)} values, must be {n_in}: one an input")
                rows.append([_number(cell, path, number, column) for column, cell in enumerate(cells)])
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: neither .npy nor readable CSV ({error})") from None
    array = np.empty((len(rows), n_in), dtype=object)
    for row, values in enumerate(rows):
        array[row] = values
    return array


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return _integer(cell) is not None
    return True


def _integer(cell: str) -> int | None:
    try:
        return int(cell, 0) if cell.lower().lstrip("+-").startswith(("0x", "0b", "0o")) else int(cell)
    except ValueError:
        return None


def _number(cell: str, path: Path, line: int, column: int) -> int | float:
    whole = _integer(cell)
    if whole is not None:
        return whole
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"{path}, line {line}, column {column + 1}: {cell!r:.40} is not a number") from None
