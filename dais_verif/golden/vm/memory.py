"""The memory of a compiled program: the owner of each slot, and values that a forward run saves for the pullback."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.program.numbers import IntArray

__all__ = ["Allocation", "Tape", "freeze"]


@dataclass(frozen=True, eq=False)
class Allocation:
    """The owner of each slot. All columns are int32.

    ``bits`` (n_slots,): the width of every forward slot, sufficient for all values that it holds in turn; a slot above
    62 bits holds Python integers. ``saved``, ``saved_slots``: the ops whose values are kept for the pullback,
    ascending, and their slots. ``n_gradients``: number of float64 slots of the pullback.
    """

    bits: NDArray[np.int32]
    saved: NDArray[np.int32]
    saved_slots: NDArray[np.int32]
    n_gradients: int

    def __post_init__(self) -> None:
        freeze(self.bits, self.saved, self.saved_slots)

    @property
    def n_slots(self) -> int:
        """The number of forward slots."""
        return len(self.bits)


def freeze(*columns: NDArray[np.int32]) -> None:
    """Make ``columns``, and the arrays of which they are views, read-only."""
    for column in columns:
        owner: object = column
        while isinstance(owner, np.ndarray):
            owner.setflags(write=False)
            owner = owner.base


@dataclass
class Tape:
    """The data of the last complete forward run for the pullback: its rows, and raw values (rows,) of kept slots."""

    rows: int | None = None
    slots: dict[int, IntArray] = field(default_factory=dict)
