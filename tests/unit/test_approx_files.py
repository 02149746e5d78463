"""Every configuration of real files for networks with tanh computes what a model of its own computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from support.places import HPVM

import dais_verif
from dais_verif.compile.approximation import KNOBS, convolve
from dais_verif.compile.approximation import read as read_configurations
from dais_verif.compile.approximation.configuration import Node
from dais_verif.compile.networks.approximate import approximate
from dais_verif.compile.networks.graph import fuse
from dais_verif.compile.networks.problems import NetworkError

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
Reals = NDArray[np.float64]
_STEP, _MIDDLE, _SIZE = 0.125, 2**-5, 8


class Network:
    """A network with the nodes of a file: images of 8 by 8, one channel, six classes, quantised after each node.

    ``before``: it is quantised before each tanh, too.
    """

    def __init__(self, nodes: Sequence[Node], *, before: bool) -> None:
        from onnx import TensorProto, helper, numpy_helper

        rng, self.before = np.random.default_rng(11), before
        self.arrays: dict[str, Reals] = {}
        made, x, size, flat = [], "x0", _SIZE, False
        made.append(helper.make_node("DequantizeLinear", ["x", "step", "zero"], ["x0"]))
        for number, node in enumerate(nodes):
            names = [op.op for op in node.ops]
            if names == ["softmax"]:
                self.last = x
                made.append(helper.make_node("Softmax", [x], ["shares"]))
                made.append(helper.make_node("QuantizeLinear", ["shares", "fine", "none"], ["y"]))
                continue
            layer, bias, y = f"w{number}", f"b{number}", f"l{number}"
            if names[0] == "conv":
                self.arrays[layer] = rng.integers(-3, 4, (1, 1, 3, 3)) / 4
                made.append(helper.make_node("Conv", [x, layer, bias], [y], pads=[1] * 4))
            else:
                if not flat:
                    made.append(helper.make_node("Flatten", [x], ["flat"]))
                    x, size, flat = "flat", size * size, True
                self.arrays[layer] = rng.integers(-3, 4, (size, size := 6)) / 4
                made.append(helper.make_node("Gemm", [x, layer, bias], [y]))
            self.arrays[bias] = rng.integers(-3, 4, 1 if names[0] == "conv" else size) / 8
            if "tanh" in names and before:
                made.append(helper.make_node("QuantizeLinear", [y, "middle", "zero8"], [f"m{number}"]))
                made.append(
                    helper.make_node("DequantizeLinear", [f"m{number}", "middle", "zero8"], [y := f"n{number}"])
                )
            if "tanh" in names:
                made.append(helper.make_node("Tanh", [y], [y := f"t{number}"]))
            if "pool_max" in names:
                made.append(helper.make_node("MaxPool", [y], [y := f"p{number}"], kernel_shape=[2, 2], strides=[2, 2]))
                size //= 2
            made.append(helper.make_node("QuantizeLinear", [y, "step", "zero"], [f"q{number}"]))
            made.append(helper.make_node("DequantizeLinear", [f"q{number}", "step", "zero"], [x := f"d{number}"]))
        tensors = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in self.arrays.items()]
        tensors += [helper.make_tensor("zero", TensorProto.INT4, [], [0])]
        tensors += [helper.make_tensor("zero8", TensorProto.INT8, [], [0])]
        tensors += [helper.make_tensor("none", TensorProto.UINT8, [], [0])]
        steps = {"step": _STEP, "middle": _MIDDLE, "fine": 2**-8}
        tensors += [helper.make_tensor(name, TensorProto.FLOAT, [], [step]) for name, step in steps.items()]
        graph = helper.make_graph(
            made,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.INT4, [1, 1, _SIZE, _SIZE])],
            [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
            tensors,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        self.data: bytes = model.SerializeToString()

    def run(self, nodes: Sequence[Node], x: Reals) -> Reals:
        """Compute what softmax reads: each op on exact numbers, rounded to binary16 where its knob says so."""
        for number, node in enumerate(nodes):
            for op in node.ops:
                half = op.applied(KNOBS).half
                if op.op == "softmax":
                    return x
                if op.op == "conv":
                    x = convolve(x, self.arrays[f"w{number}"], pad=1, knob=op.applied(KNOBS)).astype(float)
                elif op.op == "mul":
                    x = _half(_half(x.reshape(len(x), -1), half) @ _half(self.arrays[f"w{number}"], half), half)
                elif op.op == "add":
                    bias = self.arrays[f"b{number}"]
                    x = _half(_half(x, half) + _half(bias, half), half)
                elif op.op == "tanh":
                    x = np.clip(np.rint(x / _MIDDLE), -128, 127) * _MIDDLE if self.before else x
                    x = _half(np.tanh(_half(x, half)), half)
                else:
                    n, c, rows, columns = x.shape
                    x = x.reshape(n, c, rows // 2, 2, columns // 2, 2).max(axis=(3, 5))
            x = np.clip(np.rint(x / _STEP), -8, 7) * _STEP
        raise AssertionError("no softmax")


def _half(x: Reals, half: bool) -> Reals:
    return x.astype(np.float16).astype(np.float64) if half else x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "count", "refused"),
    [("lenet_mnist.txt", True, 51, 0), ("lenet_mnist.txt", False, 51, 2), ("alexnet2_cifar10.txt", True, 38, 0)],
)
def test_all_configurations_of_networks_with_tanh(name: str, before: bool, count: int, refused: int) -> None:
    """Without a quantiser before tanh, weights times 4/3 in half precision have too many bits for a table."""
    file = read_configurations(HPVM / name)
    network = Network(file.configurations[0].nodes, before=before)
    exact = dais_verif.networks.parse(network.data)
    ops = [[op.op for op in node.ops] for node in fuse(exact) if node.number is not None]
    assert ops == [[op.op for op in node.ops] for node in file.configurations[0].nodes]
    steps = np.random.default_rng(1).integers(-8, 8, (40, 1, _SIZE, _SIZE))
    outputs = []
    for one in file.configurations:
        try:
            program = approximate(network.data, file, one.name).network.program([network.last])
        except NetworkError as error:
            assert not before and "at most 16" in str(error)
            continue
        found = np.asarray(dais_verif.run(program, steps.reshape(40, -1)))
        assert np.array_equal(found, network.run(one.nodes, steps * _STEP).reshape(40, -1)), one.name
        outputs.append(found.tobytes())
    assert (len(file.configurations), len(outputs)) == (count, count - refused)
    assert len(set(outputs)) > 1, "knobs have an effect"
