"""Operators that move elements and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dais_verif.base.text import counted
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, joined
from dais_verif.compile.networks.problems import Refusal

__all__ = ["OPERATORS"]


def _identity(call: Call) -> Data:
    return call.input(0, "data")


def _flatten(call: Call) -> Data:
    data = call.input(0, "data")
    axis = call.axis("axis", 1, len(data.shape), len(data.shape))
    return data.moved(lambda codes: codes.reshape(math.prod(data.shape[:axis]), math.prod(data.shape[axis:])))


def _reshape(call: Call) -> Data:
    data, shape = call.input(0, "data"), list(call.integers(1, "shape"))
    if not call.integer("allowzero", 0):
        if any(size == 0 and at >= len(data.shape) for at, size in enumerate(shape)):
            raise Refusal(f"shape {tuple(shape)} copies a dimension that does not exist")
        shape = [data.shape[at] if size == 0 else size for at, size in enumerate(shape)]
    if shape.count(-1) > 1 or min(shape, default=0) < -1 or len(shape) > 32:
        raise Refusal("its shape has more than one -1, sizes below -1, or more than 32 dimensions")
    try:
        return data.moved(lambda codes: codes.reshape(shape))
    except (ValueError, OverflowError):
        raise Refusal(f"{counted(data.size, 'element')} cannot take the shape {tuple(shape)}") from None


def _transpose(call: Call) -> Data:
    data = call.input(0, "data")
    order = call.sizes("perm", range(len(data.shape))[::-1])
    if sorted(order) != list(range(len(data.shape))):
        raise Refusal(f"perm {order} is not a permutation of {len(data.shape)} dimensions")
    return data.moved(lambda codes: codes.transpose(order))


def _concat(call: Call) -> Data:
    parts = [call.input(number, "data") for number in range(len(call.inputs))]
    if not parts or len({one.dtype for one in parts}) > 1:
        raise Refusal("it has no inputs, or inputs of different kinds")
    axis = call.axis("axis", 0, len(parts[0].shape))
    call.require_size((sum(one.size for one in parts),))
    try:
        return joined(parts, axis)
    except ValueError:
        shapes = ", ".join(str(one.shape) for one in parts)
        raise Refusal(f"shapes {shapes} cannot be joined along dimension {axis}") from None


def _pad(call: Call) -> Data:
    """Pad a tensor: pads are an attribute up to opset 10, and an input in later ones."""
    data, rank = call.input(0, "data"), len(call.input(0, "data").shape)
    mode = call.text("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise Refusal(f"mode {mode!r} is not supported; constant, edge and reflect are")
    if call.opset < 11:
        pads, filler = call.sizes("pads", (0,) * (2 * rank)), call.number("value", 0.0)
    else:
        pads = call.integers(1, "pads")
        filler = call.numbers(2, "constant")[0] if call.optional(2) is not None else call.number("", 0.0)
    axes = call.integers(3, "axes") if call.optional(3) is not None else tuple(range(rank))
    axes = tuple(axis + rank if axis < 0 else axis for axis in axes)
    if len(pads) != 2 * len(axes) or len(set(axes)) != len(axes) or not set(axes) <= set(range(rank)):
        raise Refusal(f"{len(pads)} pads for {len(axes)} of {rank} dimensions")
    if min(pads, default=0) < 0:
        raise Refusal("negative pads are not supported")
    around = [(0, 0)] * rank
    for number, axis in enumerate(axes):
        around[axis] = pads[number], pads[number + len(axes)]
    call.require_size([size + a + b for size, (a, b) in zip(data.shape, around, strict=True)])
    if mode == "reflect" and any(max(ends) >= size for size, ends in zip(data.shape, around, strict=True)):
        raise Refusal("reflected pads are as large as the tensor")
    if mode == "edge":
        return data.moved(lambda codes: np.pad(codes, around, mode="edge"))
    if mode == "reflect":
        return data.moved(lambda codes: np.pad(codes, around, mode="reflect"))
    if not any(map(any, around)):
        return data
    return Data(
        np.pad(data.codes, around, constant_values=len(data.values)), (*data.values, Fraction(filler)), data.dtype
    )


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "Identity": _identity,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Concat": _concat,
    "Pad": _pad,
}
