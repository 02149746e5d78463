"""Perforation: which rows or columns of a convolution's output are skipped, and how they are filled in."""

from __future__ import annotations

from dais_verif.approx.knobs import Knob
from dais_verif.errors import ApproximationError

__all__ = ["fill_sources"]


def fill_sources(knob: Knob, places: int) -> list[tuple[int, ...]]:
    """Return for each of the ``places`` along the knob's axis the computed places that determine its value.

    A place has one or two. One: the place itself if it is computed, otherwise its only neighbour. Two: both neighbours,
    whose mean is the value of the place. Neighbours of a skipped place are computed, since a period is 2 or more.
    Raises ``InputError`` if no place is computed.
    """
    computed = [i for i in range(places) if i < knob.offset or (i - knob.offset) % knob.period]
    if not computed:
        problem = f"knob {knob.number} skips all {knob.axis}, as there is only one: nothing is computed"
        raise ApproximationError(f"{problem}; choose a knob with a later offset")
    known = frozenset(computed)
    return [(i,) if i in known else tuple(j for j in (i - 1, i + 1) if 0 <= j < places) for i in range(places)]
