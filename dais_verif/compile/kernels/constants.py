"""Contents of constant tensors: raw integers of a fixed-point type, as bytes of 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.structures import Tensor, TensorGeometry
from dais_verif.spec.program.types import FixedType

__all__ = ["constant_tensor", "content_of", "has_content"]


def constant_tensor(kind: FixedType, raw: NDArray[np.int64] | Sequence[object]) -> Tensor:
    """Return a tensor whose content is the raw integers ``raw``; the last axis of the array is the fastest dimension.

    Raises ``InputError`` for integers that the type does not hold.
    """
    array = np.asarray(raw, dtype=np.int64)
    if array.size and not kind.raw_min <= int(array.min()) <= int(array.max()) <= kind.raw_max:
        raise KernelError(f"{kind} holds raw integers {kind.raw_min} to {kind.raw_max}; the content has others")
    data = np.ascontiguousarray(array, dtype="<i8").tobytes()
    return Tensor(TensorGeometry.of(array.shape[::-1]), kind, data=data)


def has_content(tensor: Tensor) -> bool:
    """Return True if a tensor has valid content: as many raw integers as elements, all of its type."""
    kind = tensor.data_type
    if tensor.data is None or not isinstance(kind, FixedType) or len(tensor.data) != 8 * prod(tensor.geometry.shape):
        return False
    raw = np.frombuffer(tensor.data, dtype="<i8")
    return not raw.size or (int(raw.min()) >= kind.raw_min and int(raw.max()) <= kind.raw_max)


def content_of(tensor: Tensor) -> NDArray[np.int64]:
    """Return the raw integers of a constant tensor; the fastest dimension is the last axis."""
    raw = np.frombuffer(tensor.data or b"", dtype="<i8").astype(np.int64)
    return raw.reshape(tensor.geometry.shape[::-1])
