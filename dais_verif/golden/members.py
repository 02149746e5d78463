"""Evaluate an instance of a kernel: gather the inputs of all members of all samples, run its block, and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import FrameError
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import MappedTensor
from dais_verif.compile.kernels.printf import tapped_block, text_of_member, variables_of
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column, IntArray, compact

__all__ = ["STRETCH", "Printed", "print_instance", "run_instance"]

#: The most members, of all samples together, that are computed at once.
STRETCH = 1 << 15

Ints = NDArray[np.int64]


class Printed(NamedTuple):
    """The ``outputs`` of samples, and for each sample the text of each member, in the order of the index space."""

    outputs: tuple[IntArray, ...]
    texts: list[list[str]]


def run_instance(instance: KernelInstance, inputs: Sequence[IntArray], *, check: bool = True) -> tuple[IntArray, ...]:
    """Return the outputs of samples, as raw integers of the outputs' types.

    ``inputs``: one array of raw integers per input, (samples, ...), with the fastest dimension last. Outputs have the
    same form; elements that no member writes are 0. Raises ``ViolationError`` if ``check`` and the block breaks a
    promise; the rows in its message count the members of all samples. Raises ``InputError`` for arrays of another shape
    or with numbers that do not fit the type.
    """
    return _run(instance, instance.block, inputs, check)[0]


def print_instance(instance: KernelInstance, inputs: Sequence[IntArray], *, check: bool = True) -> Printed:
    """Run the instance; also return what members print, in order of the index space, first dimension fastest.

    Raises as ``run_instance`` does.
    """
    block, taps = instance.block, instance.taps
    outputs, variables = _run(instance, tapped_block(block, taps), inputs, check)
    kinds = variables_of(block, taps)
    texts = [[text_of_member(taps, kinds, row) for row in sample] for sample in variables.tolist()]
    return Printed(outputs, texts)


def _run(
    instance: KernelInstance, block: Program, inputs: Sequence[IntArray], check: bool
) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return the outputs, and the raw additional outputs of ``block``, (samples, members, ports)."""
    samples = _samples(instance, inputs)
    golden, mapping, more = Golden(block), instance.mapping, list[IntArray]()
    reads = [mapping.addressing(tensor) for tensor in mapping.inputs]
    writes = [mapping.addressing(tensor) for tensor in mapping.outputs]
    outputs: list[IntArray] = [np.zeros((samples, *t.sizes[::-1]), dtype=object) for t in mapping.outputs]
    step = max(STRETCH // max(samples, 1), 1)
    for first in range(0, mapping.members, step):
        members = _members(mapping.geometry, first, min(step, mapping.members - first))
        columns: list[Column] = []
        for tensor, addressing, array, kind, pad in zip(
            mapping.inputs, reads, inputs, instance.input_types, instance.pads, strict=True
        ):
            gathered = _gather(tensor, addressing.elements(members), array, pad)
            columns += [Column(compact(gathered[:, j]), -kind.f) for j in range(gathered.shape[1])]
        rows = samples * len(members)
        raw = golden.run_raw(Batch(rows, tuple(columns)), check=check, named=first)
        at = 0
        for tensor, addressing, output, kind in zip(
            mapping.outputs, writes, outputs, instance.output_types, strict=True
        ):
            ports = range(at, at + len(addressing.offsets))
            found = [_in_units(raw[port], block.output_types[port].f, kind.f) for port in ports]
            values = np.stack([one.astype(object) for one in found], axis=-1).reshape(samples, len(members), -1)
            _scatter(tensor, addressing.elements(members), output, values)
            at = ports.stop
        empty = np.zeros((rows, 0), dtype=object)
        beside = np.concatenate([empty, *(one.astype(object)[:, None] for one in raw[at:])], axis=1)
        more.append(beside.reshape(samples, len(members), len(raw) - at))
    whole = tuple(compact(output.reshape(-1)).reshape(output.shape) for output in outputs)
    return whole, np.concatenate(more, axis=1)


def _samples(instance: KernelInstance, inputs: Sequence[IntArray]) -> int:
    mapping = instance.mapping
    if len(inputs) != len(mapping.inputs):
        raise FrameError(f"{instance.name} reads {len(mapping.inputs)} tensors, not {len(inputs)}")
    for tensor, kind, array in zip(mapping.inputs, instance.input_types, inputs, strict=True):
        if array.shape[1:] != tensor.sizes[::-1] or array.shape[0] != inputs[0].shape[0]:
            raise FrameError(f"{tensor.name} has shape {array.shape}, must be (samples, *{tensor.sizes[::-1]})")
        if array.size and not kind.raw_min <= int(array.min()) <= int(array.max()) <= kind.raw_max:
            raise FrameError(f"{tensor.name} has raw integers that {kind} does not hold")
    return int(inputs[0].shape[0]) if inputs else 1


def _members(geometry: tuple[int, ...], first: int, count: int) -> Ints:
    """Return the coordinates of members ``first`` to ``first + count - 1``; the first dimension is the fastest."""
    coordinates = np.unravel_index(np.arange(first, first + count), geometry, order="F")
    return np.stack(coordinates, axis=-1).astype(np.int64)


def _gather(tensor: MappedTensor, elements: Ints, array: IntArray, pad: int) -> IntArray:
    """Return the elements that members read: (samples * members, elements)."""
    sizes = np.array(tensor.sizes, dtype=np.int64)
    inside = ((elements >= 0) & (elements < sizes)).all(axis=-1)
    clipped = np.clip(elements, 0, np.maximum(sizes - 1, 0))
    index: tuple[Any, ...] = (slice(None), *(clipped[..., d] for d in reversed(range(len(sizes)))))
    found = array[index] if array.size else np.zeros((len(array), *inside.shape), dtype=array.dtype)
    return np.where(inside, found, pad).reshape(-1, elements.shape[1])


def _scatter(tensor: MappedTensor, elements: Ints, output: IntArray, values: IntArray) -> None:
    """Write elements inside the tensor; drop those outside."""
    inside = ((elements >= 0) & (elements < np.array(tensor.sizes))).all(axis=-1)
    index: tuple[Any, ...] = (slice(None), *(elements[..., d][inside] for d in reversed(range(len(tensor.sizes)))))
    output[index] = values[:, inside]


def _in_units(raw: IntArray, f: int, wanted: int) -> IntArray:
    """Convert raw integers in units of ``2**-f`` to units of ``2**-wanted``, which must be fine enough."""
    if wanted >= f:
        return raw.astype(object) * (1 << (wanted - f))
    if (raw.astype(object) % (1 << (f - wanted)) != 0).any():
        raise FrameError(f"a block gives fractions of 2**-{f} where its tensor's type has 2**-{wanted}")
    return raw.astype(object) >> (f - wanted)
