"""Access patterns: which elements of a tensor a member of the index space touches, exactly as glue code states it.

A dimension of a tensor follows one dimension of the index space: members ``o .. o + n - 1`` touch elements
``start_a * o + start_b`` to ``end_a * (o + n - 1) + end_b``. Coefficients are binary32 numbers, as in the C structures;
computations with them are exact.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.regions import Span

__all__ = ["AccessPattern", "DimPattern", "Slopes", "binary32"]


def binary32(value: float) -> float:
    """Return ``value`` rounded to binary32. Raises ``InputError`` if the result is not a finite number."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except (OverflowError, struct.error):
        rounded = math.inf
    if not math.isfinite(rounded):
        raise KernelError(f"a coefficient of an access pattern must be a finite binary32 number, not {value!r}")
    return rounded


class Slopes(NamedTuple):
    """A pattern in exact numbers: members ``o .. p`` touch ``start_a * o + start_b`` to ``end_a * p + end_b``."""

    start_a: Fraction
    start_b: Fraction
    end_a: Fraction
    end_b: Fraction


@dataclass(frozen=True)
class DimPattern:
    """The pattern of one dimension of a tensor. ``dim``: the dimension of the index space that it follows.

    ``all_required``: each member touches the whole dimension, and the numbers are ignored.
    """

    dim: int = 0
    start_a: float = 0.0
    end_a: float = 0.0
    start_b: float = 0.0
    end_b: float = 0.0
    all_required: bool = False

    def __post_init__(self) -> None:
        for name in ("start_a", "end_a", "start_b", "end_b"):
            object.__setattr__(self, name, binary32(getattr(self, name)))

    @classmethod
    def affine(cls, dim: int, a: float, start_b: float, end_b: float, *, all_required: bool = False) -> DimPattern:
        """Return the pattern with one slope, as in the newer generation of the interface."""
        return cls(dim, a, a, start_b, end_b, all_required)

    @cached_property
    def exact(self) -> Slopes:
        """The coefficients of the pattern as exact numbers."""
        return Slopes(*map(Fraction, (self.start_a, self.start_b, self.end_a, self.end_b)))

    @property
    def is_whole(self) -> bool:
        """True if the pattern means the whole dimension of any size: explicitly, or because a slope is below 1.

        The usual pattern with such a slope has slope 0 and elements 0 to size - 1.
        """
        return self.all_required or min(self.start_a, self.end_a) < 1

    def covers_all(self, size: int) -> bool:
        """Return True if the pattern counts as the whole dimension of ``size`` elements for every member.

        This is the case if the pattern means the whole dimension, or if the elements of one member span at least
        ``size``.
        """
        return self.is_whole or self.exact.end_b - self.exact.start_b >= size

    def span(self, members: Span) -> Span:
        """Return the elements that ``members`` touch: floor of the start, ceiling of the end, swapped if reversed.

        The span may begin below 0 and end beyond the tensor.
        """
        start_a, start_b, end_a, end_b = self.exact
        lo, hi = sorted((start_a * members.first + start_b, end_a * members.last + end_b))
        return Span(math.floor(lo), math.ceil(hi))

    def members(self, elements: Span) -> Span | None:
        """Return the members that touch exactly ``elements``; None if there are no such members."""
        start_a, start_b, end_a, end_b = self.exact
        first, last = (elements.first - start_b) / start_a, (elements.last - end_b) / end_a
        if first.denominator != 1 or last.denominator != 1 or first < 0:
            return None
        return Span(int(first), int(last))


@dataclass(frozen=True)
class AccessPattern:
    """The patterns of a tensor's dimensions, the fastest first; missing ones are patterns of zeros.

    ``all_required``: each member touches the whole tensor. ``memset_before_execution``: the tensor is set to one value
    before the first member runs. ``inputs_reusability``: a mask of 16 bits. The other flags are kept, but have no
    effect here.
    """

    dims: tuple[DimPattern, ...] = ()
    all_required: bool = False
    memset_before_execution: bool = False
    inputs_reusability: int = 0
    input_reusability_binding: bool = False
    sparse_access: bool = False
    no_rmw_access: bool = False
