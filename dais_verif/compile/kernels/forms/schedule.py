"""Schedules of a form: the cycles in which the first members read, compute and write."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dais_verif.compile.kernels.forms.memory import Steps, group_of
from dais_verif.compile.kernels.forms.raster import Raster
from dais_verif.compile.kernels.forms.stream import cycle_of
from dais_verif.compile.kernels.instance import KernelInstance

__all__ = ["Schedule", "Work", "members_of", "memory_schedule", "stream_schedule"]


@dataclass(frozen=True)
class Work:
    """The activity of a member, or the loading of a tensor (``tensor``), in cycles ``first`` to ``last``."""

    what: str
    first: int
    last: int
    member: tuple[int, ...] = ()
    tensor: str = ""


@dataclass(frozen=True)
class Schedule:
    """``works`` of the first members. ``done``: the cycle in which all members are done."""

    works: tuple[Work, ...]
    done: int


def members_of(geometry: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Return the first ``count`` members of an index space, its first dimension the fastest."""
    shown = np.arange(min(count, prod(geometry)))
    return [tuple(map(int, member)) for member in zip(*np.unravel_index(shown, geometry, order="F"), strict=True)]


def memory_schedule(instance: KernelInstance, count: int, parallel: int = 1) -> Schedule:
    """Return the schedule of the memory form: inputs are loaded before ``start``, which is cycle 0.

    A group of ``parallel`` members looks up one element of each input per cycle, which arrives a cycle later. Then the
    blocks' outputs are stored, and written, one member after the other, while the next group reads.
    """
    mapping, group = instance.mapping, group_of(instance, parallel)
    writes = [mapping.addressing(one).count for one in mapping.outputs]
    steps = Steps(
        tuple(mapping.addressing(one).count for one in mapping.inputs), tuple(parallel * each for each in writes)
    )
    loads = [(one.name, prod(one.sizes)) for one in mapping.inputs]
    begin = -max((size for _, size in loads), default=0)
    works = [Work("load", begin, begin + size - 1, tensor=name) for name, size in loads if size]
    groups = [-(-size // parallel) if d == group.dim else size for d, size in enumerate(mapping.geometry)]
    for member in members_of(mapping.geometry, count):
        turn, lane = divmod(member[group.dim], parallel)
        place = [turn if d == group.dim else at for d, at in enumerate(member)]
        first = 1 + int(np.ravel_multi_index(place, groups, order="F")) * steps.interval
        if any(steps.reads):
            works.append(Work("read", first, first + max(steps.reads), member))
        write = first + steps.first_write
        works.append(Work("compute", write - 1, write - 1, member))
        if writes:
            works.append(Work("write", write + lane * min(writes), write + (lane + 1) * max(writes) - 1, member))
    return Schedule(tuple(works), steps.latency(prod(groups)))


def stream_schedule(instance: KernelInstance, raster: Raster, count: int) -> Schedule:
    """Return the schedule of the stream form of ``instance``: pixels come one per cycle, the first one in cycle 0.

    A member reads from the first to the last pixel of its window; it computes and writes in the same cycle.
    """
    mapping, x, y = instance.mapping, raster.x, raster.y
    images = prod(raster.images)
    works = [Work("load", 0, images * raster.beats - 1, tensor=plane.tensor.name) for plane in raster.inputs]
    for member in members_of(mapping.geometry, count):
        coordinates = np.array([member], dtype=np.int64)
        cycles = [
            cycle_of(raster, [element[d] for d in plane.scanned], output=False)
            for plane in raster.inputs
            for element in mapping.addressing(plane.tensor).elements(coordinates)[0].tolist()
            if all(0 <= at < size for at, size in zip(element, plane.tensor.sizes, strict=True))
        ]
        if cycles:
            works.append(Work("read", min(cycles), max(cycles), member))
        if not raster.outputs:
            continue
        plane = raster.outputs[0]
        written = mapping.addressing(plane.tensor).elements(coordinates)[0, 0].tolist()
        cycle = cycle_of(raster, [written[d] for d in plane.scanned], output=True)
        works.append(Work("write", cycle, cycle, member))
    final = y.final * x.size + x.final + raster.delay
    return Schedule(tuple(works), (images - 1) * raster.beats + final)
