"""Drive a memory form: load tensors, run the index space in parts in random order, read tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from dais_verif.compile.kernels.driving.frames import Driven, Found, Ints, Run, noise
from dais_verif.compile.kernels.forms.memory import MemoryTiming
from dais_verif.compile.kernels.forms.raster import Box, parts_of
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.spec.machine import Machine

__all__ = ["MOST_RANGES", "drive_memory"]

#: Parts of the index space that are run one by one.
MOST_RANGES = 40
_MOST_PAUSE = 4


@dataclass
class _Schedule:
    """The schedule of events by cycle, while it is being planned."""

    cycle: int = 0
    writes: list[list[tuple[int, int, int]]] = field(default_factory=list)  # for each input: cycle, sample, element
    reads: list[list[tuple[int, int, int]]] = field(default_factory=list)  # for each output
    starts: list[tuple[int, Box]] = field(default_factory=list)
    busy: list[tuple[int, int]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    pauses: int = 0


def drive_memory(
    instance: KernelInstance,
    timing: MemoryTiming,
    machine: Machine,
    tensors: Sequence[Ints],
    rng: np.random.Generator,
    samples: int | None = None,
) -> Driven:
    """Return a sequence that runs all samples of ``tensors`` one after the other, without a reset in between.

    Elements are written and read in random order. In between there are pauses, ranges without members, ranges aborted
    by a reset, and values that must be ignored. ``samples``: how often a kernel without inputs runs; None: once.
    """
    samples = len(tensors[0]) if tensors else samples or 1
    sizes_in = [prod(one.sizes) for one in instance.mapping.inputs]
    sizes_out = [prod(one.sizes) for one in instance.mapping.outputs]
    plan = _Schedule(writes=[[] for _ in sizes_in], reads=[[] for _ in sizes_out])
    ranges = 0
    for sample in range(samples):
        _transfer(plan, plan.writes, sizes_in, sample, rng)
        boxes = parts_of(instance.mapping.geometry, int(rng.integers(1, MOST_RANGES + 1)), rng)
        ranges += len(boxes)
        if rng.integers(2):
            _break_off(plan, instance, timing, boxes[int(rng.integers(len(boxes)))], rng)
        for box in boxes:
            _pause(plan, rng)
            _run(plan, instance, timing, sample, box)
        if rng.integers(2):
            at = int(rng.integers(instance.mapping.geometry[0]))
            _run(plan, instance, timing, sample, ((at, at), *((0, n) for n in instance.mapping.geometry[1:])))
        plan.cycle += 1  # results are available in the cycle after done
        _transfer(plan, plan.reads, sizes_out, sample, rng)
    for places, writers in zip(plan.reads, _writers(instance), strict=True):
        plan.runs += [Run(at + 1, at + 1, sample, writers[element]) for at, sample, element in places]
    cycles = plan.cycle + 2
    inputs = _inputs(instance, machine, tensors, plan, cycles, rng)

    def read(outputs: Mapping[str, Ints]) -> Found:
        return _found(instance, plan, cycles, samples, outputs)

    return Driven(cycles, inputs, read, ranges, len(plan.resets), plan.pauses)


def _transfer(
    plan: _Schedule,
    ports: list[list[tuple[int, int, int]]],
    sizes: Sequence[int],
    sample: int,
    rng: np.random.Generator,
) -> None:
    """Plan transfers of all elements of tensors through their ports, in random order."""
    begin = plan.cycle
    for port, size in enumerate(sizes):
        at = begin + int(rng.integers(_MOST_PAUSE))
        for element in rng.permutation(size).tolist():
            ports[port].append((at, sample, element))
            at += 1 + int(rng.integers(64) == 0)
        plan.cycle = max(plan.cycle, at)


def _writers(instance: KernelInstance) -> list[list[tuple[int, ...]]]:
    """Return, for each output, the member that writes each element, in NumPy's order."""
    mapping, found = instance.mapping, []
    members = np.stack(np.unravel_index(np.arange(mapping.members), mapping.geometry, order="F"), axis=-1).astype(
        np.int64
    )
    for tensor in mapping.outputs:
        sizes = np.array(tensor.sizes, dtype=np.int64)
        elements = mapping.addressing(tensor).elements(members)
        inside = ((elements >= 0) & (elements < sizes)).all(axis=-1)
        strides = np.concatenate([[1], np.cumprod(sizes[:-1])]).astype(np.int64)
        by = np.zeros(prod(tensor.sizes), dtype=np.int64)
        by[(elements * strides).sum(axis=-1)[inside]] = np.nonzero(inside)[0]
        found.append([tuple(row) for row in members[by].tolist()])
    return found


