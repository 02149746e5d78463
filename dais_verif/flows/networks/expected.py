"""Compute expected outputs of a folded network: each sample under its configuration, unrolled, by the golden model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden import Golden
from dais_verif.kernels.driving.frames import Ints
from dais_verif.networks.hardware.chain import Chain
from dais_verif.program import FixedType
from dais_verif.program.numbers import Batch, Column, floor_to_grid

__all__ = ["expected_tensors", "raw_tensors"]


def raw_tensors(chain: Chain, batch: Batch) -> tuple[Ints, ...]:
    """Return vectors of a network as raw integers of each input, shape (samples, elements); they must fit its types."""
    found, at = [], 0
    for name, kind in chain.inputs.items():
        count = chain.storage[name].words * chain.storage[name].channels
        columns = [floor_to_grid(column, kind.f) for column in batch.columns[at : at + count]]
        found.append(np.stack(columns, axis=1))
        at += count
    return tuple(found)


def expected_tensors(
    chain: Chain, configurations: Sequence[int], tensors: Sequence[Ints], *, check: bool = True
) -> tuple[Ints, ...]:
    """Return each output of the network for samples under their configurations, shape (samples, elements).

    Values are raw integers of the machine's output types.
    """
    kinds = list(chain.outputs.values())
    sizes = [chain.storage[name].words * chain.storage[name].channels for name in chain.outputs]
    types = [kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)]
    rows = np.concatenate(tensors, axis=1)
    exponents = [
        -kind.f for tensor, kind in zip(tensors, chain.inputs.values(), strict=True) for _ in range(tensor.shape[1])
    ]
    made: NDArray[np.object_] = np.zeros((len(configurations), len(types)), dtype=object)
    for configuration in sorted(set(configurations)):
        chosen = [sample for sample, one in enumerate(configurations) if one == configuration]
        columns = tuple(Column(rows[chosen, j], exponent) for j, exponent in enumerate(exponents))
        program = chain.networks[configuration].program()
        found = Golden(program).run_raw(Batch(len(chosen), columns), check=check)
        for j, (column, own, kind) in enumerate(zip(found, program.output_types, types, strict=True)):
            made[chosen, j] = _on_grid(column, own, kind)
    ends = np.cumsum([0, *sizes])
    return tuple(made[:, a:b] for a, b in pairwise(ends))


def _on_grid(column: Ints, own: FixedType, kind: FixedType) -> NDArray[np.object_]:
    """Convert raw integers of one type to another; None for values between its steps, which no machine outputs."""
    found: NDArray[np.object_] = column.astype(object)
    if kind.f >= own.f:
        return np.asarray(found << (kind.f - own.f), dtype=object)
    return np.array([n >> (own.f - kind.f) if not n % (1 << (own.f - kind.f)) else None for n in found], dtype=object)
