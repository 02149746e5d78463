"""Read vectors of networks, and check their ranges: ``.npz`` with one array (samples, *shape) per input, by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import is_archive, read_arrays
from dais_verif.base.errors import VectorError
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus.files import read_batch

__all__ = ["InputTensor", "read_tensors"]

_MOST_BYTES = 4 << 30
_ZIP = b"PK\x03\x04"


class InputTensor(NamedTuple):
    """An input of a network: its name, sizes, and the type of its elements."""

    name: str
    shape: tuple[int, ...]
    type: FixedType


def read_tensors(path: str | Path, inputs: Sequence[InputTensor]) -> Batch:
    """Return the vectors in ``path``: the elements of all inputs in turn, each a value of the input's type.

    Arrays of an ``.npz`` that are not inputs, such as labels, are ignored; for other files, see ``read_batch``. Raises
    ``InputError`` with input, sample and element for a number that is not a value of the input's type: the network's
    quantiser would replace it by another number.
    """
    if is_archive(Path(path)):
        batch = Batch.of(_rows_of(Path(path), inputs), sum(math.prod(one.shape) for one in inputs))
    else:
        batch = read_batch(path, sum(math.prod(one.shape) for one in inputs))
    at = 0
    for one in inputs:
        for number in range(math.prod(one.shape)):
            _require_held(path, one, number, batch, at)
            at += 1
    return batch


def _rows_of(path: Path, inputs: Sequence[InputTensor]) -> NDArray[Any]:
    arrays = read_arrays(path)
    missing = [one.name for one in inputs if one.name not in arrays]
    if missing:
        there = ", ".join(arrays) or "none"
        raise VectorError(f"{path}: has arrays {there}; the input {missing[0]!r} of the network is not there")
    found = [_flat(path, arrays[one.name], one) for one in inputs]
    if len({len(array) for array in found}) > 1:
        counts = ", ".join(f"{one.name} {len(array)}" for one, array in zip(inputs, found, strict=True))
        raise VectorError(f"{path}: inputs have different numbers of samples: {counts}")
    return np.concatenate(found, axis=1)


def _flat(path: Path, array: NDArray[Any], one: InputTensor) -> NDArray[Any]:
    """Return one row per sample; if the first size of an input is 1, the batch size, the file may leave it out."""
    sizes = [one.shape, one.shape[1:] if one.shape[:1] == (1,) else one.shape, (math.prod(one.shape),)]
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8 or not array.ndim or array.shape[1:] not in sizes:
        wanted = ", ".join(["samples", *map(str, sizes[1])])
        raise VectorError(
            f"{path}: {one.name} is {array.dtype} of shape {array.shape}, must be numbers of shape ({wanted})"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise VectorError(f"{path}: {one.name} holds numbers that are not finite")
    return array.reshape(len(array), math.prod(one.shape)).astype(np.float64 if array.dtype.kind == "f" else object)


def _require_held(path: str | Path, one: InputTensor, number: int, batch: Batch, at: int) -> None:
    """Raise ``InputError`` unless all numbers in column ``at``, for element ``number`` of ``one``, fit its type."""
    kind = one.type
    if batch.doubles is not None:
        raw = np.ldexp(batch.doubles[:, at], kind.f)
        wrong = (raw != np.floor(raw)) | (raw < kind.raw_min) | (raw > kind.raw_max)
        if not wrong.any():
            return
    for row in range(batch.rows):
        exact = batch.value(row, at) * Fraction(2) ** kind.f
        if exact.denominator != 1 or not kind.raw_min <= exact <= kind.raw_max:
            place = ", ".join(map(str, np.unravel_index(number, one.shape))) if one.shape else ""
            step = Fraction(2) ** -kind.f
            raise VectorError(
                f"{path}: sample {row}: {one.name}[{place}] is {float(batch.value(row, at))!r}; the input takes "
                f"{float(kind.raw_min * step)!r} to {float(kind.raw_max * step)!r} in steps of {float(step)!r}: round "
                "and clip it as the network's quantiser does"
            )
