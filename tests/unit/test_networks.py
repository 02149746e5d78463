"""Networks as programs equal onnx.reference, which shares no code with them, number for number."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto
from support.onnx_networks import Build, compare, reference

from dais_verif.compile.networks import Network, parse, read
from dais_verif.compile.networks.rounding import ROUNDINGS
from dais_verif.golden.run_any import run


def weights(rng: random.Random, *shape: int, f: int = 3) -> np.ndarray:
    count = int(np.prod(shape))
    return np.array([rng.randint(-8, 7) for _ in range(count)]).reshape(shape) * 2.0**-f


def cnn() -> tuple[Build, list[str]]:
    """Build a network with every supported kind of node, from convolution to dense, except those of layout."""
    rng, b = random.Random(1), Build()
    x = b.quantise(b.input("image", ["N", 2, 6, 6]), -3)
    w = b.quantise(b.constant(weights(rng, 4, 1, 3, 3)), -3)
    a = b.node("Conv", x, w, b.constant(weights(rng, 4)), group=2, pads=[1, 1, 1, 1])
    norm = [b.constant(values) for values in ([1, 2, 0.5, -1], [0.5] * 4, [0.25] * 4, [1, 4, 0.25, 1])]
    a = b.quantise(b.node("BatchNormalization", a, *norm, epsilon=0.0), -2)
    a = b.node("MaxPool", b.node("Relu", a), kernel_shape=[2, 2], strides=[2, 2])
    left = b.node("Conv", a, b.constant(weights(rng, 2, 4, 3, 3)), auto_pad="SAME_UPPER")
    right = b.node("LeakyRelu", b.node("Conv", a, b.constant(weights(rng, 2, 4, 1, 1))), alpha=0.125)
    a = b.quant(b.node("Add", left, right), -2, 6, narrow=1)
    a = b.node("Clip", a, b.constant(-3.25), b.constant(5.5))
    a = b.node("Concat", a, b.node("Mul", a, a), axis=1)
    a = b.node("AveragePool", b.node("Pad", a, b.constant([0, 0, 0, 1, 0, 0, 0, 0], np.int64)), kernel_shape=[2, 2])
    flat = b.node("Flatten", a)
    out = b.node("Gemm", flat, b.constant(weights(rng, 3, 24)), b.constant(weights(rng, 3)), transB=1, alpha=0.5)
    pooled = b.node(
        "GlobalAveragePool",
        b.node("Transpose", b.node("Reshape", flat, b.constant([1, 4, 3, 2], np.int64)), perm=[0, 2, 1, 3]),
    )
    names = [name for node in b.nodes for name in node.output]
    return b, [*names[: names.index(out)], out, pooled]


def test_every_node_of_a_cnn_is_equal() -> None:
    b, names = cnn()
    model = b.model(names[-2], names[-1])
    network = parse(model.SerializeToString())
    compare(model, network, names, rows=10)
    compare(model, network, network.outputs, rows=10, seed=1)


def random_network(seed: int) -> Build:
    """Build a few random layers, each exact in 24 bits or decided by 24 bits, with quantisers in between."""
    rng, b = random.Random(seed), Build()
    size, channels = rng.randint(4, 6), rng.choice((1, 2, 4))
    a = b.quantise(b.input("x", [1, channels, size, size]), rng.randint(-4, 0), rng.choice((np.int8, np.uint8)))
    for _ in range(rng.randint(2, 4)):
        kind = rng.choice(("conv", "pool", "mean", "leaky", "square", "branch", "curve", "third", "softmax", "moved"))
        if kind == "conv":
            groups = rng.choice([g for g in (1, 2) if channels % g == 0])
            filters, k = groups * rng.randint(1, 2), rng.randint(1, 3)
            w = b.constant(weights(rng, filters, channels // groups, k, k))
            a = b.node("Conv", a, w, group=groups, strides=[1, rng.randint(1, 2)], pads=[1, 2, 1, 1])
            channels = filters
        elif kind in ("pool", "mean"):
            op = "MaxPool" if kind == "pool" else "AveragePool"
            a = b.node(op, a, kernel_shape=[1, 2], strides=[1, rng.randint(1, 2)])
        elif kind == "leaky":
            a = b.node("LeakyRelu", a, alpha=rng.choice((0.25, -0.5, 0.0)))
        elif kind == "square":
            a = b.node("Mul", a, a)
        elif kind == "curve":
            a = b.node("MaxPool", b.node(rng.choice(("Tanh", "Sigmoid")), a), kernel_shape=[2, 1])
        elif kind == "third":
            a = b.node("AveragePool", a, kernel_shape=[1, 3], pads=[0, 1, 0, 1], count_include_pad=rng.randint(0, 1))
        elif kind == "softmax":
            a = b.node("Softmax", a, axis=rng.randint(1, 3))
        elif kind == "moved":
            pads = b.constant([0, 0, 0, rng.randint(0, 1), 0, 0, 1, 0], np.int64)
            a = b.node("Transpose", b.node("Pad", a, pads), perm=[0, 1, 3, 2])
        else:
            a = b.node("Sub", b.node("Relu", a), b.node("Clip", a, b.constant(-1.5), b.constant(2.0)))
        # In binary32, tanh(20) is 1 and a softmax can be 1/4, so the reference decides only ROUND.
        modes = ["ROUND"] if kind in ("curve", "softmax") else MODES
        a = b.quant(a, rng.randint(-3, 1), rng.randint(3, 8), rng.randint(0, 1), rng.randint(0, 1), rng.choice(modes))
    return b


MODES = ["ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"]


@pytest.mark.parametrize("seed", range(20))
def test_random_networks_are_equal_at_every_node(seed: int) -> None:
    b = random_network(seed)
    model = b.model(b.nodes[-1].output[0])
    network = parse(model.SerializeToString())
    names = [node.output[0] for node in b.nodes if network.tensors[node.output[0]].type is not None]
    compare(model, network, names, rows=6, seed=seed)


@pytest.mark.parametrize("mode", [*ROUNDINGS, "half_even"])
@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_quantisers_of_qonnx_on_all_inputs(mode: str, signed: int, narrow: int) -> None:
    """All 256 inputs include negative ones, ties and saturation; HALF_EVEN is another name of ROUND."""
    b = Build()
    y = b.quant(b.node("Identity", b.input("x", [1])), 0, 3, signed, narrow, mode)
    network = parse(b.bytes(y), inputs={"x": (1, 4, 3)})
    oracle = Build()
    names = mode.upper().replace("HALF_EVEN", "ROUND")
    z = oracle.quant(oracle.node("Identity", oracle.input("x", [1])), 0, 3, signed, narrow, names)
    x = np.arange(-128, 128).reshape(-1, 1) / 8
    got = run(network.program(), x).ravel()
    expected = [float(reference(oracle.model(z), network, row, [z])[0]) for row in x]
    assert got.tolist() == expected and len(set(expected)) == 8 - narrow


@pytest.mark.parametrize("dtype", ["INT2", "UINT2", "INT4", "UINT4", "INT8", "UINT8", "INT16", "UINT16"])
def test_quantise_linear_saturates_and_rounds_to_even(dtype: str) -> None:
    bits, signed = int(dtype.removeprefix("U").removeprefix("INT")), not dtype.startswith("U")
    b = Build(25 if bits == 2 else 21)
    x = b.node("Identity", b.input("x", [1]))
    y = b.node("QuantizeLinear", x, b.constant(0.5), output_dtype=int(TensorProto.DataType.Value(dtype)))
    network = parse(b.bytes(y), inputs={"x": (1, 17, 3)})
    raw = np.array([*range(-40, 41), *(s * (2**bits * 4 + d) for s in (1, -1) for d in range(-20, 9))])
    raw = np.concatenate([raw, [-(2**20), 2**20 - 1]])
    got = run(network.program(), (raw / 8).reshape(-1, 1)).ravel()
    lo, hi = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    assert got.tolist() == np.clip(np.rint(raw / 4), lo, hi).tolist()
    assert network.tensors[y].type == (int(signed), bits - int(signed), 0)


def test_types_and_shapes_are_those_of_the_tensors(tmp_path: Path) -> None:
    b = Build()
    q = b.quantise(b.input("x", [1, 3]), -2)
    y = b.node("MatMul", q, b.constant([[1], [0.5], [-2]]))
    (tmp_path / "net.onnx").write_bytes(b.bytes(y))
    network = read(tmp_path / "net.onnx")
    assert isinstance(network, Network) and network.inputs == ("x",) and network.outputs == (y,)
    assert network.tensors["x"][1:] == ((1, 3), (1, 5, 2), "FLOAT") and network.tensors[y][1:3] == ((1, 1), (1, 7, 3))
    assert [node.op for node in network.nodes] == ["QuantizeLinear", "DequantizeLinear", "MatMul"]
    program = network.program()
    assert program.origin.layout == "onnx" and program.origin.path == str(tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("shapes", "inner"),
    [([[3], [3]], []), ([[2, 3], [3]], [2]), ([[3], [3, 2]], [2]), ([[2, 1, 2, 3], [4, 3, 1]], [2, 4, 2, 1])],
    ids=["dot", "vector", "row", "batches"],
)
def test_products_of_two_computed_tensors(shapes: list[list[int]], inner: list[int]) -> None:
    b = Build()
    y = b.node("MatMul", *(b.quantise(b.input(name, shape), -1) for name, shape in zip("ab", shapes, strict=True)))
    network = parse(b.bytes(y))
    assert list(network.tensors[y].shape) == inner
    compare(b.model(y), network, [y])


LAYERS: dict[str, Callable[[Build, str], str]] = {
    "conv 1-d": lambda b, x: b.node(
        "Conv",
        b.node("Reshape", x, b.constant([1, 2, 8], np.int64)),
        b.constant(np.ones((1, 2, 3)) / 2),
        dilations=[2],
        strides=[2],
    ),
    "conv same lower": lambda b, x: b.node("Conv", x, b.constant(np.ones((1, 1, 2, 3)) / 4), auto_pad="SAME_LOWER"),
    "pool padded": lambda b, x: b.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], dilations=[1, 1]),
    "mean with padding": lambda b, x: b.node(
        "AveragePool", x, kernel_shape=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1
    ),
    "mean without padding": lambda b, x: b.node("AveragePool", x, kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
    "pad edge": lambda b, x: b.node("Pad", x, b.constant([0, 0, 1, 2, 0, 0, 0, 1], np.int64), mode="edge"),
    "pad reflect": lambda b, x: b.node(
        "Pad", x, b.constant([1, 2, 0, 1], np.int64), "", b.constant([2, -1], np.int64), mode="reflect"
    ),
    "flatten": lambda b, x: b.node("Flatten", x, axis=3),
    "gemm": lambda b, x: b.node(
        "Gemm", b.node("Flatten", x, axis=3), b.constant(np.ones((4, 2))), b.constant([1, 2]), transA=1, beta=0.5
    ),
    "scales of channels": lambda b, x: b.node(
        "QuantizeLinear", x, b.constant([0.5, 1, 2, 4]), b.constant([0, 0, 0, 0], np.int8), axis=3
    ),
    "broadcast": lambda b, x: b.node("Add", x, b.constant([[1.0], [2.0], [3.0], [4.5]])),
    "clip above": lambda b, x: b.node("Clip", x, "", b.constant(1.25)),
    "clip inverted": lambda b, x: b.node("Clip", x, b.constant(3), b.constant(1)),
    "constant node": lambda b, x: b.node("Mul", x, b.node("Constant", value_float=0.75)),
    "joined": lambda b, x: b.node("Concat", x, x, b.constant(np.ones((1, 1, 4, 4))), axis=-3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_equal(name: str) -> None:
    b = Build()
    y = LAYERS[name](b, b.quantise(b.input("x", [1, 1, 4, 4]), -2))
    compare(b.model(y), parse(b.bytes(y)), [y])
