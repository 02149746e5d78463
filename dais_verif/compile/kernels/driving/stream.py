"""Drive a stream form: pixels of all samples with gaps and stalls, and the outputs that are valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from dais_verif.base.text import counted
from dais_verif.compile.kernels.driving.frames import Driven, Found, Ints, Run, noise
from dais_verif.compile.kernels.forms.raster import Plane, Raster, raster_of
from dais_verif.compile.kernels.forms.stream import cycle_of, plane_name
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.spec.machine import Machine

__all__ = ["drive_stream"]

#: Cycles after the last beat, in addition to those that the last output needs.
_MORE = 8


def drive_stream(
    instance: KernelInstance, flush: int, machine: Machine, tensors: Sequence[Ints], rng: np.random.Generator
) -> Driven:
    """Return a sequence that sends all samples of ``tensors``, some with gaps and stalls, some without.

    ``flush``: cycles from the last beat to the last output. Before some samples a reset aborts a partial image.
    """
    raster = raster_of(instance)
    samples = len(tensors[0]) if tensors else 1
    beats = raster.beats * prod(raster.images)
    valid, enabled, sent, resets, ignored = [], [], [], [], list[int]()

    def add(is_valid: int, is_enabled: int, beat: int = -1) -> None:
        valid.append(is_valid)
        enabled.append(is_enabled)
        sent.append(beat)

    for sample in range(samples):
        stalls, gaps = (bool(rng.integers(2)) for _ in range(2))
        if not raster.pointwise and rng.integers(2):
            # When all outputs have come, send a random number of pixels, and abort them by a reset.
            for _ in range(2 * flush + _MORE if sample else 0):
                add(0, 1)
            begin = len(valid)
            for _ in range(int(rng.integers(1, 2 * beats + 1))):
                add(int(rng.integers(8) > 0), int(rng.integers(8) > 0))
            resets.append(len(valid))
            add(int(rng.integers(2)), int(rng.integers(2)))
            ignored += range(begin, len(valid))
        for beat in range(beats):
            while gaps and rng.integers(4) == 0:
                add(0, int(not stalls or rng.integers(4) > 0))
            while stalls and rng.integers(4) == 0:
                add(1, 0, sample * beats + beat)
            add(1, 1, sample * beats + beat)
    tail = 2 * flush + _MORE
    cycles = len(valid) + tail
    inputs = noise(machine, cycles, rng)
    if not raster.pointwise:
        inputs["rst"][:] = 0
        inputs["rst"][resets, 0] = 1
    inputs["valid_in"][:, 0] = [*valid, *[0] * tail]
    inputs["en"][:, 0] = [*enabled, *[1] * tail]
    at = np.array(sent, dtype=np.int64)
    taken = np.flatnonzero(at >= 0)
    for number, (plane, tensor) in enumerate(zip(raster.inputs, tensors, strict=True)):
        numbers, places = _beats(raster, plane, False)
        sorted_by_beat = np.zeros((samples, beats, plane.count), dtype=tensor.dtype)
        sorted_by_beat[:, numbers, places] = tensor.reshape(samples, -1)
        name = plane_name("x", raster.inputs, number)
        inputs[name] = inputs[name].astype(tensor.dtype)
        inputs[name][taken] = sorted_by_beat.reshape(samples * beats, -1)[at[taken]]

    def read(outputs: Mapping[str, Ints]) -> Found:
        moved = (outputs["valid_out"][:, 0] != 0) & (inputs["en"][:, 0] != 0)
        moved[ignored] = False
        return _found(instance, raster, samples, np.flatnonzero(moved), outputs)

    return Driven(
        cycles, inputs, read, 0, len(resets), sum(beat < 0 or not on for beat, on in zip(sent, enabled, strict=True))
    )


def _beats(raster: Raster, plane: Plane, output: bool) -> tuple[Ints, Ints]:
    """Return the beat of each element of a tensor, in NumPy's order, and its position in the beat."""
    found = []
    for element in product(*map(range, reversed(plane.tensor.sizes))):
        position = element[::-1]
        place = plane.place(position)
        assert place is not None
        found.append((cycle_of(raster, [position[d] for d in plane.scanned], output), place))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _found(instance: KernelInstance, raster: Raster, samples: int, moved: Ints, outputs: Mapping[str, Ints]) -> Found:
    tensors, when, beats = [], [], None
    for number, plane in enumerate(raster.outputs):
        numbers, places = _beats(raster, plane, True)
        beats = np.unique(numbers)
        if len(moved) != samples * len(beats):
            problem = f"{counted(len(moved), 'beat')} of outputs came, must be {samples * len(beats)}"
            return Found(problem=f"{problem}, {len(beats)} of each of {samples} samples")
        data = outputs[plane_name("y", raster.outputs, number)]
        order = np.searchsorted(beats, numbers)
        cycles = moved.reshape(samples, len(beats))[:, order]
        tensors.append(data[cycles, places].reshape(samples, *plane.tensor.sizes[::-1]))
        when.append(cycles.reshape(samples, *plane.tensor.sizes[::-1]))
    return Found(tuple(tensors), tuple(when), _runs(raster, moved, samples))


def _runs(raster: Raster, moved: Ints, samples: int) -> tuple[Run, ...]:
    """Return the run of each output, from the previous output to this one. A member is identified by its pixel."""
    count = len(moved) // samples if samples else 0
    runs, begin = [], 0
    columns = raster.x.count
    for at, cycle in enumerate(moved.tolist()):
        sample, pixel = divmod(at, count)
        line, column = divmod(pixel % max(columns * raster.y.count, 1), columns)
        runs.append(Run(begin, cycle, sample, (column, line)))
        begin = cycle + 1
    return tuple(runs)
