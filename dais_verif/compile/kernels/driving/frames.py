"""Drive a machine of an instance with tensors, and read tensors from its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.machine import Machine
from dais_verif.spec.program import FixedType

__all__ = ["Driven", "Found", "Ints", "Run", "noise", "random_tensors"]

#: An array of raw integers; those of more than 62 bits are Python objects.
Ints = NDArray[Any]
_WIDEST = 62


class Run(NamedTuple):
    """Cycles ``first`` to ``last``, in which a ``member`` of a ``sample`` runs, or its outputs are read."""

    first: int
    last: int
    sample: int
    member: tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """The outputs read. ``tensors``: each output, shape (samples, ...); ``cycles``: when each element was read.

    ``problem``: why the tensors cannot be read, or another error of the outputs.
    """

    tensors: tuple[Ints, ...] = ()
    cycles: tuple[Ints, ...] = ()
    runs: tuple[Run, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class Driven:
    """A sequence from power-up: raw integers of each input signal, shape (cycles, elements).

    ``read``: returns the tensors in the outputs before each edge, given in the same form as ``inputs``. ``ranges``: the
    number of parts of the index space that run one by one; ``broken_off``: the number of resets in between; ``stalls``:
    cycles without progress.
    """

    cycles: int
    inputs: Mapping[str, Ints]
    read: Callable[[Mapping[str, Ints]], Found] = field(repr=False)
    ranges: int = 0
    broken_off: int = 0
    stalls: int = 0


def noise(machine: Machine, cycles: int, rng: np.random.Generator) -> dict[str, Ints]:
    """Return random raw integers for all inputs of a machine, (cycles, elements)."""
    found: dict[str, Ints] = {}
    for signal in machine.inputs:
        columns = [random_raw(kind, (cycles,), rng) for kind in signal.types]
        found[signal.name] = np.stack(columns, axis=-1) if columns else np.zeros((cycles, 0), dtype=np.int64)
    return found


def random_raw(kind: FixedType, shape: Sequence[int], rng: np.random.Generator) -> Ints:
    """Return random raw integers of a type: uniform, but one in eight is its minimum or maximum."""
    if kind.width > _WIDEST:
        words = [rng.integers(0, 1 << 32, size=tuple(shape), dtype=np.int64) for _ in range(kind.width // 32 + 1)]
        whole = sum(word.astype(object) << (32 * at) for at, word in enumerate(words))
        return np.asarray(whole % (1 << kind.width) + kind.raw_min)
    found: Ints = rng.integers(kind.raw_min, kind.raw_max, size=tuple(shape), dtype=np.int64, endpoint=True)
    ends = rng.integers(0, 16, size=tuple(shape))
    return np.where(ends == 0, kind.raw_min, np.where(ends == 1, kind.raw_max, found))


def random_tensors(
    types: Sequence[FixedType], shapes: Sequence[Sequence[int]], samples: int, rng: np.random.Generator
) -> tuple[Ints, ...]:
    """Return random samples of each tensor."""
    return tuple(random_raw(kind, (samples, *shape), rng) for kind, shape in zip(types, shapes, strict=True))
