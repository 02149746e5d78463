"""The operators of ONNX on tensors with an axis of samples: each computes the exact result from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.approximation import KNOBS, Knob
from dais_verif.compile.approximation.convolution import fill_sources, kept_elements, weight_factor
from dais_verif.compile.networks.arithmetic import Arithmetic
from dais_verif.compile.networks.call import Budget, Call
from dais_verif.compile.networks.knobs import GRID, Applied
from dais_verif.compile.networks.model import Node
from dais_verif.compile.networks.operators.pooling import Windows
from dais_verif.compile.networks.operators.quantisers import INTEGERS
from dais_verif.compile.networks.problems import NetworkError, shortened
from dais_verif.compile.networks.tensors.exact import (
    Exact,
    Integers,
    added,
    aligned,
    compact,
    constant,
    format_of_products,
    largest,
    matrix_product,
    multiplied,
    product_in,
    scaled_up,
    spread,
)
from dais_verif.compile.networks.tensors.numbers import (
    Curve,
    Mixed,
    Ratio,
    Tables,
    Tensor,
    halved,
    in_half,
    mean_of,
    moved,
    power_of,
    quantised,
    shape_of,
)

__all__ = ["Step", "result_of"]


@dataclass(frozen=True)
class Step:
    """A node of a network that was read without problems, on its operands; an operand that is left out is None.

    ``shape``, ``kind``: those of its result. ``kinds``: ONNX's kinds of the operands' elements.
    """

    node: Node
    operands: tuple[Tensor | None, ...]
    kinds: tuple[str, ...]
    shape: tuple[int, ...]
    kind: str
    opset: int
    applied: Applied | None
    grid: int | None
    tables: Tables

    def exact(self, number: int) -> Exact:
        """Return an operand of fixed-point numbers."""
        found = self.operands[number]
        assert isinstance(found, Exact)  # otherwise the network would have been refused
        return found

    def optional(self, number: int) -> Exact | None:
        """Return an operand of fixed-point numbers, or None if it is left out."""
        return None if number >= len(self.operands) or self.operands[number] is None else self.exact(number)

    def tensor(self, number: int = 0) -> Tensor:
        """Return an operand."""
        found = self.operands[number]
        assert found is not None
        return found

    def call(self) -> Call:
        """Return the attributes of the node, which are checked and completed where windows are laid out."""
        return Call(self.node.op, (), self.node.attributes, self.opset, Arithmetic(), Budget())

    def number(self, name: str, default: float) -> Exact:
        """Return an attribute as the exact value of its binary32."""
        return constant(Fraction(float(np.float32(self.node.attributes.get(name, default)))))


def result_of(step: Step) -> Tensor:
    """Return the exact result of a node, under its knobs."""
    applied, op = step.applied, step.node.op
    if op == "Conv":
        return _conv(step)
    if applied is None or applied.plain or op == "Softmax":
        return _OPERATORS[op](step)
    if applied.bias is not None:
        return _bias_apart(step, applied.first, applied.bias)
    return halved(_OPERATORS[op](_with(step, [one if one is None else halved(one) for one in step.operands])))


def _with(step: Step, operands: Sequence[Tensor | None], applied: Applied | None = None) -> Step:
    kinds = step.kinds[: len(operands)]
    return Step(step.node, tuple(operands), kinds, step.shape, step.kind, step.opset, applied, step.grid, step.tables)


def _half(number: Exact, half: bool) -> Exact:
    return in_half(number) if half else number


# layers


def _conv(step: Step) -> Tensor:
    data, weights, bias = step.exact(0), step.exact(1), step.optional(2)
    first = KNOBS[11] if step.applied is None else step.applied.first
    bias_half = step.applied is not None and step.applied.bias is not None and step.applied.bias.half
    weights = _sampled(weights, first, step.grid) if first.axis == "filter" else _half(weights, first.half)
    sums = _half(_convolved(step, _half(data, first.half), weights), first.half)
    if first.axis in ("rows", "columns"):
        axis = 3 if first.axis == "rows" else 4
        sources = fill_sources(first, sums.shape[axis])
        sides = [Exact(sums.raw.take([one[at] for one in sources], axis), sums.f) for at in (0, -1)]
        mean = mean_of(sides[0], sides[1], first.half)
        single = np.array([len(one) == 1 for one in sources]).reshape((-1,) + (1,) * (4 - axis))
        (known, filled), f = aligned(sides[0], mean)
        sums = Exact(np.where(single, known, filled), f)
    if bias is None:
        return sums
    addend = Exact(bias.raw.reshape(*bias.shape[:1], 1, -1, *(1,) * (sums.raw.ndim - 3)), bias.f)
    return _half(added(_half(sums, bias_half), _half(addend, bias_half)), bias_half)


def _sampled(weights: Exact, knob: Knob, grid: int | None) -> Exact:
    """Return the weights that are kept, times the factor that makes up for the others."""
    factor, kept = weight_factor(knob), kept_elements(knob, *weights.shape[2:])
    whole = Exact(np.where(kept, weights.raw, 0), weights.f)
    if knob.half:
        # The factor is a quotient of small integers: 40 bits of it, and whether anything is left, decide its rounding.
        bits, left = divmod(factor.numerator << 40, factor.denominator)
        near = Exact(np.array([2 * bits + bool(left)], dtype=object), 41)
        return _shortened(in_half(multiplied(in_half(whole), in_half(near))))
    above = multiplied(whole, constant(Fraction(factor.numerator))).raw
    odd = factor.denominator // (factor.denominator & -factor.denominator)
    f = weights.f + (factor.denominator // odd).bit_length() - 1
    if not (above % odd).any():
        return Exact(compact(above // odd), f)
    wanted = _finest(weights) + GRID if grid is None else grid
    above, step = scaled_up(above, max(wanted - f, 0)).astype(object), odd << max(f - wanted, 0)
    below, rest = above // step, above % step
    up = (2 * rest > step) | ((2 * rest == step) & (below % 2 != 0))
    return Exact(compact(below + up.astype(object)), wanted)


def _shortened(numbers: Exact) -> Exact:
    """Return the numbers with as few fractional bits as they need, so that sums of them stay narrow."""
    joint = int(np.bitwise_or.reduce(numbers.raw.ravel()))
    bits = (joint & -joint).bit_length() - 1 if joint else 0
    return Exact(compact(numbers.raw >> bits), numbers.f - bits)


def _finest(weights: Exact) -> int:
    """Return the most fractional bits that a weight needs; a weight of 0 needs none."""
    raw = weights.raw[weights.raw != 0]
    joint = int(np.bitwise_or.reduce(raw.ravel())) if raw.size else 0
    found = weights.f - ((joint & -joint).bit_length() - 1) if joint else 0
    return max(found, 0) if raw.size < weights.raw.size else found


def _convolved(step: Step, data: Exact, weights: Exact) -> Exact:
    """Return sums of products, without a bias."""
    if weights.shape[0] > 1:  # computed weights differ from sample to sample
        count = max(data.shape[0], weights.shape[0])
        wide = np.broadcast_to(data.raw, (count, *data.shape[1:]))
        parts = [
            _convolved(step, Exact(wide[at : at + 1], data.f), Exact(weights.raw[at : at + 1], weights.f)).raw
            for at in range(count)
        ]
        return Exact(compact(np.concatenate([one.astype(object) for one in parts])), data.f + weights.f)
    samples, batch, channels, *spatial = data.shape
    _, filters, depth, *kernel = weights.shape
    groups = channels // depth
    windows = Windows(step.call(), spatial, kernel)
    taps = weights.raw[0].reshape(filters, depth, -1)
    kind = format_of_products(taps.reshape(filters, -1), largest(data.raw))
    # Channels last: a window is then a few long runs of memory, and all samples are one large matrix.
    flat = np.zeros((samples * batch, math.prod(spatial) + 1, channels), dtype=kind)
    flat[:, :-1] = data.raw.reshape(samples * batch, channels, -1).swapaxes(1, 2)
    taps = taps.swapaxes(1, 2).reshape(filters, -1)
    found, size, (count, area) = [], filters // groups, windows.places.shape
    for group in range(groups):
        under = flat[:, :, group * depth : (group + 1) * depth].take(windows.places, axis=1)
        found.append(product_in(kind, under.reshape(-1, area * depth), taps[group * size : (group + 1) * size].T))
    sums = np.concatenate(found, axis=1) if groups > 1 else found[0]
    sums = sums.reshape(samples * batch, count, filters).swapaxes(1, 2)
    return Exact(sums.reshape(samples, batch, filters, *windows.sizes), data.f + weights.f)


def _product(a: Exact, b: Exact) -> Exact:
    """Return the product of matrices, of a vector and a matrix, or of batches of matrices."""
    x, y = a.raw, b.raw
    left, right = x.ndim == 2, y.ndim == 2
    x, y = x[:, None, :] if left else x, y[:, :, None] if right else y
    if y.shape[0] == 1 and y.ndim == 3:  # a constant matrix: the rows of all samples are those of one matrix
        found = matrix_product(x.reshape(-1, x.shape[-1]), y[0]).reshape(*x.shape[:-1], y.shape[-1])
    else:
        found = matrix_product(*spread(x, y))
    found = found[..., 0] if right else found
    if left:
        found = found[..., 0] if right else found[..., 0, :]
    return Exact(found, a.f + b.f)


def _matmul(step: Step) -> Tensor:
    return _product(step.exact(0), step.exact(1))


def _gemm(step: Step) -> Tensor:
    a, b, c = step.exact(0), step.exact(1), step.optional(2)
    turned = step.node.attributes.get
    a = Exact(a.raw.transpose(0, 2, 1), a.f) if turned("transA", 0) else a
    b = Exact(b.raw.transpose(0, 2, 1), b.f) if turned("transB", 0) else b
    found = multiplied(_product(a, b), step.number("alpha", 1.0))
    return found if c is None else added(found, multiplied(c, step.number("beta", 1.0)))


def _bias_apart(step: Step, first: Knob, bias: Knob) -> Tensor:
    """Compute a dense layer and its bias as two ops, each in its own precision."""
    product = result_of(_with(step, step.operands[:2], Applied(first)))
    assert isinstance(product, Exact)
    addend = multiplied(step.exact(2), step.number("beta", 1.0))
    return _half(added(_half(product, bias.half), _half(addend, bias.half)), bias.half)


def _batch_normalization(step: Step) -> Tensor:
    data, scale, bias, mean, variance = (step.exact(number) for number in range(5))
    precise = np.float32 if step.kinds[0] == "FLOAT" else np.float64
    epsilon = precise(float(np.float32(step.node.attributes.get("epsilon", 1e-5))))
    roots = [np.sqrt(precise(precise(float(one)) + epsilon)) for one in _fractions(variance)]
    factors = [one / Fraction(float(root)) for one, root in zip(_fractions(scale), roots, strict=True)]
    f = max((one.denominator.bit_length() - 1 for one in factors), default=0)
    factor = Exact(compact(np.array([[int(one * 2**f) for one in factors]], dtype=object)), f)
    shape = (1, 1, -1, *(1,) * (data.raw.ndim - 3))
    of_channels = [Exact(one.raw.reshape(shape), one.f) for one in (mean, factor, bias)]
    return added(multiplied(added(data, of_channels[0], -1), of_channels[1]), of_channels[2])


def _fractions(numbers: Exact) -> list[Fraction]:
    return [Fraction(one) / Fraction(2) ** numbers.f for one in numbers.raw.ravel().tolist()]


# elements, one by one


def _leaky_relu(step: Step) -> Tensor:
    data = step.exact(0)
    (below, above), f = aligned(multiplied(data, step.number("alpha", 0.01)), data)
    return Exact(np.where(data.raw < 0, below, above), f)


def _clip(step: Step) -> Tensor:
    if step.opset < 11:
        ends = [step.number(name, 0) if name in step.node.attributes else None for name in ("min", "max")]
    else:
        ends = [None if (one := step.optional(at)) is None else _first(one) for at in (1, 2)]
    found = step.exact(0)
    for end, choose in zip(ends, (np.maximum, np.minimum), strict=True):
        if end is not None:
            (a, b), f = aligned(found, end)
            found = Exact(choose(a, b.reshape(())), f)
    return found


def _first(numbers: Exact) -> Exact:
    return Exact(numbers.raw.reshape(-1)[:1], numbers.f)


# windows


def _pool(step: Step, data: Integers, filler: int, join: Callable[[Integers, Integers], Integers]) -> Integers:
    """Combine the elements under each window, with ``filler`` where a window covers padding."""
    samples, batch, channels, *spatial = data.shape
    windows = Windows(step.call(), spatial, step.node.attributes["kernel_shape"])
    flat = data.reshape(samples, batch, channels, -1)
    around = np.full((*flat.shape[:-1], 1), filler, dtype=flat.dtype)
    flat = np.concatenate([flat, around], axis=-1)
    found = flat.take(windows.places[:, 0], axis=-1)
    for places in windows.places.T[1:]:
        found = join(found, flat.take(places, axis=-1))
    return found.reshape(samples, batch, channels, *windows.sizes)


def _max_pool(step: Step, tensor: Tensor | None = None) -> Tensor:
    tensor = step.tensor() if tensor is None else tensor
    if isinstance(tensor, Exact):
        return Exact(_pool(step, tensor.raw, -largest(tensor.raw), np.maximum), tensor.f)
    if isinstance(tensor, Curve):
        largest_argument = _max_pool(step, tensor.argument)
        assert isinstance(largest_argument, Exact)
        return Curve(tensor.name, largest_argument, tensor.half)
    if isinstance(tensor, Ratio):  # the denominators under a window are equal, or the network would have been refused
        numerator = _max_pool(step, tensor.numerator)
        wide = np.broadcast_to(tensor.denominator.raw, shape_of(tensor))
        denominator = Exact(_pool(step, wide, 0, np.maximum), tensor.denominator.f)
        assert isinstance(numerator, Exact)
        return Ratio(numerator, denominator)
    wide = np.broadcast_to(tensor.which, (1, *shape_of(tensor)[1:]))
    which = _pool(step, wide, -1, np.maximum)
    if (which != len(tensor.parts) - 1 - _pool(step, len(tensor.parts) - 1 - wide, -1, np.maximum)).any():
        raise NetworkError(
            f"{shortened(step.node.name)} takes the largest of numbers of different tensors; quantise them first"
        )
    return Mixed(tuple(_max_pool(step, one) for one in tensor.parts), which)


def _mean(total: Exact, counts: NDArray[np.int64]) -> Tensor:
    """Divide sums by the numbers of their terms, which have the same shape apart from sizes of 1."""
    if (counts & (counts - 1)).any():
        return Ratio(total, Exact(counts, 0))
    most = int(counts.max())
    return Exact(multiplied(total, Exact(most // counts, 0)).raw, total.f + most.bit_length() - 1)


def _average_pool(step: Step) -> Tensor:
    data = step.exact(0)
    places = math.prod(step.node.attributes["kernel_shape"])
    wide = data.raw if largest(data.raw) * places < 1 << 62 else data.raw.astype(object)
    total = Exact(compact(_pool(step, wide, 0, np.add)), data.f)
    if step.node.attributes.get("count_include_pad", 0):
        return _mean(total, np.full((1,) * total.raw.ndim, places))
    inside = np.ones((1, 1, 1, *data.shape[3:]), dtype=np.int64)
    return _mean(total, _pool(step, inside, 0, np.add))


def _global_average_pool(step: Step) -> Tensor:
    data = step.exact(0)
    places = math.prod(data.shape[3:])
    wide = data.raw if largest(data.raw) * places < 1 << 62 else data.raw.astype(object)
    total = wide.reshape(*data.shape[:3], -1).sum(axis=-1).reshape(*data.shape[:3], *(1,) * (data.raw.ndim - 3))
    return _mean(Exact(compact(total), data.f), np.full((1,) * data.raw.ndim, places))


# quantisers


def _exponents(step: Step, shape: Sequence[int], axis: int | None) -> NDArray[np.int64]:
    """Return the binary logarithm of the scale of each element."""
    scale = step.exact(1)
    found = np.array([int(one).bit_length() - 1 - scale.f for one in scale.raw.ravel().tolist()])
    if len(found) == 1:
        return np.broadcast_to(found.reshape(()), shape)
    sizes = scale.shape[1:] if axis is None else (-1, *(1,) * (len(shape) - axis % len(shape) - 1))
    return np.broadcast_to(found.reshape(sizes), shape)


def _times_powers(raw: Integers, exponents: NDArray[np.int64]) -> Exact:
    """Return ``raw * 2**exponents``."""
    f = -int(exponents.min())
    ups = exponents + f
    if not ups.any():
        return Exact(raw, f)
    most = int(ups.max())
    wide = raw if largest(raw) << most < 1 << 62 else raw.astype(object)
    return Exact(compact(wide << ups.astype(wide.dtype)), f)


def _quantize_linear(step: Step) -> Tensor:
    data = step.tensor()
    signed, bits = INTEGERS[step.kind]
    exponents = _exponents(step, shape_of(data)[1:], int(step.node.attributes.get("axis", 1)))
    lo, hi = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return Exact(quantised(data, exponents, "ROUND", lo, hi, step.tables), 0)


def _dequantize_linear(step: Step) -> Tensor:
    data = step.exact(0)
    found = _times_powers(data.raw, _exponents(step, data.shape[1:], int(step.node.attributes.get("axis", 1))))
    return Exact(found.raw, found.f + data.f)


def _quant(step: Step) -> Tensor:
    data, attributes = step.tensor(), step.node.attributes
    bits = int(_fractions(step.exact(3))[0])
    narrow = int(attributes.get("narrow", 0))
    lo, hi = (0, (1 << bits) - 1 - narrow)
    if attributes.get("signed", 1):
        lo, hi = -(1 << (bits - 1)) + narrow, (1 << (bits - 1)) - 1
    exponents = _exponents(step, shape_of(data)[1:], None)
    mode = str(attributes.get("rounding_mode", "ROUND")).upper()
    return _times_powers(quantised(data, exponents, mode, lo, hi, step.tables), exponents)


# real numbers


def _softmax(step: Step) -> Tensor:
    data = step.exact(0)
    rank = data.raw.ndim - 1
    axis = int(step.node.attributes.get("axis", 1 if step.opset < 13 else -1)) % rank
    if step.opset < 13:  # all dimensions from the axis on are one line
        lines = data.raw.reshape(data.shape[0], math.prod(data.shape[1 : axis + 1]), -1)
    else:
        lines = np.moveaxis(data.raw, axis + 1, -1)
    found = _of_lines(Exact(lines, data.f), step.tables)
    shape = data.shape if step.opset < 13 else None
    return moved(found, lambda raw: raw.reshape(shape) if shape else np.moveaxis(raw, -1, axis + 1))


def _of_lines(lines: Exact, tables: Tables) -> Tensor:
    count = lines.shape[-1]
    if count == 1:
        return Exact(np.ones_like(lines.raw), 0)
    if count == 2:
        return Curve("Sigmoid", added(lines, Exact(lines.raw[..., ::-1], lines.f), -1))
    most = Exact(lines.raw.max(axis=-1, keepdims=True), lines.f)
    powers = power_of(added(most, lines, -1), tables)
    return Ratio(powers, Exact(powers.raw.sum(axis=-1, keepdims=True), powers.f))


# moves


def _concat(step: Step) -> Tensor:
    parts = [step.tensor(number) for number in range(len(step.operands))]
    axis = int(step.node.attributes.get("axis", 0)) % len(step.shape) + 1
    samples = max(shape_of(one)[0] for one in parts)
    if all(isinstance(one, Exact) for one in parts):
        raws, f = aligned(*(one for one in parts if isinstance(one, Exact)))
        return Exact(np.concatenate([np.broadcast_to(one, (samples, *one.shape[1:])) for one in raws], axis), f)
    sizes = [shape_of(one)[axis] for one in parts]
    at, found = 0, []
    for part, size in zip(parts, sizes, strict=True):
        around = [(0, 0)] * (len(step.shape) + 1)
        around[axis] = at, sum(sizes) - at - size
        found.append(moved(part, lambda raw, around=around: _padded(raw, around, "edge")))  # type: ignore[misc]
        at += size
    numbers = np.repeat(np.arange(len(parts)), sizes).reshape((-1,) + (1,) * (len(step.shape) - axis))
    return Mixed(tuple(found), np.broadcast_to(numbers, (1, *step.shape)))


def _padded(raw: Integers, around: Sequence[tuple[int, int]], mode: Any) -> Integers:
    found: Integers = np.pad(raw, around, mode=mode)
    return found


def _pad(step: Step) -> Tensor:
    data, attributes = step.tensor(), step.node.attributes
    rank, mode = len(step.shape), attributes.get("mode", "constant")
    filler: Exact | None
    if step.opset < 11:
        pads, filler = list(attributes.get("pads", (0,) * (2 * rank))), step.number("value", 0.0)
    else:
        pads, filler = step.exact(1).raw.ravel().tolist(), step.optional(2)
    chosen = step.optional(3)
    axes = range(rank) if chosen is None else [axis % rank for axis in chosen.raw.ravel().tolist()]
    around = [(0, 0)] * (rank + 1)
    for number, axis in enumerate(axes):
        around[axis + 1] = int(pads[number]), int(pads[number + len(axes)])
    if mode != "constant":
        return moved(data, lambda raw: _padded(raw, around, mode))
    inside = np.pad(np.ones((1, *shape_of(data)[1:]), dtype=np.int64), around)
    wide = moved(data, lambda raw: _padded(raw, around, "edge"))
    one = constant(Fraction(0)) if filler is None else _first(filler)
    if not isinstance(wide, Exact):
        return Mixed((Exact(np.broadcast_to(one.raw, inside.shape), one.f), wide), inside)
    (raw, outside), f = aligned(wide, one)
    return Exact(np.where(inside == 1, raw, outside), f)


def _binary(compute: Callable[[Exact, Exact], Exact]) -> Callable[[Step], Tensor]:
    return lambda step: compute(step.exact(0), step.exact(1))


def _moved(move: Callable[[Step, Integers], Integers]) -> Callable[[Step], Tensor]:
    return lambda step: moved(step.tensor(), lambda raw: move(step, raw))


def _turned(step: Step, raw: Integers) -> Integers:
    order = step.node.attributes.get("perm", range(raw.ndim - 1)[::-1])
    return raw.transpose(0, *(axis + 1 for axis in order))


_OPERATORS: Mapping[str, Callable[[Step], Tensor]] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
    "Add": _binary(added),
    "Sub": _binary(lambda a, b: added(a, b, -1)),
    "Mul": _binary(multiplied),
    "Relu": lambda step: Exact(np.maximum(step.exact(0).raw, 0), step.exact(0).f),
    "LeakyRelu": _leaky_relu,
    "Clip": _clip,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average_pool,
    "QuantizeLinear": _quantize_linear,
    "DequantizeLinear": _dequantize_linear,
    "Quant": _quant,
    "Tanh": lambda step: Curve("Tanh", step.exact(0)),
    "Sigmoid": lambda step: Curve("Sigmoid", step.exact(0)),
    "Softmax": _softmax,
    "Identity": lambda step: step.tensor(),
    "Flatten": _moved(lambda step, raw: raw.reshape(raw.shape[0], *step.shape)),
    "Reshape": _moved(lambda step, raw: raw.reshape(raw.shape[0], *step.shape)),
    "Transpose": _moved(_turned),
    "Concat": _concat,
    "Pad": _pad,
}
