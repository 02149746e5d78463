"""Run a form whose members print: send tensors through its machine without a pause, and collect the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.kernels.forms.raster import members_by_beat, raster_of
from dais_verif.compile.kernels.forms.stream import plane_name
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.printf import text_of_member, variables_of
from dais_verif.spec.machine import Machine

__all__ = ["PrintingRun", "memory_run", "stream_run", "texts_of"]

#: An array of raw integers.
Ints = NDArray[Any]


@dataclass(frozen=True)
class PrintingRun:
    """A sequence of ``cycles`` from power-up: raw integers of each input signal, shape (cycles, elements).

    ``order``: the members of a sample in printing order, numbered in the index space; ``beside`` of them print at once.
    """

    cycles: int
    inputs: Mapping[str, Ints]
    samples: int
    order: tuple[int, ...]
    beside: int = 1


def memory_run(instance: KernelInstance, latency: int, machine: Machine, tensors: Sequence[Ints]) -> PrintingRun:
    """Return the run of all members of all samples in the memory form. ``latency``: cycles from start to done."""
    mapping = instance.mapping
    samples = len(tensors[0]) if tensors else 1
    begin = max((prod(one.sizes) for one in mapping.inputs), default=0)
    each = begin + latency + 1
    given = _zeros(machine, samples * each, tensors)
    for d, size in enumerate(mapping.geometry):
        given[f"end{d}"][:] = size
    for sample in range(samples):
        at = sample * each
        given["start"][at + begin] = 1
        for t, tensor in enumerate(tensors):
            flat = tensor[sample].reshape(-1)
            place = slice(at, at + len(flat))
            given[f"in{t}_write"][place] = 1
            given[f"in{t}_address"][place, 0] = np.arange(len(flat))
            given[f"in{t}_data"][place, 0] = flat
    # Nothing is printed after the last cycle of this sequence.
    return PrintingRun(samples * each, given, samples, tuple(range(mapping.members)))


def stream_run(instance: KernelInstance, flush: int, machine: Machine, tensors: Sequence[Ints]) -> PrintingRun:
    """Return the run of all samples in the stream form. ``flush``: cycles from the last pixel to the last output."""
    raster = raster_of(instance)
    samples = len(tensors[0])
    beats = samples * raster.beats * prod(raster.images)
    given = _zeros(machine, beats + flush + 1, tensors)
    given["en"][:] = 1
    given["valid_in"][:beats] = 1
    for number, (plane, tensor) in enumerate(zip(raster.inputs, tensors, strict=True)):
        rank = len(plane.tensor.sizes)
        axes = [rank - d for d in (*reversed(plane.scanned), *reversed(plane.beat))]
        pixels = tensor.transpose(0, *axes).reshape(beats, plane.count)
        given[plane_name("x", raster.inputs, number)][:beats] = pixels
    members = members_by_beat(instance, raster)
    return PrintingRun(beats + flush + 1, given, samples, tuple(members.reshape(-1).tolist()), members.shape[1])


def _zeros(machine: Machine, cycles: int, tensors: Sequence[Ints]) -> dict[str, Ints]:
    wide = any(tensor.dtype == object for tensor in tensors)
    return {
        signal.name: np.zeros((cycles, len(signal.types)), dtype=object if wide else np.int64)
        for signal in machine.inputs
    }


def texts_of(instance: KernelInstance, run: PrintingRun, rows: Sequence[Sequence[int | None]]) -> list[list[str]]:
    """Return the text that members of each sample print, in the order of the index space.

    ``rows``: raw variables in output order, of ``run.beside`` members per row. If there are more or fewer rows than
    members, all texts are returned as one sample, in output order.
    """
    taps, kinds = instance.taps, variables_of(instance.block, instance.taps)
    texts = [
        text_of_member(taps, kinds, row[at * len(kinds) : (at + 1) * len(kinds)])
        for row in rows
        for at in range(run.beside)
    ]
    count = len(run.order)
    if len(texts) != run.samples * count:
        return [texts]
    found = [[""] * count for _ in range(run.samples)]
    for at, text in enumerate(texts):
        found[at // count][run.order[at % count]] = text
    return found
