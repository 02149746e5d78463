"""Train and quantise a small convolutional network on scikit-learn's digits, and write it as ONNX.

    python examples/digits/train.py [FOLDER]     # a minute on two cores; pip install 'dais-verif[examples]'

It writes ``digits.onnx`` and ``held_back.npz``: images that were not used for training, with their labels. Weights,
biases and activations are integers times powers of two, so that the network is exact in fixed point. In half of the
training steps, a convolution is approximated as a random knob does, so that the network tolerates approximations.
Seeds are fixed; other versions of JAX may still round differently, and produce other weights.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.approximation.convolution import fill_sources, kept_elements, weight_factor

SEED = 20
HELD_BACK = 600
BATCH = 64
#: Epochs with real numbers, then with quantised numbers.
ROUNDS = 60, 600
#: The probability that a convolution is approximated in a training step, and the knobs to choose from; 11 is exact.
LEFT_OUT = 0.5
CHOICES = (11, *range(121, 139), *range(231, 240))
#: Channels of the two convolutions.
CHANNELS = 8, 16
#: Bits of weights, which are signed, and of activations, which are unsigned.
WEIGHT_BITS, ACTIVATION_BITS = 3, 4

Weights = dict[str, jax.Array]
#: The scale of each tensor of weights and of each quantised activation, as the exponent of a power of two.
Exponents = Mapping[str, int]


def images() -> tuple[np.ndarray, np.ndarray]:
    """Return images of 8 by 8 pixels, 0 to 15 sixteenths, with their digits, in a fixed random order."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    pixels = np.minimum(digits.images, 15)[:, None] / 16
    return pixels[order].astype(np.float32), digits.target[order]


def initial() -> Weights:
    """Return random weights that keep the magnitude of activations, and biases of 0."""
    rng = np.random.default_rng(SEED)
    shapes = {"w1": (CHANNELS[0], 1, 3, 3), "w2": (CHANNELS[1], CHANNELS[0], 3, 3), "w3": (4 * CHANNELS[1], 10)}
    found = {}
    for name, shape in shapes.items():
        inputs = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
        found[name] = jnp.asarray(rng.normal(0, (2 / inputs) ** 0.5, shape), dtype=jnp.float32)
        found["b" + name[1:]] = jnp.zeros(shape[1] if len(shape) == 2 else shape[0])
    return found


def quantised(x: jax.Array, exponent: int, lo: int, hi: int) -> jax.Array:
    """Return ``x`` as an integer in ``lo..hi`` times ``2**exponent``; the gradient is that of the clipping only."""
    scale = 2.0**exponent
    held = jnp.clip(x, lo * scale, hi * scale)
    return held + jax.lax.stop_gradient(jnp.round(held / scale) * scale - held)


def weight(weights: Weights, name: str, exponents: Exponents | None) -> jax.Array:
    """Return weights, quantised to few bits, or biases, to 8 bits; real numbers if there are no ``exponents``."""
    if exponents is None:
        return weights[name]
    most = 2 ** (WEIGHT_BITS - 1) - 1 if name[0] == "w" else 127
    return quantised(weights[name], exponents[name], -most, most)


def activation(x: jax.Array, name: str, exponents: Exponents | None) -> jax.Array:
    """Return the activations ``x`` of a layer, quantised to unsigned numbers if there are ``exponents``."""
    return x if exponents is None else quantised(x, exponents[name], 0, 2**ACTIVATION_BITS - 1)


class Knob(NamedTuple):
    """The effect of a knob on a convolution: the mean for each row and column of results, and a factor per weight."""

    rows: np.ndarray
    columns: np.ndarray
    factors: np.ndarray


def knob(number: int, size: int, channels: int) -> Knob:
    """Return the knob ``number`` for results of ``size`` by ``size`` and 3 by 3 filters over ``channels`` channels."""
    chosen = KNOBS[number]
    found = Knob(np.eye(size), np.eye(size), np.ones((channels, 3, 3)))
    if chosen.axis == "filter":
        return found._replace(factors=kept_elements(chosen, channels, 3, 3) * float(weight_factor(chosen)))
    if chosen.axis is None:
        return found
    means = np.zeros((size, size))
    for at, sources in enumerate(fill_sources(chosen, size)):
        means[at, list(sources)] = 1 / len(sources)
    return found._replace(**{chosen.axis: means})


