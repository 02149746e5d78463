"""A part of a network as a kernel instance: its block, lowered for one member, and the accesses of members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from dais_verif.kernels.block_inputs import join
from dais_verif.kernels.instance import KernelInstance
from dais_verif.kernels.mapping import MappedTensor
from dais_verif.kernels.mapping import Mapping as IndexMapping
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.networks.arithmetic import Element
from dais_verif.networks.call import Data, data_of
from dais_verif.networks.hardware.segments import Part, Window
from dais_verif.networks.lowering import Lowering
from dais_verif.networks.model import Network
from dais_verif.networks.problems import NetworkError, Problem, Refusal, shortened
from dais_verif.networks.reals import NO_FIXED_POINT, Real
from dais_verif.program import FixedType

__all__ = [
    "LeftOut",
    "Port",
    "Region",
    "Stage",
    "Storage",
    "as_problem",
    "instance_of_block",
    "patch_of",
    "stage_of_part",
    "whole_sizes",
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
