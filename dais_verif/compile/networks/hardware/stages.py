"""A part of a network as a kernel instance: its block, lowered for one member, and the accesses of members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from dais_verif.compile.kernels.block_inputs import join
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import MappedTensor
from dais_verif.compile.kernels.mapping import Mapping as IndexMapping
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, data_of
from dais_verif.compile.networks.graph import fuse
from dais_verif.compile.networks.lowering import Lowering
from dais_verif.compile.networks.model import Network, Node
from dais_verif.compile.networks.operators.pooling import pads_of
from dais_verif.compile.networks.problems import NetworkError, Problem, Refusal, shortened
from dais_verif.compile.networks.reals import NO_FIXED_POINT, Real
from dais_verif.spec.program import FixedType

__all__ = [
    "LeftOut",
    "Part",
    "Port",
    "Region",
    "Stage",
    "Storage",
    "Window",
    "as_problem",
    "instance_of_block",
    "parts_of_network",
    "patch_of",
    "stage_of_part",
    "whole_sizes",
    "window_of",
]


class Region(NamedTuple):
    """The region of a member in rows or columns: places ``slope * member + first`` to ``slope * member + last``."""

    slope: int
    first: int
    last: int

    def before(self, window: Window, axis: int) -> Region:
        """Return the region that a node with ``window`` reads to write this region."""
        stride, pad = window.stride[axis], window.pad[axis]
        reach = (window.size[axis] - 1) * window.dilation[axis]
        return Region(self.slope * stride, self.first * stride - pad, self.last * stride - pad + reach)

    @property
    def size(self) -> int:
        """The number of places of a member."""
        return self.last - self.first + 1

    @property
    def pattern(self) -> tuple[float, float, float]:
        """Slope, first and last place, as in an access pattern."""
        return float(self.slope), float(self.first), float(self.last)


class Storage(NamedTuple):
    """The layout of a tensor in words: ``channels`` elements each, and as many words as there are ``places``.

    An image has one word per pixel, with all channels; any other tensor has one word per element. Element ``c`` of word
    ``p`` is element ``c * places + p`` in NumPy's order.
    """

    places: tuple[int, ...]
    channels: int

    @classmethod
    def of(cls, shape: Sequence[int]) -> Storage:
        """Return the layout of a tensor of ``shape``."""
        if len(shape) == 4 and shape[0] == 1:
            return cls((shape[2], shape[3]), shape[1])
        return cls((prod(shape),), 1)

    @property
    def words(self) -> int:
        """The number of words."""
        return prod(self.places)


class LeftOut(NamedTuple):
    """Rows (``axis`` 0) or columns (1) of an image that are not computed; they hold the smallest number of the type."""

    axis: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """A kernel of a network. ``inputs``: the tensors that it reads, in order; ``output``: the tensor that it writes.

    ``shape``: the shape of its output. ``left_out``: rows or columns whose results are not used.
    """

    name: str
    fused: int | None
    instance: KernelInstance
    inputs: tuple[str, ...]
    output: str
    shape: tuple[int, ...]
    left_out: LeftOut | None = None

    @property
    def storage(self) -> Storage:
        """The layout of its output in words."""
        return Storage.of(self.shape)

    @property
    def type(self) -> FixedType:
        """The type of the elements of its output."""
        return self.instance.output_types[0]


class Port(NamedTuple):
    """A tensor as members read it. ``regions``: the rows and columns that a member reads; None: all elements."""

    name: str
    shape: tuple[int, ...]
    kind: str
    regions: tuple[Region, Region] | None

    @property
    def patch(self) -> tuple[int, ...]:
        """The shape of the part that a member reads."""
        if self.regions is None:
            return self.shape
        return (1, self.shape[1], self.regions[0].size, self.regions[1].size)


def stage_of_part(network: Network, part: Part, types: Mapping[str, FixedType]) -> Stage:
    """Return a part as a stage. ``types``: the types of tensors. Raises ``Refusal`` if it is not supported."""
    lowering = Lowering(network)
    read = _regions(part)
    ports: dict[tuple[str, tuple[Region, Region] | None], Data] = {}
    listed = []
    for name in part.inputs:
        tensor = network.tensors[name]
        for regions in dict.fromkeys(regions for one, regions in read if one == name):
            port = Port(name, tensor.shape, tensor.kind, regions)
            listed.append(port)
            ports[name, regions] = patch_of(lowering, port, types[name])
    inside: dict[str, Data] = {}
    uses = iter(read)
    for node in part.nodes:
        operands: list[Data | None] = []
        for name in node.inputs:
            if name in inside:
                operands.append(inside[name])
            elif name in part.inputs:
                operands.append(ports[next(uses)])
            else:
                operands.append(network.data(name) if name else None)
        # The node does not pad here, since the kernel returns the padding value for reads outside a tensor.
        around = {"pads": (0, 0, 0, 0), "auto_pad": "NOTSET", "ceil_mode": 0} if part.windows is not None else {}
        inside[node.outputs[0]] = lowering.lower(node, operands, around if node.op in _SLIDING else {})
    pads = [_pad(part, port, types[port.name]) for port in listed]
    made = inside[part.output].elements.ravel().tolist()
    written = network.tensors[part.output].shape
    geometry = (1,) if part.windows is None else (written[3], written[2])
    instance = instance_of_block(
        part.name,
        lowering,
        listed,
        types,
        pads,
        made,
        written if part.windows is not None else whole_sizes(written),
        geometry,
    )
    return Stage(part.name, part.fused, instance, tuple(port.name for port in listed), part.output, written)


_SLIDING = ("Conv", "MaxPool", "AveragePool")


def as_problem(part: Part, reason: Refusal) -> NetworkError:
    """Return the error for a part that is refused."""
    return NetworkError.of_problems((Problem(shortened(part.name), part.nodes[0].op, str(reason)),))


def whole_sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a tensor as one dimension with all its elements."""
    count = 1
    for size in shape:
        count *= size
    return (count,)


