"""Bounds on the number of beats of streams, for any pauses between the beats of images and between images.

After n beats of images have come, a stage has given between ``least[n]`` and ``most[n]`` beats: the outputs of an image
that are left when its last beat has come are given while no beat comes, or with the beats of the next image. Which of
the two happens depends on pauses, separately in each stage, so that a branch can be ahead of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.kernels.forms.raster import Raster

__all__ = ["Flow", "gathered", "held", "joined", "of_images", "through"]

_Counts = NDArray[np.int64]


class Flow(NamedTuple):
    """How many beats of a stream have come by the end of a cycle, in cycles in which ``en`` is 1.

    At least ``least[n]``, where n beats of images had come ``latest`` cycles before, and at most ``most[n]``, where n
    beats had come ``soonest`` cycles before. Both never decrease with n.
    """

    least: _Counts
    most: _Counts
    soonest: int = 0
    latest: int = 0


def of_images(beats: int) -> Flow:
    """Return the flow of the beats that go in; bounds are known for up to ``beats`` of them."""
    come = np.arange(beats + 1, dtype=np.int64)
    return Flow(come, come)


def through(raster: Raster, flow: Flow) -> Flow:
    """Return the flow of a stage's outputs, given in the cycle in which a beat comes, or later."""
    shown = raster.shown
    outputs, before = int(shown.sum()), np.concatenate([[0], np.cumsum(shown)])[:-1]

    def scanned(beats: _Counts) -> Any:
        """Return the number of outputs among the first places of the scan of image after image."""
        images, rest = np.divmod(np.maximum(beats, 0), raster.beats)
        return images * outputs + before[rest]

    ahead = np.maximum(scanned(flow.most - raster.delay), flow.most // raster.beats * outputs)
    return flow._replace(least=scanned(flow.least - raster.delay), most=ahead)


def held(flow: Flow) -> Flow:
    """Return the flow after a register."""
    return flow._replace(soonest=flow.soonest + 1, latest=flow.latest + 1)


def gathered(flow: Flow, beats: int) -> Flow:
    """Return the flow of the last one of every ``beats`` beats."""
    return flow._replace(least=flow.least // beats, most=flow.most // beats)


def joined(flows: Sequence[Flow]) -> tuple[Flow, list[int]]:
    """Return the flow of beats taken from all ``flows`` at once, and the most beats of each that can wait.

    A beat is stored when it comes, and can be taken from the next cycle on; so in each cycle, as many are taken in all
    as of the slowest stream had come in the cycle before.
    """
    # A stream is ahead of itself by at most the beat that comes.
    depths = [max(1, *(_ahead(one, other) for other in flows if other is not one)) for one in flows]
    taken = Flow(
        np.minimum.reduce([one.least for one in flows]),
        np.minimum.reduce([one.most for one in flows]),
        min(one.soonest for one in flows),
        max(one.latest for one in flows),
    )
    return held(taken), depths


def _ahead(one: Flow, other: Flow) -> int:
    """Return how many beats of a stream can have come beyond those that ``other`` had the cycle before."""
    # At most so many beats of images came between the two cycles to which the bounds apply.
    between = max(other.latest + 1 - one.soonest, 0)
    behind = np.concatenate([np.zeros(between, dtype=np.int64), other.least])[: len(one.most)]
    return int((one.most - behind).max())
