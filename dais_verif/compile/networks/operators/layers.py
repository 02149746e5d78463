"""Layers: sums of products with weights, and normalisation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dais_verif.compile.networks.arithmetic import Element, dyadic
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, data_of, each, joined
from dais_verif.compile.networks.operators.approximated import approximated
from dais_verif.compile.networks.operators.pooling import Windows, sums_of_windows
from dais_verif.compile.networks.problems import Refusal

__all__ = ["OPERATORS"]


def _conv(call: Call) -> Data:
    data, weights = call.reals(0, "data"), call.reals(1, "weights")
    bias, groups = call.optional_reals(2, "bias"), call.integer("group", 1)
    if len(data.shape) < 3 or len(weights.shape) != len(data.shape):
        raise Refusal(f"data of shape {data.shape} and weights of shape {weights.shape} do not fit together")
    (batch, channels, *spatial), (filters, depth, *kernel) = data.shape, weights.shape
    if groups < 1 or channels != depth * groups or filters % groups:
        raise Refusal(
            f"{channels} channels, {filters} filters over {depth} channels each and group {groups} do not fit"
        )
    if call.sizes("kernel_shape", kernel) != tuple(kernel):
        raise Refusal(f"kernel_shape is not that of the weights, {tuple(kernel)}")
    if bias is not None and bias.shape != (filters,):
        raise Refusal(f"a bias of shape {bias.shape} for {filters} filters")
    windows = Windows(call, spatial, kernel)
    shape = (batch, filters, *windows.sizes)
    call.require_size(shape)
    if call.applied is not None and not call.applied.plain:
        return approximated(call, windows, shape, data, weights, bias, groups)
    call.budget.take(math.prod(shape) * depth * math.prod(kernel))
    starts = [Fraction(0)] * filters if bias is None else [bias.values[code] for code in bias.codes.tolist()]
    sums = sums_of_windows(call, windows.places, data, weights, starts, groups)
    return sums.moved(lambda codes: codes.reshape(shape))


def _product(call: Call, a: Data, b: Data) -> Data:
    """Return the matrix product, with the rules of NumPy for vectors and batches."""
    left = a.codes[None, :] if len(a.shape) == 1 else a.codes
    right = b.codes[:, None] if len(b.shape) == 1 else b.codes
    if not a.shape or not b.shape or left.shape[-1] != right.shape[-2]:
        raise Refusal(f"shapes {a.shape} and {b.shape} cannot be multiplied as matrices")
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise Refusal(f"shapes {a.shape} and {b.shape} do not fit together") from None
    shape = (*batch, left.shape[-2], right.shape[-1])
    call.require_size(shape)
    call.budget.take(math.prod(shape) * left.shape[-1])
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:])).swapaxes(-1, -2)
    zeros = [Fraction(0)] * shape[-1]
    parts = [
        call.ops.dots(Data(left[at], a.values, a.dtype), Data(right[at], b.values, b.dtype), zeros, rows_first=True)
        for at in np.ndindex(*batch)
    ]
    if len(b.shape) == 1:
        shape = shape[:-1]
    if len(a.shape) == 1:
        shape = (*batch, *shape[len(batch) + 1 :])
    return joined(parts, 0).moved(lambda codes: codes.reshape(shape))


def _matmul(call: Call) -> Data:
    a, b = call.reals(0, "first operand"), call.reals(1, "second operand")
    return _product(call, a, b)


def _gemm(call: Call) -> Data:
    a, b, c = call.reals(0, "A"), call.reals(1, "B"), call.optional_reals(2, "C")
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Refusal(f"A and B must be matrices, not of shapes {a.shape} and {b.shape}")
    left = a.moved(np.transpose) if call.integer("transA", 0) else a
    right = b.moved(np.transpose) if call.integer("transB", 0) else b
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    result = _product(call, left, right)
    addend = data_of([Fraction(0)], (), a.dtype) if c is None else c
    wide, added = call.broadcast(result, addend)
    if wide.shape != result.shape:
        raise Refusal(f"C of shape {addend.shape} does not fit a result of shape {result.shape}")
    ops = call.ops
    return each(lambda x, y: ops.add(ops.multiply(x, alpha), ops.multiply(y, beta)), wide, added)


def _batch_normalization(call: Call) -> Data:
    """Return ``(x - mean) * scale / sqrt(variance + epsilon) + bias``, with the root in the precision of the tensor."""
    data = call.reals(0, "data")
    names = ("scale", "bias", "mean", "variance")
    scale, bias, mean, variance = (call.numbers(number, name) for number, name in enumerate(names, 1))
    if call.integer("training_mode", 0):
        raise Refusal("training_mode is not supported; export the network for inference")
    channels = data.shape[1] if len(data.shape) > 1 else 0
    if {len(one) for one in (scale, bias, mean, variance)} != {channels}:
        raise Refusal(f"the number of its parameters differs from the number of its channels, {channels}")
    precise = np.float32 if data.dtype == "FLOAT" else np.float64
    epsilon = precise(call.number("epsilon", 1e-5))
    factors = []
    for one, spread in zip(scale, variance, strict=True):
        total = precise(precise(float(spread)) + epsilon)
        if not 0 < total < np.inf:
            raise Refusal("a variance plus epsilon is not above 0")
        factors.append(one / Fraction(float(np.sqrt(total))))
    if not all(map(dyadic, factors)):
        raise Refusal(
            "scale / sqrt(variance + epsilon) is not a multiple of a power of two; fold it into the layer before it"
        )
    call.budget.take(data.size)
    ops = call.ops

    def normalised(element: Element, channel: int) -> Element:
        moved = ops.subtract(element, mean[channel])
        return ops.add(ops.multiply(moved, factors[channel]), bias[channel])

    numbers = np.arange(channels).reshape(-1, *(1,) * (len(data.shape) - 2))
    return each(normalised, data, Data(np.broadcast_to(numbers, data.shape), tuple(range(channels)), data.dtype))


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "Conv": _conv,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
}
