"""Split fused nodes into parts: each becomes one kernel, which computes one pixel per member, or all at once.

A node is *local* if each pixel of its output depends on a window of its input. Only the first node of a part may have a
window larger than a pixel; the others read their own pixel. A later node with a window stays in the part only if it
reads values that are not fixed-point numbers yet. Nodes that read all elements form parts with a single member.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.networks.call import Call
from dais_verif.networks.graph import fuse
from dais_verif.networks.lowering import Lowering
from dais_verif.networks.model import Network, Node
from dais_verif.networks.operators.windows import pads_of
from dais_verif.networks.problems import NetworkError, Refusal

__all__ = ["Part", "Window", "parts_of_network", "window_of"]

#: Operators whose results depend only on elements at the same place.
_POINTWISE = frozenset(
    {"Relu", "LeakyRelu", "Clip", "Tanh", "Sigmoid", "Identity", "Add", "Sub", "Mul", "BatchNormalization"}
    | {"QuantizeLinear", "DequantizeLinear", "Quant"}
)
_POOLS = ("MaxPool", "AveragePool")


class Window(NamedTuple):
    """The window of a pixel ``at``, in rows and in columns: ``stride * at - pad + dilation * n`` for n < ``size``.

    ``padded``: True if the image is padded on any side.
    """

    size: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    dilation: tuple[int, int]
    padded: bool = False

    @property
    def moves(self) -> bool:
        """True if the window is not just the pixel itself."""
        return self != POINT


#: The window of just the pixel itself.
POINT = Window((1, 1), (1, 1), (0, 0), (1, 1))


@dataclass(frozen=True)
class Part:
    """Nodes of one fused node that become one kernel. ``fused``: HPVM's number of the fused node, if any.

    ``windows``: one per node, if all nodes are local; None: one member computes everything. ``inputs``: the computed
    tensors that the part reads, each once; ``output``: the tensor that it writes.
    """

    fused: int | None
    nodes: tuple[Node, ...]
    windows: tuple[Window, ...] | None
    inputs: tuple[str, ...]
    output: str

    @property
    def name(self) -> str:
        """The name of the first node of the part that computes something."""
        named = [node.name for node in self.nodes if node.op not in ("QuantizeLinear", "DequantizeLinear", "Identity")]
        return (named or [node.name for node in self.nodes])[0] or self.output


def parts_of_network(network: Network, unrolled: Sequence[int] = ()) -> list[list[Part]]:
    """Return the parts of each fused node, in topological order.

    ``unrolled``: numbers of fused nodes that one member computes. Raises ``NetworkError`` for unknown numbers.
    """
    known = {fused.number for fused in fuse(network)} - {None}
    unknown = sorted(set(unrolled) - known)
    if unknown:
        raise NetworkError(f"there is no fused node {unknown[0]}; `show` lists the {len(known)} of this network")
    by_output = {node.outputs[0]: node for node in network.nodes}
    found = []
    for fused in fuse(network):
        nodes = [by_output[name] for name in fused.outputs]
        if fused.number is not None and fused.number in unrolled:
            found.append([_part(network, fused.number, nodes, None)])
        else:
            found.append(list(_split(network, fused.number, nodes)))
    return found


def _split(network: Network, number: int | None, nodes: Sequence[Node]) -> Iterator[Part]:
    """Yield parts of a fused node: a new one begins at each window, and where local nodes begin or end."""
    windows = [window_of(network, node) for node in nodes]
    first = 0
    for at in range(1, len(nodes) + 1):
        if at < len(nodes):
            here, before = windows[at], windows[first:at]
            whole = any(window is None for window in before)
            splits = (here is None) != whole or (here is not None and here.moves)
            # Values that are not fixed-point numbers yet stay within a part.
            if not splits or network.tensors[nodes[at - 1].outputs[0]].type is None:
                continue
        part, inside = nodes[first:at], windows[first:at]
        local = [window for window in inside if window is not None]
        # Padding within a part would apply to computed values, at different places in each member.
        fits = len(local) == len(part) and not any(window.padded for window in local[1:])
        yield _part(network, number, part, tuple(local) if fits else None)
        first = at


def _part(network: Network, number: int | None, nodes: Sequence[Node], windows: tuple[Window, ...] | None) -> Part:
    inside = {node.outputs[0] for node in nodes}
    read = [name for node in nodes for name in node.inputs if _computed(network, name) and name not in inside]
    return Part(number, tuple(nodes), windows, tuple(dict.fromkeys(read)), nodes[-1].outputs[0])


def _computed(network: Network, name: str) -> bool:
    return bool(name) and (name in network.inputs or network.constant(name) is None)


def window_of(network: Network, node: Node) -> Window | None:
    """Return the window of a node; None if it is not local."""
    read, written = network.tensors[node.inputs[0]].shape, network.tensors[node.outputs[0]].shape
    if len(written) != 4 or len(read) != 4 or read[0] != 1 or written[0] != 1:
        return None
    if node.op == "Conv" or node.op in _POOLS:
        return _sliding(network, node, read)
    by_pixel = all(_by_pixel(network, node, name) for name in node.inputs if name)
    if node.op in _POINTWISE:
        return POINT if by_pixel else None
    opset = network.opset
    if node.op == "Concat" and int(node.attributes.get("axis", 0)) in (1, -3):
        return POINT if by_pixel else None
    if node.op == "Softmax" and opset >= 13 and int(node.attributes.get("axis", -1)) in (1, -3):
        return POINT
    return None


def _by_pixel(network: Network, node: Node, name: str) -> bool:
    """Return True if an operand has a value per channel for each pixel, or values that are the same for all pixels."""
    own, shape = network.tensors[name].shape, network.tensors[node.outputs[0]].shape
    if _computed(network, name):
        return own == shape or (len(own) == 4 and own[0] == 1 and own[2:] == shape[2:])
    if all(size == 1 for size in own[-2:]):
        return True
    return len(own) == 1 and _axis_of_vectors(node) == 1


def _axis_of_vectors(node: Node) -> int:
    """Return the axis of an image along which a vector among the operands of ``node`` lies."""
    if node.op == "BatchNormalization":
        return 1
    if node.op in ("QuantizeLinear", "DequantizeLinear"):
        return int(node.attributes.get("axis", 1)) % 4
    return 3


def _sliding(network: Network, node: Node, read: tuple[int, ...]) -> Window | None:
    """Return the window of a convolution or a pool; None if it is not local.

    An image that is constant has no pixels that members could read; padding would not be part of it.
    """
    if not _computed(network, node.inputs[0]):
        return None
    kernel = network.tensors[node.inputs[1]].shape[2:] if node.op == "Conv" else node.attributes["kernel_shape"]
    strides, dilations = (node.attributes.get(name, (1, 1)) for name in ("strides", "dilations"))
    if node.op == "Conv" and any(_computed(network, name) for name in node.inputs[1:] if name):
        return None
    call: Call = Lowering(network).call(node, ())
    try:
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        pads = pads_of(call, read[2:], reach, strides)
    except Refusal:  # cannot happen, since the network was lowered
        return None
    if node.op == "AveragePool" and any(map(any, pads)) and not node.attributes.get("count_include_pad", 0):
        return None
    sizes, steps, spread = ((int(a), int(b)) for a, b in (kernel, strides, dilations))
    return Window(sizes, steps, (pads[0][0], pads[1][0]), spread, any(map(any, pads)))
