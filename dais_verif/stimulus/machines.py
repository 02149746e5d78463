"""Input sequences of a machine: from power-up, one row of exact numbers per input signal and cycle."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import is_archive, read_arrays
from dais_verif.base.errors import MachineInputError
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Element
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch, IntArray, floor_to_grid

__all__ = ["ArrayRows", "InputSequence", "given_sequences", "npz_of", "raw_rows", "read_sequences", "sequence_of_bits"]


#: Wider raw integers do not fit numpy integers.
_WIDEST = 62


class InputSequence(NamedTuple):
    """A number of ``cycles``, and for each input signal one row of exact numbers per cycle."""

    cycles: int
    rows: Mapping[str, Sequence[Sequence[Fraction]]]


class ArrayRows(Sequence[Sequence[Fraction]]):
    """Rows of exact numbers from an ``array`` (cycles, elements) of raw integers; of reals if ``types`` is None."""

    def __init__(self, array: NDArray[Any], types: tuple[FixedType, ...] | None = None) -> None:
        self.array, self.types = array, types

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, cycle: int) -> list[Fraction]: ...
    @overload
    def __getitem__(self, cycle: slice) -> list[list[Fraction]]: ...
    def __getitem__(self, cycle: int | slice) -> list[Fraction] | list[list[Fraction]]:
        """Return the row of a cycle, or several rows."""
        if isinstance(cycle, slice):
            return [self[number] for number in range(len(self))[cycle]]
        row = self.array[cycle].tolist()
        if self.types is None:
            return [Fraction(value) for value in row]
        return [_real(raw, kind) for raw, kind in zip(row, self.types, strict=True)]

    def __eq__(self, other: object) -> bool:
        """Return True if ``other`` has the same content."""
        if not isinstance(other, ArrayRows):
            return NotImplemented
        return self.types == other.types and np.array_equal(self.array, other.array)

    __hash__ = None  # type: ignore[assignment]


def raw_rows(rows: Sequence[Sequence[Fraction]], types: tuple[FixedType, ...]) -> IntArray:
    """Return ``rows`` as raw integers wrapped to ``types``: (cycles, elements), of objects if wider than 62 bits."""
    if isinstance(rows, ArrayRows) and rows.types == types:
        return rows.array
    columns: list[IntArray] = []
    for element, kind in enumerate(types):
        values = rows.array[:, element] if isinstance(rows, ArrayRows) else [row[element] for row in rows]
        if isinstance(values, np.ndarray):
            column = floor_to_grid(Batch.of(np.ascontiguousarray(values).reshape(-1, 1), 1).columns[0], kind.f)
        else:
            scale = Fraction(2) ** kind.f
            column = np.array([floor(value * scale) for value in values], dtype=object)
        wrapped = (column.astype(object) - kind.raw_min & (1 << kind.width) - 1) + kind.raw_min
        columns.append(wrapped if kind.width > _WIDEST else wrapped.astype(np.int64))
    wide = any(kind.width > _WIDEST for kind in types)
    whole = np.zeros((len(rows), len(types)), dtype=object if wide else np.int64)
    for element, column in enumerate(columns):
        whole[:, element] = column
    return whole


def sequence_of_bits(machine: Machine, elements: Sequence[Element], rows: Sequence[Sequence[int]]) -> InputSequence:
    """Return the sequence of ``rows``: each has the bits of all ``elements`` of inputs in one cycle, as integers."""
    columns = {element: number for number, element in enumerate(elements)}

    def value(row: Sequence[int], name: str, place: int, kind: FixedType) -> Fraction:
        bits, half = row[columns[Element(name, place)]], 1 << (kind.width - 1) if kind.k and kind.width else 0
        return _real((bits ^ half) - half, kind)

    return InputSequence(
        len(rows),
        {
            signal.name: [
                [value(row, signal.name, place, kind) for place, kind in enumerate(signal.types)] for row in rows
            ]
            for signal in machine.inputs
        },
    )


def _real(raw: int, kind: FixedType) -> Fraction:
    return Fraction(raw, 2**kind.f) if kind.f >= 0 else Fraction(raw * 2**-kind.f)


def given_sequences(path: Path, machine: Machine) -> list[InputSequence]:
    """Return the exact sequences in the file ``path``. Raises ``InputError`` with file, signal and rule."""
    arrays, _ = read_sequences(path, {signal.name: len(signal.types) for signal in machine.inputs})
    if not arrays:
        raise MachineInputError.of(
            "{path}: the machine has no inputs; {vectors} says how many cycles are simulated", path=path
        )
    if len({array.shape[:2] for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise MachineInputError(f"{path}: the inputs differ in their numbers of sequences or cycles: {shapes}")
    for name, array in arrays.items():
        whole = array.dtype.kind in "iub" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)
        if not whole or not np.isfinite(array).all():
            raise MachineInputError(f"{path}: {name} must hold finite numbers, integers or floats of at most 64 bits")
    sequences, cycles = next(iter(arrays.values())).shape[:2]
    return [
        InputSequence(
            cycles,
            {name: ArrayRows(array[number]) for name, array in arrays.items()},
        )
        for number in range(sequences)
    ]


# Files of sequences for machines: ``.npz`` with one array per signal, (cycles, elements) or with sequences first.


def read_sequences(path: str | Path, elements: Mapping[str, int]) -> tuple[dict[str, NDArray[Any]], bool]:
    """Return the arrays of ``elements``, (sequences, cycles, elements), and whether there are several sequences.

    Arrays without an axis of sequences have one sequence. Raises ``InputError`` with file and signal for other files.
    """
    if not is_archive(Path(path)):
        raise MachineInputError(
            f"{path}: is not an .npz file: a machine's inputs are one array per signal, numpy.savez(...)"
        )
    found = read_arrays(Path(path))
    if sorted(found) != sorted(elements):
        given, wanted = (", ".join(sorted(names)) or "none" for names in (found, elements))
        raise MachineInputError(f"{path}: has arrays {given}; the inputs of the machine are {wanted}")
    several = any(array.ndim == 3 for array in found.values())
    for name, array in found.items():
        if array.ndim not in (2, 3) or (array.ndim == 3) != several or array.shape[-1] != elements[name]:
            raise MachineInputError(
                f"{path}: {name} has shape {array.shape}, must be (cycles, {elements[name]}), or"
                f" (sequences, cycles, {elements[name]}) for all signals"
            )
    return {name: array if several else array[None] for name, array in found.items()}, several


def npz_of(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of an ``.npz`` file with ``arrays``."""
    file = io.BytesIO()
    # np.savez takes names as keyword arguments, but a signal may have the name of one of np.savez's parameters.
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return file.getvalue()
