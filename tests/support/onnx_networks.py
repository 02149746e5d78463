"""Small networks for tests, made with onnx.helper, and the answers of onnx.reference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from dais_verif.compile.networks import Network
from dais_verif.golden.run_any import run

__all__ = ["Build", "Quant", "compare", "random_inputs", "reference"]


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
