"""Small layers and functions such as users give to da4ml, traced by da4ml itself.

The networks are small because their RTL is run in three simulators. Together they have every opcode that da4ml's
tracer writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NETWORKS", "traced"]

#: A ``FixedVariableArray`` of da4ml, whose type stubs are incomplete.
Values = Any
Function = Callable[[Values], Values]

#: By name: (signed, integer bits, fractional bits) of every input, their shape, and the function.
NETWORKS: dict[str, tuple[tuple[int, int, int], tuple[int, ...], Function]] = {}


def network(kif: tuple[int, int, int], *shape: int) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        NETWORKS[function.__name__] = kif, shape, function
        return function

    return add


def weights(*shape: int, seed: int, most: int = 7, f: int = 0) -> Any:
    """Return random integers from -most to most, divided by ``2**f``."""
    return np.random.default_rng(seed).integers(-most, most + 1, shape) / 2.0**f


def traced(name: str) -> Any:
    """Return the ``CombLogic`` of the network ``name``."""
    from da4ml.trace import FixedVariableArrayInput, HWConfig, comb_trace

    kif, shape, function = NETWORKS[name]
    inputs = FixedVariableArrayInput(shape, hwconf=HWConfig(1, -1, -1))
    outputs = function(inputs.quantize(*kif))
    return comb_trace(inputs, outputs)


@network((1, 3, 2), 5)
def dense(x: Values) -> Values:
    return x @ weights(5, 4, seed=1, f=2) + weights(4, seed=2, f=1)


@network((1, 2, 3), 4)
def mlp(x: Values) -> Values:
    """Return two layers, with the values between them cut to six bits."""
    hidden = (x @ weights(4, 6, seed=3, most=3) + weights(6, seed=4, f=2)).relu(i=np.full(6, 4), f=np.full(6, 2))
    return hidden @ weights(6, 3, seed=5, most=3)


@network((1, 2, 2), 10)
def convolution(x: Values) -> Values:
    """Return two kernels of three taps along a line, then ReLU, then max-pooling over pairs."""
    lines = np.stack([x[i : i + 3] @ weights(3, 2, seed=6, most=3) for i in range(8)]).relu()
    return np.amax(lines.reshape(4, 2, 2), axis=1)


@network((1, 2, 1), 2, 4)
def product_of_matrices(x: Values) -> Values:
    """Return the product of two matrices that are both inputs: multiplications, and sums of products."""
    return x[:, :2] @ x[:, 2:]


@network((1, 1, 4), 3)
def lookup(x: Values) -> Values:
    """Return lookups by signed values in two tables, one with a finer result than the other."""
    return np.concatenate([np.sin(x).quantize(1, 0, 6), np.exp(x).quantize(0, 3, 4)])


@network((1, 2, 2), 3)
def softmax(x: Values) -> Values:
    powers = np.exp(x - np.amax(x, keepdims=True)).quantize(0, 1, 6)
    total = np.sum(powers, keepdims=True).quantize(0, 2, 4)
    return powers * total.apply(lambda t: 1 / (t + 1 / 16)).quantize(0, 1, 6)


@network((1, 3, 1), 6)
def sorted_values(x: Values) -> Values:
    return np.sort(x)


@network((0, 4, 0), 2, 4)
def extremes(x: Values) -> Values:
    """Return the greatest and the least unsigned value of each row, and a comparison of the greatest."""
    most, least = np.amax(x, axis=1), np.amin(x, axis=1)
    return np.concatenate([most, least, most[:1] > most[1:]])


@network((1, 3, 2), 4)
def choices(x: Values) -> Values:
    """Return multiplexers with comparisons as conditions, and with shifted, negated and constant arms."""
    a, b, c, d = x
    return np.stack([(a > b).msb_mux(c * 2, -d), (a <= c).msb_mux(b, 1.5), a.is_negative().msb_mux(-a, a)])


@network((1, 3, 2), 3)
def saturated(x: Values) -> Values:
    """Return sums that are rounded or truncated, and saturated, as HLS types are."""
    sums = x @ weights(3, 4, seed=7, f=2)
    return np.concatenate([sums.quantize(1, 2, 1, "SAT", "RND"), sums.quantize(0, 3, 0, "SAT", "TRN")])


@network((1, 2, 2), 4)
def powers(x: Values) -> Values:
    return np.stack([x[0] * x[1], x[2] ** 2, x[0] * x[1] * x[3], x[3] * 0.375])


@network((0, 5, 0), 4)
def bits(x: Values) -> Values:
    return np.stack([x[0] & x[1], x[1] | x[2], x[2] ^ x[3], ~x[0], x[3] & 21])


@network((1, 3, 1), 6)
def reductions(x: Values) -> Values:
    """Return OR-reduces, AND-reduces and comparisons."""
    return np.concatenate([x[:1].to_bool("any"), x[1:2].to_bool("all"), x[2:3] != x[3:4], x[4:5] > x[5:]])


@network((1, 2, 3), 8)
def residual(x: Values) -> Values:
    """Return outputs of a layer whose input is added to its output, and their mean."""
    layer = (x @ weights(8, 8, seed=8, most=2)).quantize(1, 3, 2) + x
    return np.concatenate([layer[:3], np.mean(layer, keepdims=True)])


@network((1, 3, 0), 8)
def butterfly(x: Values) -> Values:
    """Return a Hadamard transform whose outputs are negated or scaled by powers of two."""
    h = np.array([[1, 1], [1, -1]])
    return (x @ np.kron(h, np.kron(h, h))) * np.array([1, -1, 2, -0.5, 1, -4, 0.25, 1])


@network((1, 3, 2), 3)
def constants(x: Values) -> Values:
    """Return constants in sums and as outputs, and an output that is always 0."""
    return np.stack([x[0] + 1.25, x[1] - 3, x[2] * 0, x[2] * 0 + 2.5, -x[0]])
