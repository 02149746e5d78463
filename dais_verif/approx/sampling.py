"""Sampling: which elements of a convolution's filter are left out, and the factor that compensates for them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.approx.knobs import Knob
from dais_verif.errors import ApproximationError

__all__ = ["kept_elements", "weight_factor"]


def kept_elements(knob: Knob, channels: int, height: int, width: int) -> NDArray[np.bool_]:
    """Return a mask of the elements that are kept in every filter, of shape (channels, height, width).

    If the period divides the number of elements of a channel, the first omitted element moves by one from channel to
    channel; otherwise elements are counted across all channels. Raises ``InputError`` if no element is kept.
    """
    size = height * width
    if size % knob.period == 0:
        channel, place = np.ogrid[:channels, :size]
        dropped = place % knob.period == (knob.offset + channel) % knob.period
    else:
        count = np.arange(channels * size)
        dropped = (count >= knob.offset) & ((count - knob.offset) % knob.period == 0)
    kept: NDArray[np.bool_] = ~dropped.reshape(channels, height, width)
    if not kept.any():
        problem = f"knob {knob.number} leaves out the only element of the filter: no element is left"
        raise ApproximationError(f"{problem}; choose a knob with a later offset")
    return kept


def weight_factor(knob: Knob) -> Fraction:
    """Return the factor of each kept weight; it applies even if no weight is left out."""
    return Fraction(knob.period, knob.period - 1)
