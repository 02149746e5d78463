"""Files of sequences for machines: ``.npz`` with one array per signal, (cycles, elements) or with sequences first."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.arrays import is_archive, read_arrays
from dais_verif.errors import MachineInputError

__all__ = ["npz_of", "read_sequences"]


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
