"""The mapping of an instance: an index space, and for each tensor its pattern and the real accesses of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError, KernelError
from dais_verif.kernels.access import TensorAccess
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.kernels.regions import Span
from dais_verif.kernels.structures import HabanaKernelInstantiation, HabanaKernelParams, Tensor

__all__ = ["Addressing", "MappedTensor", "Mapping", "mapping_of"]

Ints = NDArray[np.int64]

#: The most elements of a tensor for which a block can have ports.
MOST_PORTS = 1 << 22


@dataclass(frozen=True)
class Addressing:
    """The elements that a member touches, in the order of the block's ports.

    Element ``j`` of member ``m`` is ``slopes @ m + offsets[j]``. ``slopes``: shape (dimensions of the tensor,
    dimensions of the index space); ``offsets``: shape (elements, dimensions of the tensor).
    """

    slopes: tuple[tuple[int, ...], ...]
    offsets: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sizes: Sequence[int], pattern: AccessPattern, rank: int) -> Addressing:
        """Return the addressing of a block that touches all elements of a pattern, the fastest dimension first.

        A window that is wider than the tensor, and therefore counts as all of it, remains a window, since it begins at
        another element for each member. Raises ``InputError`` for a pattern with which members touch regions of
        different shapes: two slopes, or a number that is not an integer.
        """
        slopes, spans = [], []
        for d, size in enumerate(sizes):
            row = [0] * rank
            stated = pattern.dims[d] if d < len(pattern.dims) else DimPattern()
            if pattern.all_required or stated.is_whole:
                spans.append(Span(0, size - 1))
            else:
                exact = stated.exact
                if exact.start_a != exact.end_a or any(number.denominator != 1 for number in exact):
                    raise KernelError(
                        "members touch regions of different shapes: a block needs a single slope, an integer"
                    )
                if not 0 <= stated.dim < rank:
                    raise KernelError(f"a pattern follows dimension {stated.dim} of an index space of {rank}")
                row[stated.dim] = int(exact.start_a)
                spans.append(stated.span(Span(0, 0)))
            slopes.append(tuple(row))
        count = prod(span.size for span in spans)
        if count > MOST_PORTS:
            raise KernelError(
                f"a member touches {count} elements of a tensor of {list(sizes)}, and a block has a port for each: "
                f"{MOST_PORTS} at most"
            )
        ranges = [range(span.first, span.last + 1) for span in spans]
        return cls(tuple(slopes), tuple(point[::-1] for point in product(*reversed(ranges))))

    @property
    def count(self) -> int:
        """The number of elements that a member touches."""
        return len(self.offsets)

    def elements(self, members: Ints) -> Ints:
        """Return the elements of members: (members, elements, dimensions of the tensor) from (members, dimensions)."""
        slopes = np.array(self.slopes, dtype=np.int64).reshape(len(self.slopes), members.shape[1])
        offsets = np.array(self.offsets, dtype=np.int64).reshape(len(self.offsets), len(self.slopes))
        return (members @ slopes.T)[:, None, :] + offsets[None, :, :]


@dataclass(frozen=True)
class MappedTensor:
    """A tensor of a mapping. ``addressing`` None: each member touches exactly the region that ``pattern`` states."""

    name: str
    sizes: tuple[int, ...]
    pattern: AccessPattern
    addressing: Addressing | None = None


@dataclass(frozen=True)
class Mapping:
    """An index space of ``geometry``, and the tensors that its members read and write."""

    geometry: tuple[int, ...]
    inputs: tuple[MappedTensor, ...]
    outputs: tuple[MappedTensor, ...]

    def __post_init__(self) -> None:
        if not self.geometry or min(self.geometry) < 1:
            raise KernelError(
                f"an index space must have at least one member in each dimension, not {list(self.geometry)}"
            )
        for tensor in (*self.inputs, *self.outputs):
            try:
                self.windows(tensor).region_of((0,) * len(self.geometry))
            except InputError as error:
                raise KernelError.of("{name}: {error}", name=tensor.name, error=error) from None

    @property
    def members(self) -> int:
        """The number of members."""
        return prod(self.geometry)

    def access(self, tensor: MappedTensor) -> TensorAccess:
        """Return the access that the tensor's pattern states; a window as wide as the tensor counts as the whole."""
        return TensorAccess.of(tensor.sizes, tensor.pattern, len(self.geometry))

    def windows(self, tensor: MappedTensor) -> TensorAccess:
        """Return the access that the pattern states literally, as in ``Addressing.of``."""
        return TensorAccess.of(tensor.sizes, tensor.pattern, len(self.geometry), keep_windows=True)

    def addressing(self, tensor: MappedTensor) -> Addressing:
        """Return the elements that members access, as stated, or else as derived from the pattern."""
        return tensor.addressing or Addressing.of(tensor.sizes, tensor.pattern, len(self.geometry))


def mapping_of(params: HabanaKernelParams, answer: HabanaKernelInstantiation) -> Mapping:
    """Return the mapping in an answer of glue code to a request; members touch exactly what its patterns state."""

    def side(title: str, tensors: Sequence[Tensor], patterns: Sequence[AccessPattern]) -> tuple[MappedTensor, ...]:
        return tuple(
            MappedTensor(f"{title} {at}", tensor.geometry.shape, pattern)
            for at, (tensor, pattern) in enumerate(zip(tensors, patterns, strict=True))
        )

    return Mapping(
        answer.index_space_geometry.shape,
        side("input", params.input_tensors, answer.input_tensor_access_pattern),
        side("output", params.output_tensors, answer.output_tensor_access_pattern),
    )
