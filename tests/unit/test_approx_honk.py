"""A real file for a network of four nodes applies unchanged to a network of that shape; files of larger ones do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.places import HPVM

import dais_verif
from dais_verif.compile.approximation import KNOBS, convolve
from dais_verif.compile.approximation import read as read_configurations
from dais_verif.compile.approximation.problems import ConfigurationError
from dais_verif.compile.networks.approximate import approximate

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
HONK = HPVM / "honk_best.txt"
RNG = np.random.default_rng(4)
W1, B1 = RNG.integers(-3, 4, (2, 1, 3, 3)) / 2, RNG.integers(-3, 4, 2) / 4
W2, B2 = RNG.integers(-3, 4, (2, 2, 3, 3)) / 2, RNG.integers(-3, 4, 2) / 4
W3, B3 = RNG.integers(-3, 4, (8, 3)) / 4, RNG.integers(-3, 4, 3) / 2


def network(dense: str) -> bytes:
    """Return a network of two convolutions with bias, ReLU and pooling, a dense layer and softmax, with quantisers."""
    from onnx import TensorProto, helper, numpy_helper

    def quantised(name: str, x: str, scale: str, zero: str) -> list[onnx.NodeProto]:
        return [
            helper.make_node("QuantizeLinear", [x, scale, zero], [f"{name}_q"]),
            helper.make_node("DequantizeLinear", [f"{name}_q", scale, zero], [name]),
        ]

    def layer(number: int, x: str) -> list[onnx.NodeProto]:
        return [
            helper.make_node("Conv", [x, f"w{number}", f"b{number}"], [f"c{number}"], pads=[1] * 4),
            helper.make_node("Relu", [f"c{number}"], [f"r{number}"]),
            helper.make_node("MaxPool", [f"r{number}"], [f"p{number}"], kernel_shape=[2, 2], strides=[2, 2]),
        ]

    ends = {
        "Gemm": [helper.make_node("Gemm", ["f", "w3", "b3"], ["s"])],
        "MatMul": [helper.make_node("MatMul", ["f", "w3"], ["m"]), helper.make_node("Add", ["m", "b3"], ["s"])],
    }
    nodes = [
        *quantised("d", "x", "half", "int4"),
        *layer(1, "d"),
        *quantised("d1", "p1", "half", "uint4"),
        *layer(2, "d1"),
        *quantised("d2", "p2", "half", "uint4"),
        helper.make_node("Flatten", ["d2"], ["f"]),
        *ends[dense],
        *quantised("t", "s", "half", "int4"),
        helper.make_node("Softmax", ["t"], ["y0"]),
        helper.make_node("QuantizeLinear", ["y0", "fine", "uint8"], ["y"]),
    ]
    arrays = {"w1": W1, "b1": B1, "w2": W2, "b2": B2, "w3": W3, "b3": B3}
    tensors = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    tensors += [helper.make_tensor(name, getattr(TensorProto, name.upper()), [], [0]) for name in ("int4", "uint4")]
    tensors += [helper.make_tensor("uint8", TensorProto.UINT8, [], [0])]
    tensors += [helper.make_tensor(name, TensorProto.FLOAT, [], [v]) for name, v in (("half", 0.5), ("fine", 2**-8))]
    graph = helper.make_graph(
        nodes,
        "four",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        tensors,
    )
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    return data


@pytest.mark.parametrize("dense", ["Gemm", "MatMul"])
def test_each_configuration_is_applied(dense: str) -> None:
    """Every node gets its knobs, and the first convolution equals the reference for each of its knobs in the file."""
    file, data = read_configurations(HONK), network(dense)
    exact = dais_verif.networks.parse(data)
    assert [[op.op for op in node.ops] for node in dais_verif.networks.fuse(exact) if node.number is not None] == [
        [op.op for op in node.ops] for node in file.configurations[0].nodes
    ]
    x = np.random.default_rng(1).integers(-8, 8, (3, 1, 8, 8)) / 2
    # Only configurations that treat some node in a new way are tried; the others combine the same treatments.
    seen: set[tuple[object, ...]] = set()
    for one in file.configurations:
        ways = {(at, *(op.knob for op in node.ops)) for at, node in enumerate(one.nodes)}
        mixed = one.nodes[2].ops[0].knob != one.nodes[2].ops[1].knob and dense == "Gemm"
        if len(ways - seen) < (1 if mixed else 3):
            continue
        seen |= ways
        made = approximate(data, file, one.name).network
        program = made.program(["c1", "y"])
        found = np.asarray(dais_verif.run(program, x.reshape(3, -1)))
        conv, add = (op.knob for op in one.nodes[0].ops[:2])
        wanted = convolve(x, W1, B1, pad=1, knob=conv).astype(float)
        if add == 12:
            wanted = wanted.astype(np.float16).astype(float)
        assert np.array_equal(found[:, : wanted[0].size], wanted.reshape(3, -1)), one.name
        assert abs(found[:, wanted[0].size :].sum(axis=1) - 256).max() <= 2, "shares of 1, in steps of 1/256"
    assert len(seen) > 8 and exact.program().hash == approximate(data, file, "conf0").network.program().hash


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("alexnet2_cifar10.txt", "nodes|tanh"),
        ("lenet_mnist.txt", "nodes|tanh"),
        ("vgg16_cifar10.txt", "conv \\+ add \\+ relu"),
        ("mobilenet_cifar10.txt", "nodes|conv"),
        ("resnet18_cifar10.txt", "nodes|conv \\+ add"),
    ],
)
def test_files_of_larger_networks_are_refused(name: str, said: str) -> None:
    file = read_configurations(HPVM / name)
    with pytest.raises(ConfigurationError, match=said) as caught:
        approximate(network("Gemm"), file, file.configurations[0].name)
    assert caught.value.line, "with the line"


def test_the_command_applies_it(tmp_path: Path) -> None:
    (tmp_path / "four.onnx").write_bytes(network("MatMul"))
    made = dais_verif.apply_configuration(tmp_path / "four.onnx", HONK, "conf50", tmp_path / "out")
    assert made.program.n_ops < made.exact_ops and KNOBS[154].half
