"""Instances that process images one pixel per beat, with windows that move with the scan; others are refused.

A beat carries all elements of one pixel; pixels come line by line, and images one after the other. Dimensions 0 and 1
of a tensor are scanned if members follow them, and so are dimensions from 3 on (samples); all other dimensions, such as
channels, are within a beat. Members that differ only in the latter work in parallel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import KernelError
from dais_verif.base.text import counted
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import Addressing, MappedTensor
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Axis", "Box", "Plane", "Raster", "Tap", "members_by_beat", "parts_of", "raster_of"]


Point = tuple[int, ...]
#: The first dimension after channels, which distinguishes images.
_SAMPLES = 3


@dataclass(frozen=True)
class Axis:
    """Columns or lines of ``size`` pixels; output n reads pixels ``stride * n + first`` to ``stride * n + last``.

    ``first`` and ``last`` are limited to offsets at which some output reads inside the image. Output n is given when
    the delayed scan is at pixel ``stride * n + anchor``.
    """

    size: int
    count: int
    stride: int
    first: int
    last: int
    anchor: int

    def inside(self, offset: int) -> bool:
        """Return True if some output reads a pixel of the image at ``offset``."""
        return self.first <= offset <= self.last

    @property
    def final(self) -> int:
        """The pixel at which the last output is given."""
        return self.stride * (self.count - 1) + self.anchor

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Whether an output is given, for each pixel of the delayed scan."""
        found = np.zeros(self.size, dtype=bool)
        found[self.anchor : self.final + 1 : self.stride] = True
        return found


@dataclass(frozen=True)
class Plane:
    """A tensor as beats: the dimensions within a ``beat``, the fastest first, and those that are ``scanned``."""

    tensor: MappedTensor
    scanned: tuple[int, ...]
    beat: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of elements in a beat."""
        return prod(self.tensor.sizes[d] for d in self.beat)

    def place(self, element: Sequence[int]) -> int | None:
        """Return the place of an element within its beat, None outside of the tensor."""
        place, sizes = 0, self.tensor.sizes
        for d in reversed(self.beat):
            if not 0 <= element[d] < sizes[d]:
                return None
            place = place * sizes[d] + element[d]
        return place


@dataclass(frozen=True)
class Tap:
    """Element ``place`` of the pixel ``row`` lines and ``column`` columns after a window's origin."""

    tensor: int
    row: int
    column: int
    place: int | None


