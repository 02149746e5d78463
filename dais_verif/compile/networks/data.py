"""Tensors while a network is read or lowered: for each place, the number of one of the tensor's distinct values.

A network is read with few values a tensor: one for all elements with the same range, and one for equal constants. It
is lowered with one value for each element. Operators are written once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Data", "Elements", "data_of", "each", "joined", "patterns", "rows_of"]

#: An array of ``Element``, in the shape of the tensor.
Elements = NDArray[Any]
#: Numbers of values, in the shape of the tensor.
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Data:
    """A tensor: the element at each place is ``values[code]``. ``dtype``: ONNX's name for their kind.

    Values are of ``Element`` or ``Real``, and each of them is an element.
    """

    codes: Codes
    values: tuple[Any, ...]
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return self.codes.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.codes.size)

    @cached_property
    def elements(self) -> Elements:
        """The elements, as an array of objects."""
        found = np.empty(len(self.values), dtype=object)
        found[:] = self.values
        return found[self.codes.ravel()].reshape(self.shape)

    @cached_property
    def constant(self) -> bool:
        """True if all elements are constants."""
        return all(isinstance(one, Fraction) for one in self.values)

    def moved(self, move: Callable[[Codes], Codes]) -> Data:
        """Return the tensor with its elements moved, all of which must stay."""
        return Data(move(self.codes), self.values, self.dtype)

    def merged(self, form: Callable[[Any], Any]) -> Data:
        """Return the tensor with ``form(value)`` for each value, and equal values only once."""
        known: dict[Any, int] = {}
        codes = np.array([known.setdefault(form(one), len(known)) for one in self.values], dtype=np.int64)
        return Data(codes[self.codes].reshape(self.shape), tuple(known), self.dtype)


def data_of(elements: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Data:
    """Return a tensor of ``elements`` in NumPy's order."""
    return Data(np.arange(len(elements)).reshape(shape), tuple(elements), dtype)


def joined(parts: Sequence[Data], axis: int) -> Data:
    """Return tensors joined along a dimension."""
    starts = np.cumsum([0, *(len(one.values) for one in parts)]).tolist()
    codes = np.concatenate([one.codes + start for one, start in zip(parts, starts[:-1], strict=True)], axis=axis)
    return Data(codes, tuple(value for one in parts for value in one.values), parts[0].dtype)


def each(compute: Callable[..., Any], first: Data, *others: Data, again: Callable[[int], None] | None = None) -> Data:
    """Return ``compute`` of the elements at each place. Operands have the same shape.

    Equal operands are computed once, in the order in which they come first. ``again`` is told, after each computation,
    at how many more places it stands.
    """
    operands = (first, *others)
    joint = first.codes.ravel().astype(np.int64)
    for one in others:
        joint = joint * len(one.values) + one.codes.ravel()
    places, which, counts = _distinct(joint, prod(len(one.values) for one in operands))
    order = np.argsort(places)
    values: list[Any] = []
    rows = [one.codes.ravel()[places[order]].tolist() for one in operands]
    for count, *codes in zip(counts[order].tolist(), *rows, strict=True):
        values.append(compute(*(one.values[code] for one, code in zip(operands, codes, strict=True))))
        if again is not None and count > 1:
            again(count - 1)
    new = np.empty(len(order), dtype=np.int64)
    new[order] = np.arange(len(order))
    return Data(new[which].reshape(first.shape), tuple(values), first.dtype)


def _distinct(codes: Codes, limit: int) -> tuple[Codes, Codes, Codes]:
    """Return where each distinct code comes first, for each code its number among them, and how often each comes.

    Codes are below ``limit``.
    """
    if limit > max(4 * codes.size, 1 << 16):  # a table of all codes would be large
        _, places, which, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return places, which, counts
    first = np.full(limit, -1)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    there = np.flatnonzero(first >= 0)
    numbers = np.empty(limit, dtype=np.int64)
    numbers[there] = np.arange(len(there))
    return first[there], numbers[codes], np.bincount(codes, minlength=limit)[there]


def patterns(rows: Codes) -> tuple[Codes, NDArray[np.int64]]:
    """Return the distinct rows, in the order in which they come first, and the number of each row among them."""
    known: dict[bytes, int] = {}
    which = np.array([known.setdefault(row.tobytes(), len(known)) for row in np.ascontiguousarray(rows)], np.int64)
    places = np.empty(len(known), dtype=np.int64)
    places[which[::-1]] = np.arange(len(which))[::-1]
    return rows[places], which


def rows_of(data: Data) -> Iterable[list[Any]]:
    """Yield the elements of each row of a matrix."""
    for row in data.codes.tolist():
        yield [data.values[code] for code in row]
