"""A network as a stream: one machine per stage, all working in parallel, with a pixel of all channels per beat.

Every stage scans its incoming image, and passes its result to its readers through a register. A stage that reads all
elements at once gathers them. Where a stage reads two tensors, beats of one wait for beats of the other; there is room
for as many as can wait, whatever the pauses within and between images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import NetworkInputError
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.kernels.forms.control import BIT, Logic, control_of, unsigned
from dais_verif.compile.kernels.forms.raster import Raster, raster_of
from dais_verif.compile.kernels.forms.stream import stream_machine
from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.data import data_of
from dais_verif.compile.networks.hardware import flow as flows
from dais_verif.compile.networks.hardware.chain import Chain, chain_of
from dais_verif.compile.networks.hardware.flow import Flow
from dais_verif.compile.networks.hardware.perforation import begin_of, below_sums, filled_stage, sums_stage
from dais_verif.compile.networks.hardware.stages import LeftOut, Part, Port, Region, Stage, patch_of
from dais_verif.compile.networks.knobs import perforation_of
from dais_verif.compile.networks.lowering import Lowering
from dais_verif.compile.networks.model import Network
from dais_verif.compile.networks.operators.approximated import filled
from dais_verif.spec.machine import Machine, MachineBuilder, View
from dais_verif.spec.machine.edits import embed
from dais_verif.spec.program import FixedType

__all__ = [
    "MOST_KEPT",
    "StreamNetwork",
    "StreamStage",
    "Times",
    "build",
    "gathered",
    "given_by",
    "held",
    "joined",
    "of_images",
    "perforated_by_place",
    "stream_chain",
    "stream_network",
]


#: The maximum number of elements of a tensor that wait for beats of another tensor.
MOST_KEPT = 1 << 16
#: The number of images, in addition to one per stage, for which times of beats are computed.
_IMAGES = 3


@dataclass(frozen=True)
class StreamStage:
    """A stage and its cost, per image. ``members``, ``beats``: the numbers of pixels computed and of beats output.

    ``kept``: the number of register bits in lines, windows and counters. ``waiting``: if the stage reads several
    tensors, the number of beats of each that can wait.
    """

    name: str
    fused: int | None
    members: int
    beats: int
    ops: int
    kept: int
    waiting: tuple[int, ...]


@dataclass(frozen=True)
class StreamNetwork:
    """A network as a stream. ``beats``, ``results``: the numbers of beats of an image and of its result.

    ``pixels``: True if each beat of the result is a pixel, False if it is the whole result. ``given``: the cycles in
    which the result is valid, counted from the first beat of the image, if images follow without a pause; ``alone``:
    the same for a single image. ``quiet``: the number of cycles after which nothing changes any more after a single
    image; ``before``: the number of images without a pause after which each later image finds the same state.
    """

    chain: Chain
    machine: Machine
    stages: tuple[StreamStage, ...]
    beats: int
    results: int
    pixels: bool
    given: tuple[int, ...]
    alone: tuple[int, ...]
    quiet: int
    before: int

    @property
    def latency(self) -> int:
        """Cycles from the first beat of an image to the first beat of its result."""
        return self.given[0]

    @property
    def flush(self) -> int:
        """Cycles from the last beat of an image to the last beat of its result, if no image follows; at least 0."""
        return max(self.alone[-1] - (self.beats - 1), 0)


class _Stream(NamedTuple):
    """A tensor as beats. ``data``: elements of a beat; ``there``: whether the beat is valid.

    ``beats``: the number of beats per image. ``pixels``: True if each beat is a pixel, False if it is the whole tensor.
    ``times``: the cycles of valid beats; ``flow``: bounds on their number, whatever the pauses.
    """

    data: View
    there: View
    beats: int
    pixels: bool
    times: Times
    flow: Flow


def build(network: Network, *, unrolled: Sequence[int] = ()) -> StreamNetwork:
    """Return a network as a stream.

    ``unrolled``: numbers of fused nodes that compute their whole result at once, from all elements of their inputs.
    Raises ``NetworkError`` or ``InputError`` with node and reason if the network does not fit this form.
    """
    return stream_network(stream_chain(network, unrolled))


def stream_chain(network: Network, unrolled: Sequence[int] = ()) -> Chain:
    """Return the stages of a network in the stream form; ``unfold_chain`` returns their program."""
    return chain_of([network], unrolled, perforated=perforated_by_place)


def stream_network(chain: Chain) -> StreamNetwork:
    """Return the stream of a chain from ``stream_chain``.

    Inputs of the machine: ``x``, a pixel with all channels or all elements at once, ``valid_in``, ``en`` and
    ``rst``. Outputs: ``y`` and ``valid_out``. While ``en`` is 0 no register changes. A beat is taken in a cycle in
    which ``en`` and ``valid_in`` are 1, and output in a cycle in which ``en`` and ``valid_out`` are 1.
    """
    return _Streams(chain).built()


class _Streams:
    def __init__(self, chain: Chain) -> None:
        self.chain, self.made = chain, MachineBuilder()
        self.stages = chain.stages(0)
        self.streams: dict[str, _Stream] = {}
        self.facts: list[StreamStage] = []

    def built(self) -> StreamNetwork:
        """Build ports, and stages in order."""
        chain, made = self.chain, self.made
        if len(chain.networks) > 1:
            raise NetworkInputError(
                "a stream has one configuration: build one for each; the memory form chooses among several"
            )
        for what, names in (("input", chain.inputs), ("output", chain.outputs)):
            if len(names) > 1:
                listed = ", ".join(map(repr, names))
                raise NetworkInputError(f"a stream has one {what}, but the network has {listed}; use the memory form")
        ((source, kind),), ((result, kind_out),) = chain.inputs.items(), chain.outputs.items()
        storage = chain.storage[source]
        pixels = len(storage.places) > 1
        self.beats = storage.words if pixels else 1
        # Enough for a single image to pass, since no stage stores more than one.
        cycles = self.beats * (len(self.stages) + _IMAGES)
        x = made.input("x", [kind] * (storage.channels if pixels else storage.words))
        there = made.input("valid_in", BIT)
        self.enable, self.reset = made.input("en", BIT), made.input("rst", BIT)
        times, flow = of_images(self.beats, cycles), flows.of_images(cycles)
        self.streams[source] = _Stream(x, there, self.beats, pixels, times, flow)
        for stage in self.stages:
            self.streams[stage.output] = self.stage(stage)
        found = self.streams[result]
        made.connect(found.data, made.output("y", [kind_out] * found.data.size))
        made.connect(found.there, made.output("valid_out", BIT))
        given, alone = (tuple(np.flatnonzero(one)[: found.beats].tolist()) for one in found.times)
        last = [[int(np.flatnonzero(one)[of.beats - 1]) for one in of.times] for of in self.streams.values()]
        calm, quiet = (max(cycles) for cycles in zip(*last, strict=True))
        return StreamNetwork(
            chain,
            made.build(),
            tuple(self.facts),
            self.beats,
            found.beats,
            found.pixels,
            given,
            alone,
            quiet + 1,
            calm // self.beats + 1,
        )

    def stage(self, stage: Stage) -> _Stream:
        """Add the machine of a stage, and return its result in registers."""
        raster, prefix, made = raster_of(stage.instance), f"{stage.name}_", self.made
        read = [self.fitting(stage, raster, at) for at in range(len(stage.inputs))]
        waiting: tuple[int, ...] = ()
        if len(set(stage.inputs)) > 1:
            read, waiting = self.waiting(stage, read)
        machine = stream_machine(stage.instance, raster, control_of(raster, shifting=True))
        given = {"valid_in": read[0].there, "en": self.enable, "rst": self.reset}
        views = embed(made, machine, prefix, given=given)
        for one, plane in zip(read, _names(machine, "x"), strict=True):
            made.connect(one.data, views[plane])
        pixels = len(stage.instance.mapping.outputs[0].sizes) > 1
        beats = stage.storage.words if pixels else 1
        data, there = views["y"], views["valid_out"]
        if stage.left_out is not None:
            data = self.marked(stage, stage.left_out, data, there)
        kinds = machine.signals["y"].types
        result = made.register(f"{prefix}held", kinds, initial=0, reset=self.reset)
        come = made.register(f"{prefix}given", BIT, initial=0, reset=self.reset)
        made.connect(data, result, enable=self.enable)
        made.connect(there, come, enable=self.enable)
        kept = sum(k.width for one in machine.registers for k in one.types)
        members = stage.instance.mapping.members
        if stage.left_out is not None:
            size = stage.storage.places[stage.left_out.axis]
            members = members // size * (size - len(stage.left_out.places))
        ops = stage.instance.block.n_ops
        self.facts.append(StreamStage(stage.name, stage.fused, members, beats, ops, kept, waiting))
        times, flow = given_by(raster, read[0].times), flows.through(raster, read[0].flow)
        return _Stream(result, come, beats, pixels, held(times), flows.held(flow))

    def fitting(self, stage: Stage, raster: Raster, at: int) -> _Stream:
        """Return an input in the form that a stage reads: pixel after pixel, or gathered to the whole tensor."""
        name, plane = stage.inputs[at], raster.inputs[at]
        found, whole = self.streams[name], len(plane.tensor.sizes) == 1
        if whole and found.pixels:
            return self.gathered(stage, at, found)
        if not whole and not found.pixels:
            raise NetworkInputError(
                f"{stage.name} does not fit the stream form: it reads {name!r} pixel after pixel, which is computed all"
                " at once; do not unroll the node that writes it, or use the memory form"
            )
        if (raster.beats, plane.count) != (found.beats, found.data.size):
            raise NetworkInputError(
                f"{stage.name} does not fit the stream form: its window is as large as {name!r} is; use the memory form"
            )
        return found

    def gathered(self, stage: Stage, at: int, stream: _Stream) -> _Stream:
        """Return all elements of a tensor that comes pixel by pixel, in NumPy's order, valid with its last pixel."""
        made, prefix, count = self.made, f"{stage.name}_in{at}_", stream.data.size
        if stream.beats == 1:
            return stream._replace(pixels=False)
        kind = stage.instance.input_types[at]
        words = stream.beats - 1
        kept = made.register(f"{prefix}gathered", [kind] * (count * words), initial=0, reset=self.reset)
        number = made.register(f"{prefix}number", unsigned(words), initial=0, reset=self.reset)
        b = Logic()
        come, on, now = b.input(BIT), b.input(BIT), b.input(unsigned(words))
        block = self.logic(
            f"{prefix}gather",
            b,
            [
                (b.following(now, stream.beats), unsigned(words)),
                (b.both(come, on), BIT),
                (b.both(come, b.equal(now, words)), BIT),
            ],
            [stream.there, self.enable, number],
        )
        made.connect(block[0], number, enable=block[1])
        made.connect(stream.data, kept[0:count], enable=block[1])
        if words > 1:
            made.connect(kept[0 : count * (words - 1)], kept[count:], enable=block[1])
        whole = made.wire(f"{prefix}whole", [kind] * (count * stream.beats))
        for c in range(count):
            for place in range(stream.beats):
                back = words - 1 - place
                source = stream.data[c] if back < 0 else kept[back * count + c]
                made.connect(source, whole[c * stream.beats + place])
        times, flow = gathered(stream.times, stream.beats), flows.gathered(stream.flow, stream.beats)
        return _Stream(whole, block[2], 1, False, times, flow)

    def waiting(self, stage: Stage, read: Sequence[_Stream]) -> tuple[list[_Stream], tuple[int, ...]]:
        """Return several inputs in step, and for each the number of its beats that can wait for the others.

        There is room for the most beats of each that wait for any pauses within and between images.
        """
        made, prefix = self.made, f"{stage.name}_wait_"
        distinct = dict(zip(stage.inputs, read, strict=True))
        taken = joined([one.times for one in distinct.values()])
        flow, depths = flows.joined([one.flow for one in distinct.values()])
        for (name, one), depth in zip(distinct.items(), depths, strict=True):
            if depth * one.data.size > MOST_KEPT:
                raise NetworkInputError(
                    f"{stage.name} does not fit the stream form: {depth} beats of {name!r} would wait for another"
                    f" tensor, more than {MOST_KEPT} elements; use the memory form"
                )
        b = Logic()
        on, come, now, sources = b.input(BIT), list[Value](), list[Value](), [self.enable]
        counters = [
            made.register(f"{prefix}{at}_count", unsigned(depth), initial=0, reset=self.reset)
            for at, depth in enumerate(depths)
        ]
        for one, counter, depth in zip(distinct.values(), counters, depths, strict=True):
            come.append(b.input(BIT))
            now.append(b.input(unsigned(depth)))
            sources += [one.there, counter]
        there = [b.some_bit(count) for count in now]
        ready, outputs = b.both(*there), list[tuple[Value, FixedType]]()
        for here, some, number, depth in zip(come, there, now, depths, strict=True):
            kind, last = unsigned(depth), unsigned(depth - 1)
            more, less = (b.cast(b.add(number, step), kind) for step in (b.one, -b.one))
            following = b.choice(here, b.choice(ready, number, more), b.choice(ready, less, number))
            back = b.choice(some, b.cast(b.add(number, -b.one), last), b.zero)
            outputs += [(following, kind), (back, last), (b.both(here, on), BIT)]
        block = self.logic(f"{prefix}control", b, [*outputs, (ready, BIT)], sources)
        kept: dict[str, _Stream] = {}
        for at, ((name, one), counter, depth) in enumerate(zip(distinct.items(), counters, depths, strict=True)):
            count, place, write = block[3 * at], block[3 * at + 1], block[3 * at + 2]
            size, kinds = one.data.size, [stage.instance.input_types[stage.inputs.index(name)]] * one.data.size
            beats = made.register(f"{prefix}{at}", kinds * depth, initial=0, reset=self.reset)
            made.connect(count, counter, enable=self.enable)
            made.connect(one.data, beats[0:size], enable=write)
            data = made.wire(f"{prefix}{at}_data", kinds)
            if depth > 1:
                made.connect(beats[0 : size * (depth - 1)], beats[size:], enable=write)
                index = made.wire(f"{prefix}{at}_place", unsigned(depth - 1))
                made.connect(place, index)
                made.connect(beats[0:size].at(index), data)
            else:
                made.connect(beats, data)
            kept[name] = one._replace(data=data, there=block[3 * len(depths)], times=taken, flow=flow)
        return [kept[name] for name in stage.inputs], tuple(depths)

    def marked(self, stage: Stage, left_out: LeftOut, data: View, there: View) -> View:
        """Return the result of a stage, with the smallest number of its type at places that are left out."""
        made, prefix, kinds = self.made, f"{stage.name}_", (stage.type,) * data.size
        sizes = stage.storage.places
        counters = [
            made.register(f"{prefix}{name}", unsigned(size - 1), initial=0, reset=self.reset)
            for name, size in zip(("at_line", "at_column"), sizes, strict=True)
        ]
        b = Logic()
        come, on, *now = b.input(BIT), b.input(BIT), *(b.input(unsigned(size - 1)) for size in sizes)
        end = b.equal(now[1], sizes[1] - 1)
        following = [b.choice(end, b.following(now[0], sizes[0]), now[0]), b.following(now[1], sizes[1])]
        outputs = [(value, unsigned(size - 1)) for value, size in zip(following, sizes, strict=True)]
        skipped = b.among(now[left_out.axis], left_out.places)
        outputs += [(b.both(come, on), BIT), (skipped, BIT)]
        block = self.logic(f"{prefix}places", b, outputs, [there, self.enable, *counters])
        for at, counter in enumerate(counters):
            made.connect(block[at], counter, enable=block[2])
        b = Logic()
        bit, values = b.input(BIT), [b.input(kind) for kind in kinds]
        nothing = b.constant(stage.type.raw_min, stage.type.f)
        chosen = [(b.choice(bit, nothing, value), kind) for value, kind in zip(values, kinds, strict=True)]
        return self.logic(f"{prefix}marks", b, chosen, [block[3], data])

    def logic(self, name: str, b: Logic, outputs: Sequence[tuple[Value, FixedType]], sources: Sequence[View]) -> View:
        """Add a block of control logic, and return its outputs."""
        block = self.made.block(name, b.build_as(outputs))
        first = 0
        for source in sources:
            self.made.connect(source, block.inputs[first : first + source.size])
            first += source.size
        return block.outputs


