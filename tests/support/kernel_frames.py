"""Stimulus for the memory form of a kernel instance: load tensors, run ranges of members, read the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.spec.machine import Machine

__all__ = ["Range", "driven", "random_inputs", "read_back", "whole", "words"]

#: The first member in each dimension, and the end, which is one past the last.
Range = tuple[Sequence[int], Sequence[int]]


def random_inputs(one: KernelInstance, samples: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [
        rng.integers(kind.raw_min, kind.raw_max + 1, size=(samples, *tensor.sizes[::-1]))
        for tensor, kind in zip(one.mapping.inputs, one.input_types, strict=True)
    ]


def words(tensors: Sequence[Any]) -> int:
    return max(prod(tensor.sizes) for tensor in tensors)


def whole(one: KernelInstance) -> list[Range]:
    return [((0,) * len(one.mapping.geometry), one.mapping.geometry)]


def driven(one: KernelInstance, machine: Machine, xs: Sequence[Any], ranges: Sequence[Range], latency: int) -> Any:
    """Return inputs that load all tensors, run the ranges in order and read all outputs; and the first output cycle."""
    begin = words(one.mapping.inputs)
    reads = begin + len(ranges) * latency
    cycles = reads + words(one.mapping.outputs) + 1
    given = {s.name: np.zeros((len(xs[0]), cycles, 1)) for s in machine.inputs}
    for t, (x, kind) in enumerate(zip(xs, one.input_types, strict=True)):
        flat = x.reshape(len(x), -1)
        count = flat.shape[1]
        given[f"in{t}_write"][:, :count] = 1
        given[f"in{t}_address"][:, :count, 0] = np.arange(count)
        given[f"in{t}_data"][:, :count, 0] = flat / 2.0**kind.f
    for n, (first, end) in enumerate(ranges):
        at = begin + n * latency
        given["start"][:, at] = 1
        for d in range(len(first)):
            given[f"begin{d}"][:, at], given[f"end{d}"][:, at] = first[d], end[d]
    for t, tensor in enumerate(one.mapping.outputs):
        count = prod(tensor.sizes)
        given[f"out{t}_address"][:, reads : reads + count, 0] = np.arange(count)
    return given, reads + 1


def read_back(one: KernelInstance, outputs: Mapping[str, Any], at: int) -> list[Any]:
    return [
        outputs[f"out{t}_data"][:, at : at + prod(tensor.sizes), 0] * 2.0**kind.f
        for t, (tensor, kind) in enumerate(zip(one.mapping.outputs, one.output_types, strict=True))
    ]
