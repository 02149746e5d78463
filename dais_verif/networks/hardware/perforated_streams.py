"""A perforated convolution as two stages of a stream: the sums pixel by pixel, then the skipped places filled in.

Where a row or column is skipped, the first stage outputs a number that is never a sum; outside the image, the second
stage reads the same number. The second stage writes the sum of its own pixel or, if this pixel is skipped, the mean of
the neighbouring sums, or the only neighbouring sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dais_verif.networks.arithmetic import Element
from dais_verif.networks.call import data_of
from dais_verif.networks.hardware.perforation import begin_of, below_sums, filled_stage, sums_stage
from dais_verif.networks.hardware.segments import Part
from dais_verif.networks.hardware.stages import LeftOut, Port, Region, Stage, patch_of
from dais_verif.networks.knobs import perforation_of
from dais_verif.networks.lowering import Lowering
from dais_verif.networks.model import Network
from dais_verif.networks.operators.approximated import filled
from dais_verif.program import FixedType

__all__ = ["perforated_by_place"]

_PIXEL = Region(1, 0, 0)


def perforated_by_place(network: Network, part: Part, types: Mapping[str, FixedType]) -> tuple[Stage, Stage]:
    """Return the two stages of a perforated convolution. Raises ``Refusal`` if it is not supported."""
    conv, applied, window = begin_of(network, part)
    shape, knob = network.tensors[conv.outputs[0]].shape, applied.first
    perforation_of(knob, (shape[2], shape[3]))  # raises if the knob skips all places
    axis = 0 if knob.axis == "rows" else 1
    skipped = tuple(range(knob.offset, shape[2 + axis], knob.period))
    sums, kind = sums_stage(network, part, window, types, knob, (_PIXEL, _PIXEL), shape)
    sums = replace(sums, left_out=LeftOut(axis, skipped) if skipped else None)
    lowering, read = Lowering(network), [_PIXEL, _PIXEL]
    read[axis] = Region(1, -1, 1)
    port = Port(sums.output, sums.shape, network.tensors[conv.outputs[0]].kind, (read[0], read[1]))
    call, below = lowering.call(conv, (), None, applied), below_sums(kind)
    ops, found = call.ops, list[Element]()
    for beside in patch_of(lowering, port, sums.type).elements.reshape(shape[1], 3):
        before, own, behind = (ops.builder.cast(one, kind) for one in beside.tolist())
        there = [ops.subtract(one, below) for one in beside.tolist()]
        mean = filled(call, [before, behind], knob.half)
        found.append(ops.select(there[1], ops.select(there[0], behind, ops.select(there[2], before, mean)), own))
    places = data_of(found, (1, shape[1], 1, 1), "FLOAT").elements
    written = network.tensors[part.output].shape
    geometry = (written[3], written[2])
    filling = filled_stage(network, part, sums, port, lowering, call, places, geometry, (_PIXEL, _PIXEL))
    return sums, filling
