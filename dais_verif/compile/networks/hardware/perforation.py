"""A perforated convolution as two stages: the sums that are computed, then filled-in places, bias and activation.

Along the perforated axis, a member of the first stage computes the ``period - 1`` sums between two skipped places, so
that skipped places cost nothing. A member of the second stage writes a skipped place and the places after it. It fills
in the skipped place from the sums before and after that place. Where there is no such sum, at either end, it reads a
number that is never a sum, and uses only the other neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from dais_verif.compile.approximation import Knob
from dais_verif.compile.networks.arithmetic import Arithmetic, Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Elements, data_of
from dais_verif.compile.networks.hardware.stages import Part, Port, Region, Stage, Window, instance_of_block, patch_of
from dais_verif.compile.networks.knobs import Applied, perforation_of
from dais_verif.compile.networks.lowering import Lowering
from dais_verif.compile.networks.model import Network, Node
from dais_verif.compile.networks.operators.approximated import filled, with_bias
from dais_verif.compile.networks.problems import Refusal
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.types import type_of_interval

__all__ = ["begin_of", "below_sums", "filled_stage", "is_perforated", "perforated_stages", "sums_stage"]


class _Groups(NamedTuple):
    """Groups of sums along an axis: group g begins at place ``base + period * g``, after a skipped place."""

    axis: int
    period: int
    base: int
    groups: int
    places: int

    @classmethod
    def of(cls, knob: Knob, sizes: tuple[int, int]) -> _Groups:
        """Return the groups of a result of ``sizes`` rows and columns. Raises ``Refusal`` if no place is computed."""
        perforation_of(knob, sizes)
        axis = 0 if knob.axis == "rows" else 1
        base = knob.offset + 1 - (knob.period if knob.offset else 0)
        return cls(axis, knob.period, base, (sizes[axis] - 1 - base) // knob.period + 1, sizes[axis])

    @property
    def writing(self) -> int:
        """The number of members that write: one more than there are groups if the last place is skipped."""
        return self.groups + (self.base + self.period * self.groups - 1 < self.places)

    def region(self, first: int) -> Region:
        """Return the places of a group, beginning ``first`` places after its first sum."""
        return Region(self.period, self.base + first, self.base + self.period - 2)


def is_perforated(network: Network, part: Part) -> bool:
    """Return True if a part begins with a convolution that skips rows or columns."""
    applied = None if part.windows is None else Lowering(network).applied(part.nodes[0])
    return applied is not None and applied.first.axis in ("rows", "columns")


def perforated_stages(network: Network, part: Part, types: Mapping[str, FixedType]) -> tuple[Stage, Stage]:
    """Return the two stages of a perforated convolution. Raises ``Refusal`` if it is not supported."""
    conv, applied, window = begin_of(network, part)
    shape = network.tensors[conv.outputs[0]].shape
    groups = _Groups.of(applied.first, (shape[2], shape[3]))
    one = [Region(1, 0, 0)] * 2
    one[groups.axis] = groups.region(0)
    sizes = [shape[2], shape[3]]
    sizes[groups.axis] = groups.groups
    written = (1, shape[1] * (groups.period - 1), *sizes)
    sums, kind = sums_stage(network, part, window, types, applied.first, (one[0], one[1]), written)
    return sums, _filled(network, part, sums, kind, applied, groups)


def begin_of(network: Network, part: Part) -> tuple[Node, Applied, Window]:
    """Return a part's first node, a convolution, its knobs and window. Raises ``Refusal`` if the part pools later."""
    conv, windows = part.nodes[0], part.windows
    applied = Lowering(network).applied(conv)
    assert windows is not None and applied is not None
    if any(window.moves for window in windows[1:]):
        raise Refusal(
            "it is perforated, and values after it are pooled without being fixed-point numbers; quantise "
            "before the pooling"
        )
    return conv, applied, windows[0]


def sums_stage(
    network: Network,
    part: Part,
    window: Window,
    types: Mapping[str, FixedType],
    knob: Knob,
    regions: tuple[Region, Region],
    written: tuple[int, ...],
) -> tuple[Stage, FixedType]:
    """Return the stage of sums of products, and the type of sums. The output type also holds smaller numbers.

    ``regions``: the rows and columns whose sums a member computes; ``written``: the shape of its output, one pixel per
    member.
    """
    conv, lowering = part.nodes[0], Lowering(network)
    data = network.tensors[conv.inputs[0]]
    read = (regions[0].before(window, 0), regions[1].before(window, 1))
    port = Port(data.name, data.shape, data.kind, read)
    plain = Applied(replace(knob, axis=None)) if knob.half else None
    operands = [patch_of(lowering, port, types[data.name]), network.data(conv.inputs[1])]
    call = lowering.call(conv, operands, {"pads": (0, 0, 0, 0), "auto_pad": "NOTSET"}, plain)
    found = lowering.run(call)
    name, geometry = f"{part.name}_sums", (written[3], written[2])
    instance = instance_of_block(name, lowering, [port], types, [0], found.elements.ravel().tolist(), written, geometry)
    (kind,) = instance.output_types
    wider = type_of_interval(kind.raw_min - 1, kind.raw_max, kind.f)
    widened, output = replace(instance, output_types=(wider,)), f"{conv.outputs[0]}:sums"
    return Stage(name, part.fused, widened, (data.name,), output, written), kind


