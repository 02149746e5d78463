"""Compute the cycles of beats of streams, and the number of beats that wait for those of another stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.kernels.forms.raster import Axis, Raster

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
    shown = np.outer(_shown(raster.y), _shown(raster.x)).ravel()
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


def _shown(axis: Axis) -> _Bits:
    """Return for each position of the scan along an axis whether there is an output."""
    found = np.zeros(axis.size, dtype=bool)
    found[axis.anchor : axis.final + 1 : axis.stride] = True
    return found


def held(times: Times) -> Times:
    """Return the times of beats after a register."""
    return Times(*(np.concatenate([np.zeros(1, dtype=bool), one[:-1]]) for one in times))


def gathered(times: Times, beats: int) -> Times:
    """Return the times of the last one of every ``beats`` beats."""
    return Times(*(one & (np.cumsum(one) % beats == 0) for one in times))


def joined(streams: Sequence[Times]) -> tuple[Times, list[int]]:
    """Return the times at which a beat of all ``streams`` can be taken, and the most beats of each that wait at once.

    A beat is stored when it comes, and available from the next cycle on.
    """
    found = [_joined([one[at] for one in streams]) for at in range(len(Times._fields))]
    return Times(*(taken for taken, _ in found)), [
        max(counts) for counts in zip(*(most for _, most in found), strict=True)
    ]


def _joined(streams: Sequence[_Bits]) -> tuple[_Bits, list[int]]:
    waiting, most = [0] * len(streams), [0] * len(streams)
    taken = np.zeros(len(streams[0]), dtype=bool)
    rows: list[list[Any]] = np.stack(streams, axis=1).tolist()
    for cycle, come in enumerate(rows):
        taken[cycle] = all(waiting)
        for at, here in enumerate(come):
            waiting[at] += int(here) - int(taken[cycle])
            most[at] = max(most[at], waiting[at])
    return taken, most