def knobs(first: int, second: int) -> tuple[Knob, Knob]:
    """Return the knobs of both convolutions."""
    return knob(first, 8, 1), knob(second, 4, CHANNELS[0])


NONE = knobs(11, 11)


def layer(x: jax.Array, w: jax.Array, b: jax.Array, left: Knob) -> jax.Array:
    """Return convolution, bias, ReLU and a 2 by 2 max-pool of ``x``."""
    y = jax.lax.conv(x, w * left.factors, (1, 1), "SAME")
    y = jnp.einsum("ri,ncij,sj->ncrs", left.rows, y, left.columns) + b[:, None, None]
    y = jnp.maximum(y, 0)
    return y.reshape(*y.shape[:2], y.shape[2] // 2, 2, y.shape[3] // 2, 2).max((3, 5))


def hidden(
    weights: Weights, x: jax.Array, exponents: Exponents | None, left: tuple[Knob, Knob]
) -> tuple[jax.Array, jax.Array]:
    """Return the quantised activations after each convolution."""
    w = {name: weight(weights, name, exponents) for name in weights}
    a1 = activation(layer(x, w["w1"], w["b1"], left[0]), "a1", exponents)
    return a1, activation(layer(a1, w["w2"], w["b2"], left[1]), "a2", exponents)


def scores(weights: Weights, x: jax.Array, exponents: Exponents | None, left: tuple[Knob, Knob] = NONE) -> jax.Array:
    """Return the score of each digit, one row per image."""
    a2 = hidden(weights, x, exponents, left)[1]
    return a2.reshape(len(x), -1) @ weight(weights, "w3", exponents) + weight(weights, "b3", exponents)


def loss(
    weights: Weights, x: jax.Array, digits: jax.Array, exponents: Exponents | None, left: tuple[Knob, Knob]
) -> jax.Array:
    """Return the cross-entropy, with a small penalty for large weights."""
    right = jax.nn.log_softmax(scores(weights, x, exponents, left))[jnp.arange(len(x)), digits]
    return -right.mean() + 1e-4 * sum((w**2).sum() for name, w in weights.items() if name[0] == "w")


def shifted(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the images, of which a random third is shifted by up to one pixel."""
    padded, found = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), x.copy()
    for at in rng.choice(len(x), len(x) // 3, replace=False):
        down, right = rng.integers(0, 3, 2)
        found[at] = padded[at, :, down : down + 8, right : right + 8]
    return found


def trained(
    weights: Weights, x: np.ndarray, digits: np.ndarray, rounds: int, rate: float, exponents: Exponents | None
) -> Weights:
    """Return weights that are trained by Adam, with a rate that falls to 0 along a cosine."""

    @jax.jit
    def step(weights: Weights, m: Weights, v: Weights, count: int, rate: float, x, digits, left):
        slope = jax.grad(loss)(weights, x, digits, exponents, left)
        m = {n: 0.9 * m[n] + 0.1 * slope[n] for n in m}
        v = {n: 0.999 * v[n] + 0.001 * slope[n] ** 2 for n in v}
        by = {n: m[n] / (1 - 0.9**count) / (jnp.sqrt(v[n] / (1 - 0.999**count)) + 1e-8) for n in m}
        return {n: weights[n] - rate * by[n] for n in weights}, m, v

    rng = np.random.default_rng(SEED)
    known = {(a, b): knobs(a, b) for a in CHOICES for b in CHOICES}
    m = {n: jnp.zeros_like(w) for n, w in weights.items()}
    v, count, steps = dict(m), 0, rounds * (len(x) // BATCH)
    for _ in range(rounds):
        order, moved = rng.permutation(len(x)), shifted(x, rng)
        for batch in range(len(x) // BATCH):
            at, count = order[batch * BATCH : (batch + 1) * BATCH], count + 1
            now = rate * (1 + np.cos(np.pi * count / steps)) / 2
            chosen = np.where(rng.random(2) < LEFT_OUT, rng.choice(CHOICES, 2), 11).tolist()
            weights, m, v = step(weights, m, v, count, now, moved[at], digits[at], known[chosen[0], chosen[1]])
    return weights


def chosen_exponents(weights: Weights, x: np.ndarray) -> dict[str, int]:
    """Return the scales: the smallest error for weights, and a range that holds nearly all activations."""
    found = {}
    for name in ("w1", "w2", "w3"):
        most, w = 2 ** (WEIGHT_BITS - 1) - 1, weights[name]
        found[name] = min(range(-8, 2), key=lambda e: float(((quantised(w, e, -most, most) - w) ** 2).sum()))
    for name, a in zip(("a1", "a2"), hidden(weights, x, None, NONE), strict=True):
        most = float(np.quantile(np.asarray(a), 0.999))
        found[name] = int(np.ceil(np.log2(most / (2**ACTIVATION_BITS - 1))))
    for number, data in ((1, -4), (2, found["a1"]), (3, found["a2"])):
        least = float(jnp.abs(weights[f"b{number}"]).max()) / 100
        found[f"b{number}"] = max(found[f"w{number}"] + data, int(np.ceil(np.log2(least + 1e-9))))
    return found


class Model:
    """A builder of the ONNX model: each method returns the name of the tensor that it adds."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def node(self, op: str, name: str, *inputs: str, **attributes: object) -> str:
        """Add a node."""
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    def tensor(self, name: str, kind: int, shape: tuple[int, ...], values: list[float]) -> str:
        """Add a constant."""
        self.tensors.append(helper.make_tensor(name, kind, shape, values))
        return name

    def scale(self, name: str, exponent: int, kind: int) -> tuple[str, str]:
        """Add a scale that is a power of two, and a zero point of 0."""
        return (
            self.tensor(f"{name}_scale", TensorProto.FLOAT, (), [2.0**exponent]),
            self.tensor(f"{name}_zero", kind, (), [0]),
        )

    def quantised(self, name: str, x: str, exponent: int) -> str:
        """Add a quantiser and a dequantiser."""
        scale = self.scale(name, exponent, TensorProto.UINT4)
        return self.node("DequantizeLinear", f"{name}_back", self.node("QuantizeLinear", name, x, *scale), *scale)

    def weight(self, name: str, values: jax.Array, exponent: int) -> str:
        """Add weights as integers of 8 bits, which most readers of ONNX accept, although weights need fewer bits."""
        most = 2 ** (WEIGHT_BITS - 1) - 1 if name[0] == "w" else 127
        raw = np.asarray(quantised(values, exponent, -most, most)) / 2.0**exponent
        self.tensors.append(numpy_helper.from_array(raw.astype(np.int8), name))
        return self.node("DequantizeLinear", f"{name}_real", name, *self.scale(name, exponent, TensorProto.INT8))


def exported(weights: Weights, exponents: Exponents) -> onnx.ModelProto:
    """Return the network as ONNX."""
    m = Model()
    real = {name: m.weight(name, weights[name], exponents[name]) for name in sorted(weights)}
    x = m.quantised("q0", "image", -4)
    for number in (1, 2):
        x = m.node("Conv", f"conv{number}", x, real[f"w{number}"], real[f"b{number}"], pads=[1, 1, 1, 1])
        x = m.node("Relu", f"relu{number}", x)
        x = m.node("MaxPool", f"pool{number}", x, kernel_shape=[2, 2], strides=[2, 2])
        x = m.quantised(f"q{number}", x, exponents[f"a{number}"])
    m.nodes.append(
        helper.make_node("Gemm", [m.node("Flatten", "flat", x), real["w3"], real["b3"]], ["scores"], "dense")
    )
    graph = helper.make_graph(
        m.nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 10])],
        m.tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="digits")
    onnx.checker.check_model(model, full_check=True)
    return model


def accuracy(weights: Weights, x: np.ndarray, digits: np.ndarray, exponents: Exponents | None) -> float:
    """Return the fraction of the images whose digit is recognised."""
    return float((np.asarray(scores(weights, x, exponents)).argmax(1) == digits).mean())


def main(folder: Path) -> None:
    """Train the network, print its accuracy, and write both files."""
    x, digits = images()
    seen, known = x[:-HELD_BACK], digits[:-HELD_BACK]
    new, new_digits = x[-HELD_BACK:], digits[-HELD_BACK:]
    weights = trained(initial(), seen, known, ROUNDS[0], 4e-3, None)
    print(f"real numbers: {accuracy(weights, new, new_digits, None):.2%} of {HELD_BACK} images that were held back")
    exponents = chosen_exponents(weights, seen)
    weights = trained(weights, seen, known, ROUNDS[1], 2e-3, exponents)
    print(f"quantised:    {accuracy(weights, new, new_digits, exponents):.2%}, scales {exponents}")
    onnx.save(exported(weights, exponents), folder / "digits.onnx")
    np.savez_compressed(folder / "held_back.npz", image=new, label=new_digits.astype(np.uint8))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
