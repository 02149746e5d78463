"""Parse durations: ``90``, ``90s``, ``10m``, ``2h``."""

from __future__ import annotations

import math

__all__ = ["seconds_from"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_from(text: str) -> float:
    """Return a duration in seconds. Raises ``ValueError`` if ``text`` is not a duration."""
    unit = _UNITS.get(text[-1:])
    try:
        value = float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e9:
        raise ValueError(f"{text!r} must be a duration above 0, such as 90, 90s, 10m or 2h.")
    return value