def _filled(network: Network, part: Part, sums: Stage, kind: FixedType, applied: Applied, groups: _Groups) -> Stage:
    conv, lowering = part.nodes[0], Lowering(network)
    tensor = network.tensors[conv.outputs[0]]
    read = [Region(1, 0, 0)] * 2
    read[groups.axis] = Region(1, -1, 0)
    port = Port(sums.output, sums.shape, tensor.kind, (read[0], read[1]))
    call = lowering.call(conv, (), None, applied)
    patch = patch_of(lowering, port, sums.type).elements.reshape(tensor.shape[1], groups.period - 1, 2)
    data = _places(call, patch, kind, applied.first.half)
    here = (1, tensor.shape[1], groups.period, 1) if groups.axis == 0 else (1, tensor.shape[1], 1, groups.period)
    written = [Region(1, 0, 0)] * 2
    written[groups.axis] = groups.region(-1)
    shape = network.tensors[part.output].shape
    geometry = [shape[3], shape[2]]
    geometry[1 - groups.axis] = groups.writing
    return filled_stage(
        network,
        part,
        sums,
        port,
        lowering,
        call,
        data.reshape(here),
        (geometry[0], geometry[1]),
        (written[0], written[1]),
    )


def filled_stage(
    network: Network,
    part: Part,
    sums: Stage,
    port: Port,
    lowering: Lowering,
    call: Call,
    places: Elements,
    geometry: tuple[int, int],
    written: tuple[Region, Region],
) -> Stage:
    """Return the stage that applies the rest of a part, such as bias and activation, to ``places``, all filled in.

    ``port``: how a member reads ``sums``; ``written``: the rows and columns that it writes.
    """
    conv, applied = part.nodes[0], call.applied
    assert applied is not None
    tensor = network.tensors[conv.outputs[0]]
    bias = network.data(conv.inputs[2]) if len(conv.inputs) > 2 and conv.inputs[2] else None
    data = data_of(places.ravel().tolist(), (1, tensor.shape[1], places[0, 0].size), tensor.kind)
    if bias is not None:
        data = with_bias(call, data, bias, applied.bias is not None and applied.bias.half)
    inside = {conv.outputs[0]: data.moved(lambda codes: codes.reshape(places.shape))}
    for node in part.nodes[1:]:
        if any(name in part.inputs for name in node.inputs):
            raise Refusal("after a perforated convolution, a node reads another computed tensor; quantise between them")
        operands = [inside.get(name) or (network.data(name) if name else None) for name in node.inputs]
        inside[node.outputs[0]] = lowering.lower(node, operands)
    shape, outputs = network.tensors[part.output].shape, inside[part.output].elements.ravel().tolist()
    kinds, pads = {sums.output: sums.type}, [sums.type.raw_min]
    instance = instance_of_block(part.name, lowering, [port], kinds, pads, outputs, shape, geometry, written)
    return Stage(part.name, part.fused, instance, (sums.output,), part.output, shape)


def below_sums(kind: FixedType) -> Fraction:
    """Return a threshold: no sum of type ``kind`` is below it, but the number that stands for a missing sum is."""
    return Fraction(2 * kind.raw_min - 1) / Fraction(2) ** (kind.f + 1)


def _places(call: Call, patch: Elements, kind: FixedType, half: bool) -> Elements:
    """Return a skipped place, filled in, and the places after it, as (1, filters, places)."""
    ops: Arithmetic = call.ops
    filters, kept = patch.shape[:2]
    below = below_sums(kind)
    found: list[Element] = []
    for number in range(filters):
        before, behind = patch[number, kept - 1, 0], patch[number, 0, 1]
        last, following = (ops.builder.cast(one, kind) for one in (before, behind))
        mean = filled(call, [last, following], half)
        place = ops.select(ops.subtract(behind, below), last, mean)
        found.append(ops.select(ops.subtract(before, below), following, place))
        found += [ops.builder.cast(one, kind) for one in patch[number, :, 1].tolist()]
    return data_of(found, (1, filters, kept + 1), "FLOAT").elements
