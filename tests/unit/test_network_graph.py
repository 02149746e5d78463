"""Fused nodes of networks are those of HPVM's configuration files, and each ONNX node is in exactly one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.onnx_networks import Build
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile import approximation as approx
from dais_verif.compile.networks import Network, fuse, parse


def conv(b: Build, x: str, channels: int, *, bias: bool = True, **attributes: object) -> str:
    depth = 1 if attributes.get("group") else 4
    constants = [b.constant(np.ones((channels, depth, 1, 1)))]
    return b.node("Conv", x, *constants, *([b.constant(np.ones(channels))] if bias else []), **attributes)


def pool(b: Build, x: str, op: str = "MaxPool") -> str:
    return b.node(op, x, kernel_shape=[2, 2], strides=[2, 2])


def lenet(b: Build, x: str) -> str:
    """Build a LeNet: the bias of the second convolution is a node of its own; quantisers are in several places."""
    a = b.quantise(pool(b, b.node("Relu", b.quantise(conv(b, x, 4), 0))), 0)
    added = b.node("Add", conv(b, a, 4, bias=False), b.constant(np.ones((4, 1, 1))))
    a = b.node("Flatten", b.quantise(b.node("Clip", added, b.constant(0), b.constant(6)), 0))
    a = b.node("Relu", b.node("Gemm", a, b.constant(np.ones((16, 2))), b.constant(np.ones(2))))
    return b.node("Add", b.node("MatMul", a, b.constant(np.ones((2, 3)))), b.constant(np.ones(3)))


def resnet(b: Build, x: str) -> str:
    """Build a residual block: a sum of two computed tensors is a fused node, and the activation after it is another."""
    a = b.quantise(b.node("Relu", conv(b, x, 4)), 0)
    return b.node("GlobalAveragePool", b.node("Relu", b.node("Add", conv(b, a, 4), a)))


def mobilenet(b: Build, x: str) -> str:
    """Build a MobileNet block: nothing is fused without a bias, and nothing after a normalisation."""
    norm = [b.constant(values) for values in ([1.0] * 4, [0.0] * 4, [0.0] * 4, [1.0] * 4)]
    a = b.node("Relu", b.node("BatchNormalization", conv(b, x, 4, bias=False), *norm, epsilon=0.0))
    return pool(b, conv(b, a, 4, bias=False, group=4), "AveragePool")


def branches(b: Build, x: str) -> str:
    """Build branches: a tensor that two nodes read ends a fused node; operators unknown to HPVM keep their names."""
    a = conv(b, x, 4)
    joined = b.node("Concat", b.node("LeakyRelu", a, alpha=0.5), b.node("Sub", a, b.constant(1.0)), axis=1)
    return b.node("Clip", b.node("Mul", joined, joined), b.constant(-1), b.constant(1))


def honk(b: Build, x: str) -> str:
    """Build the network of honk_best.txt node for node, with one convolution fewer."""
    a = b.quantise(pool(b, b.node("Relu", conv(b, x, 4))), 0)
    a = b.node("Gemm", b.node("Flatten", a), b.constant(np.ones((16, 3))), b.constant(np.ones(3)))
    return b.quantise(b.node("Softmax", b.quantise(a, 0)), -7)


def curved(b: Build, x: str) -> str:
    """Build a network that pools a tensor that is not fixed-point before it is quantised."""
    return b.quantise(pool(b, b.node("Tanh", b.quantise(conv(b, x, 4), -2))), -7)


NETWORKS: dict[str, tuple[Callable[[Build, str], str], list[list[str]]]] = {
    "lenet": (
        lenet,
        [["conv", "add", "relu", "pool_max"], ["conv", "add", "clipped_relu"], ["mul", "add", "relu"], ["mul", "add"]],
    ),
    "honk": (honk, [["conv", "add", "relu", "pool_max"], ["mul", "add"], ["softmax"]]),
    "curved": (curved, [["conv", "add", "tanh", "pool_max"]]),
    "resnet": (resnet, [["conv", "add", "relu"], ["conv", "add"], ["add"], ["relu"], ["pool_mean"]]),
    "mobilenet": (mobilenet, [["conv"], ["batchnorm"], ["relu"], ["group_conv"], ["pool_mean"]]),
    "branches": (branches, [["conv", "add"], ["LeakyRelu"], ["Sub"], ["Concat"], ["Mul"], ["Clip"]]),
}


def network(make: Callable[[Build, str], str]) -> Network:
    b = Build()
    return parse(b.bytes(make(b, b.quantise(b.input("x", ["N", 4, 4, 4]), 0))))


@pytest.mark.parametrize("name", NETWORKS)
def test_fused_nodes_are_those_of_hpvm(name: str) -> None:
    make, expected = NETWORKS[name]
    found = fuse(network(make))
    named = [one for one in found if one.ops]
    assert [[op.op for op in one.ops] for one in named] == expected
    assert [one.number for one in named] == list(range(1, len(named) + 1))


@pytest.mark.parametrize("name", NETWORKS)
def test_each_computed_node_is_in_one_behind_what_it_reads(name: str) -> None:
    of = network(NETWORKS[name][0])
    known, written = set(of.inputs), []
    for one in fuse(of):
        assert set(one.inputs) <= known and len(one.nodes) == len(one.outputs)
        assert {op.output for op in one.ops} <= set(one.outputs)
        known |= set(one.outputs)
        written += one.outputs
    assert sorted(written) == sorted(name for node in of.nodes for name in node.outputs)


def test_an_output_of_the_network_ends_a_node() -> None:
    b = Build()
    a = conv(b, b.quantise(b.input("x", ["N", 4, 4, 4]), 0), 4)
    y = b.node("Relu", a)
    assert [[op.op for op in one.ops] for one in fuse(parse(b.bytes(y)))] == [[], ["conv", "add", "relu"]]
    assert [[op.op for op in one.ops] for one in fuse(parse(b.bytes(a, y)))] == [[], ["conv", "add"], ["relu"]]


#: A configuration for ``honk``.
CONFIGURATION = b"""+++++
conf0 1 1 90 0.0
1 gpu conv perf 121 add fp32 1 relu fp32 1 pool_max fp32 1
2 gpu mul fp16 12 add fp16 1
3 gpu softmax fp32 1
-----
"""


def test_a_configuration_fits_the_network_that_it_is_for() -> None:
    file = approx.parse(CONFIGURATION)
    makes = (NETWORKS[name][0] for name in ("honk", "curved"))
    honk, curved = ([[op.op for op in one.ops] for one in fuse(network(make))] for make in makes)
    approx.require_fit(file, file.configurations[0], [ops for ops in honk if ops])
    with raises(InputError):
        approx.require_fit(file, file.configurations[0], [ops for ops in curved if ops])


def test_costs_are_multiply_adds() -> None:
    found = [op.cost for one in fuse(network(lenet)) for op in one.ops if op.cost]
    assert found == [16 * 4 * 4, 4 * 4 * 4, 16 * 2, 2 * 3]
    assert [op.cost for one in fuse(network(mobilenet)) for op in one.ops] == [256, 0, 0, 64, 0]