def _names(machine: Machine, letter: str) -> list[str]:
    """Return the names of the inputs of a machine that begin with ``letter``."""
    return [one.name for one in machine.inputs if one.name.startswith(letter)]


# A perforated convolution as two stages of a stream: the sums pixel by pixel, then the skipped places filled in.
#
# Where a row or column is skipped, the first stage outputs a number that is never a sum; outside the image, the
# second stage reads the same number. The second stage writes the sum of its own pixel or, if this pixel is skipped,
# the mean of the neighbouring sums, or the only neighbouring sum.


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


# Compute the cycles of beats of streams, for images without a pause and for a single image.


_Bits = NDArray[np.bool_]


class Times(NamedTuple):
    """Whether a beat is valid in each cycle: ``calm``: for images without a pause; ``alone``: for a single image."""

    calm: _Bits
    alone: _Bits


def of_images(beats: int, cycles: int) -> Times:
    """Return the times of the beats that go in, for images of ``beats`` beats each."""
    return Times(np.ones(cycles, dtype=bool), np.arange(cycles) < beats)


def given_by(raster: Raster, times: Times) -> Times:
    """Return the times of a stage's output beats, from those of its input beats."""
    return Times(*(_given(raster, one) for one in times))


def _given(raster: Raster, times: _Bits) -> _Bits:
    shown = raster.shown
    beats, delay, final = raster.beats, raster.delay, raster.y.final * raster.x.size + raster.x.final
    taken, place, pending = 0, 0, False
    found = np.zeros(len(times), dtype=bool)
    for cycle, come in enumerate(times.tolist()):
        if not delay:
            found[cycle] = come and shown[taken]
        elif come or (pending and not taken):
            found[cycle] = pending and shown[place]
            begins = come and taken == delay - 1
            pending = begins or (pending and place != final)
            place = 0 if begins else (place + 1) % beats
        taken = (taken + come) % beats
    return found


def held(times: Times) -> Times:
    """Return the times of beats after a register."""
    return Times(*(np.concatenate([np.zeros(1, dtype=bool), one[:-1]]) for one in times))


def gathered(times: Times, beats: int) -> Times:
    """Return the times of the last one of every ``beats`` beats."""
    return Times(*(one & (np.cumsum(one) % beats == 0) for one in times))


def joined(streams: Sequence[Times]) -> Times:
    """Return the times at which a beat of all ``streams`` is taken, one cycle after the last of them comes."""
    return Times(*(_joined([one[at] for one in streams]) for at in range(len(Times._fields))))


def _joined(streams: Sequence[_Bits]) -> _Bits:
    come = np.minimum.reduce([np.cumsum(one) for one in streams])
    return np.concatenate([[0], np.diff(come, prepend=0)[:-1]]).astype(bool)
