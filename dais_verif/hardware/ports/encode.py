"""Convert golden outputs to the types of a design's ports, if these differ from the program's types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dais_verif.base.errors import ViolationError
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import IntArray, compact

__all__ = ["encode_outputs"]


def encode_outputs(
    raw: Sequence[IntArray], own: Sequence[FixedType], given: Sequence[FixedType], first_row: int
) -> list[IntArray]:
    """Return ``raw``, outputs of types ``own`` with shape (rows,) each, as raw integers of types ``given``.

    Types ``given`` have at least as many fractional bits. Raises ``ViolationError`` if a port cannot hold a value.
    ``first_row``: the number of the first row.
    """
    return [
        _carried(values, kind, port, output, first_row)
        for output, (values, kind, port) in enumerate(zip(raw, own, given, strict=True))
    ]


def _carried(values: IntArray, own: FixedType, port: FixedType, output: int, first_row: int) -> IntArray:
    if own == port or own.width == 0:
        return values
    shift = port.f - own.f
    if own.raw_min << shift < port.raw_min or own.raw_max << shift > port.raw_max:
        exact = values.astype(object) << shift
        wrong = np.flatnonzero((exact < port.raw_min) | (exact > port.raw_max))
        if wrong.size:
            row = int(wrong[0])
            raise ViolationError(
                f"row {first_row + row}: output {output} is {values[row]} (raw, {own}), "
                f"which the port of the design, {port}, cannot hold"
            )
    return compact(values.astype(object) << shift) if shift else values
