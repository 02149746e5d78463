"""Small networks for tests, made with onnx.helper, and the answers of onnx.reference."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from dais_verif.compile.networks import Network
from dais_verif.golden.run_any import run

__all__ = [
    "Build",
    "LAYERS",
    "MODES",
    "Quant",
    "cnn",
    "compare",
    "random_inputs",
    "random_network",
    "reference",
    "weights",
]


class Quant(OpRun):
    """QONNX's quantiser as its documentation defines it, in binary64."""

    op_domain = "qonnx.custom_op.general"

    def _run(  # type: ignore[no-untyped-def]
        self, x, scale, zero, bits, signed=None, narrow=None, rounding_mode=None
    ):
        width, t = int(bits), x.astype(np.float64) / scale + zero
        lo, hi = (-(2 ** (width - 1)) + narrow, 2 ** (width - 1) - 1) if signed else (0, 2**width - 1 - narrow)
        t = np.clip(t, lo, hi)
        modes = {
            "ROUND": np.rint,
            "CEIL": np.ceil,
            "FLOOR": np.floor,
            "UP": lambda a: np.sign(a) * np.ceil(np.abs(a)),
            "DOWN": np.trunc,
            "HALF_UP": lambda a: np.sign(a) * np.floor(np.abs(a) + 0.5),
            "HALF_DOWN": lambda a: np.sign(a) * np.ceil(np.abs(a) - 0.5),
        }
        return (((modes[rounding_mode](t) - zero) * scale).astype(x.dtype),)


class Build:
    """A builder of a model: each method adds nodes and returns the name of the tensor that they write."""

    def __init__(self, opset: int = 21) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.opset = opset

    def name(self) -> str:
        return f"t{len(self.nodes) + len(self.constants) + len(self.inputs)}"

    def input(self, name: str, shape: Sequence[int | str], kind: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values: Any, dtype: Any = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype), self.name()))
        return str(self.constants[-1].name)

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = self.name()
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{len(self.nodes)}", **attributes))
        return name

    def quantise(self, x: str, exponent: int, dtype: Any = np.int8) -> str:
        scale, zero = self.constant(2.0**exponent), self.constant(0, dtype)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, scale, zero), scale, zero)

    def quant(self, x: str, exponent: int, bits: int, signed: int = 1, narrow: int = 0, mode: str = "ROUND") -> str:
        constants = self.constant(2.0**exponent), self.constant(0.0), self.constant(float(bits))
        attributes = {"signed": signed, "narrow": narrow, "rounding_mode": mode, "domain": Quant.op_domain}
        return self.node("Quant", x, *constants, **attributes)

    def model(self, *outputs: str) -> onnx.ModelProto:
        named = [helper.make_tensor_value_info(one, TensorProto.FLOAT, None) for one in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, named, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(Quant.op_domain, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def bytes(self, *outputs: str) -> bytes:
        return bytes(self.model(*outputs).SerializeToString())


def random_inputs(network: Network, rows: int, seed: int) -> NDArray[np.float64]:
    """Return rows for all inputs: the least, then the greatest values of their types, then random values."""
    rng, columns = random.Random(seed), []
    for name in network.inputs:
        tensor = network.tensors[name]
        count, lo, hi = int(np.prod(tensor.shape)), tensor.type.raw_min, tensor.type.raw_max
        block = [[rng.choice((lo, hi, 0, rng.randint(lo, hi))) for _ in range(count)] for _ in range(rows)]
        columns.append(np.array([[lo] * count, [hi] * count, *block][:rows]) * 2.0**-tensor.type.f)
    return np.concatenate(columns, axis=1)


def reference(model: onnx.ModelProto, network: Network, row: NDArray[np.float64], names: Sequence[str]) -> Any:
    """Return the values that onnx.reference computes for one row, of the tensors ``names``, concatenated."""
    feeds, at = {}, 0
    for name, info in zip(network.inputs, model.graph.input, strict=True):
        shape = network.tensors[name].shape
        count, dtype = int(np.prod(shape)), helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        feeds[name] = row[at : at + count].reshape(shape).astype(dtype)
        at += count
    found = ReferenceEvaluator(model, new_ops=[Quant]).run(list(names), feeds)
    return np.concatenate([np.asarray(one).astype(np.float64).ravel() for one in found])


def compare(model: onnx.ModelProto, network: Network, names: Sequence[str], rows: int = 12, seed: int = 0) -> None:
    """Assert that the program and onnx.reference compute exactly equal numbers for the tensors ``names``."""
    vectors = random_inputs(network, rows, seed)
    got = np.asarray(run(network.program(names), vectors), dtype=np.float64)
    for row, values in zip(vectors, got, strict=True):
        np.testing.assert_array_equal(values, reference(model, network, row, names))


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