def patch_of(lowering: Lowering, port: Port, kind: FixedType) -> Data:
    """Return the part of a tensor that a member reads, as inputs of the block in NumPy's order."""
    count = whole_sizes(port.patch)[0]
    return data_of([lowering.ops.builder.input(kind) for _ in range(count)], port.patch, port.kind)


def instance_of_block(
    name: str,
    lowering: Lowering,
    ports: Sequence[Port],
    types: Mapping[str, FixedType],
    pads: Sequence[int],
    outputs: Sequence[Element | Real],
    shape: Sequence[int],
    geometry: tuple[int, ...],
    written: tuple[Region, Region] | None = None,
) -> KernelInstance:
    """Return the kernel instance of a block with ``outputs``. ``shape``: the shape of the tensor that it writes.

    ``written``: the rows and columns that a member writes; None: one pixel, or everything if there is one dimension.
    Raises ``Refusal`` if ``outputs`` are not fixed-point numbers.
    """
    for one in outputs:
        if isinstance(one, Real):
            raise Refusal(f"its result is {one}, {NO_FIXED_POINT}")
    values = [lowering.ops.value(one) for one in outputs if not isinstance(one, Real)]
    block = lowering.ops.builder.build(values)
    found = join(block.output_types)
    kind = found if found.width else FixedType(0, 1, 0)
    inputs = tuple(_read(at, port) for at, port in enumerate(ports))
    if len(shape) == 1:
        output = MappedTensor("out", tuple(shape), AccessPattern((DimPattern(all_required=True),)))
    else:
        rows, columns = written or (Region(1, 0, 0), Region(1, 0, 0))
        output = MappedTensor("out", (shape[3], shape[2], shape[1]), _pixel(rows, columns, shape[1]))
    mapping = IndexMapping(geometry, inputs, (output,))
    return KernelInstance(name, block, mapping, tuple(types[port.name] for port in ports), (kind,), tuple(pads))


def _read(at: int, port: Port) -> MappedTensor:
    if port.regions is None:
        pattern = AccessPattern((DimPattern(all_required=True),))
        return MappedTensor(f"in{at}", whole_sizes(port.shape), pattern)
    sizes = (port.shape[3], port.shape[2], port.shape[1])
    return MappedTensor(f"in{at}", sizes, _pixel(*port.regions, port.shape[1]))


def _pixel(rows: Region, columns: Region, channels: int) -> AccessPattern:
    """Return the access pattern of regions of rows and columns, with all channels."""
    dims = [
        DimPattern.affine(dim, region.slope, region.first, region.last) for dim, region in ((0, columns), (1, rows))
    ]
    return AccessPattern((*dims, DimPattern.affine(0, 0, 0, channels - 1, all_required=True)))


def _regions(part: Part) -> list[tuple[str, tuple[Region, Region] | None]]:
    """Return the inputs of a part in the order in which nodes read them, each with a member's region."""
    inside = {node.outputs[0] for node in part.nodes}
    if part.windows is None:
        return [(name, None) for node in part.nodes for name in node.inputs if name in part.inputs]
    found: list[list[tuple[str, tuple[Region, Region] | None]]] = []
    rows, columns = Region(1, 0, 0), Region(1, 0, 0)
    for node, window in zip(reversed(part.nodes), reversed(part.windows), strict=True):
        rows, columns = rows.before(window, 0), columns.before(window, 1)
        found.append([(name, (rows, columns)) for name in node.inputs if name in part.inputs and name not in inside])
    return [one for names in reversed(found) for one in names]


def _pad(part: Part, port: Port, kind: FixedType) -> int:
    """Return the raw value that is read outside a tensor: the smallest number for MaxPool, otherwise 0."""
    pooled = port.regions is not None and part.nodes[0].op == "MaxPool" and port.name in part.nodes[0].inputs
    return kind.raw_min if pooled else 0


# Split fused nodes into parts: each becomes one kernel, which computes one pixel per member, or all at once.
#
# A node is *local* if each pixel of its output depends on a window of its input. Only the first node of a part may
# have a window larger than a pixel; the others read their own pixel. A later node with a window stays in the part
# only if it reads values that are not fixed-point numbers yet. Nodes that read all elements form parts with a single
# member.


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
    return bool(name) and (name in network.inputs or not network.is_constant(name))


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