def _pause(plan: _Schedule, rng: np.random.Generator) -> None:
    count = int(rng.integers(_MOST_PAUSE)) if rng.integers(2) else 0
    plan.cycle += count
    plan.pauses += count


def _run(plan: _Schedule, instance: KernelInstance, timing: MemoryTiming, sample: int, box: Box) -> None:
    """Plan the run of a range; the next one may begin in the cycle in which it is done."""
    latency = timing.latency(box)
    begin = plan.cycle
    plan.starts.append((begin, box))
    plan.runs += _members(timing, begin, sample, box)
    plan.cycle += latency
    plan.busy.append((begin + 1, plan.cycle))
    plan.done.append(plan.cycle)


def _members(timing: MemoryTiming, begin: int, sample: int, box: Box) -> Iterator[Run]:
    """Yield the cycles in which members of a range run."""
    shape = [b - a for a, b in box]
    for number in range(prod(shape)):
        place = np.unravel_index(number, shape, order="F")
        member = tuple(int(p) + a for p, (a, _) in zip(place, box, strict=True))
        first, last = timing.during(begin, box, member)
        yield Run(first, last, sample, member)


def _break_off(
    plan: _Schedule, instance: KernelInstance, timing: MemoryTiming, box: Box, rng: np.random.Generator
) -> None:
    """Plan a range that a reset aborts; its members run again later."""
    latency = timing.latency(box)
    begin, length = plan.cycle, int(rng.integers(1, latency + 1))
    plan.starts.append((begin, box))
    plan.busy.append((begin + 1, begin + length + 1))
    plan.resets.append(begin + length)
    if length == latency:  # a reset in the cycle of done is too late to prevent done
        plan.done.append(begin + length)
    plan.cycle = begin + length + 1


def _inputs(
    instance: KernelInstance,
    machine: Machine,
    tensors: Sequence[Ints],
    plan: _Schedule,
    cycles: int,
    rng: np.random.Generator,
) -> dict[str, Ints]:
    given = noise(machine, cycles, rng)
    given["rst"][:] = 0
    given["rst"][plan.resets, 0] = 1
    start = given["start"]
    start[:] = 0
    for first, last in plan.busy:  # start is ignored in these cycles
        start[first:last, 0] = rng.integers(0, 2, size=len(start[first:last]))
    start[plan.resets, 0] = 0
    for cycle, box in plan.starts:
        start[cycle, 0] = 1
        for d, (a, b) in enumerate(box):
            given[f"begin{d}"][cycle, 0], given[f"end{d}"][cycle, 0] = a, b
    for t, (places, tensor) in enumerate(zip(plan.writes, tensors, strict=True)):
        flat = tensor.reshape(len(tensor), -1)
        given[f"in{t}_write"][:] = 0
        for cycle, sample, element in places:
            given[f"in{t}_write"][cycle, 0] = 1
            given[f"in{t}_address"][cycle, 0] = element
            given[f"in{t}_data"][cycle, 0] = flat[sample, element]
    for t, places in enumerate(plan.reads):
        for cycle, _, element in places:
            given[f"out{t}_address"][cycle, 0] = element
    return given


def _found(instance: KernelInstance, plan: _Schedule, cycles: int, samples: int, outputs: Mapping[str, Ints]) -> Found:
    done = np.zeros(cycles, dtype=np.int64)
    done[plan.done] = 1
    wrong = np.flatnonzero(outputs["done"][:, 0] != done)
    if len(wrong):
        at = int(wrong[0])
        return Found(problem=f"done is {1 - done[at]} in cycle {at}, must be {done[at]}: the latency is not as stated")
    tensors, when = [], []
    for t, (places, mapped) in enumerate(zip(plan.reads, instance.mapping.outputs, strict=True)):
        size = prod(mapped.sizes)
        cycle, sample, element = (np.array([one[at] for one in places], dtype=np.int64) for at in range(3))
        data = outputs[f"out{t}_data"][:, 0]
        tensor, seen = np.zeros((samples, size), dtype=data.dtype), np.zeros((samples, size), dtype=np.int64)
        tensor[sample, element] = data[cycle + 1]
        seen[sample, element] = cycle + 1
        tensors.append(tensor.reshape(samples, *mapped.sizes[::-1]))
        when.append(seen.reshape(samples, *mapped.sizes[::-1]))
    return Found(tuple(tensors), tuple(when), tuple(plan.runs))