@dataclass(frozen=True)
class Raster:
    """The scan of images. ``taps``: for each member of a beat, the tap of each input of the block; None: unused input.

    ``written``: for each output and each place of its beat, the member that writes it and the port of the block.
    """

    x: Axis
    y: Axis
    images: tuple[int, ...]
    inputs: tuple[Plane, ...]
    outputs: tuple[Plane, ...]
    taps: tuple[tuple[Tap | None, ...], ...]
    written: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def delay(self) -> int:
        """The number of beats from an anchor's pixel to its output, which is given with its window's last pixel."""
        x, y = self.x, self.y
        return max((y.last - y.anchor) * x.size + x.last - x.anchor, 0)

    @property
    def pointwise(self) -> bool:
        """True if each output pixel depends on the same input pixel only, so that nothing is stored or counted."""
        return all(axis.first == axis.last == 0 and axis.count == axis.size for axis in (self.x, self.y)) and all(
            tap is None or (tap.row, tap.column) == (0, 0) for ports in self.taps for tap in ports
        )

    @property
    def beats(self) -> int:
        """The number of beats in one image."""
        return self.x.size * self.y.size

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Whether an output is given, for each place of the delayed scan."""
        found: NDArray[np.bool_] = np.outer(self.y.shown, self.x.shown).ravel()
        return found


def raster_of(instance: KernelInstance) -> Raster:
    """Return the raster of an instance. Raises ``InputError`` with the reason if it does not fit the stream form."""
    mapping, name = instance.mapping, instance.name
    if not mapping.inputs:
        raise KernelError(f"{name}: the stream form needs an input that is not constant")
    reads = [mapping.addressing(tensor) for tensor in mapping.inputs]
    writes = [mapping.addressing(tensor) for tensor in mapping.outputs]
    inputs = tuple(_plane(name, *pair) for pair in zip(mapping.inputs, reads, strict=True))
    followed = _followed(reads[0], inputs[0])
    sizes = _sizes(inputs[0])
    for plane, read in zip(inputs, reads, strict=True):
        if _followed(read, plane) != followed or _sizes(plane) != sizes:
            _refuse(name, plane, "is not scanned in step with the first input, pixel by pixel")
    outputs = tuple(
        _output_plane(name, tensor, write, followed, mapping.geometry)
        for tensor, write in zip(mapping.outputs, writes, strict=True)
    )
    axes = [_axis(name, inputs, reads, mapping.geometry, at) for at in range(len(followed))]
    images = [at for at, d in enumerate(inputs[0].scanned) if d >= _SAMPLES]
    for at in images:
        if axes[at] != Axis(sizes[at], sizes[at], 1, 0, 0, 0):
            _refuse(name, inputs[0], f"is read across dimension {inputs[0].scanned[at]}, of which each is an image")
    x, y = [*(axis for at, axis in enumerate(axes) if at not in images), *[Axis(1, 1, 1, 0, 0, 0)] * 2][:2]
    members = _beside(mapping.geometry, followed)
    return Raster(
        x,
        y,
        tuple(sizes[at] for at in images),
        inputs,
        outputs,
        tuple(tuple(_taps(instance, inputs, reads, member)) for member in members),
        tuple(_written(name, outputs, writes, members)),
    )


def members_by_beat(instance: KernelInstance, raster: Raster) -> NDArray[np.int64]:
    """Return which members write in each beat of outputs: numbers in the index space, (beats, members of a beat)."""
    geometry = instance.mapping.geometry
    plane = raster.outputs[0]
    slopes = instance.mapping.addressing(plane.tensor).slopes
    followed = [slopes[d].index(1) for d in plane.scanned]
    beats = prod(geometry[at] for at in followed)
    members = np.array(_beside(geometry, followed), dtype=np.int64)[None].repeat(beats, axis=0)
    if followed:
        places = np.unravel_index(np.arange(beats), [geometry[at] for at in followed], order="F")
        members[:, :, followed] = np.stack(places, axis=-1)[:, None, :]
    numbers = np.ravel_multi_index(tuple(np.moveaxis(members, -1, 0)), geometry, order="F")
    return np.asarray(numbers, dtype=np.int64)


def _refuse(name: str, plane: Plane | MappedTensor, what: str) -> None:
    tensor = plane.tensor if isinstance(plane, Plane) else plane
    raise KernelError(f"{name} does not fit the stream form: {tensor.name} {what}; use the memory form")


def _plane(name: str, tensor: MappedTensor, addressing: Addressing) -> Plane:
    """Return the plane of an input. Its dimensions must follow at most one of the index space each, with slope > 0."""
    scanned = []
    for d, row in enumerate(addressing.slopes):
        slopes = [slope for slope in row if slope]
        if len(slopes) > 1 or any(slope < 0 for slope in slopes):
            _refuse(
                name, tensor, f"is read with slopes {list(row)} in dimension {d}, so its window does not move forwards"
            )
        if slopes and (d < _SAMPLES - 1 or d >= _SAMPLES):
            scanned.append(d)
    return Plane(tensor, tuple(scanned), tuple(d for d in range(len(tensor.sizes)) if d not in scanned))


def _followed(addressing: Addressing, plane: Plane) -> tuple[int, ...]:
    """Return the dimensions of the index space that the scanned dimensions of a tensor follow."""
    return tuple(next(at for at, slope in enumerate(addressing.slopes[d]) if slope) for d in plane.scanned)


def _sizes(plane: Plane) -> tuple[int, ...]:
    return tuple(plane.tensor.sizes[d] for d in plane.scanned)


def _output_plane(
    name: str, tensor: MappedTensor, addressing: Addressing, followed: tuple[int, ...], geometry: Sequence[int]
) -> Plane:
    """Return the plane of an output, in which each member writes one pixel, in the order of the scan."""
    if len(set(followed)) < len(followed):
        _refuse(name, tensor, "belongs to members that move along two dimensions of an input at once")
    scanned = [d for d, row in enumerate(addressing.slopes) if any(row[at] for at in followed)]
    plane = Plane(tensor, tuple(scanned), tuple(d for d in range(len(tensor.sizes)) if d not in scanned))
    unit = [tuple(int(at == along) for at in range(len(geometry))) for along in followed]
    if [addressing.slopes[d] for d in scanned] != unit:
        _refuse(name, tensor, "is not written pixel after pixel in the order in which the input is read")
    if any(offset[d] for offset in addressing.offsets for d in scanned):
        _refuse(name, tensor, "is not written by each member at exactly its own pixel")
    if _sizes(plane) != tuple(geometry[at] for at in followed):
        _refuse(name, tensor, "does not have as many pixels as there are members")
    return plane


def _axis(name: str, inputs: Sequence[Plane], reads: Sequence[Addressing], geometry: Sequence[int], at: int) -> Axis:
    """Return the axis of a scanned dimension, with the range of offsets at which outputs read any input."""
    followed = _followed(reads[0], inputs[0])[at]
    count, size = geometry[followed], _sizes(inputs[0])[at]
    strides = {read.slopes[plane.scanned[at]][followed] for plane, read in zip(inputs, reads, strict=True)}
    if len(strides) > 1:
        _refuse(name, inputs[0], f"is not read with the same stride as the other inputs: {sorted(strides)}")
    (stride,) = strides
    offsets = {offset[plane.scanned[at]] for plane, read in zip(inputs, reads, strict=True) for offset in read.offsets}
    room = size - 1 - stride * (count - 1)
    if room < 0:
        what = f"has {size} pixels in dimension {inputs[0].scanned[at]}"
        _refuse(name, inputs[0], f"{what}, too few for {counted(count, 'output')} with stride {stride}, one per beat")
    first, last = max(min(offsets), -stride * (count - 1)), min(max(offsets), size - 1)
    return Axis(size, count, stride, first, last, max(0, min(last, room)))


def _beside(geometry: Sequence[int], followed: Sequence[int]) -> list[Point]:
    """Return the members of one beat: those whose scanned coordinates are 0."""
    ranges = [range(1 if at in followed else n) for at, n in enumerate(geometry)]
    return [tuple(reversed(member)) for member in product(*reversed(ranges))]


def _taps(
    instance: KernelInstance, inputs: Sequence[Plane], reads: Sequence[Addressing], member: Point
) -> Iterator[Tap | None]:
    block = instance.block
    live = cone(block, [index for index, _, _ in block.outputs if index >= 0])
    looked = {block.ops[at].id0 for at in live if block.ops[at].code == INPUT}
    port = 0
    for number, (plane, read) in enumerate(zip(inputs, reads, strict=True)):
        for element in read.elements(np.array([member], dtype=np.int64))[0].tolist():
            across = [element[d] for d in plane.scanned if d < _SAMPLES]
            column, row = [*across, 0, 0][:2]
            yield Tap(number, row, column, plane.place(element)) if port in looked else None
            port += 1


def _written(
    name: str, outputs: Sequence[Plane], writes: Sequence[Addressing], members: Sequence[Point]
) -> Iterator[tuple[tuple[int, int], ...]]:
    first = 0
    for plane, write in zip(outputs, writes, strict=True):
        found: dict[int, tuple[int, int]] = {}
        for number, elements in enumerate(write.elements(np.array(members, dtype=np.int64)).tolist()):
            for port, element in enumerate(elements):
                place = plane.place(element)
                if place in found:
                    _refuse(name, plane, "is written twice")
                if place is not None:
                    found[place] = number, first + port
        if len(found) < plane.count:
            _refuse(name, plane, "has elements that no member writes")
        yield tuple(found[place] for place in range(plane.count))
        first += write.count


# Ranges of an index space: boxes that cover it, each member once.


#: For each dimension, the first member, and the member after the last.
Box = tuple[tuple[int, int], ...]


def parts_of(geometry: Sequence[int], wanted: int, rng: np.random.Generator) -> list[Box]:
    """Return ``wanted`` boxes that cover the index space, or fewer if it has fewer members, in random order."""
    boxes: list[Box] = [tuple((0, size) for size in geometry)]
    while len(boxes) < wanted:
        longest = [box for box in boxes if any(b - a > 1 for a, b in box)]
        if not longest:
            break
        box = longest[int(rng.integers(len(longest)))]
        d = int(rng.choice([at for at, (a, b) in enumerate(box) if b - a > 1]))
        a, b = box[d]
        cut = int(rng.integers(a + 1, b))
        boxes.remove(box)
        boxes += [(*box[:d], (a, cut), *box[d + 1 :]), (*box[:d], (cut, b), *box[d + 1 :])]
    return [boxes[at] for at in rng.permutation(len(boxes))]
