"""Layers: sums of products with weights, and normalisation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dais_verif.compile.networks.arithmetic import Element, dyadic
from dais_verif.compile.networks.call import Call, Data, Elements, data_of
from dais_verif.compile.networks.operators.approximated import approximated
from dais_verif.compile.networks.operators.pooling import Windows
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
    flat = _with_zero(data.elements.reshape(batch, channels, -1))
    taps = weights.elements.reshape(filters, -1)
    found: list[Element] = []
    for one in flat:
        for number in range(filters):
            first = number // (filters // groups) * depth
            start = Fraction(0) if bias is None else bias.elements[number]
            for places in windows.places:
                under = one[first : first + depth, places].ravel()
                found.append(call.ops.dot(under.tolist(), taps[number].tolist(), start))
    return data_of(found, shape, data.dtype)


def _with_zero(flat: Elements) -> Elements:
    """Return ``flat`` with a 0 appended to its last axis, which the index -1 selects."""
    zeros = np.full((*flat.shape[:-1], 1), Fraction(0), dtype=object)
    return np.concatenate([flat, zeros], axis=-1)


def _product(call: Call, a: Elements, b: Elements) -> Elements:
    """Return the matrix product, with the rules of NumPy for vectors and batches."""
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    if not a.ndim or not b.ndim or left.shape[-1] != right.shape[-2]:
        raise Refusal(f"shapes {a.shape} and {b.shape} cannot be multiplied as matrices")
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise Refusal(f"shapes {a.shape} and {b.shape} do not fit together") from None
    shape = (*batch, left.shape[-2], right.shape[-1])
    call.require_size(shape)
    call.budget.take(math.prod(shape) * left.shape[-1])
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    result = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        row, column = left[(*at[:-1], slice(None))], right[(*at[:-2], slice(None), at[-1])]
        result[at] = call.ops.dot(row.tolist(), column.tolist())
    if b.ndim == 1:
        result = result[..., 0]
    return result[..., 0, :] if a.ndim == 1 and b.ndim > 1 else result.reshape(()) if a.ndim == 1 else result


def _matmul(call: Call) -> Data:
    a, b = call.reals(0, "first operand"), call.reals(1, "second operand")
    return Data(_product(call, a.elements, b.elements), a.dtype)


def _gemm(call: Call) -> Data:
    a, b, c = call.reals(0, "A"), call.reals(1, "B"), call.optional_reals(2, "C")
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Refusal(f"A and B must be matrices, not of shapes {a.shape} and {b.shape}")
    left = a.elements.T if call.integer("transA", 0) else a.elements
    right = b.elements.T if call.integer("transB", 0) else b.elements
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    result = _product(call, left, right)
    addend = np.full((), Fraction(0), dtype=object) if c is None else c.elements
    wide, added = call.broadcast(result, addend)
    if wide.shape != result.shape:
        raise Refusal(f"C of shape {addend.shape} does not fit a result of shape {result.shape}")
    ops = call.ops
    found = [ops.add(ops.multiply(x, alpha), ops.multiply(y, beta)) for x, y in zip(wide.flat, added.flat, strict=True)]
    return data_of(found, result.shape, a.dtype)


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
    call.budget.take(data.elements.size)
    ops, result = call.ops, np.empty(data.shape, dtype=object)
    for at in np.ndindex(*data.shape):
        element: Element = data.elements.item(at)
        moved = ops.subtract(element, mean[at[1]])
        result[at] = ops.add(ops.multiply(moved, factors[at[1]]), bias[at[1]])
    return Data(result, data.dtype)


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "Conv": _conv,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
}
