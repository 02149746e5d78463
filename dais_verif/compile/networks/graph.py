"""Fused nodes: nodes that HPVM runs as one, so that approximation configurations can be matched to a network.

A convolution, the bias added to it, the following activation and the following pooling are one node; so are a dense
layer, its bias and its activation. HPVM fuses nothing after a layer without a bias, nor after a normalisation.
Quantisers, and operators that only move elements, belong to the node that they follow, but do not count as its ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from dais_verif.compile.networks.model import Network, Node

__all__ = ["FusedNode", "FusedOp", "fuse"]

#: Operators that HPVM does not count as ops: they only quantise or move elements.
_PASSED = ("QuantizeLinear", "DequantizeLinear", "Quant", "Identity", "Flatten", "Reshape", "Transpose", "Pad")
#: HPVM's names for operators whose name depends on the operator alone.
_NAMES = {
    "Add": "add",
    "BatchNormalization": "batchnorm",
    "Relu": "relu",
    "Tanh": "tanh",
    "MaxPool": "pool_max",
    "AveragePool": "pool_mean",
    "GlobalAveragePool": "pool_mean",
    "Softmax": "softmax",
}
_LAYERS = ("conv", "group_conv", "mul")
_ACTIVATIONS = ("relu", "clipped_relu", "tanh")
_POOLS = ("pool_max", "pool_mean")


class FusedOp(NamedTuple):
    """An op of a fused node. ``op``: HPVM's name for it, or ONNX's if HPVM has none. ``output``: its result tensor.

    ``node``: the name of the node in the file; for a bias that is an input, the node that reads it. ``cost``: the
    multiply-adds of a layer, 0 for other ops.
    """

    op: str
    node: str
    output: str
    cost: int


class FusedNode(NamedTuple):
    """A fused node. ``number``: HPVM's number, from 1; None if it has no ops and only quantises or moves elements.

    ``nodes``: the names of its nodes in the file; ``outputs``: the tensors that these nodes write. ``inputs``: the
    computed tensors that the fused node reads.
    """

    number: int | None
    ops: tuple[FusedOp, ...]
    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def fuse(network: Network) -> tuple[FusedNode, ...]:
    """Return the fused nodes of ``network`` in topological order; each computed node belongs to exactly one."""
    return tuple(_Fusing(network).fused())


class _Fusing:
    """The nodes that depend on inputs, and the readers of their outputs."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._computed = set(network.inputs)
        self._nodes: list[Node] = []
        for node in network.nodes:
            if self._computed & set(node.inputs):
                self._computed.update(node.outputs)
                self._nodes.append(node)
        self._readers: dict[str, list[Node]] = {}
        for node in self._nodes:
            for name in dict.fromkeys(node.inputs):
                self._readers.setdefault(name, []).append(node)

    def fused(self) -> Iterator[FusedNode]:
        """Yield fused nodes: each begins at a node that no earlier one contains, followed by the nodes fused to it."""
        taken: set[str] = set()
        number = 0
        for node in self._nodes:
            if node.outputs[0] in taken:
                continue
            chain, ops = self._chain(node)
            inside = tuple(one.outputs[0] for one in chain)
            taken.update(inside)
            number += bool(ops)
            read = [name for one in chain for name in one.inputs if name in self._computed and name not in inside]
            names = tuple(one.name for one in chain)
            yield FusedNode(number if ops else None, tuple(ops), names, tuple(dict.fromkeys(read)), inside)

    def _chain(self, node: Node) -> tuple[list[Node], list[FusedOp]]:
        chain, ops = [node], list(self._ops(node))
        while (follower := self._only_reader(chain[-1])) is not None:
            more = list(self._ops(follower))
            if more and not self._joins(ops, follower, more):
                break
            if not more and not self._passes(follower):
                break
            chain.append(follower)
            ops += more
        return chain, ops

    def _only_reader(self, node: Node) -> Node | None:
        """Return the only reader of the output of ``node``; None if others read it, or the network outputs it."""
        name = node.outputs[0]
        readers = self._readers.get(name, [])
        return readers[0] if len(readers) == 1 and name not in self._network.outputs else None

    def _passes(self, node: Node) -> bool:
        return node.op in _PASSED and node.inputs[0] in self._computed

    def _joins(self, ops: list[FusedOp], node: Node, more: list[FusedOp]) -> bool:
        """Return True if HPVM runs ``more``, the ops of ``node``, as one node with ``ops``."""
        names = [one.op for one in ops]
        if not names or names[0] not in _LAYERS or len(more) != 1:
            return False
        op = more[0].op
        if len(names) == 1:
            return op == "add" and sum(name in self._computed for name in node.inputs) == 1
        if names[1] != "add":
            return False
        if op in _ACTIVATIONS:
            return len(names) == 2
        return op in _POOLS and names[0] != "mul" and names[-1] not in _POOLS

    def _ops(self, node: Node) -> Iterator[FusedOp]:
        """Yield HPVM's ops of a node: two for a layer with a bias, none for a node that only moves elements."""
        if node.op in _PASSED:
            return
        name, output = _name_of(node, self._network, self._computed), node.outputs[0]
        yield FusedOp(name, node.name, output, self._cost(node) if name in _LAYERS else 0)
        if name in _LAYERS and len(node.inputs) > 2 and node.inputs[2]:
            yield FusedOp("add", node.name, output, 0)

    def _cost(self, node: Node) -> int:
        tensors = self._network.tensors
        count, weights = math.prod(tensors[node.outputs[0]].shape), tensors[node.inputs[1]].shape
        if node.op == "Conv":
            return count * math.prod(weights[1:])
        first = tensors[node.inputs[0]].shape
        return count * (first[0] if node.attributes.get("transA", 0) else first[-1])


def _name_of(node: Node, network: Network, computed: set[str]) -> str:
    named: Mapping[str, Callable[[], str]] = {
        "Conv": lambda: "group_conv" if node.attributes.get("group", 1) != 1 else "conv",
        "Clip": lambda: "clipped_relu" if _least(node, network) == 0 else "Clip",
        "Gemm": lambda: "mul" if node.inputs[1] not in computed else "Gemm",
        "MatMul": lambda: "mul" if node.inputs[1] not in computed else "MatMul",
    }
    return named[node.op]() if node.op in named else _NAMES.get(node.op, node.op)


def _least(node: Node, network: Network) -> float | None:
    """Return the lower bound of a Clip; None if there is none, or it is computed."""
    if "min" in node.attributes:
        return float(node.attributes["min"])
    if len(node.inputs) < 2 or not node.inputs[1]:
        return None
    numbers = network.constant(node.inputs[1])
    return float(numbers[0]) if numbers else None
