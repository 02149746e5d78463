"""Compute the cycles of beats of streams, for images without a pause and for a single image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.kernels.forms.raster import Raster

__all__ = ["Times", "gathered", "given_by", "held", "joined", "of_images"]

_Bits = NDArray[np.bool_]


class Times(NamedTuple):
    """Whether a beat is valid in each cycle: ``calm``: for images without a pause; ``alone``: for a single image."""

    calm: _Bits
    alone: _Bits


def of_images(beats: int, cycles: int) -> Times:
    """Return the times of the beats that go in, for images of ``beats`` beats each."""
    return Times(np.ones(cycles, dtype=bool), np.arange(cycles) < beats)


def given_by(raster: Raster, times: Times) -> Times:
    """Return the times of a stage's output beats, from those of its input beats."""
    return Times(*(_given(raster, one) for one in times))


def _given(raster: Raster, times: _Bits) -> _Bits:
    shown = raster.shown
    beats, delay, final = raster.beats, raster.delay, raster.y.final * raster.x.size + raster.x.final
    taken, place, pending = 0, 0, False
    found = np.zeros(len(times), dtype=bool)
    for cycle, come in enumerate(times.tolist()):
        if not delay:
            found[cycle] = come and shown[taken]
        elif come or (pending and not taken):
            found[cycle] = pending and shown[place]
            begins = come and taken == delay - 1
            pending = begins or (pending and place != final)
            place = 0 if begins else (place + 1) % beats
        taken = (taken + come) % beats
    return found


def held(times: Times) -> Times:
    """Return the times of beats after a register."""
    return Times(*(np.concatenate([np.zeros(1, dtype=bool), one[:-1]]) for one in times))


def gathered(times: Times, beats: int) -> Times:
    """Return the times of the last one of every ``beats`` beats."""
    return Times(*(one & (np.cumsum(one) % beats == 0) for one in times))


def joined(streams: Sequence[Times]) -> Times:
    """Return the times at which a beat of all ``streams`` is taken, one cycle after the last of them comes."""
    return Times(*(_joined([one[at] for one in streams]) for at in range(len(Times._fields))))


def _joined(streams: Sequence[_Bits]) -> _Bits:
    come = np.minimum.reduce([np.cumsum(one) for one in streams])
    return np.concatenate([[0], np.diff(come, prepend=0)[:-1]]).astype(bool)
