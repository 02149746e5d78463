"""Frames of a memory form: all tensors are loaded, all members run, in one range or in many, all outputs are read."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from dais_verif.compile.kernels.forms.control import unsigned
from dais_verif.compile.kernels.forms.memory import MemoryFacts, MemoryTiming
from dais_verif.compile.kernels.forms.raster import Box, parts_of
from dais_verif.compile.kernels.instance import KernelInstance

__all__ = ["memory_frame", "memory_signals", "ranges_frame"]

#: The number of ranges in a frame with many ranges; each adds cycles to the proof, for first reads and last writes.
_PARTS = 6
#: The number of random partitions, from which the best one for a test is selected.
_DRAWN = 40


def memory_frame(instance: KernelInstance, facts: MemoryFacts) -> str:
    """Return the frame file in which a memory form computes the same as the unfolded instance, in one range."""
    mapping = instance.mapping
    begin = _loaded(instance)
    lines = [f"held.start = {_numbers([1], begin, _cycles(instance, begin + facts.latency))}", "held.rst = 0"]
    for d, size in enumerate(mapping.geometry):
        lines += [f"held.begin{d} = 0", f"held.end{d} = {size}"]
    return _text(instance, begin + facts.latency, lines)


def memory_signals(instance: KernelInstance, facts: MemoryFacts) -> dict[str, list[int]]:
    """Return the required values of ``busy`` and ``done`` in each cycle of ``memory_frame``."""
    begin, done = _loaded(instance), _loaded(instance) + facts.latency
    cycles = range(_cycles(instance, done))
    return {"busy": [int(begin < t < done) for t in cycles], "done": [int(t == done) for t in cycles]}


def ranges_frame(instance: KernelInstance, facts: MemoryFacts, seed: int = 0) -> str:
    """Return a frame in which a memory form computes the same in several ranges, which ``seed`` selects.

    Ranges follow each other directly, the last range first; every second range at the end of a dimension is requested
    to reach beyond this end. Before all these ranges, two ranges are aborted by a reset, during the first reads and
    during the last writes, and one range has no members. While a range runs, the ports of ranges carry other values.
    """
    rng = np.random.default_rng(seed)
    geometry = instance.mapping.geometry
    timing = MemoryTiming.of(instance, facts.parallel)
    drawn = [parts_of(geometry, 2 + n % (_PARTS - 1), rng) for n in range(_DRAWN)]
    # The range at 0 comes last: if it is missed because another one takes too long, its elements are wrong.
    most: list[Box] = max(drawn, key=_turns)
    boxes = sorted(most, reverse=True)
    cycle = _loaded(instance)
    starts, resets, busy = list[tuple[int, Box]](), list[int](), list[tuple[int, int]]()
    for number, box in enumerate([boxes[-1], boxes[0], tuple((0, 0) for _ in geometry), *boxes]):
        ends = [
            unsigned(size).raw_max if number % 2 and end == size else end
            for (_, end), size in zip(box, geometry, strict=True)
        ]
        starts.append((cycle, tuple((first, end) for (first, _), end in zip(box, ends, strict=True))))
        latency = timing.latency(box)
        if number < 2:
            resets.append(cycle + (latency - 1 if number else min(2, latency - 1)))
            busy.append((cycle + 1, resets[-1]))
            cycle = resets[-1] + 1
        else:
            busy.append((cycle + 1, cycle + latency))
            cycle += latency
    total = _cycles(instance, cycle)
    start, rst = [0] * total, [0] * total
    begins, lasts = ([[0] * total for _ in geometry] for _ in range(2))
    for first, end in busy:
        start[first:end] = [1] * (end - first)
    for at in resets:
        start[at], rst[at] = 0, 1
    for at, box in starts:
        start[at] = 1
        for d, (first, end) in enumerate(box):
            begins[d][at], lasts[d][at] = first, end
    rst[cycle] = 1  # another reset after all writes, since memories must keep their content
    lines = [f"held.start = {start}", f"held.rst = {rst}"]
    for d in range(len(geometry)):
        lines += [f"held.begin{d} = {begins[d]}", f"held.end{d} = {lasts[d]}"]
    return _text(instance, cycle, lines)


def _turns(boxes: Sequence[Box]) -> int:
    """Count begins after 0 and early ends of ranges, at most one each per dimension that is traversed repeatedly."""
    shown = set()
    for box in boxes:
        for d, (first, end) in enumerate(box):
            if any(b - a > 1 for a, b in box[d + 1 :]):
                shown |= {(d, "begins")} if first else set()
                shown |= {(d, "ends")} if end < max(other[d][1] for other in boxes) else set()
    return len(shown)


def _sizes(instance: KernelInstance) -> list[list[int]]:
    """Return the number of elements of each input, and of each output."""
    return [[prod(one.sizes) for one in side] for side in (instance.mapping.inputs, instance.mapping.outputs)]


def _loaded(instance: KernelInstance) -> int:
    """Return the cycle in which all tensors are loaded."""
    return max(_sizes(instance)[0], default=0)


def _cycles(instance: KernelInstance, done: int) -> int:
    """Return the number of cycles of a frame, including one after ``done`` that shows an unwanted repeated write."""
    return done + 1 + max(_sizes(instance)[1], default=0)


def _numbers(values: Sequence[int], first: int, cycles: int) -> str:
    return str([0] * first + list(values) + [0] * (cycles - first - len(values)))


def _text(instance: KernelInstance, done: int, lines: Sequence[str]) -> str:
    """Return the frame's text: load, then ``lines``, then read after cycle ``done``."""
    (reads, writes), cycles, done = _sizes(instance), _cycles(instance, done), done + 1

    def ports(side: str, sizes: Sequence[int], first: int) -> str:
        entries = [
            f'{{ signal = "{side}{t}_data", cycle = {first}, to = {first + size - 1} }}' for t, size in enumerate(sizes)
        ]
        return f"{side}puts = [{', '.join(entries)}]"

    text = [f"cycles = {cycles}", ports("in", reads, 0), ports("out", writes, done + 1), *lines]
    for t, size in enumerate(reads):
        text += [
            f"held.in{t}_write = {_numbers([1] * size, 0, cycles)}",
            f"held.in{t}_address = {_numbers(range(size), 0, cycles)}",
        ]
    text += [f"held.out{t}_address = {_numbers(range(size), done, cycles)}" for t, size in enumerate(writes)]
    return "\n".join(text) + "\n"
